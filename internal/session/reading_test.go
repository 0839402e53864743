package session

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// reading is one of a server and as many containers behind it, in which every
// field has a value of its own. Instant, bytes and the agent's CPUs are the
// sample's.
func reading(backends int) *result.Reading {
	r := &result.Reading{Server: filled[result.ServerUsage]()}
	for i := range backends {
		b := result.BackendUsage{Name: fmt.Sprint("tomcat-", i), ServerUsage: filled[result.ServerUsage]()}
		b.UserCPU, b.BytesReceived, b.BytesSent = int64(100+i), 0, 0
		r.Backends = append(r.Backends, b)
	}
	return r
}

func TestReadingIsKept(t *testing.T) {
	for _, n := range []int{0, 1, MostBackends} {
		want := reading(n)
		encoded, err := proto.Marshal(ReadingToWire(want))
		if err != nil {
			t.Fatal(err)
		}
		w := &sessionpb.ServerSample{}
		if err := proto.Unmarshal(encoded, w); err != nil {
			t.Fatal(err)
		}
		got, err := ReadingFromWire(w)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d containers (-want +got):\n%s", n, diff)
		}
	}
}

// TestReadingOfAnEarlierAgent: one that knows of no containers sends what it
// always sent.
func TestReadingOfAnEarlierAgent(t *testing.T) {
	encoded, err := proto.Marshal(ReadingToWire(reading(0)))
	if err != nil {
		t.Fatal(err)
	}
	w := &sessionpb.ServerSample{}
	if err := proto.Unmarshal(encoded, w); err != nil {
		t.Fatal(err)
	}
	if len(w.ProtoReflect().GetUnknown()) > 0 || w.GetBackends() != nil || w.GetUserCpu() == 0 {
		t.Errorf("%v", w)
	}
}

func TestReadingFromWireRefuses(t *testing.T) {
	backend := func(w *sessionpb.ServerSample) *sessionpb.ServerSample { return w.GetBackends()[1].GetUsage() }
	name := func(name string) func(*sessionpb.ServerSample) {
		return func(w *sessionpb.ServerSample) { w.Backends[1].Name = name }
	}
	tests := map[string]struct {
		change func(*sessionpb.ServerSample)
		text   string
	}{
		"too many":               {func(w *sessionpb.ServerSample) { w.Backends = ReadingToWire(reading(MostBackends + 1)).Backends }, "9 containers behind the server"},
		"no name":                {name(""), `the name ""`},
		"a long name":            {name(strings.Repeat("x", 64)), "the name"},
		"a huge name":            {name(strings.Repeat("x", MaxMessageBytes)), "the name"},
		"a name for terminals":   {name("a\x1b[2J"), "the name"},
		"capitals":               {name("Tomcat"), "the name"},
		"a dash in front":        {name("-tomcat"), "the name"},
		"a dash at the end":      {name("tomcat-"), "the name"},
		"the server's name":      {name("server"), "the name"},
		"a name twice":           {name("tomcat-0"), "the name"},
		"no figures":             {func(w *sessionpb.ServerSample) { w.Backends[1].Usage = nil }, "without figures"},
		"nothing":                {func(w *sessionpb.ServerSample) { w.Backends[1] = nil }, "the name"},
		"containers within":      {func(w *sessionpb.ServerSample) { backend(w).Backends = w.Backends[:1] }, "containers of its own"},
		"negative CPU time":      {func(w *sessionpb.ServerSample) { backend(w).SystemCpu = -1 }, "container tomcat-1: reading: a figure"},
		"endless CPU time":       {func(w *sessionpb.ServerSample) { backend(w).UserCpu = math.MaxInt64 }, "container tomcat-1: reading: a figure"},
		"negative memory":        {func(w *sessionpb.ServerSample) { backend(w).Resident = -1 }, "a figure"},
		"less than no threads":   {func(w *sessionpb.ServerSample) { backend(w).Threads = -2 }, "a figure"},
		"endless threads":        {func(w *sessionpb.ServerSample) { backend(w).Threads = math.MaxInt64 }, "a figure"},
		"the server's switches":  {func(w *sessionpb.ServerSample) { w.VoluntarySwitches = -1 }, "a figure"},
		"the server's bytes":     {func(w *sessionpb.ServerSample) { w.BytesSent = math.MinInt64 }, "a figure"},
		"throttled for how long": {func(w *sessionpb.ServerSample) { w.Throttled = -2 }, "a figure"},
	}
	for what, test := range tests {
		t.Run(what, func(t *testing.T) {
			w := ReadingToWire(reading(3))
			test.change(w)
			_, err := ReadingFromWire(w)
			if err == nil || !strings.Contains(err.Error(), test.text) || len(err.Error()) > 2000 {
				t.Errorf("error %v, want %q", err, test.text)
			}
		})
	}
	w := ReadingToWire(reading(1))
	w.Threads, w.Descriptors, w.Throttled, w.Backends[0].Usage.Throttled = -1, -1, -1, -1
	if _, err := ReadingFromWire(w); err != nil {
		t.Errorf("what isn't known is refused: %v", err)
	}
}

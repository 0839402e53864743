package session

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// serverSample returns a sample of a server and the given number of containers behind it.
// Every field has another value, except those that containers share with the server.
func serverSample(backends int) *result.ServerSample {
	node := filled[result.NodeUsage]()
	r := &result.ServerSample{Server: filled[result.ServerUsage](), Node: &node, Governor: "performance", Machine: result.Machine{CPUModel: "a", CPUs: 2, MemoryBytes: 3, MaxFrequency: 4}}
	for i := range backends {
		b := result.BackendUsage{Name: fmt.Sprint("tomcat-", i), ServerUsage: filled[result.ServerUsage]()}
		b.UserCPU, b.BytesReceived, b.BytesSent = int64(100+i), 0, 0
		r.Backends = append(r.Backends, b)
	}
	return r
}

func TestServerSampleIsKept(t *testing.T) {
	for _, n := range []int{0, 1, MaxBackends} {
		want := serverSample(n)
		encoded, err := proto.Marshal(ServerSampleToWire(want))
		if err != nil {
			t.Fatal(err)
		}
		w := &sessionpb.ServerSample{}
		if err := proto.Unmarshal(encoded, w); err != nil {
			t.Fatal(err)
		}
		got, err := ServerSampleFromWire(w)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d containers (-want +got):\n%s", n, diff)
		}
	}
}

// TestServerSampleWithoutNode has no metrics of the node.
func TestServerSampleWithoutNode(t *testing.T) {
	w := ServerSampleToWire(serverSample(0))
	w.Node = nil
	if got, err := ServerSampleFromWire(w); err != nil || got.Node != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestServerSampleWithoutBackends checks the sample of a target with one container.
func TestServerSampleWithoutBackends(t *testing.T) {
	encoded, err := proto.Marshal(ServerSampleToWire(serverSample(0)))
	if err != nil {
		t.Fatal(err)
	}
	w := &sessionpb.ServerSample{}
	if err := proto.Unmarshal(encoded, w); err != nil {
		t.Fatal(err)
	}
	if len(w.ProtoReflect().GetUnknown()) > 0 || w.GetBackends() != nil || w.GetUsage() == nil {
		t.Errorf("%v", w)
	}
}

func TestServerSampleFromWireRefuses(t *testing.T) {
	server := func(metric string, value int64) func(*sessionpb.ServerSample) {
		return func(w *sessionpb.ServerSample) { setMetric(result.ServerMetrics, w.Usage.Values, metric, value) }
	}
	backend := func(metric string, value int64) func(*sessionpb.ServerSample) {
		return func(w *sessionpb.ServerSample) {
			setMetric(result.ServerMetrics, w.Backends[1].Usage.Values, metric, value)
		}
	}
	name := func(name string) func(*sessionpb.ServerSample) {
		return func(w *sessionpb.ServerSample) { w.Backends[1].Name = name }
	}
	tests := map[string]struct {
		change func(*sessionpb.ServerSample)
		text   string
	}{
		"too many": {func(w *sessionpb.ServerSample) {
			w.Backends = ServerSampleToWire(serverSample(MaxBackends + 1)).Backends
		}, "9 containers behind the server"},
		"no name":                {name(""), `the name ""`},
		"a long name":            {name(strings.Repeat("x", 64)), "the name"},
		"a huge name":            {name(strings.Repeat("x", MaxMessageBytes)), "the name"},
		"a name for terminals":   {name("a\x1b[2J"), "the name"},
		"capitals":               {name("Tomcat"), "the name"},
		"a dash in front":        {name("-tomcat"), "the name"},
		"a dash at the end":      {name("tomcat-"), "the name"},
		"the server's name":      {name("server"), "the name"},
		"a name twice":           {name("tomcat-0"), "the name"},
		"no metrics":             {func(w *sessionpb.ServerSample) { w.Backends[1].Usage = nil }, "container tomcat-1: no metrics"},
		"nothing":                {func(w *sessionpb.ServerSample) { w.Backends[1] = nil }, "the name"},
		"nothing of the server":  {func(w *sessionpb.ServerSample) { w.Usage = nil }, "server sample: no metrics"},
		"a thousand metrics":     {func(w *sessionpb.ServerSample) { w.Backends[1].Usage.Values = make([]int64, 1000) }, "1000 metrics"},
		"negative CPU time":      {backend("systemCPUMicroseconds", -1), "container tomcat-1: systemCPUMicroseconds must be"},
		"endless CPU time":       {backend("userCPUMicroseconds", math.MaxInt64), "container tomcat-1: userCPUMicroseconds must be"},
		"negative memory":        {backend("residentBytes", -1), "residentBytes must be"},
		"less than no threads":   {backend("threads", -2), "threads must be"},
		"endless threads":        {backend("threads", math.MaxInt64), "threads must be"},
		"the server's switches":  {server("voluntarySwitches", -1), "voluntarySwitches must be"},
		"the server's bytes":     {server("bytesSent", math.MinInt64), "bytesSent must be"},
		"throttled for how long": {server("throttledMicroseconds", -2), "throttledMicroseconds must be"},
		"endless steal time":     {func(w *sessionpb.ServerSample) { w.Node[3] = math.MaxInt64 }, "server sample: node usage: stealMicroseconds must be"},
		"a thousand of the node": {func(w *sessionpb.ServerSample) { w.Node = make([]int64, 1000) }, "1000 metrics"},
	}
	for what, test := range tests {
		t.Run(what, func(t *testing.T) {
			w := ServerSampleToWire(serverSample(3))
			test.change(w)
			_, err := ServerSampleFromWire(w)
			if err == nil || !strings.Contains(err.Error(), test.text) || len(err.Error()) > 2000 {
				t.Errorf("error %v, want %q", err, test.text)
			}
		})
	}
	w := ServerSampleToWire(serverSample(1))
	for _, name := range []string{"threads", "descriptors", "throttledMicroseconds"} {
		setMetric(result.ServerMetrics, w.Usage.Values, name, -1)
		setMetric(result.ServerMetrics, w.Backends[0].Usage.Values, name, -1)
	}
	if _, err := ServerSampleFromWire(w); err != nil {
		t.Errorf("what isn't known is refused: %v", err)
	}
}

// setMetric sets the value of a metric by its name.
func setMetric[T any](table result.Table[T], values []int64, name string, value int64) {
	values[slices.IndexFunc(table, func(f result.Metric[T]) bool { return f.Name == name })] = value
}

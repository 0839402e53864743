package session

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// sketched returns a second of requests as a client sends it, with all phases of open load over TLS.
func sketched(requests int) *result.ClientSecond {
	random := rand.New(rand.NewPCG(1, 2))
	s := &result.ClientSecond{Second: 3}
	s.Requests = int64(requests)
	for p := range result.Phases {
		for range requests {
			s.Latencies.Of(p).Record(int64(random.ExpFloat64() * 1e5))
		}
	}
	s.Phases, s.Sketches = s.Latencies.Times(), s.Latencies.Sketches()
	s.Latencies = result.Latencies{result.Total: s.Latencies[result.Total]}
	return s
}

func TestSketchesComeAcross(t *testing.T) {
	want := sketched(500)
	w, err := SecondToWire(sessionpb.Stage_STAGE_MEASUREMENT, want, 1)
	if err != nil {
		t.Fatal(err)
	}
	sent, err := proto.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	received := &sessionpb.ClientSample{}
	if err := proto.Unmarshal(sent, received); err != nil {
		t.Fatal(err)
	}
	got, _, err := SecondFromWire(received)
	if err != nil {
		t.Fatal(err)
	}
	for p := range result.Phases {
		if !slices.Equal(want.Sketches[p], got.Sketches[p]) || (len(got.Sketches[p]) == 0) != (p == result.Total) {
			t.Errorf("%s: %v, want %v", p, got.Sketches[p], want.Sketches[p])
		}
	}
	if diff := cmp.Diff(want.Phases, got.Phases); diff != "" {
		t.Error(diff)
	}

	received.Sketches = nil // as of a client that sends none
	if got, _, err := SecondFromWire(received); err != nil || len(got.Sketches[result.Waiting]) != 0 || got.Phases != want.Phases {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestSketchesOfOtherRequests sends sketches that contradict what else is in the message.
func TestSketchesOfOtherRequests(t *testing.T) {
	other := sketched(5)
	for name, test := range map[string]struct {
		change func(*result.ClientSecond)
		want   string
	}{
		"other durations": {func(s *result.ClientSecond) { s.Sketches[result.Connect] = other.Sketches[result.Connect] }, "sketches: connect: 5 durations"},
		"no times":        {func(s *result.ClientSecond) { s.Phases = result.PhaseTimes{} }, "sketches: connect: 4 durations"},
		"more than requests": {func(s *result.ClientSecond) {
			s.Phases[result.Connect], s.Sketches[result.Connect] = other.Phases[result.Connect], other.Sketches[result.Connect]
		}, "connect: 5 durations of 4 requests"},
		"no number": {func(s *result.ClientSecond) { s.Sketches[result.Waiting] = []byte{0xff} }, "sketches: waiting: count 0"},
	} {
		t.Run(name, func(t *testing.T) {
			s := sketched(4)
			test.change(s)
			w, err := SecondToWire(sessionpb.Stage_STAGE_MEASUREMENT, s, 1)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := SecondFromWire(w); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

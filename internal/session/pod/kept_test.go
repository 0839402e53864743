package pod

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const measurement = sessionpb.Stage_STAGE_MEASUREMENT

func sample(t *testing.T, second int64, took ...int64) *sessionpb.PodMessage {
	t.Helper()
	m := &result.ClientSecond{
		Second: second, Usage: result.ClientUsage{UserCPU: 3, SystemCPU: 1, Throttled: -1, MaxResident: second},
		Node: &result.NodeUsage{Steal: 5, RunQueue: second},
	}
	m.Requests = int64(len(took))
	for _, v := range took {
		m.Latencies.Of(result.Total).Record(v)
		m.Latencies.Of(result.Waiting).Record(v)
	}
	m.Phases, m.Sketches = m.Latencies.Times(), m.Latencies.Sketches()
	m.Phases[result.Connect] = result.PhaseTime{Count: 2, Sum: second, Max: second}
	w, err := session.SecondToWire(measurement, m, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &sessionpb.PodMessage{Message: &sessionpb.PodMessage_ClientSample{ClientSample: w}}
}

func reading(at int64, asked bool) *sessionpb.PodMessage {
	return &sessionpb.PodMessage{Message: &sessionpb.PodMessage_ServerSample{ServerSample: &sessionpb.ServerSample{At: at, Requested: asked}}}
}

func totals() *sessionpb.PodMessage {
	return &sessionpb.PodMessage{Message: &sessionpb.PodMessage_ClientTotals{ClientTotals: &sessionpb.ClientTotals{Totals: []byte("{}")}}}
}

// bodyOf returns a kept message, decoded.
func bodyOf(t *testing.T, m message) *sessionpb.PodMessage {
	t.Helper()
	body, err := m.body()
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// numbers returns the numbers of the kept messages.
func (k *kept) numbers() []string {
	var all []string
	for _, m := range k.messages {
		all = append(all, fmt.Sprintf("%d-%d", m.first, m.last))
	}
	return all
}

func TestKeptWithinTheLimitIsAsItWas(t *testing.T) {
	k := kept{limit: 1 << 20}
	var sent []*sessionpb.PodMessage
	for i := range int64(10) {
		sent = append(sent, sample(t, i, i+1))
	}
	sent = append(sent, totals())
	for _, m := range sent {
		if err := k.add(m); err != nil {
			t.Fatal(err)
		}
	}
	for number, m := range sent {
		got, ok := k.from(uint64(number + 1))
		if !ok || !proto.Equal(bodyOf(t, got), m) {
			t.Errorf("message %d is %v", number+1, got)
		}
	}
	if _, ok := k.from(12); ok {
		t.Error("there is a message 12")
	}
}

// TestKeptIsBounded checks that beyond the limit only the boundaries between seconds
// are lost.
func TestKeptIsBounded(t *testing.T) {
	const seconds = 200
	one := proto.Size(sample(t, 100, 1000))
	k := kept{limit: 20 * one}
	for i := range int64(seconds) {
		if err := k.add(sample(t, i, 1000+i)); err != nil {
			t.Fatal(err)
		}
		if k.size > k.limit {
			t.Fatalf("%d bytes after %d seconds, the limit is %d", k.size, i+1, k.limit)
		}
	}
	if err := k.add(totals()); err != nil {
		t.Fatal(err)
	}
	var (
		number   = uint64(1)
		second   int64
		requests int64
		size     int
		cpu      int64
		steal    int64
		all      = result.NewHistogram()
		times    result.PhaseTimes
		sketches result.Sketches
	)
	for {
		m, ok := k.from(number)
		if !ok {
			break
		}
		size += len(m.encoded)
		if m.first != number {
			t.Errorf("message %d stands for those from %d", number, m.first)
		}
		number = m.last + 1
		body := bodyOf(t, m)
		s := body.GetClientSample()
		if s == nil {
			continue
		}
		if max(body.GetFirstNumber(), 1) != m.first && body.GetFirstNumber() != 0 || body.GetNumber() != m.last || s.GetSecond() != second {
			t.Errorf("message %+v, want second %d", s, second)
		}
		second += max(s.GetSeconds(), 1)
		measure, _, err := session.SecondFromWire(s)
		if err != nil {
			t.Fatal(err)
		}
		sketches.Merge(&measure.Sketches)
		times.Add(&measure.Phases)
		requests += measure.Requests
		cpu += s.GetUsage()[0]
		steal += measure.Node.Steal
		if phases := s.GetPhases(); phases[0] != 2*max(s.GetSeconds(), 1) || phases[2] != second-1 {
			t.Errorf("%d connects up to second %d, the longest took %d µs", phases[0], second-1, phases[2])
		}
		if node := measure.Node; node.RunQueue != second-1 {
			t.Errorf("a run queue of %d up to second %d", node.RunQueue, second-1)
		}
		all.Merge(measure.Latencies.Get(result.Total))
	}
	if number != seconds+2 || second != seconds || requests != seconds || cpu != 3*seconds || steal != 5*seconds || size != k.size {
		t.Errorf("up to number %d, second %d: %d requests, %d µs, %d bytes of %d", number, second, requests, cpu, size, k.size)
	}
	if all.Min() != 1000 || all.Max() != 1000+seconds-1 || all.Count() != seconds {
		t.Errorf("durations from %d to %d", all.Min(), all.Max())
	}
	times.SetSketched(&sketches)
	if p := times[result.Waiting]; p.Count != seconds || p.PhasePercentiles == nil || p.P50 < 1083 || p.P50 > 1116 {
		t.Errorf("waiting times %+v", p)
	}
	if bodyOf(t, k.messages[len(k.messages)-1]).GetClientTotals() == nil {
		t.Error("the totals are gone")
	}
}

// TestKeptDoesntMergeWhatTheManagerMayHaveInPart checks that messages that may or may
// not have arrived are not merged.
func TestKeptDoesntMergeWhatTheManagerMayHaveInPart(t *testing.T) {
	tests := map[string]struct {
		arrived, sent uint64 // as kept has them
		want          []string
	}{
		"never connected":          {0, 0, []string{"1-6"}},
		"all arrived":              {7, 6, []string{"1-6"}},
		"none arrived, all sent":   {1, 6, []string{"1-1", "2-2", "3-3", "4-4", "5-5", "6-6"}},
		"two arrived, four sent":   {3, 4, []string{"1-2", "3-3", "4-4", "5-6"}},
		"three arrived, none more": {4, 3, []string{"1-3", "4-6"}},
		"one arrived, two sent":    {2, 2, []string{"1-1", "2-2", "3-6"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := kept{limit: 1 << 20}
			for i := range int64(6) {
				if err := k.add(sample(t, i, 1)); err != nil {
					t.Fatal(err)
				}
			}
			k.arrived, k.sent = test.arrived, test.sent
			for i := k.mergeable(); i >= 0; i = k.mergeable() {
				if err := k.merge(i); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(test.want, k.numbers()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestKeptMergesOnlyWhatIsAlike(t *testing.T) {
	warm := sample(t, 0, 1)
	warm.GetClientSample().Stage = sessionpb.Stage_STAGE_WARMUP
	k := kept{limit: 1 << 20}
	for _, m := range []*sessionpb.PodMessage{
		warm, sample(t, 0, 1), sample(t, 1, 1), totals(), reading(1, false), reading(2, true), reading(3, false), reading(4, false),
	} {
		if err := k.add(m); err != nil {
			t.Fatal(err)
		}
	}
	for i := k.mergeable(); i >= 0; i = k.mergeable() {
		if err := k.merge(i); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"1-1", "2-3", "4-4", "5-6", "7-8"}, k.numbers()); diff != "" {
		t.Error(diff)
	}
	got := bodyOf(t, k.messages[3])
	if s := got.GetServerSample(); s.GetAt() != 2 || !s.GetRequested() || got.GetFirstNumber() != 5 || got.GetNumber() != 6 {
		t.Errorf("the reading that was asked for became %v", got)
	}
}

// TestKeptSamplesOfContainers checks that a merged usage sample has the containers of
// the later one, whose metrics include those of the earlier.
func TestKeptSamplesOfContainers(t *testing.T) {
	k := kept{limit: 1 << 20}
	for i := range int64(3) {
		m := reading(i+1, false)
		m.GetServerSample().Backends = []*sessionpb.BackendUsage{{Name: "tomcat", Usage: &sessionpb.ServerUsage{Values: []int64{100 * i}}}}
		if err := k.add(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.merge(0); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1-2", "3-3"}, k.numbers()); diff != "" {
		t.Error(diff)
	}
	first := bodyOf(t, k.messages[0])
	if s := first.GetServerSample(); first.GetFirstNumber() != 1 || first.GetNumber() != 2 || s.GetAt() != 2 || s.GetBackends()[0].GetUsage().GetValues()[0] != 100 {
		t.Errorf("made one: %v", first)
	}
}

func TestKeptRefusesWhatIsTooLarge(t *testing.T) {
	k := kept{limit: keptBytes}
	huge := sample(t, 0, 1)
	huge.GetClientSample().Total.Hdr = make([]byte, session.MaxMessageBytes)
	if err := k.add(huge); err == nil {
		t.Error("no error")
	}
}

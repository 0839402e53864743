package result

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPhaseTimes joins the times of two seconds, of which one phase occurred in both.
func TestPhaseTimes(t *testing.T) {
	var first, second Latencies
	first.Of(Connect).Record(100)
	first.Of(Connect).Record(300)
	second.Of(Connect).Record(200)
	second.Of(Waiting).Record(7)
	second.Of(TLS) // without durations
	sum, other := first.Times(), second.Times()
	sum.Add(&other)
	want := PhaseTimes{Connect: {Count: 3, Sum: 600, Max: 300}, Waiting: {Count: 1, Sum: 7, Max: 7}}
	if diff := cmp.Diff(want, sum); diff != "" || sum[Connect].Mean() != 200 || sum[TLS].Mean() != 0 {
		t.Errorf("(-want +got):\n%s", diff)
	}
	data, err := json.Marshal(sum)
	if err != nil || string(data) != `{"connect":{"count":3,"sumMicroseconds":600,"maxMicroseconds":300},"waiting":{"count":1,"sumMicroseconds":7,"maxMicroseconds":7}}` {
		t.Errorf("%s, %v", data, err)
	}
	var got PhaseTimes
	if err := json.Unmarshal(data, &got); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestPercentilesOfJoinedPhases joins two seconds with percentiles. Those of a phase that occurred in both are unknown.
func TestPercentilesOfJoinedPhases(t *testing.T) {
	once := PhaseTime{Count: 1, Sum: 0, Max: 0, PhasePercentiles: &PhasePercentiles{}}
	twice := PhaseTime{Count: 9, Sum: 99, Max: 30, PhasePercentiles: &PhasePercentiles{P50: 10, P90: 20, P99: 30}}
	first := Second{Second: 0, Seconds: 1, Phases: &PhaseTimes{Connect: once, Waiting: twice}}
	first.Join(&Second{Second: 1, Seconds: 1, Phases: &PhaseTimes{Waiting: twice, Receiving: twice}})
	want := PhaseTimes{Connect: once, Waiting: {Count: 18, Sum: 198, Max: 30}, Receiving: twice}
	data, err := json.Marshal(first.Phases)
	if err != nil {
		t.Fatal(err)
	}
	var got PhaseTimes
	if err := json.Unmarshal(data, &got); err != nil || !cmp.Equal(want, got) || !cmp.Equal(want, *first.Phases) {
		t.Errorf("%s (%v), want %+v", data, err, want)
	}
	const connect = `"connect":{"count":1,"sumMicroseconds":0,"maxMicroseconds":0,"p50Microseconds":0,"p90Microseconds":0,"p99Microseconds":0}`
	if !strings.Contains(string(data), connect) {
		t.Errorf("%s", data)
	}
}

func TestPhaseTimesThatCannotBe(t *testing.T) {
	var got PhaseTimes
	want := PhaseTimes{Service: {Count: 1, Sum: 7, Max: 7}}
	if err := got.Set(want.Values()); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	with := func(values ...int64) []int64 {
		return append(values, make([]int64, phaseValues*int(Phases)-len(values))...)
	}
	for text, values := range map[string][]int64{
		"300 values of phases":   make([]int64, 300),
		"26 values of phases":    want.Values()[1:],
		"connect must be from":   with(1, 1<<60, 5),
		"connect: -1 durations":  with(-1, 5, 5),
		"tls: 0 durations":       with(0, 0, 0, 0, 5, 5),
		"connect: 0 durations w": with(0, 0, 5),
	} {
		if err := got.Set(values); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want %q", err, text)
		}
	}
}

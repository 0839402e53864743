package result

import (
	"encoding/json"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// names are the metrics of the tables in their order, which is that of their values in
// messages. The lists may only grow at their ends.
var names = map[string][]string{
	"Counts": {"requests", "non2xx", "keepAlive", "connections", "bytesSent", "bytesReceived", "bodyBytes", "tlsResumed", "dropped", "closedByServer", "pages", "failedPages", "rounds", "failedRounds", "unanswered", "oldestUnansweredMicroseconds", "unrequested"},
	"ClientUsage": {
		"userCPUMicroseconds", "systemCPUMicroseconds", "throttledMicroseconds", "maxResidentBytes", "schedulingLatencyP99Microseconds",
		"gcPauseMicroseconds", "gcPauseMaxMicroseconds", "naps",
	},
	"ServerUsage": {
		"userCPUMicroseconds", "systemCPUMicroseconds", "residentBytes", "maxResidentBytes", "throttledMicroseconds", "minorFaults", "majorFaults",
		"voluntarySwitches", "involuntarySwitches", "bytesReceived", "bytesSent", "threads", "descriptors",
		"gcPauses", "gcPauseMicroseconds", "gcPauseMaxMicroseconds", "heapUsedBytes",
		"descriptorLimit", "compilerCPUMicroseconds",
	},
	"NodeUsage": {
		"cpuTimeMicroseconds", "idleMicroseconds", "otherCPUMicroseconds", "stealMicroseconds", "ioWaitMicroseconds",
		"hardIRQMicroseconds", "softIRQMicroseconds", "runQueueWaitMicroseconds", "runQueueTasks", "contextSwitches",
		"cpuPressureMicroseconds", "memoryPressureMicroseconds", "memoryStallMicroseconds", "ioPressureMicroseconds",
		"ioStallMicroseconds", "minFrequencyKilohertz", "packetsProcessed", "packetsDropped", "packetsReceived", "packetsSent",
		"receiveDrops", "sendDrops", "segmentsSent", "segmentsRetransmitted", "listenOverflows", "listenDrops", "acceptQueue",
		"acceptQueueLimit", "sockets", "establishedSockets", "timeWaitSockets",
		"spuriousRetransmissions",
	},
	"Arrivals": {"due", "plannedMicroseconds", "startedMicroseconds", "notStarted"},
}

// TestPlus adds metrics whose sum doesn't fit.
func TestPlus(t *testing.T) {
	for _, test := range []struct{ a, b, want int64 }{
		{1, 2, 3}, {math.MaxInt64, 1, math.MaxInt64}, {1 << 62, 1 << 62, math.MaxInt64}, {math.MaxInt64, 0, math.MaxInt64},
		{-5, 3, -2}, {3, -5, -2}, {math.MaxInt64, -1, math.MaxInt64 - 1},
	} {
		if got := Plus(test.a, test.b); got != test.want {
			t.Errorf("%d plus %d is %d, want %d", test.a, test.b, got, test.want)
		}
	}
	counts := Counts{BytesSent: math.MaxInt64 - 1, Errors: ErrorCounts{math.MaxInt64}}
	counts.Add(Counts{BytesSent: 5, Errors: ErrorCounts{1}})
	if counts.BytesSent != math.MaxInt64 || counts.Errors[0] != math.MaxInt64 {
		t.Errorf("%+v", counts)
	}
}

func TestTables(t *testing.T) {
	checkTable(t, Counters)
	checkTable(t, ClientMetrics)
	checkTable(t, ServerMetrics, "atMicroseconds")
	checkTable(t, NodeMetrics)
	checkTable(t, ArrivalMetrics)
	checkTable(t, SecondMetrics, "second", "seconds", "p50Microseconds", "p90Microseconds", "p99Microseconds")
}

// checkTable checks that a table has each whole number of a T except those of but, with
// its name in JSON and at an unchanged place.
func checkTable[T any](t *testing.T, table Table[T], but ...string) {
	t.Helper()
	var metrics T
	v := reflect.ValueOf(&metrics).Elem()
	lines := map[string]*int64{}
	var order []string
	for i := range table {
		f := &table[i]
		lines[f.Name] = f.Of(&metrics)
		order = append(order, f.Name)
		if f.Part != "" && f.Label == "" || !slices.Contains([]string{Sum, Max, Min, Last}, f.Merging) || !slices.Contains([]Unit{Number, Bytes, Memory, Microseconds}, f.Unit) {
			t.Errorf("%s: %+v", v.Type(), *f)
		}
	}
	if places, kept := names[v.Type().Name()]; kept {
		if diff := cmp.Diff(places, order); diff != "" {
			t.Errorf("%s: the places of metrics have changed (-want +got):\n%s", v.Type(), diff)
		}
	}
	fields := 0
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if v.Field(i).Kind() != reflect.Int64 || slices.Contains(but, name) {
			continue
		}
		fields++
		for _, key := range regexp.MustCompile(`(\w+):"`).FindAllStringSubmatch(string(v.Type().Field(i).Tag), -1) {
			if !slices.Contains([]string{"json", "unit", "merging", "optional", "pod", "label", "part", "column", "csv", "help"}, key[1]) {
				t.Errorf("%s.%s: unknown tag %s", v.Type(), name, key[1])
			}
		}
		if lines[name] != v.Field(i).Addr().Interface() {
			t.Errorf("%s: the table has no line %s, or it leads to another field", v.Type(), name)
		}
	}
	if fields != len(lines) || len(lines) != len(table) {
		t.Errorf("%s: %d fields, %d lines, %d names", v.Type(), fields, len(table), len(lines))
	}
}

type pair struct {
	Grows    int64 `json:"grows" help:"grows"`
	Peak     int64 `json:"peak" merging:"max" help:"peaks"`
	Level    int64 `json:"level,omitempty" merging:"last" help:"varies"`
	Optional int64 `json:"optional" optional:"true" help:"may be unknown"`
}

var pairs = tableOf[pair]()

func TestMergeAndSince(t *testing.T) {
	for _, test := range []struct{ a, b, merged, since pair }{
		{pair{5, 9, 3, 4}, pair{2, 7, 8, 1}, pair{7, 9, 8, 5}, pair{3, 9, 3, 3}},
		{pair{5, 7, 3, -1}, pair{2, 9, 8, 1}, pair{7, 9, 8, -1}, pair{3, 7, 3, -1}},
		{pair{5, 7, 3, 4}, pair{2, 9, 8, -1}, pair{7, 9, 8, -1}, pair{3, 7, 3, -1}},
		{pair{5, 7, 3, 4}, pair{2, 9, 8, 6}, pair{7, 9, 8, 10}, pair{3, 7, 3, -1}},
	} {
		merged, since := test.a, test.a
		pairs.Merge(&merged, &test.b)
		pairs.Since(&since, &test.b)
		if merged != test.merged || since != test.since {
			t.Errorf("%v and %v: merged %v, since %v", test.a, test.b, merged, since)
		}
	}
}

// TestSkip takes what was added between two times out of a span.
func TestSkip(t *testing.T) {
	for _, test := range []struct{ from, to, since pair }{
		{pair{12, 1, 1, 13}, pair{14, 9, 9, 17}, pair{8, 7, 3, 26}},
		{pair{12, 1, 1, Unknown}, pair{14, 9, 9, 17}, pair{8, 7, 3, 30}},
		{pair{12, 1, 1, 13}, pair{14, 9, 9, Unknown}, pair{8, 7, 3, 30}},
	} {
		start, end := pair{10, 2, 2, 10}, pair{20, 7, 3, 40}
		pairs.Skip(&start, &test.from, &test.to)
		pairs.Since(&end, &start)
		if end != test.since {
			t.Errorf("without %v to %v: %v, want %v", test.from, test.to, end, test.since)
		}
	}
	start, end := pair{10, 2, 2, Unknown}, pair{20, 7, 3, 40}
	pairs.Skip(&start, &pair{12, 0, 0, 15}, &pair{14, 0, 0, 16})
	if pairs.Since(&end, &start); end.Optional != Unknown {
		t.Errorf("%v since an unknown start", end)
	}
}

func TestSet(t *testing.T) {
	for _, test := range []struct {
		values []int64
		want   pair
		err    string
	}{
		{[]int64{1, 2, 3, 4}, pair{1, 2, 3, 4}, ""},
		{[]int64{1, 2, 3, -1}, pair{1, 2, 3, -1}, ""},
		{[]int64{1, 2, 3, 4, 5}, pair{}, "5 metrics, must be 4"},
		{nil, pair{}, "0 metrics, must be 4"},
		{[]int64{-1, 2, 3, 4}, pair{}, "grows must be from 0"},
		{[]int64{1, 2, 3, -2}, pair{}, "optional must be from -1"},
		{[]int64{maxMetric + 1, 2, 3, 4}, pair{}, "grows must be"},
	} {
		got := pair{9, 9, 9, 9}
		err := pairs.Set(&got, test.values)
		if test.err == "" && (err != nil || got != test.want) || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("%v: %v, %v", test.values, got, err)
		}
	}
}

func TestErrorCounts(t *testing.T) {
	var e ErrorCounts
	if err := e.Set([]int64{1, 2, 0, 0, 0, 0, 3}); err != nil || e != (ErrorCounts{ErrorConnect: 1, ErrorTLS: 2, ErrorException: 3}) {
		t.Errorf("%v, %v", e, err)
	}
	for _, counts := range [][]int64{nil, {7}, make([]int64, ErrorKinds+1)} {
		if err := e.Set(counts); err == nil || !strings.Contains(err.Error(), "kinds of errors, must be 7") {
			t.Errorf("%v: %v", counts, err)
		}
	}
	var kinds []ErrorKind
	for k, n := range (ErrorCounts{ErrorTLS: 2, ErrorStatus: 1}).Occurred() {
		kinds = append(kinds, k)
		if n == 0 {
			t.Errorf("%s didn't occur", k)
		}
	}
	if !slices.Equal(kinds, []ErrorKind{ErrorTLS, ErrorStatus}) {
		t.Errorf("%v occurred", kinds)
	}
}

// TestNodeUsage checks what is joined of seconds and pods, and that JSON has what is known alone.
func TestNodeUsage(t *testing.T) {
	first, second := UnknownNode(), UnknownNode()
	first.OtherCPU, first.RunQueue, first.Frequency, first.Steal = 100, 3, 2_000_000, 0
	second.OtherCPU, second.RunQueue, second.Frequency = 50, 7, 800_000
	var sum *NodeUsage
	sum = sum.Add(first).Add(second)
	want := UnknownNode()
	want.OtherCPU, want.RunQueue, want.Frequency = 150, 7, 800_000
	if diff := cmp.Diff(want, sum); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if first.OtherCPU != 100 {
		t.Error("the first was changed")
	}
	data, err := json.Marshal(sum)
	if err != nil || string(data) != `{"minFrequencyKilohertz":800000,"otherCPUMicroseconds":150,"runQueueTasks":7}` {
		t.Errorf("%s, %v", data, err)
	}
	var got NodeUsage
	if err := json.Unmarshal(data, &got); err != nil || got != *want {
		t.Errorf("%+v, %v", got, err)
	}
	if unknown := sum.Add(nil); len(unknown.Missing()) != len(NodeMetrics) {
		t.Errorf("with nothing: %+v", unknown)
	}
	u := NodeUsage{CPUTime: 2_000_000, OtherCPU: 500_000, HardIRQ: 20_000, SoftIRQ: 80_000, Steal: Unknown}
	if others, least, steal := u.CPUPercent(u.OtherCPU), u.ProcessPercent(), u.CPUPercent(u.Steal); others != 25 || least != 20 || steal != Unknown {
		t.Errorf("others %v %%, processes at least %v %%, steal %v", others, least, steal)
	}
	if u.SoftIRQ = Unknown; u.ProcessPercent() != Unknown || (&NodeUsage{}).CPUPercent(1) != Unknown {
		t.Error("a share of what is unknown")
	}
}

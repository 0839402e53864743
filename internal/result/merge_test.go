package result

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/assay-dev/assay/internal/k6metric"
)

// measured returns a client whose metrics depend on its index.
func measured(index int, durations ...int64) Client {
	n := int64(index + 1)
	c := Client{Index: index, Node: "node-1", StartSkewMicroseconds: 100 * n, ClockErrorMicroseconds: n}
	c.StartedAt, c.EndedAt = 1_000_000+100*n, 2_000_000+1000*n
	c.Counts = Counts{
		Requests: int64(len(durations)) + 7*n, Non2xx: n, KeepAlive: 2 * n, Connections: 3 * n, BytesSent: 4 * n, BytesReceived: 5 * n, BodyBytes: 6 * n,
	}
	for k := range c.Errors {
		c.Errors[k] = n
	}
	for _, d := range durations {
		c.Latencies.Of(Total).Record(d)
	}
	return c
}

func TestMergeClients(t *testing.T) {
	first, second, idle := measured(0, 10, 20), measured(1, 30), Client{Index: 2}
	first.Warmup, second.Warmup = &Counts{Requests: 5}, &Counts{Requests: 6, KeepAlive: 1}
	first.WarmupMicroseconds, second.WarmupMicroseconds = 7, 9
	merged, warmup, duration := MergeClients([]Client{second, idle, first})

	want := Measure{Counts: Counts{
		Requests: 24, Errors: ErrorCounts{3, 3, 3, 3, 3, 3, 3}, Non2xx: 3, KeepAlive: 6, Connections: 9, BytesSent: 12, BytesReceived: 15, BodyBytes: 18,
	}}
	want.Latencies[Total] = of(10, 20, 30)
	if diff := cmp.Diff(want, merged, sameHistogram); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&Warmup{Counts: Counts{Requests: 11, KeepAlive: 1}, DurationMicroseconds: 9}, warmup); diff != "" {
		t.Errorf("warm-up (-want +got):\n%s", diff)
	}
	if want := int64(2_002_000 - 1_000_100); duration != want {
		t.Errorf("duration %d µs, want %d", duration, want)
	}
	merged.Latencies[Total].Record(99)
	warmup.Requests = 99
	if first.Latencies[Total].Count() != 2 || first.Warmup.Requests != 5 {
		t.Error("a change of the merged metrics changes a client's")
	}
}

func TestMergeOfNoClients(t *testing.T) {
	for _, clients := range [][]Client{nil, {{}, {Index: 1}}} {
		merged, warmup, duration := MergeClients(clients)
		if diff := cmp.Diff(Measure{}, merged, sameHistogram); diff != "" || warmup != nil || duration != 0 {
			t.Errorf("%d idle clients: %s, warm-up %v, %d µs", len(clients), diff, warmup, duration)
		}
	}
}

func TestAddClientsOrdersThem(t *testing.T) {
	given := []Client{measured(2, 5), measured(0, 6), measured(1, 7)}
	var r Result
	r.AddClients(given)
	for i := range r.Clients {
		if r.Clients[i].Index != i {
			t.Errorf("client %d stands in place %d", r.Clients[i].Index, i)
		}
	}
	if given[0].Index != 2 {
		t.Error("the slice given was ordered too")
	}
	if r.Merged.Latencies.Get(Total).Count() != 3 || r.DurationMicroseconds == 0 || r.Warmup != nil {
		t.Errorf("merged %+v in %d µs", r.Merged.Counts, r.DurationMicroseconds)
	}
	if got := r.StartSkewMicroseconds(); got != 200 {
		t.Errorf("start skew %d µs, want 200", got)
	}
}

// TestCountsAddsEveryField fails when a count is added that Add forgets.
func TestCountsAddsEveryField(t *testing.T) {
	var one, sum Counts
	v := reflect.ValueOf(&one).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Int64:
			f.SetInt(int64(i + 1))
		case reflect.Array:
			for j := range f.Len() {
				f.Index(j).SetInt(int64(10*i + j + 1))
			}
		default:
			t.Fatalf("field %s has a kind that this test doesn't know", v.Type().Field(i).Name)
		}
	}
	sum.Add(one)
	if diff := cmp.Diff(one, sum); diff != "" {
		t.Error(diff)
	}
}

func TestRates(t *testing.T) {
	c := measured(0)
	c.Counts = Counts{Requests: 1000, Errors: ErrorCounts{ErrorLength: 10}}
	c.StartedAt, c.EndedAt = 1_000_000, 3_000_000
	var r Result
	r.AddClients([]Client{c})
	if got := []float64{c.RequestsPerSecond(), r.RequestsPerSecond(), c.ErrorPercent()}; !cmp.Equal(got, []float64{495, 495, 1}) {
		t.Errorf("rates and error percentage %v", got)
	}
	var empty Result
	if empty.RequestsPerSecond() != 0 || empty.Merged.ErrorPercent() != 0 || empty.StartSkewMicroseconds() != 0 {
		t.Error("an empty result has rates")
	}
}

func TestUsage(t *testing.T) {
	c := measured(0)
	c.StartedAt, c.EndedAt = 1_000_000, 3_000_000
	c.Usage = ClientUsage{UserCPU: 600_000, SystemCPU: 400_000}
	if got := []float64{c.CPUPercent(), c.CPUPercentOf(500), c.CPUPercentOf(0)}; !cmp.Equal(got, []float64{50, 100, 0}) {
		t.Errorf("client's CPU %v", got)
	}
	s := Server{
		Begin: ServerUsage{At: 5, UserCPU: 10, SystemCPU: 20, Resident: 30, MaxResident: 40, MinorFaults: 50, MajorFaults: 60,
			VoluntarySwitches: 70, InvoluntarySwitches: 80, Threads: 90, Descriptors: 100, BytesReceived: 110, BytesSent: 120, Throttled: 130, CPUs: "0", AgentCPUs: "1"},
		End: ServerUsage{At: 2_000_005, UserCPU: 500_010, SystemCPU: 500_020, Resident: 31, MaxResident: 42, MinorFaults: 53, MajorFaults: 64,
			VoluntarySwitches: 75, InvoluntarySwitches: 86, Threads: 97, Descriptors: 108, BytesReceived: 119, BytesSent: 130, Throttled: 141, CPUs: "2", AgentCPUs: "3"},
		PeakCPUPercent: 75,
	}
	want := ServerUsage{At: 2_000_000, UserCPU: 500_000, SystemCPU: 500_000, Resident: 31, MaxResident: 42, MinorFaults: 3, MajorFaults: 4,
		VoluntarySwitches: 5, InvoluntarySwitches: 6, Threads: 97, Descriptors: 108, BytesReceived: 9, BytesSent: 10, Throttled: 11, CPUs: "2", AgentCPUs: "3"}
	if diff := cmp.Diff(want, s.Spent()); diff != "" {
		t.Errorf("spent (-want +got):\n%s", diff)
	}
	if got := []float64{s.CPUPercentOf(2000), s.PeakCPUPercentOf(500)}; !cmp.Equal(got, []float64{25, 150}) {
		t.Errorf("server's CPU %v", got)
	}
	for _, unknown := range []*int64{&s.Begin.Throttled, &s.End.Throttled} {
		kept := *unknown
		*unknown = -1
		if got := s.Spent().Throttled; got != -1 {
			t.Errorf("throttled for %d µs, although it is unknown in a sample", got)
		}
		*unknown = kept
	}
}

// TestResultRoundTrips checks that JSON loses no field of a result.
func TestResultRoundTrips(t *testing.T) {
	var want Result
	fill(reflect.ValueOf(&want).Elem())
	data, err := json.Marshal(&want)
	if err != nil {
		t.Fatal(err)
	}
	var got Result
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	sameMetric := cmp.Comparer(func(a, b k6metric.Metric) bool {
		x, errX := json.Marshal(a)
		y, errY := json.Marshal(b)
		return errX == nil && errY == nil && string(x) == string(y)
	})
	// The seconds of a container have metrics alone.
	figuresAlone := cmpopts.IgnoreFields(Used{}, "At", "CPUs", "AgentCPUs", "Cores")
	if diff := cmp.Diff(want, got, sameHistogram, sameMetric, figuresAlone); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, name := range []string{`"exception":`, `"total":`, `"receiving":`, `"summaries":`, `"schemaVersion":`} {
		if !strings.Contains(string(data), name) {
			t.Errorf("no %s in the JSON", name)
		}
	}
}

// fill sets everything in a value to something other than zero.
func fill(v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case **Histogram:
		*x = of(3, 4, 9_000_000_000)
		return
	case **ScriptTotals:
		m := k6metric.New("m", k6metric.Trend, k6metric.Bytes)
		m.Add(2.5, 3)
		*x = &ScriptTotals{VirtualUsers: 1, RunMicroseconds: 2, Omitted: 3, MarkedFailed: true, TeardownError: "text",
			Metrics: []k6metric.Metric{*m}, Thresholds: []k6metric.Threshold{{Metric: "m", Source: "p(95)<5", Aborted: true}}}
		return
	case *time.Time:
		*x = time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
		return
	}
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		v.SetInt(42)
	case reflect.Float64:
		v.SetFloat(0.1)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("text")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				fill(v.Field(i))
			}
		}
	}
}

// TestScriptsThatDiffer merges clients that each have other metrics and thresholds. A result has no
// more of them than a client may have.
func TestScriptsThatDiffer(t *testing.T) {
	r := &Result{}
	for i := range 50 {
		own := &ScriptTotals{}
		for n := range k6metric.MaxThresholds {
			name := fmt.Sprintf("of client %d, %d", i, n)
			m := k6metric.New(name, k6metric.Trend, k6metric.None)
			m.Add(1, 1)
			own.Metrics = append(own.Metrics, *m)
			own.Thresholds = append(own.Thresholds, k6metric.Threshold{Metric: name, Source: "max<5"})
		}
		if err := own.Check(); err != nil {
			t.Fatal(err)
		}
		r.Clients = append(r.Clients, Client{Index: i, Totals: Totals{Script: own}})
	}
	r.AddScript()
	const most = k6metric.MaxMetrics + k6metric.MaxThresholds
	if n := len(r.Script.Metrics); n != most || r.Script.MetricsOmitted != 50*100-most || len(r.Thresholds) != 100 {
		t.Errorf("%d metrics, %d omitted, %d thresholds", n, r.Script.MetricsOmitted, len(r.Thresholds))
	}
}

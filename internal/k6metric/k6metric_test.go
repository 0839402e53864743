package k6metric

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/percentile"
)

// TestMergedIsPooled checks that metrics that were encoded, decoded and merged have the
// values of all samples pooled.
func TestMergedIsPooled(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draws := map[string]func() float64{
		"milliseconds": func() float64 { return random.ExpFloat64() * 80 },
		"bytes":        func() float64 { return math.Floor(random.Float64() * 5e9) },
		"signed":       func() float64 { return random.NormFloat64() * 10 },
		"zeros":        func() float64 { return float64(random.IntN(2)) },
	}
	for name, draw := range draws {
		t.Run(name, func(t *testing.T) {
			var all []float64
			var clients [][]Metric
			for range 5 {
				m := New("m", Trend, None)
				for i := range 2000 {
					v := draw()
					all = append(all, v)
					m.Add(v, int64(i))
				}
				encoded, err := json.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				var sent Metric
				if err := json.Unmarshal(encoded, &sent); err != nil {
					t.Fatal(err)
				}
				if err := sent.Check(); err != nil {
					t.Fatal(err)
				}
				clients = append(clients, []Metric{sent})
			}
			merged, omitted := Merge(clients...)
			if len(merged) != 1 || omitted != 0 {
				t.Fatalf("%d metrics, %d omitted", len(merged), omitted)
			}
			s := merged[0].Summarize()
			slices.Sort(all)
			if s.Samples != int64(len(all)) || s.Min != all[0] || s.Max != all[len(all)-1] {
				t.Errorf("%+v, want %d from %v to %v", s, len(all), all[0], all[len(all)-1])
			}
			for i, p := range percentile.Common {
				// k6's definition: between the ranks from 0 to n-1, interpolated.
				rank := p.Percent() / 100 * float64(len(all)-1)
				low, high := all[int(math.Floor(rank))], all[int(math.Ceil(rank))]
				want := low + (high-low)*(rank-math.Floor(rank))
				if got := s.Percentiles[i]; math.Abs(got-want) > (math.Abs(low)+math.Abs(high))*accuracy+1e-9 {
					t.Errorf("p%v is %v, of the pooled values %v", p, got, want)
				}
			}
		})
	}
}

func TestKindsMerge(t *testing.T) {
	of := func(kind Kind, at int64, values ...float64) []Metric {
		m := New("m", kind, None)
		for i, v := range values {
			m.Add(v, at+int64(i))
		}
		return []Metric{*m}
	}
	counter, _ := Merge(of(Counter, 0, 1, 2.5), of(Counter, 0), of(Counter, 0, 3))
	rate, _ := Merge(of(Rate, 0, 0, 1, 7), of(Rate, 0, 0))
	gauge, _ := Merge(of(Gauge, 50, 9, 4), of(Gauge, 10, -1, 20))
	mixed, omitted := Merge(of(Gauge, 0, 1), of(Counter, 0, 1))
	if counter[0].Sum != 6.5 || rate[0].Sum != 2 || rate[0].Samples != 4 {
		t.Errorf("counter %+v, rate %+v", counter[0], rate[0])
	}
	if g := gauge[0]; g.Last != 4 || g.Min != -1 || g.Max != 20 {
		t.Errorf("gauge %+v", g)
	}
	if mixed[0].Kind != Gauge || mixed[0].Samples != 1 || omitted != 1 {
		t.Errorf("mixed %+v, %d omitted", mixed[0], omitted)
	}
}

func TestThresholds(t *testing.T) {
	trend, rate, counter, gauge := New("t", Trend, Milliseconds), New("r", Rate, None), New("c", Counter, None), New("g", Gauge, None)
	for i := range 100 {
		trend.Add(float64(i+1), 0)
		rate.Add(float64(i%4), 0) // 75 of 100
		counter.Add(2, 0)
		gauge.Add(float64(i), 0)
	}
	for _, tc := range []struct {
		metric *Metric
		source string
		met    bool
		actual string
	}{
		{trend, "avg==50.5", true, "50.5 ms"}, {trend, "min<=1", true, "1 ms"}, {trend, "max<100", false, "100 ms"},
		{trend, "med<51.2", true, ""}, {trend, "p(95)<96", true, ""}, {trend, " p( 99.9 ) < 99.5", false, ""}, {trend, "p(0)>=1", true, ""},
		{rate, "rate==0.75", true, "0.75"}, {rate, "rate>0.75", false, "0.75"}, {rate, "rate !== 1", false, ""},
		{counter, "count===200", true, "200"}, {counter, "rate>=20", true, "20"}, {counter, "count!=200", false, "200"},
		{gauge, "value>98", true, "99"},
		// As k6 has it without values.
		{New("t", Trend, None), "p(95)<200", true, "no samples"}, {New("t", Trend, None), "max>0", false, "no samples"},
		{New("r", Rate, None), "rate>0.5", true, "no samples"}, {New("c", Counter, None), "rate>0.5", false, "no samples"}, {nil, "count>0", false, "no samples"},
	} {
		threshold := Threshold{Metric: "m", Source: tc.source}
		got, err := threshold.Evaluate(tc.metric, 10*time.Second)
		if tc.source == "rate !== 1" {
			if err == nil {
				t.Errorf("%s was taken", tc.source)
			}
			continue
		}
		if err != nil || got.Met != tc.met || tc.actual != "" && got.Actual != tc.actual {
			t.Errorf("%s: %+v, %v; want %t, %q", tc.source, got, err, tc.met, tc.actual)
		}
	}
}

func TestThresholdsThatCannotBe(t *testing.T) {
	trend := New("t", Trend, None)
	trend.Add(1, 0)
	for source, want := range map[string]string{
		"": "AGGREGATION", "p95<1": "AGGREGATION", "p(101)<1": "percentile", "p(x)<1": "percentile", "avg<x": "number", "avg=1": "AGGREGATION",
		"count<1": "a trend has", "value<1": "a trend has", "rate<1": "a trend has",
	} {
		threshold := Threshold{Metric: "t", Source: source}
		if _, err := threshold.Evaluate(trend, time.Second); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", source, err, want)
		}
	}
}

func TestWhatNoClientCanHaveCounted(t *testing.T) {
	trend := New("t", Trend, None)
	trend.Add(1, 0)
	trend.Add(math.NaN(), 0)
	trend.Add(math.Inf(1), 0)
	if err := trend.Check(); err != nil || trend.Samples != 1 {
		t.Errorf("%d samples, %v", trend.Samples, err)
	}
	for name, change := range map[string]func(*Metric){
		"no name": func(m *Metric) { m.Name = "" }, "long name": func(m *Metric) { m.Name = strings.Repeat("x", 600) },
		"unknown kind": func(m *Metric) { m.Kind = "other" }, "more samples": func(m *Metric) { m.Samples = 2 },
		"negative": func(m *Metric) { m.Samples = -1 }, "no values": func(m *Metric) { m.Values = nil },
	} {
		bad := *trend
		if change(&bad); bad.Check() == nil {
			t.Errorf("%s was taken", name)
		}
	}
	var m Metric
	if err := json.Unmarshal([]byte(`{"name":"t","kind":"trend","samples":1,"values":"AAAA"}`), &m); err == nil && m.Check() == nil {
		t.Error("a distribution that is none was taken")
	}
}

package browser_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/html/roundpage"
	"github.com/assay-dev/assay/internal/report/reporttest"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/roundtest"
	"github.com/assay-dev/assay/internal/result"
)

// comparisons returns a comparison for each state of its page, by name.
func comparisons(t *testing.T) map[string]*round.Comparison {
	t.Helper()
	results := [2]*result.Result{reporttest.Measured(2, 60), reporttest.Measured(3, 90)}
	single := compared(t, sideOf(t, "release-1.4", results[0], "v1"), sideOf(t, "release-1.5", results[1], "v2"))
	single.Results = results
	kernel := side(t, "release-1.5", 1, 81_000, "v1")
	kernel.Groups[0].Environments[0]["/kernel"] = "6.2"
	refused := compared(t, side(t, "release-1.4", 1, 94_000, "v1"), kernel)
	refused.Results = single.Results
	sides, several := []round.Side{}, []*result.Result{}
	for i, name := range []string{"tomcat-nio", "tomcat-apr", "jetty", "undertow", "nginx", "httpd-event"} {
		r := reporttest.Measured(1+i%2, 30+10*i)
		sides, several = append(sides, sideOf(t, name, r, name)), append(several, r)
	}
	six, err := round.CompareAll(sides, several, round.CompareOptions{ConfidencePercent: 95})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*round.Comparison{
		"six": six, "sets": compared(t, side(t, "release-1.4", 12, 5000, "v1"), side(t, "release-1.5", 12, 6000, "v2")), "runs": single, "refused": refused,
	}
}

func compared(t *testing.T, a, b round.Side) *round.Comparison {
	t.Helper()
	c, err := round.Compare(a, b, round.CompareOptions{ConfidencePercent: 95})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// side returns a side of n runs whose p99 is about microseconds.
func side(t *testing.T, name string, n int, microseconds float64, image string) round.Side {
	t.Helper()
	g := round.Group{}
	for i := range n {
		f := microseconds * (1 + 0.01*float64(i%5))
		g.Runs = append(g.Runs, benchmark.Run{
			Name: name, Ended: roundtest.Start.Add(time.Duration(i) * time.Minute), Valid: true,
			Metrics: map[v1alpha1.BenchmarkMetric]float64{"LatencyP50": f / 5, "LatencyP99": f, "RequestsPerSecond": 1e8 / f, "ErrorRate": 0},
		})
		spec, err := round.Flatten([]byte(`{"target": {"image": "` + image + `", "port": 8080}, "load": {"closed": {"connections": 25}}}`))
		if err != nil {
			t.Fatal(err)
		}
		g.Specs = append(g.Specs, spec)
		g.Environments = append(g.Environments, map[string]string{"/kernel": "6.1", "/targetImageID": image})
	}
	return round.Side{Name: name, Groups: []round.Group{g}}
}

// sideOf returns a side of one run with that result.
func sideOf(t *testing.T, name string, r *result.Result, image string) round.Side {
	t.Helper()
	s := side(t, name, 1, 1, image)
	total := r.Merged.Latencies.Get(result.Total)
	s.Groups[0].Runs[0].Metrics = map[v1alpha1.BenchmarkMetric]float64{
		"LatencyP50": float64(total.Percentile(50)), "LatencyP99": float64(total.Percentile(99)), "RequestsPerSecond": r.RequestsPerSecond(), "ErrorRate": r.Merged.ErrorPercent(),
	}
	return s
}

// hostileRounds returns the pages of rounds and comparisons with the payload in every text.
func hostileRounds(t *testing.T) map[string]func(io.Writer) error {
	t.Helper()
	pages := map[string]func(io.Writer) error{}
	for name, r := range map[string]*benchmark.Round{"connectors": roundtest.Connectors(t), "sizes": roundtest.Sizes(t), "trend": roundtest.Trending(t), "error": roundtest.Error(t)} {
		for i := range r.Cells {
			poison(&r.Cells[i], payload)
		}
		for i := range r.Runs {
			poison(&r.Runs[i], payload)
		}
		for i := range r.Effects {
			poison(&r.Effects[i], payload)
		}
		for i := range r.Claims {
			poison(&r.Claims[i], payload)
		}
		r.Benchmark, r.Namespace, r.Message = r.Benchmark+payload, r.Namespace+payload, r.Message+payload
		pages["hostile-"+name] = func(w io.Writer) error { return roundpage.Write(w, &round.Report{Round: r, Notes: []string{payload}}) }
	}
	for name, c := range comparisons(t) {
		poison(&c.Baseline, payload)
		poison(&c.Candidate, payload)
		poison(&c.Specs, payload)
		poison(&c.Environments, payload)
		c.Notes, c.Refusal = append(c.Notes, payload), poisoned(c.Refusal)
		pages["hostile-compare-"+name] = func(w io.Writer) error { return roundpage.WriteComparison(w, c) }
	}
	return pages
}

// poisoned appends the payload to a text that isn't empty.
func poisoned(text string) string { return strings.TrimPrefix(text+payload, payload) }

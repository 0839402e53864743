package validity_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// underWay returns a measurement of two clients, of which ten seconds have passed, without findings.
func underWay() *result.Result {
	r := sound()
	r.Clients, r.Merged = nil, result.Measure{}
	for range 2 {
		r.Clients = append(r.Clients, result.Client{Totals: result.Totals{EndedAt: length}})
	}
	r.DurationMicroseconds = length
	r.Merged.Requests = 20_000
	r.Merged.Latencies.Of(result.Total).Record(1000)
	for s := range length / second {
		r.Series = append(r.Series, result.Second{Second: s, Seconds: 1, Requests: 2000, ClientCPU: second})
	}
	return r
}

// TestSoFar checks which findings a measurement has before its end, and that it has none for what only its end shows.
func TestSoFar(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*result.Result)
		want   []string
	}{
		"sound":              {func(*result.Result) {}, nil},
		"no request yet":     {func(r *result.Result) { r.Merged = result.Measure{}; r.Series = nil }, nil},
		"nothing succeeded":  {func(r *result.Result) { r.Merged.Errors[result.ErrorConnect] = 20_000 }, []string{"NothingSucceeded"}},
		"some failed":        {func(r *result.Result) { r.Merged.Errors[result.ErrorConnect] = 1000 }, []string{"ErrorsDominate"}},
		"clamped":            {func(r *result.Result) { r.Merged.Latencies.Of(result.Total).Record(1 << 40) }, []string{"LatencyClamped"}},
		"throttled":          {func(r *result.Result) { r.Server.End.Throttled = second }, []string{"TargetThrottled"}},
		"accept queue":       {func(r *result.Result) { r.NodeUsage = &result.NodeUsage{ListenOverflows: 3} }, []string{"AcceptQueueOverflow"}},
		"clients at a limit": {saturate(4), []string{"ClientSaturated"}},
		"for two seconds":    {saturate(2), nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := underWay()
			test.change(r)
			var got []string
			for _, f := range validity.SoFar(r) {
				got = append(got, f.Reason)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// saturate lets the clients use their CPU limits in the last seconds.
func saturate(seconds int) func(*result.Result) {
	return func(r *result.Result) {
		for i := range seconds {
			r.Series[len(r.Series)-1-i].ClientCPU = 4 * second
		}
	}
}

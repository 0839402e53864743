package validity_test

import (
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

func TestSettingsNotInEffect(t *testing.T) {
	queue := func(limit int64) func(*result.Result) {
		return func(r *result.Result) {
			r.NodeUsage = result.UnknownNode()
			r.NodeUsage.AcceptQueueLimit = limit
		}
	}
	closed := func(closed int64) func(*result.Result) {
		return func(r *result.Result) {
			r.Run.KeepAlive = true
			r.Merged.Requests, r.Merged.ClosedByServer = 100_000, closed
		}
	}
	resumed := func(connections, resumed int64) func(*result.Result) {
		return func(r *result.Result) {
			r.Run.AllConnections, r.Merged.Connections, r.Merged.TLSResumed = 50, connections, resumed
		}
	}
	backlog := validity.Declared{Backlog: validity.Limit{Setting: "acceptCount", Value: 1000}}
	keepAlive := func(n int64) validity.Declared {
		return validity.Declared{KeepAlive: validity.Limit{Setting: "keepAlive.maxRequests", Value: n}}
	}
	resumption := validity.Declared{TLSResumption: true}
	for name, tc := range map[string]struct {
		change   func(*result.Result)
		declared validity.Declared
		metrics  string // empty when nothing is to be found
	}{
		"a queue as declared":          {queue(1000), backlog, ""},
		"a longer one, of a backend":   {queue(4096), backlog, ""},
		"an unknown one":               {queue(result.Unknown), backlog, ""},
		"no metrics":                   {func(*result.Result) {}, backlog, ""},
		"a queue that nobody declared": {queue(50), validity.Declared{Backlog: validity.Limit{Setting: "acceptCount"}}, ""},
		"net.core.somaxconn":           {queue(128), backlog, "acceptCount is 1000, but the accept queue has only 128 places: increase net.core.somaxconn"},

		"closed at the limit":      {closed(999), keepAlive(100), ""},
		"closed a little before":   {closed(1100), keepAlive(100), ""},
		"closed before":            {closed(1200), keepAlive(100), "keepAlive.maxRequests is 100, but the server closed 1200 connections after at most 83 requests"},
		"closed without a limit":   {closed(10), keepAlive(-1), "keepAlive.maxRequests is unlimited, but the server closed 10 connections"},
		"a few, without a limit":   {closed(9), keepAlive(-1), ""},
		"closed at a default":      {closed(1200), keepAlive(0), ""},
		"no keep-alive was wanted": {func(r *result.Result) { closed(1200)(r); r.Run.KeepAlive = false }, keepAlive(100), ""},

		"sessions are resumed":    {resumed(1050, 1000), resumption, ""},
		"half of them are":        {resumed(1050, 500), resumption, ""},
		"none is":                 {resumed(1050, 0), resumption, "sessionResumption is Enabled, but only 0 of 1050 connections resumed"},
		"first connections":       {resumed(59, 0), resumption, ""},
		"none is, nor was wanted": {resumed(1050, 0), validity.Declared{}, ""},
		"none is, of a script":    {func(r *result.Result) { resumed(1050, 0)(r); r.Run.Load = result.LoadScript }, resumption, ""},
		"failed connections":      {func(r *result.Result) { resumed(1050, 0)(r); r.Merged.Errors[result.ErrorTLS] = 995 }, resumption, ""},
	} {
		r := sound()
		tc.change(r)
		got := find(r, "SettingsNotInEffect", tc.declared)
		if (got.Severity == result.Warns) != (tc.metrics != "") || !strings.Contains(got.Message, tc.metrics) {
			t.Errorf("%s: found %s %q, want %q", name, got.Severity, got.Message, tc.metrics)
		}
	}
}

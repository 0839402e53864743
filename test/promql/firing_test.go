package promql

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"
)

// history is the values of series by the minute, from the first minute on. Series are named as in PromQL, without
// the release's labels.
type history map[string]func(minute int) float64

// absent is the value of a series in a minute without a sample.
const absent = -1

func always(value float64) func(int) float64 { return func(int) float64 { return value } }

// rising returns a counter that rises by a step each so many minutes.
func rising(step float64, minutes int) func(int) float64 {
	return func(minute int) float64 { return step * float64(minute/minutes) }
}

// from returns a series that exists from a minute on.
func from(first int, value float64) func(int) float64 {
	return func(minute int) float64 {
		if minute < first {
			return absent
		}
		return value
	}
}

// minutes is the length of a history.
const minutes = 12 * 60

// Querier implements storage.Queryable.
func (h history) Querier(_, _ int64) (storage.Querier, error) { return querier{h}, nil }

type querier struct{ history }

// Select implements storage.Querier.
func (q querier) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	set := &seriesSet{at: -1}
	for _, name := range slices.Sorted(maps.Keys(q.history)) {
		series, err := parser.NewParser(parser.Options{}).ParseMetric(strings.TrimSuffix(name, "}") + `,job="assay-metrics",namespace="assay-system"}`)
		if err != nil {
			return storage.ErrSeriesSet(err)
		}
		matches := func(m *labels.Matcher) bool { return m.Matches(series.Get(m.Name)) }
		if slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !matches(m) }) {
			continue
		}
		samples := chunkenc.NewXORChunk()
		appender, err := samples.Appender()
		if err != nil {
			return storage.ErrSeriesSet(err)
		}
		for minute := range minutes + 1 {
			if value := q.history[name](minute); value != absent {
				appender.Append(0, int64(minute)*60_000, value)
			}
		}
		set.all = append(set.all, &storage.SeriesEntry{
			Lset: series, SampleIteratorFn: func(it chunkenc.Iterator) chunkenc.Iterator { return samples.Iterator(it) },
		})
	}
	return set
}

// LabelValues implements storage.Querier.
func (querier) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

// LabelNames implements storage.Querier.
func (querier) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

// Close implements storage.Querier.
func (querier) Close() error { return nil }

type seriesSet struct {
	all []storage.Series
	at  int
}

// Next implements storage.SeriesSet.
func (s *seriesSet) Next() bool { s.at++; return s.at < len(s.all) }

// At implements storage.SeriesSet.
func (s *seriesSet) At() storage.Series { return s.all[s.at] }

// Err implements storage.SeriesSet.
func (s *seriesSet) Err() error { return nil }

// Warnings implements storage.SeriesSet.
func (s *seriesSet) Warnings() annotations.Annotations { return nil }

var engine = promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, LookbackDelta: 5 * time.Minute})

// firing returns the label sets for which an alert fires at the end of a history: those in the results of its
// expression at every minute of its "for".
func (a *alert) firing(t *testing.T, h history) []string {
	t.Helper()
	wait := time.Duration(0)
	if a.For != "" {
		var err error
		if wait, err = time.ParseDuration(a.For); err != nil {
			t.Fatal(err)
		}
	}
	count, needed := map[string]int{}, 0
	for at := minutes*time.Minute - wait; at <= minutes*time.Minute; at += time.Minute {
		needed++
		query, err := engine.NewInstantQuery(t.Context(), h, nil, a.Expr, time.UnixMilli(at.Milliseconds()))
		if err != nil {
			t.Fatal(err)
		}
		result := query.Exec(t.Context())
		vector, err := result.Vector()
		if err != nil {
			t.Fatal(err)
		}
		for _, sample := range vector {
			count[sample.Metric.String()]++
		}
		query.Close()
	}
	maps.DeleteFunc(count, func(_ string, n int) bool { return n < needed })
	return slices.Sorted(maps.Keys(count))
}

// TestFiring plays for each alert a history at which it must fire, and those near it at which it must not.
func TestFiring(t *testing.T) {
	const leads = `leader_election_master_status{name="assay-manager"`
	runs := func(reason, valid, pod string) string {
		return fmt.Sprintf(`assay_benchmarkruns_finished_total{lane="a",reason=%q,valid=%q,pod=%q}`, reason, valid, pod)
	}
	lane := func(lane, state string) string {
		return fmt.Sprintf(`assay_lane_benchmarkruns{lane=%q,state=%q}`, lane, state)
	}
	for _, test := range []struct {
		alert, name string
		history     history
		want        []string
	}{
		{"AssayManagerDown", "no manager", history{}, []string{"{}"}},
		{"AssayManagerDown", "managers that can't be scraped", history{`up{pod="a"}`: always(0)}, []string{"{}"}},
		{"AssayManagerDown", "one of two", history{`up{pod="a"}`: always(0), `up{pod="b"}`: always(1)}, nil},
		{"AssayManagerDown", "restarted 2 minutes ago", history{`up{pod="a"}`: func(minute int) float64 { return min(1, float64(max(0, minutes-2-minute))) }}, nil},
		{"AssayNotLeading", "two candidates", history{leads + `,pod="a"}`: always(0), leads + `,pod="b"}`: always(0)}, []string{"{}"}},
		{"AssayNotLeading", "one of two leads", history{leads + `,pod="a"}`: always(0), leads + `,pod="b"}`: always(1)}, nil},
		{"AssayNotLeading", "no manager", history{}, nil},
		{"AssayRunsFailing", "a client lost every quarter of an hour", history{runs("ClientLost", "False", "a"): rising(1, 15)}, []string{`{reason="ClientLost"}`}},
		{"AssayRunsFailing", "one an hour", history{runs("ClientLost", "False", "a"): rising(1, 60)}, nil},
		{"AssayRunsFailing", "failures of targets and specs", history{runs("TargetCrashed", "False", "a"): rising(1, 5), runs("InvalidSpec", "False", "a"): rising(1, 5)}, nil},
		{"AssayLaneBlocked", "nobody is active", history{lane("a", "Waiting"): always(3), lane("a", "Active"): always(0), lane("b", "Waiting"): always(0), lane("b", "Active"): always(0)},
			[]string{`{lane="a"}`}},
		{"AssayLaneBlocked", "another lane is active", history{lane("a", "Waiting"): always(3), lane("b", "Active"): always(1)}, []string{`{lane="a"}`}},
		{"AssayLaneBlocked", "runs follow each other", history{lane("a", "Waiting"): always(3), lane("a", "Active"): func(minute int) float64 { return float64(min(1, minute%10)) }}, nil},
		{"AssayLaneBlocked", "nobody waits", history{lane("a", "Waiting"): always(0), lane("a", "Active"): always(0)}, nil},
		{"AssayLaneHeld", "the first admission was the last", history{lane("a", "Waiting"): always(1), `assay_lane_last_admission_timestamp_seconds{lane="a"}`: always(60)}, []string{`{lane="a"}`}},
		{"AssayLaneHeld", "nobody waits", history{lane("a", "Waiting"): always(0), `assay_lane_last_admission_timestamp_seconds{lane="a"}`: always(60)}, nil},
		{"AssayLaneHeld", "an admission 5 hours ago", history{lane("a", "Waiting"): always(1), `assay_lane_last_admission_timestamp_seconds{lane="a"}`: always((minutes - 5*60) * 60)}, nil},
		{"AssayArtifactsNotStored", "the first failure, five minutes ago", history{`assay_artifact_failures_total{kind="BenchmarkRun",reason="Forbidden"}`: from(minutes-5, 1)},
			[]string{`{kind="BenchmarkRun", reason="Forbidden"}`}},
		{"AssayArtifactsNotStored", "one more failure", history{`assay_artifact_failures_total{kind="Benchmark",reason="Rejected"}`: rising(1, minutes-5)}, []string{`{kind="Benchmark", reason="Rejected"}`}},
		{"AssayArtifactsNotStored", "failures hours ago", history{`assay_artifact_failures_total{kind="Benchmark",reason="Rejected"}`: from(60, 3)}, nil},
		{"AssayReconcileErrors", "a run that fails every other second", history{`controller_runtime_reconcile_errors_total{controller="benchmarkrun"}`: rising(30, 1)}, []string{`{controller="benchmarkrun"}`}},
		{"AssayReconcileErrors", "now and then", history{`controller_runtime_reconcile_errors_total{controller="benchmarkrun"}`: rising(1, 1)}, nil},
		{"AssayResultsInvalid", "two of three", history{runs("Completed", "False", "a"): rising(2, 60), runs("Completed", "True", "a"): rising(1, 60)}, []string{`{lane="a"}`}},
		{"AssayResultsInvalid", "one of three", history{runs("Completed", "False", "a"): rising(1, 60), runs("Completed", "True", "a"): rising(2, 60)}, nil},
		{"AssayResultsInvalid", "all two", history{runs("Completed", "False", "a"): rising(1, 200)}, nil},
		{"AssayResultsInvalid", "runs without a result", history{runs("TargetCrashed", "False", "a"): rising(2, 10), runs("Completed", "True", "a"): rising(1, 60)}, nil},
		{"AssaySessionsRefused", "a stranger's token each minute", history{`assay_sessions_ended_total{code="Unauthenticated"}`: rising(1, 1)}, []string{`{code="Unauthenticated"}`}},
		{"AssaySessionsRefused", "a few", history{`assay_sessions_ended_total{code="Unauthenticated"}`: rising(1, 3)}, nil},
		{"AssaySessionsRefused", "pods that end", history{`assay_sessions_ended_total{code="OK"}`: rising(100, 1), `assay_sessions_ended_total{code="Canceled"}`: rising(100, 1)}, nil},
	} {
		t.Run(test.alert+" "+test.name, func(t *testing.T) {
			all := alerts(t)
			i := slices.IndexFunc(all, func(a alert) bool { return a.Alert == test.alert })
			if i < 0 {
				t.Fatal("there is no such alert")
			}
			if got := all[i].firing(t, test.history); !slices.Equal(got, test.want) {
				t.Errorf("it fires for %v, want %v", got, test.want)
			}
		})
	}
}

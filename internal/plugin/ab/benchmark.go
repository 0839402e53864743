package ab

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/plugin/check"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

// question holds the comparison of B with A that the Benchmark decides.
type question struct {
	metric v1alpha1.BenchmarkMetric
	// better asks whether B is better by at least by percent, in place of whether it isn't worse by more than tolerance percent.
	better        bool
	tolerance, by int32
	// min and max are the bounds of the number of blocks.
	min, max int32
}

// Throughput and P99 are the metrics that are compared unless others are named.
const (
	Throughput = v1alpha1.BenchmarkMetric(v1alpha1.MetricRequestsPerSecond)
	P99        = v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyP99)
)

// checkLoad returns an error if a run's load can't alternate because of what most manifests have.
func checkLoad(run map[string]any) error {
	for _, load := range []string{"closed", "open"} {
		if _, has, _ := unstructured.NestedFieldNoCopy(run, "spec", "load", load, "requestCount"); has {
			return exit.Errorf(exit.Unknown, "spec.load.%s.requestCount must not be set: the load alternates between A and B by time. Set durationSeconds, such as 30", load)
		}
	}
	return nil
}

// build returns the Benchmark of two variants of a run. It has no name, but a prefix for one, unless name is set.
func build(run map[string]any, of [2]variant, q *question, name string) (*unstructured.Unstructured, error) {
	if _, open, _ := unstructured.NestedFieldNoCopy(run, "spec", "load", "open"); q.metric == "" {
		q.metric = Throughput
		if open {
			q.metric = P99
		}
	}
	metrics := []any{}
	for _, m := range []v1alpha1.BenchmarkMetric{Throughput, P99} {
		if m != q.metric || q.better {
			metrics = append(metrics, reported(m))
		}
	}
	if !q.better {
		metrics = append([]any{q.of("name", map[string]any{"tolerancePercent": int64(q.tolerance)})}, metrics...)
	}
	b := alternating(run, of, map[string]any{"min": int64(q.min), "max": int64(q.max)}, metrics)
	if q.better {
		is := v1alpha1.ClaimLower
		if benchmark.HigherIsBetter(q.metric) {
			is = v1alpha1.ClaimHigher
		}
		b.Object["spec"].(map[string]any)["claims"] = []any{q.of("metric", map[string]any{
			"name": "b-is-better", "cell": map[string]any{axis: "b"}, "than": map[string]any{axis: "a"}, "is": string(is), "byAtLeastPercent": int64(q.by),
		})}
	}
	b.SetName(name)
	if name == "" {
		b.SetGenerateName(prefix(run))
	}
	return b, check.Benchmark(b.Object)
}

// of returns a claim or a gate metric with the metric, whose name is in the given field.
func (q *question) of(field string, of map[string]any) map[string]any {
	metric, request := benchmark.SplitMetric(q.metric)
	of[field] = string(metric)
	if request != "" {
		of["request"] = request
	}
	return of
}

// Equal returns a Benchmark of two equal variants of a run, of which nothing is asked.
func Equal(run map[string]any, name string, blocks int32) (*unstructured.Unstructured, error) {
	if err := checkLoad(run); err != nil {
		return nil, err
	}
	b := alternating(run, [2]variant{}, map[string]any{"min": int64(blocks)}, []any{reported(Throughput), reported(P99)})
	b.SetName(name)
	return b, check.Benchmark(b.Object)
}

func reported(metric v1alpha1.BenchmarkMetric) map[string]any {
	return map[string]any{"name": string(metric), "role": string(v1alpha1.RoleReport)}
}

// alternating returns a Benchmark without a name that compares metrics of B with those of A in alternating blocks.
func alternating(run map[string]any, of [2]variant, repetitions map[string]any, metrics []any) *unstructured.Unstructured {
	template := map[string]any{"spec": run["spec"]}
	metadata := map[string]any{}
	for _, key := range []string{"labels", "annotations"} {
		if entries, _, _ := unstructured.NestedMap(run, "metadata", key); len(entries) > 0 {
			delete(entries, "kubectl.kubernetes.io/last-applied-configuration")
			metadata[key] = entries
		}
	}
	if len(metadata) > 0 {
		template["metadata"] = metadata
	}
	repetitions["order"] = string(v1alpha1.OrderAlternating)
	b := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"template":    template,
		"axes":        []any{map[string]any{"name": axis, "options": []any{of[0].option("a"), of[1].option("b")}}},
		"repetitions": repetitions,
		"comparison":  map[string]any{"baseline": map[string]any{"cell": map[string]any{axis: "a"}}, "metrics": metrics},
	}}}
	b.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Benchmark"))
	return b
}

// maxPrefix is the largest length of a prefix that leaves room for the characters that the API server adds to it.
const maxPrefix = 29

// prefix returns the beginning of the Benchmark's name: that of the run, as far as a Benchmark can have it.
func prefix(run map[string]any) string {
	const suffix = "-ab-"
	o := &unstructured.Unstructured{Object: run}
	name := strings.ReplaceAll(cmp.Or(o.GetName(), strings.TrimRight(o.GetGenerateName(), "-.")), ".", "-")
	return strings.TrimRight(name[:min(len(name), maxPrefix-len(suffix))], "-") + suffix
}

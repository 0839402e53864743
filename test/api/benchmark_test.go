package api

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// benchmark is a Benchmark that the API server takes, with something in every place that the cases change.
const benchmark = `
apiVersion: assay.dev/v1alpha1
kind: Benchmark
metadata: {generateName: connectors-}
spec:
  template:
    metadata: {labels: {team: a}}
    spec:
      target:
        image: tomcat:9.0
        server: {tomcat: {}}
      load: {requests: [{path: /}], closed: {connections: 25, durationSeconds: 10}}
  axes:
  - {name: connections, path: /load/closed/connections, values: [25, 100]}
  - name: connector
    options:
    - {name: nio, set: [{path: /target/server/tomcat/connector/protocol, value: NIO}]}
    - {name: nginx, remove: [/target/server/tomcat], set: [{path: /target/server/nginx, value: {}}, {path: /target/image, value: "nginx:1"}]}
  exclude: [{connector: nginx, connections: "25"}]
  repetitions: {min: 10, max: 20, order: RandomizedBlocks, invalidRuns: {replace: 3}}
  confidencePercent: 95
  onInconclusive: Fail
  claims:
  - {name: apr-faster, metric: LatencyP99, request: small, cell: {connections: "25", connector: nio}, than: {connections: "100", connector: nio}, is: Lower, byAtLeastPercent: 10}
  - {name: same-at-1, metric: LatencyP50, level: 1, cell: {connections: "100", connector: nginx}, than: {connections: "100", connector: nio}, is: Same, withinPercent: 10}
  comparison:
    baseline: {cell: {connector: nio}}
    measure: Rerun
    metrics: [{name: LatencyP99, better: Lower, tolerancePercent: 5, role: Gate}, {name: TargetCPUPerRequest, role: Report}]
  capacity: {path: /load/closed/connections, from: 500, max: 50000, precisionPercent: 5, trialSeconds: 30}
  rerun: OnChange
  schedule: {cron: "0 2 * * *", timeZone: Europe/Berlin, startingDeadlineSeconds: 3600}
  suspend: false
  history: {passed: 3, failed: 3}
`

// acceptBenchmark creates a Benchmark from the document with changes, and returns it as it was stored.
func acceptBenchmark(t *testing.T, changes string) (*v1alpha1.Benchmark, error) {
	t.Helper()
	document := &unstructured.Unstructured{Object: parse(t, benchmark, changes).Object}
	document.SetNamespace(newNamespace(t))
	if err := apiClient.Create(t.Context(), document); err != nil {
		return nil, err
	}
	stored := &v1alpha1.Benchmark{}
	if err := apiClient.Get(t.Context(), client.ObjectKeyFromObject(document), stored); err != nil {
		t.Fatal(err)
	}
	return stored, nil
}

func TestBenchmarkIsAccepted(t *testing.T) {
	b, err := acceptBenchmark(t, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := *b.Status.ObservedGeneration; got != -1 {
		t.Errorf("observedGeneration %d", got)
	}
	if _, err := acceptBenchmark(t, `{spec: {template: {spec: {load: {requests: [{name: a, path: /}]}}},
		comparison: {metrics: [{name: LatencyP99}, {name: LatencyP99, request: a}, {name: LatencyP99, request: b, role: Report}, {name: ErrorRate, request: a, role: Report}]}}}`); err != nil {
		t.Error(err)
	}
	if _, err := acceptBenchmark(t, `{spec: {claims: [{name: a, metric: RequestsPerSecond, cell: {connector: nio}, than: {connector: nginx}, is: Higher, byAtLeastPercent: 1000},
		{name: b, metric: PageTimeP99, level: 20, cell: {connector: nio}, than: {connector: nginx}, is: Lower, byAtLeastPercent: 99}]}}`); err != nil {
		t.Error(err)
	}
	smallest, err := acceptBenchmark(t, `{spec: {claims: null, axes: null, exclude: null, repetitions: {max: null, min: null, invalidRuns: null, order: null}, comparison: null, capacity: null, schedule: null, suspend: null, rerun: null, history: null}}`)
	if err != nil {
		t.Fatal(err)
	}
	r := smallest.Spec.Repetitions
	if *r.Min != 10 || r.Order != v1alpha1.OrderRandomizedBlocks || *r.InvalidRuns.Replace != 3 || smallest.Spec.Rerun != v1alpha1.RerunOnChange ||
		*smallest.Spec.ConfidencePercent != 95 || *smallest.Spec.History.Passed != 3 || *smallest.Spec.History.Failed != 3 {
		t.Errorf("defaults: %+v %+v", r, smallest.Spec)
	}
}

func TestBenchmarkIsRefused(t *testing.T) {
	for changes, want := range map[string]string{
		`{metadata: {name: a2345678901234567890123456789012345}}`:                           "at most 34 characters",
		`{spec: {template: {spec: {clients: {replicas: 0}}}}}`:                              "spec.template.spec.clients.replicas",
		`{spec: {axes: [{name: a, path: load/x, values: [1]}]}}`:                            "spec.axes[0].path",
		`{spec: {axes: [{name: a, values: [1]}]}}`:                                          "exactly one of the fields in [path options] must be set",
		`{spec: {axes: [{name: a, path: /x, options: [{name: b}]}]}}`:                       "exactly one of the fields in [path options] must be set",
		`{spec: {axes: [{name: a, path: /x, values: [1], options: [{name: b}]}]}}`:          "exactly one of the fields in [path options] must be set",
		`{spec: {repetitions: {max: 5}}}`:                                                   "must be at least min",
		`{spec: {claims: null, comparison: null}}`:                                          "max needs claims or gate metrics",
		`{spec: {claims: null, comparison: {metrics: [{name: LatencyP99, role: Report}]}}}`: "max needs claims or gate metrics",
		`{spec: {repetitions: {min: 5, max: null}}}`:                                        "need 6 blocks",
		`{spec: {repetitions: {min: 6, max: null}}}`:                                        "need 7 blocks",
		`{spec: {repetitions: {min: 7, max: 7}, comparison: {metrics: [{name: LatencyP50}, {name: LatencyP90}, {name: LatencyP99}, {name: ErrorRate}]}}}`: "need 8 blocks",
		`{spec: {repetitions: {min: 7, max: 9}, confidencePercent: 99}}`:                                                                                  "need 10 blocks",
		`{spec: {claims: []}}`:                                  "spec.claims",
		`{spec: {axes: null, exclude: null, comparison: null}}`: "claims need axes: a claim compares two cells",
		`{spec: {repetitions: null, comparison: null}}`:         "must be set when claims are set beside capacity",
		`{spec: {claims: [{name: A, metric: LatencyP99, cell: {connector: nio}, than: {connector: nginx}, is: Lower}]}}`:                          "spec.claims[0].name",
		`{spec: {claims: [{name: a, metric: Speed, cell: {connector: nio}, than: {connector: nginx}, is: Lower}]}}`:                               "Unsupported value: \"Speed\"",
		`{spec: {claims: [{name: a, metric: LatencyP99, cell: {connector: nio}, than: {connector: nginx}, is: Equal}]}}`:                          "Unsupported value: \"Equal\"",
		`{spec: {claims: [{name: a, metric: LatencyP99, cell: {connector: nio}, than: {connector: nio}, is: Lower}]}}`:                            "must be another cell",
		`{spec: {claims: [{name: a, metric: PageTimeP99, request: b, cell: {connector: nio}, than: {connector: nginx}, is: Lower}]}}`:             "spec.claims[0].request: Invalid value: a request has latencies",
		`{spec: {claims: [{name: a, metric: LatencyP99, request: b, level: 1, cell: {connector: nio}, than: {connector: nginx}, is: Lower}]}}`:    "level and request must not both be set",
		`{spec: {claims: [{name: a, metric: LatencyP99, level: 21, cell: {connector: nio}, than: {connector: nginx}, is: Lower}]}}`:               "spec.claims[0].level",
		`{spec: {claims: [{name: a, metric: BreakingPointCPU, level: 1, cell: {connector: nio}, than: {connector: nginx}, is: Lower}]}}`:          "a level has neither breaking points nor CPU times per request",
		`{spec: {claims: [{name: a, metric: LatencyP99, cell: {connector: nio}, than: {connector: nginx}, is: Same, byAtLeastPercent: 5}]}}`:      "byAtLeastPercent belongs to Lower and Higher",
		`{spec: {claims: [{name: a, metric: LatencyP99, cell: {connector: nio}, than: {connector: nginx}, is: Higher, withinPercent: 5}]}}`:       "withinPercent belongs to Same",
		`{spec: {claims: [{name: a, metric: LatencyP99, cell: {connector: nio}, than: {connector: nginx}, is: Lower, byAtLeastPercent: 100}]}}`:   "must be below 100 with Lower",
		`{spec: {claims: [{name: a, metric: LatencyP99, cell: {connector: nio}, than: {connector: nginx}, is: Higher, byAtLeastPercent: 1001}]}}`: "spec.claims[0].byAtLeastPercent",
		`{spec: {claims: [{name: a, metric: LatencyP99, cell: {connector: nio}, than: {connector: nginx}, is: Same, withinPercent: 100}]}}`:       "spec.claims[0].withinPercent",
		`{spec: {claims: [{name: a, metric: LatencyP99, cell: {connector: nio}, than: {}, is: Same}]}}`:                                           "spec.claims[0].than",
		`{spec: {claims: null, repetitions: null}}`:                                                                    "must be set when comparison is set beside capacity",
		`{spec: {claims: null, axes: null, exclude: null}}`:                                                            "comparison.baseline.cell needs axes",
		`{spec: {comparison: {baseline: {lastPassed: {}}}}}`:                                                           "exactly one of the fields in [cell lastPassed runs benchmark] must be set",
		`{spec: {comparison: {baseline: {cell: null, lastPassed: {}}}}}`:                                               "must be Rerun with baseline.cell",
		`{spec: {comparison: {metrics: [{name: Speed}]}}}`:                                                             "Unsupported value: \"Speed\"",
		`{spec: {comparison: {metrics: [{name: LatencyP99, request: a}, {name: LatencyP99, request: a}]}}}`:            "must not have the same metric of the same request twice",
		`{spec: {comparison: {metrics: [{name: LatencyP99}, {name: LatencyP99, role: Report}]}}}`:                      "must not have the same metric of the same request twice",
		`{spec: {comparison: {metrics: [{name: TargetPeakMemory, request: a}]}}}`:                                      "spec.comparison.metrics[0].request: Invalid value: a request has latencies, ErrorRate, RequestsPerSecond and BytesPerSecond only: omit request",
		`{spec: {comparison: {metrics: [{name: LatencyP99}, {name: LatencyP50, better: Lower, role: Report}]}}}`:       "spec.comparison.metrics[1].better: Invalid value: better belongs to gate metrics",
		`{spec: {comparison: {metrics: [{name: LatencyP99}, {name: LatencyP50, tolerancePercent: 5, role: Report}]}}}`: "spec.comparison.metrics[1].tolerancePercent: Invalid value: tolerancePercent belongs to gate metrics",
		`{spec: {comparison: {onInconclusive: Fail}}}`:                                                                 "unknown field \"spec.comparison.onInconclusive\"",
		`{spec: {capacity: {from: 50000}}}`:                                                                            "must be greater than from",
		`{spec: {schedule: {cron: x}}}`:                                                                                "spec.schedule.cron",
		`{spec: {repetitions: {order: Alternate}}}`:                                                                    "spec.repetitions.order",
		`{spec: {template: {spec: {alternation: {block: a, variants: 2, variant: 0}}}}}`:                               "must not be set: use repetitions.order Alternating",
		`{spec: {unknown: 1}}`: "unknown field \"spec.unknown\"",
	} {
		if _, err := acceptBenchmark(t, changes); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", changes, err, want)
		}
	}
}

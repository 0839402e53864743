package api

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// quoted is text as YAML takes it in double quotes.
func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always encodes
	}
	return string(data)
}

// A goodRun is one that the API server takes: a patch merged into a document.
type goodRun struct{ name, document, patch string }

func TestGoodRunsAreTaken(t *testing.T) {
	namespace := newNamespace(t)
	cases := []goodRun{
		{"name as long as it may be", base, `metadata: {name: ` + longName[:52] + `}`},
		{"CPU as an integer", base, `spec: {target: {resources: {cpu: 1, cpuPinning: Required}}}`},
		{"CPU as text", base, `spec: {target: {resources: {cpu: "1", cpuPinning: Required}}}`},
		{"whole CPUs in thousandths", base, `spec: {target: {resources: {cpu: 2000m, cpuPinning: Required}}}`},
		{"whole CPUs as a fraction", base, `spec: {target: {resources: {cpu: "2.0", cpuPinning: Required}}}`},
		{"whole CPUs in micros", base, `spec: {target: {resources: {cpu: 7000000u, cpuPinning: Required}}}`},
		{"part of a CPU", base, `spec: {target: {resources: {cpu: 500m}}}`},
		{"part of a CPU as a fraction", base, `spec: {target: {resources: {cpu: "0.5"}}}`},
		{"memory as an integer", base, `spec: {target: {resources: {memory: 1073741824}}}`},
		{"one request per connection", base, `spec: {load: {closed: {connections: 25, requestCount: 25}, warmup: {requestCount: 25}}}`},
		{"connections for a duration", base, `spec: {load: {closed: {requestCount: null, durationSeconds: 60}}}`},
		{"R4's load", base, `spec: {load: {closed: {connections: 149, requestCount: 100000}}}`},
		{"R3's load", base, `spec: {load: {closed: {connections: 10000, requestCount: 20000}}}`},
		{"R2's sudden load", base, `spec: {load: {closed: {connections: 200, rampSeconds: 0}}}`},
		{"R5's load", base, `spec: {activeDeadlineSeconds: 2000, clients: {replicas: 50}, load: {loadIsPer: Run, closed: null, stages: {thinkTime: {minMilliseconds: 500}, levels: [
			{connections: 200, rampSeconds: 60, holdSeconds: 600}, {connections: 400, rampSeconds: 60, holdSeconds: 600}, {connections: 1000, rampSeconds: 60, holdSeconds: 600}]}}}`},
		{"users who load pages", base, pageLoad(`{path: /, elements: [/a, "/b?c=%20d"]}, {path: /f, method: POST, body: {text: a}, weight: 2}`, `closed: {connections: null, users: 25, requestCount: 25}, warmup: {requestCount: 25}`, ``)},
		{"levels of users", base, pageLoad(`{path: /}`, `pages: {connectionsPerUser: 20}, closed: null, stages: {thinkTime: {minMilliseconds: 500}, levels: [{users: 1, holdSeconds: 1}, {users: 1000, rampSeconds: 1, holdSeconds: 1}]}`, ``)},
		{"a rate", base, `spec: {load: {closed: null, open: {requestsPerSecond: 1000, requestCount: 5}}}`},
		{"a rate below one", base, `spec: {load: {closed: null, open: {requestsPerSecond: 0.5, requestCount: 5, ramp: {from: 0.125, seconds: 2}}}}`},
		{"a rate that rises from nothing", base, `spec: {load: {closed: null, open: {requestsPerSecond: 1000, durationSeconds: 10, ramp: {from: 0, seconds: 10}}}}`},
		{"levels of rates", base, `spec: {load: {closed: null, stages: {interArrivalTimes: Poisson, levels: [{requestsPerSecond: 10, holdSeconds: 1}, {requestsPerSecond: 5, holdSeconds: 1}]}}}`},
		{"levels up to any breaking point", base, `spec: {load: {closed: null, stages: {levels: [{connections: 1, holdSeconds: 1}], stopAt: [{metric: TargetCPU, above: 99%}, {metric: FailedRequests, above: "0"}, {metric: ErrorRate, above: 99.9%}, {metric: LatencyP99, above: 0.001ms}, {metric: ThroughputGain, below: 19.5%}]}}}`},
		{"levels up to a breaking point", base, `spec: {load: {closed: null, stages: {levels: [{connections: 1, holdSeconds: 1}], stopAt: [{metric: LatencyP99, above: 10s}]}}}`},
		{"load that just ends before the deadline", base, `spec: {load: {closed: {requestCount: null, durationSeconds: 599}}}`},
		{"think times that just end before the deadline", base, `spec: {load: {closed: {connections: 1, requestCount: 600, thinkTime: {minMilliseconds: 1000}}, warmup: null}}`},
		{"ramp as long as the requests last", base, `spec: {load: {closed: null, open: {requestsPerSecond: 10, requestCount: 50, ramp: {from: 0, seconds: 10}}}}`},
		{"warm-up until steady", base, steady("windows: 3")},
		{"a block of a closed load", base, `spec: {alternation: {block: a-r1-c000-b00, variants: 4, variant: 3}, load: {warmup: {requestCount: null, durationSeconds: 50}, closed: {requestCount: null, durationSeconds: 99}}}`},
		{"a block of an open load, warmed up until steady", minimal, `spec: {alternation: {block: a, variants: 2, variant: 0}, load: {closed: null, warmup: {steady: {}}, open: {requestsPerSecond: 10, durationSeconds: 10}}}`},
		{"warm-up until steady with the shortest limit", base, steady("windowSeconds: 20, windows: 4, timeoutSeconds: 80")},
		{"path with everything that a URL may have", base, `spec: {load: {requests: [{path: "/A-z0._~!$&()*+,;=:@%C3%9F/?a[]=b"}]}}`},
		{"findings that are expected", base, `spec: {acceptedFindings: [NoWarmup, TargetCPUShared]}`},
		{"latency in seconds", base, `spec: {thresholds: [{metric: LatencyMax, below: 1.5s}]}`},
		{"latency in microseconds", base, `spec: {thresholds: [{metric: LatencyP50, below: 900us}]}`},
		{"thresholds of requests", base, named(`[{metric: LatencyP99, below: 50ms}, {metric: LatencyP99, request: cart, below: 50ms}, {metric: ErrorRate, request: cart, below: 1%}]`)},
		{"every request may fail", base, `spec: {thresholds: [{metric: ErrorRate, above: 0%}]}`},
		{"latencies between two bounds", base, `spec: {thresholds: [{metric: LatencyP99, below: 0.05s, above: 900us}]}`},
		{"rates between two bounds", base, `spec: {thresholds: [{metric: RequestsPerSecond, below: "1000.5", above: "1000"}, {metric: ErrorRate, below: 2%, above: 1%}]}`},
		{"error rate of 100 %", base, `spec: {thresholds: [{metric: ErrorRate, below: 100%}]}`},
		{"time to live of nothing", base, `spec: {ttlSecondsAfterFinished: 0}`},
		{"suspended", base, `spec: {suspend: true}`},
	}
	for name, request := range goodRequests {
		cases = append(cases, goodRun{name, base, `spec: {load: {requests: [` + request + `]}}`})
	}
	for name, document := range examples {
		cases = append(cases, goodRun{name, document, `{}`})
	}
	for name, patch := range leasts {
		cases = append(cases, goodRun{"the least of " + name, minimal, patch})
	}
	for _, c := range slices.Concat(cases, goodTargets, http2Accepted) {
		t.Run(c.name, func(t *testing.T) {
			object := parse(t, c.document, c.patch)
			run, sayable := typed(t, object)
			if err := dryCreate(t.Context(), object, namespace); err != nil {
				t.Error(err)
			}
			if !sayable {
				t.Fatal("the Go types can't say it")
			}
			if err := dryCreate(t.Context(), run, namespace); err != nil {
				t.Errorf("from the Go types: %v", err)
			}
		})
	}
}

// A default is what the API server fills in: in a run with the least in it, and
// where the patch gives a part of something.
func TestDefaults(t *testing.T) {
	namespace := newNamespace(t)
	for _, c := range []struct {
		name, patch, want string
	}{
		{"Tomcat", `{}`, `
target:
  image: localhost/assay-test/tomcat:9.0
  imagePullPolicy: IfNotPresent
  resources: {}
  server: {tomcat: {}}
  readiness: {timeoutSeconds: 300}
  podSecurity: Restricted
clients:
  placement: Prefer
  replicas: 1
  resources: {}
load:
  requests: [{path: /}]
  order: Random
  loadIsPer: Client
  client: {keepAlive: Enabled, protocol: HTTP1, timeoutSeconds: 30, cookies: Disabled}
  closed: {connections: 1, requestCount: 1}
lane: default
activeDeadlineSeconds: 3600
podRetention: Never
`},
		// What a part of resources or of a server doesn't set is the operator's to fill
		// in: both occur in lists, where a default would make every apply a change.
		{"parts of things", `
spec:
  target:
    resources: {memory: 2Gi}
    server: {tomcat: {connector: {maxThreads: 8}}}
    readiness: {path: /ready}
  clients: {replicas: 3, resources: {cpu: 300m}}
  load: {client: {timeoutSeconds: 2}}
`, `
target:
  image: localhost/assay-test/tomcat:9.0
  imagePullPolicy: IfNotPresent
  resources: {memory: 2Gi}
  server: {tomcat: {connector: {maxThreads: 8}}}
  readiness: {path: /ready, timeoutSeconds: 300}
  podSecurity: Restricted
clients:
  placement: Prefer
  replicas: 3
  resources: {cpu: 300m}
load:
  requests: [{path: /}]
  order: Random
  loadIsPer: Client
  client: {keepAlive: Enabled, protocol: HTTP1, timeoutSeconds: 2, cookies: Disabled}
  closed: {connections: 1, requestCount: 1}
lane: default
activeDeadlineSeconds: 3600
podRetention: Never
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			object := parse(t, minimal, c.patch)
			run, _ := typed(t, object)
			if err := dryCreate(t.Context(), object, namespace); err != nil {
				t.Fatal(err)
			}
			var want map[string]any
			if err := yaml.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(normal(t, want), normal(t, object.Object["spec"])); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}

			var wantSpec v1alpha1.BenchmarkRunSpec
			if err := yaml.UnmarshalStrict([]byte(c.want), &wantSpec); err != nil {
				t.Fatal(err)
			}
			if err := dryCreate(t.Context(), run, namespace); err != nil {
				t.Fatalf("from the Go types: %v", err)
			}
			if !apiequality.Semantic.DeepEqual(wantSpec, run.Spec) {
				t.Errorf("from the Go types, -want +got:\n%s", cmp.Diff(wantSpec, run.Spec))
			}
		})
	}
}

// normal is a value as JSON has it, so that numbers compare by their value.
func normal(t *testing.T, value any) any {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

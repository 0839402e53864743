package check

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/internal/plugin/exit"
)

// check runs the command.
func check(t *testing.T, stdin string, args ...string) (output string, code int) {
	t.Helper()
	var out bytes.Buffer
	cmd := NewCommand(genericclioptions.NewConfigFlags(false), genericiooptions.IOStreams{In: strings.NewReader(stdin), Out: &out, ErrOut: &out})
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	code = exit.Report(&out, cmd.ExecuteContext(t.Context()))
	return out.String(), code
}

// runWith returns a run with a change of its spec, a JSON merge patch as YAML.
func runWith(t *testing.T, change string) string {
	t.Helper()
	const run = `{"apiVersion": "assay.dev/v1alpha1", "kind": "BenchmarkRun", "metadata": {"name": "a"}, "spec": {
		"target": {"image": "x", "server": {"generic": {"port": 80}}}, "load": {"requests": [{"path": "/"}], "closed": {"connections": 5, "durationSeconds": 9}}}}`
	patch, err := yaml.YAMLToJSON([]byte(change))
	if err != nil {
		t.Fatal(err)
	}
	merged, err := jsonpatch.MergePatch([]byte(run), []byte(`{"spec": `+string(patch)+`}`))
	if err != nil {
		t.Fatal(err)
	}
	return string(merged)
}

// TestMistakes has what people write who know other load generators, servers' own files, or an older manifest.
func TestMistakes(t *testing.T) {
	const tomcat, jetty, nginx = "target: {server: {generic: null, tomcat: ", "target: {server: {generic: null, jetty: ", "target: {server: {generic: null, nginx: "
	for _, test := range []struct{ change, want string }{
		// k6, wrk, hey, vegeta, JMeter
		{"load: {vus: 50}", "spec.load.vus: unknown field; use spec.load.closed.connections: 50"},
		{"load: {closed: {vus: 50}}", "spec.load.closed.vus: unknown field; use connections: 50"},
		{"load: {duration: 60s}", "use spec.load.closed.durationSeconds: 60"},
		{"load: {closed: {duration: 1m30s}}", "spec.load.closed.duration: unknown field; use durationSeconds: 90"},
		{"duration: 60s", "spec.duration: unknown field; use spec.load.closed.durationSeconds: 60"},
		{"load: {closed: null, open: {rate: 100, duration: 5s}}", "spec.load.open.rate: unknown field; use requestsPerSecond: 100"},
		{"load: {rps: 100}", "spec.load.rps: unknown field; use spec.load.open.requestsPerSecond: 100 or spec.load.stages.levels[].requestsPerSecond: 100"},
		{"load: {closed: null, open: {requestsPerSecond: 9, preAllocatedVUs: 7, durationSeconds: 3}}", "use maxConnections: 7"},
		{"load: {closed: {iterations: 100}}", "spec.load.closed.iterations: unknown field; use requestCount: 100"},
		{"load: {closed: {rampUp: 10s}}", "use rampSeconds: 10"},
		{"load: {closed: null, stages: [{duration: 30s, target: 20}]}", "spec.load.stages: must be of type object, not \"array\"; use stages: {levels: […]}"},
		{"load: {closed: null, stages: {levels: [{vus: 5, duration: 30s}]}}", "spec.load.stages.levels[0].vus: unknown field; use connections: 5"},
		{"load: {closed: null, stages: {levels: [{vus: 5, duration: 30s}]}}", "spec.load.stages.levels[0].duration: unknown field; use holdSeconds: 30"},
		{"load: {closed: {pacing: 1s}}", "use spec.load.closed.thinkTime.minMilliseconds: 1000"},
		{"load: {client: {http2: true}}", "use protocol: HTTP2"},
		{"load: {client: {timeout: 5s}}", "use timeoutSeconds: 5"},
		{"thresholds: [{metric: p99, below: 50ms}]", "use metric: LatencyP99"},
		{"thresholds: [{metric: LatencyP99, max: 50ms}]", "spec.thresholds[0].max: unknown field; use below: 50ms"},
		{"slo: [{metric: LatencyP99, below: 50ms}]", "spec.slo: unknown field; use thresholds"},
		{"target: {insecureSkipVerify: true}", "use spec.target.tls.verification: None"},
		// requests
		{"load: {requests: [{url: /a}]}", "spec.load.requests[0].url: unknown field; use path: /a"},
		{"load: {requests: [{path: /, headers: {Accept: text/html}}]}", "use a list: headers: [{name: Accept, value: text/html}]"},
		{"load: {requests: [{path: /, body: hello}]}", "use body: {text: hello}"},
		{"load: {requests: [{path: /, expectedStatus: 200}]}", "use spec.load.requests[0].expect.statuses: [200]"},
		{"load: {requests: [{path: /, method: get}]}", "use method: GET"},
		{"load: {requests: [{path: /, body: {sizeBytes: 10KB}}]}", "use sizeBytes: 10000"},
		// values of another type
		{`load: {closed: {connections: "50"}}`, "spec.load.closed.connections: must be of type integer, not \"string\"; use connections: 50"},
		{"load: {closed: {durationSeconds: 60s}}", "use durationSeconds: 60"},
		{"load: {warmup: 30s}", "use warmup: {durationSeconds: 30}"},
		{"load: {client: {keepAlive: on}}", "spec.load.client.keepAlive: must be of type string, not \"boolean\"; use keepAlive: Enabled"},
		// pods
		{"env: [{name: A, value: b}]", ".env"},
		{"target: {server: {generic: {env: {A: b}}}}", "spec.target.server.generic.env: unknown field; use spec.target."},
		{"target: {environment: {A: b}}", "spec.target.environment: unknown field; use "},
		{"nodeSelector: {a: b}", "nodeSelector"},
		{"target: {resources: {limits: {cpu: 1}}}", "spec.target.resources.limits: unknown field; put cpu and memory into resources itself"},
		{"target: {imagePullSecrets: [regcred]}", "use - {name: regcred}"},
		{"target: {replicas: 2}", "spec.target.replicas: unknown field; use spec.clients.replicas: 2"},
		{"image: x", "spec.image: unknown field; use spec.target.image: x"},
		{"timeout: 10m", "spec.timeout: unknown field; use activeDeadlineSeconds: 600"},
		{"ttl: 1h", "use ttlSecondsAfterFinished: 3600"},
		// servers
		{jetty + "{virtualThreads: true}}}", "use spec.target.server.jetty.threads.type: Virtual"},
		{tomcat + "{connector: {virtualThreads: true}}}}", "use executor: VirtualThreads"},
		{tomcat + "{virtualThreads: true}}}", "use spec.target.server.tomcat.connector.executor: VirtualThreads"},
		{tomcat + "{connector: {threads: 100}}}}", "use maxThreads: 100"},
		{tomcat + "{maxThreads: 100}}}", "use spec.target.server.tomcat.connector.maxThreads: 100"},
		{tomcat + "{connector: {protocol: nio}}}}", "use protocol: NIO"},
		{tomcat + "{javaOpts: -Xmx1g}}}", "use jvmOptions: [-Xmx1g]"},
		{jetty + "{connector: {backlog: 5}}}}", "use acceptQueueSize: 5"},
		{jetty + "{maxThreads: 5}}}", "use spec.target.server.jetty.threads.max: 5"},
		{nginx + "{worker_processes: 4}}}", "use workerProcesses: 4"},
		{nginx + "{keepalive_timeout: 65}}}", "use spec.target.server.nginx.keepAlive.timeoutMilliseconds (in milliseconds)"},
		{nginx + "{configuration: mine}}}", "use configuration: {configMapName: mine}"},
		// misspellings, and nothing like it
		{"load: {closed: {conections: 5}}", "use connections: 5"},
		{"load: {closed: {duration_seconds: 5}}", "use durationSeconds: 5"},
		{"target: {redinesss: {path: /}}", "use readiness"},
		{"load: {closed: {xyzzy: 5}}", "spec.load.closed.xyzzy: unknown field; the fields here are connections, durationSeconds, "},
	} {
		t.Run(test.change, func(t *testing.T) {
			out, code := check(t, runWith(t, test.change), "-f", "-")
			if code != exit.Failed || !strings.Contains(out, test.want) {
				t.Errorf("exit code %d, want %q: %s", code, test.want, out)
			}
		})
	}
}

// TestGoodManifests checks what is published. Nothing is said of it.
func TestGoodManifests(t *testing.T) {
	args := []string{"-R"}
	for _, directory := range []string{"samples", "reports"} {
		args = append(args, "-f", "../../../config/"+directory)
	}
	if out, code := check(t, "", args...); out != "" || code != exit.Success {
		t.Errorf("exit code %d: %s", code, out)
	}
}

const documents = `# a comment
apiVersion: v1
kind: ConfigMap
metadata: {name: page}
data: {index.jsp: hello}
---
apiVersion: assay.dev/v1alpha1
kind: BenchmarkRun
metadata:
  name: one
spec:
  target:
    image: x
    server: {tomcat: {connector: {maxThreads: 7}}}
    content: [{path: /index.jsp, configMapKeyRef: {name: page, key: index.jsp}}, {path: /b, configMapKeyRef: {name: page, key: missing}}]
  load:
    requests: [{path: /}]
    closed:
      vus: 5
      durationSeconds: 9
--- # another
apiVersion: v1
kind: List
items:
- apiVersion: assay.dev/v1alpha1
  kind: BenchmarkRun
  metadata: {name: two}
  spec:
    target: {image: x, server: {generic: {port: 80}}}
    load:
      requests: [{path: /}]
      closed: {connections: 5, durationSecond: 9}
- apiVersion: assay.dev/v1beta1
  kind: BenchmarkRun
  metadata: {name: three}
---
a: b
  c: d
`

func TestLinesAndDocuments(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(file, []byte(documents), 0o600); err != nil {
		t.Fatal(err)
	}
	out, code := check(t, "", "-f", file)
	want := `a.yaml:19: BenchmarkRun one: spec.load.closed.vus: unknown field; use connections: 5
a.yaml:32: BenchmarkRun two: spec.load.closed.durationSecond: unknown field; use durationSeconds: 9
a.yaml:33: BenchmarkRun three: apiVersion: must be assay.dev/v1alpha1
a.yaml: line 38: mapping values are not allowed in this context
`
	if diff := cmp.Diff(want, strings.ReplaceAll(out, filepath.Dir(file)+"/", "")); diff != "" || code != exit.Failed {
		t.Errorf("exit code %d (-want +got):\n%s", code, diff)
	}
	// The key of a ConfigMap of the same file, once the field is right.
	out, _ = check(t, strings.Replace(documents, "vus", "connections", 1), "-f", "-")
	if !strings.Contains(out, "BenchmarkRun one: spec: key missing of ConfigMap page: not found") {
		t.Error(out)
	}
	out, code = check(t, strings.NewReplacer("vus", "connections", "missing", "index.jsp").Replace(documents), "-f", "-", "--render", "-o", "json")
	var got struct{ Objects []Object }
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != exit.Failed {
		t.Fatalf("%v: %s", err, out)
	}
	first := got.Objects[0]
	if len(first.Problems) != 0 || len(first.Rendered) != 1 {
		t.Fatalf("%+v", first)
	}
	if c := first.Rendered[0].Containers[0]; !slices.ContainsFunc(c.Files, func(f File) bool {
		return f.Path == "/usr/local/tomcat/conf/server.xml" && strings.Contains(f.Text, `maxThreads="7"`)
	}) || c.Name != "server" || c.Image != "x" || len(c.Command) == 0 {
		t.Errorf("%+v", c)
	}
}

// TestCells has a Benchmark whose axes make runs that the API server refuses.
func TestCells(t *testing.T) {
	const benchmark = `apiVersion: assay.dev/v1alpha1
kind: Benchmark
metadata: {name: a}
spec:
  template:
    spec:
      target: {image: x, server: {tomcat: {}}}
      load: {requests: [{path: /}], closed: {connections: 5, durationSeconds: 9}}
  axes:
  - name: connections
    path: /load/closed/connections
    values: [5, 0]
  - {name: size, path: /load/closed/vus, values: [1, 2]}
`
	out, code := check(t, benchmark, "-f", "-")
	want := `-:10: Benchmark a: spec.axes[0]: of cell connections=0,size=1 and 1 more: spec.load.closed.connections: Invalid value: 0: spec.load.closed.connections in body should be greater than or equal to 1
-:13: Benchmark a: spec.axes[1]: of cell connections=5,size=1 and 1 more: spec.load.closed.vus: unknown field; use connections: 1
-:13: Benchmark a: spec.axes[1]: of cell connections=5,size=2 and 1 more: spec.load.closed.vus: unknown field; use connections: 2
`
	if diff := cmp.Diff(want, out); diff != "" || code != exit.Failed {
		t.Errorf("exit code %d (-want +got):\n%s", code, diff)
	}
}

func TestRender(t *testing.T) {
	run := runWith(t, `target: {server: {generic: null, nginx: {workerProcesses: 3, http2: Enabled}}}`)
	out, code := check(t, run, "-f", "-", "--render")
	for _, want := range []string{"# BenchmarkRun a: container server, image x\n", "worker_processes 3;", "==> /"} {
		if !strings.Contains(out, want) || code != exit.Success {
			t.Errorf("exit code %d, no %q in %s", code, want, out)
		}
	}
}

func TestCommandLine(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "-f is missing"},
		{[]string{"run.yaml"}, `unexpected argument "run.yaml": name files with -f`},
		{[]string{"-f", "/nowhere.yaml"}, "no such file"},
		{[]string{"-f", t.TempDir()}, "no Benchmark or BenchmarkRun in "},
		{[]string{"-f", "-", "-o", "xml"}, "unknown output format"},
		{[]string{"-f", "-", "--dry-run=client"}, "use server or none"},
	} {
		if out, code := check(t, "kind: Pod\napiVersion: v1", test.args...); code != exit.Unknown || !strings.Contains(out, test.want) {
			t.Errorf("%q: exit code %d, %s", test.args, code, out)
		}
	}
}

// TestGeneratedNames checks that a name may be made by the API server, which validates what it makes.
func TestGeneratedNames(t *testing.T) {
	if out, code := check(t, "", "-R", "-f", "../../../config/gitops/recipes"); code != exit.Success {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	run := strings.Replace(runWith(t, "{}"), `"name":"a"`, `"generateName":"`+strings.Repeat("a", 48)+`"`, 1)
	if out, code := check(t, run, "-f", "-"); code != exit.Failed || !strings.Contains(out, "metadata.name must have at most 52 characters") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

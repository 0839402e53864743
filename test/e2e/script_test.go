//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

const shopScript = `
import http from 'k6/http';
import { check } from 'k6';
import { Counter, Trend } from 'k6/metrics';
import { shop } from './lib/paths.js';

const users = JSON.parse(open('./users.json'));
const bought = new Counter('bought'), price = new Trend('price');

export const options = {
  scenarios: { shop: { executor: 'shared-iterations', vus: 6, iterations: 301, maxDuration: '1m' } },
  thresholds: { bought: ['count==602'], 'http_req_duration{name:shop}': ['p(95)<10000'], price: ['max<5'], checks: ['rate==1'] },
};

export function setup() {
  http.get(__ENV.ASSAY_TARGET_URL + '/fixed/0/11');
  return { users: users.length, secret: __ENV.TOKEN.length };
}

export default function (data) {
  const r = http.get(__ENV.BASE_URL + shop, { tags: { name: 'shop' } });
  check(r, { 'is 200': (r) => r.status === 200, 'setup data': () => data.users === 2 && data.secret === 9 });
  bought.add(2);
  price.add(__ITER % 7);
}

export function teardown(data) { http.get(__ENV.ASSAY_TARGET_URL + '/fixed/0/' + data.users); }
`

// TestScript runs a script with a module, data, a secret, setup, teardown, custom
// metrics and thresholds on two clients. By the server's count, each request must
// be made exactly once.
func TestScript(t *testing.T) {
	t.Parallel()
	c := theCluster
	ns := c.namespace(t)
	c.configMap(t, ns, "shop", map[string]string{"script.js": shopScript, "users.json": `["ann","bob"]`})
	c.configMap(t, ns, "shop-lib", map[string]string{"paths.js": "export const shop = '/fixed/1000/1000';"})
	c.create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "shop"}, StringData: map[string]string{"token": "s3cr3t-ab"}})
	run := wrapper.NewRun(ns, "script", harness.ServerImage).Lane("script").Script("shop").Clients(2, "250m", "192Mi").Retain(v1alpha1.RetainAlways).Obj()
	run.Spec.Script.Directories = []v1alpha1.ScriptDirectory{{Path: "lib", ConfigMapName: "shop-lib"}}
	run.Spec.Script.Env = []v1alpha1.EnvironmentVariable{
		{Name: "TOKEN", SecretKeyRef: &v1alpha1.SecretKeyReference{Name: "shop", Key: "token"}},
	}
	c.create(t, run)
	done := c.finished(t, run, 2*time.Minute)
	wantSucceeded(t, done)
	if got := *done.Status.Result.Requests; got != 301 || *done.Status.Result.Errors.Total != 0 {
		t.Errorf("%d requests, errors %+v", got, done.Status.Result.Errors)
	}
	if got := thresholds(done); got.Status != metav1.ConditionFalse || !strings.Contains(got.Message, "price max<5: 6 (missed)") ||
		strings.Count(got.Message, "(met)") != 3 {
		t.Errorf("thresholds: %+v", got)
	}
	server := c.serverReport(t, done)
	for path, want := range map[string]int64{"/fixed/0/11": 1, "/fixed/1000/1000": 301, "/fixed/0/2": 1} {
		if server[path].Requests != want {
			t.Errorf("%s: the server had %d requests, want %d", path, server[path].Requests, want)
		}
	}
	stored := c.artifact(t, done)
	if s := stored.Script; s == nil || s.Iterations != 301 || s.VirtualUsers != 6 || s.Metric("bought").Sum != 602 || s.Metric("price").Samples != 301 {
		t.Errorf("script: %+v", s)
	}
	if report := plugin(t, 0, "report", run.Name, "-n", ns); !strings.Contains(report, "service times (k6 script)") || !strings.Contains(report, "bought") {
		t.Errorf("report:\n%s", report)
	}
	for i := range stored.Clients {
		if stored.Clients[i].Requests < 100 {
			t.Errorf("client %d made %d of 301 requests", i, stored.Clients[i].Requests)
		}
	}
}

const sameScript = `
import http from 'k6/http';
export const options = { vus: 4, iterations: 2000, discardResponseBodies: true };
export default function () { http.get(__ENV.ASSAY_TARGET_URL + '/fixed/5000/1000'); }
`

// TestScriptAgreesWithNative runs the same load with the native driver and with a
// script. The numbers of requests and connections must be equal, the service times
// similar, as far as a busy host allows.
func TestScriptAgreesWithNative(t *testing.T) {
	c := theCluster
	ns := c.namespace(t)
	c.configMap(t, ns, "same", map[string]string{"script.js": sameScript})
	load := func(name string) *wrapper.Run {
		return wrapper.NewRun(ns, name, harness.ServerImage).Lane("agreement").TargetResources("400m", "128Mi").Clients(1, "1", "256Mi").Retain(v1alpha1.RetainAlways)
	}
	native := load("native").Path("/fixed/5000/1000").Requests(4, 2000).Obj()
	script := load("script").Script("same").Obj()
	var stored []*result.Result
	for _, run := range []*v1alpha1.BenchmarkRun{native, script} {
		c.create(t, run)
		done := c.finished(t, run, 2*time.Minute)
		wantSucceeded(t, done)
		if server := c.serverReport(t, done)["/fixed/5000/1000"]; server.Requests != 2000 || server.Succeeded != 2000 {
			t.Errorf("%s: the server had %d requests, of which %d succeeded", run.Name, server.Requests, server.Succeeded)
		}
		stored = append(stored, c.artifact(t, done))
	}
	a, b := &stored[0].Merged, &stored[1].Merged
	if a.Requests != 2000 || b.Requests != 2000 || a.Succeeded() != b.Succeeded() || a.Connections != 4 || b.Connections != 4 || a.KeepAlive != b.KeepAlive {
		t.Errorf("native %+v\nscript %+v", a.Counts, b.Counts)
	}
	for _, phase := range []result.Phase{result.Connect, result.Waiting, result.Total} {
		x, y := a.Latencies.Get(phase), b.Latencies.Get(phase)
		if x.Count() != y.Count() {
			t.Errorf("%s: %d and %d durations", phase, x.Count(), y.Count())
		}
		for _, p := range []float64{50, 90, 99} {
			t.Logf("%s p%v: native %d µs, script %d µs", phase, p, x.Percentile(p), y.Percentile(p))
		}
	}
	// The server takes 5 ms. Either side adds less than another 5 ms unless the host
	// has no CPU left.
	for name, m := range map[string]*result.Measure{"native": a, "script": b} {
		if p50 := m.Latencies.Get(result.Total).Percentile(50); p50 < 5000 || p50 > 15_000 {
			t.Errorf("%s: median %d µs; the server takes 5000 µs", name, p50)
		}
	}
}

// TestScriptFails runs scripts that fail in different ways.
func TestScriptFails(t *testing.T) {
	t.Parallel()
	c := theCluster
	ns := c.namespace(t)
	for name, tc := range map[string]struct {
		script, reason string
		texts          []string
	}{
		"invalid":   {"export default function () { let = ; }", v1alpha1.ReasonScriptInvalid, []string{"script.js", "Unexpected token"}},
		"threshold": {"export const options = { thresholds: { nothing: ['p(95)<1'] } }; export default function () {}", v1alpha1.ReasonScriptInvalid, []string{"exit code 104", "nothing"}},
		"setup":     {"export function setup() { throw new Error('no shop') } export default function () {}", v1alpha1.ReasonScriptException, []string{"setup()", "no shop"}},
		"aborted":   {"import exec from 'k6/execution'; export default function () { exec.test.abort('enough') }", v1alpha1.ReasonScriptAborted, []string{"enough"}},
	} {
		c.configMap(t, ns, name, map[string]string{"script.js": tc.script})
		run := wrapper.NewRun(ns, name, harness.ServerImage).Lane("script-"+name).Script(name).Clients(1, "200m", "192Mi").Obj()
		c.create(t, run)
		wantFailed(t, c.finished(t, run, time.Minute), tc.reason, tc.texts...)
	}
	run := wrapper.NewRun(ns, "missing", harness.ServerImage).Lane("script-missing").Script("invalid").Obj()
	run.Spec.Script.File = "other.js"
	run.Spec.TTLSecondsAfterFinished = ptr.To(int32(600))
	c.create(t, run)
	wantFailed(t, c.finished(t, run, time.Minute), v1alpha1.ReasonConfigurationMissing, "spec.script.file", "other.js")
}

// TestScriptPublished runs unmodified scripts from k6's examples. The target replaces
// the site that one of them requests.
func TestScriptPublished(t *testing.T) {
	t.Parallel()
	c := theCluster
	ns := c.namespace(t)
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "go.k6.io/k6/v2")
	list.Dir = "../../k6"
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"crypto.js", "thresholds.js", "timers.js"} {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "examples", name))
		if err != nil {
			t.Fatal(err)
		}
		config := fmt.Sprint("example-", i)
		c.configMap(t, ns, config, map[string]string{name: string(text)})
		run := wrapper.NewRun(ns, config, harness.ServerImage).Lane("script-published").Script(config).Clients(1, "200m", "192Mi").Obj()
		run.Spec.Script.File, run.Spec.Script.HostNames = name, []string{"httpbin.org"}
		c.create(t, run)
		done := c.finished(t, run, time.Minute)
		wantSucceeded(t, done)
		if s := c.artifact(t, done).Script; s == nil || s.Iterations == 0 {
			t.Errorf("%s: %+v", name, s)
		}
		if got := *done.Status.Result.Requests; name == "thresholds.js" && (got != 2 || thresholds(done).Status != metav1.ConditionTrue) {
			t.Errorf("%s: %d requests%s", name, got, conditions(done))
		}
	}
}

const endScript = `
import http from 'k6/http';
import { check, sleep } from 'k6';
export const options = { vus: 4, duration: '2m', thresholds: { http_reqs: [{ threshold: 'count<THRESHOLD', abortOnFail: true }] } };
export function setup() { return { code: 7 } }
export default function () {
  check(http.get(__ENV.ASSAY_TARGET_URL + '/fixed/0/100'), { 'is 200': (r) => r.status === 200 });
  sleep(0.02);
}
export function teardown(data) { http.get(__ENV.ASSAY_TARGET_URL + '/fixed/0/' + data.code); }
export function handleSummary(data) {
  return { 'out/summary.json': JSON.stringify(data), '../../escape': 'x', stdout: 'requests: ' + data.metrics.http_reqs.values.count };
}
`

// TestScriptEnds checks that a threshold with abortOnFail ends the load of all clients, decided on the sum of their
// requests, that handleSummary() runs with the metrics of all of them, and that its files can be written to a directory.
func TestScriptEnds(t *testing.T) {
	t.Parallel()
	c := theCluster
	ns := c.namespace(t)
	c.configMap(t, ns, "end", map[string]string{"script.js": strings.ReplaceAll(endScript, "THRESHOLD", "300")})
	run := wrapper.NewRun(ns, "ends", harness.ServerImage).Lane("script-ends").Script("end").Clients(2, "250m", "192Mi").Obj()
	// What a busy machine does to the clients doesn't change the verdict, of which this test is.
	run.Spec.AcceptedFindings = []v1alpha1.FindingReason{
		validity.ReasonClientThrottled, validity.ReasonClientSaturated, validity.ReasonClientStalls, validity.ReasonStartSkew,
		validity.ReasonClientsUneven, validity.ReasonClockUncertain, validity.ReasonNodeBusy, validity.ReasonSharedNode,
	}
	c.create(t, run)
	done := c.finished(t, run, 90*time.Second)
	wantSucceeded(t, done)
	abort := done.Status.Abort
	if abort == nil || abort.Metric != "http_reqs" || abort.Threshold != "count<300" || done.Status.Verdict != v1alpha1.VerdictFailed {
		t.Fatalf("%s: %+v%s", done.Status.Verdict, abort, conditions(done))
	}
	if got := thresholds(done); got.Status != metav1.ConditionFalse || got.Reason != v1alpha1.ReasonAbortedOnFail || !strings.Contains(got.Message, "aborted at second") {
		t.Errorf("%+v", got)
	}
	stored := c.artifact(t, done)
	if n := stored.Merged.Requests; n < 300 {
		t.Errorf("the load ended after %d requests", n)
	}
	for i := range stored.Clients {
		if n := stored.Clients[i].Requests; n >= stored.Merged.Requests || n == 0 {
			t.Errorf("client %d made %d of %d requests", i, n, stored.Merged.Requests)
		}
	}
	if apart := (stored.Clients[0].EndedAt - stored.Clients[1].EndedAt); apart > 1_000_000 || apart < -1_000_000 {
		t.Errorf("the clients' loads ended %d µs apart", apart)
	}
	if s := stored.Script; s.Abort == nil || len(s.Checks) != 1 || s.Checks[0].Passes < 300 {
		t.Errorf("%+v", s)
	}
	directory := t.TempDir()
	plugin(t, 0, "report", run.Name, "-n", ns, "-o", "script", "--directory", directory)
	want := fmt.Sprintf("requests: %v", stored.Script.Metric("http_reqs").Sum)
	for name, text := range map[string]string{"stdout": want, "escape": "x", "out/summary.json": `"is 200"`} {
		content, err := os.ReadFile(filepath.Join(directory, name))
		if err != nil || !strings.Contains(string(content), text) {
			t.Errorf("%s: %v: lacks %q: %.200s", name, err, text, content)
		}
	}
}

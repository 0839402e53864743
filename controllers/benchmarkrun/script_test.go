package benchmarkrun

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/test/wrapper"
)

const (
	setupStage    = sessionpb.Stage_STAGE_SETUP
	teardownStage = sessionpb.Stage_STAGE_TEARDOWN
)

// shop makes the clients execute the script in the ConfigMap "shop", with a
// directory of the ConfigMap "lib".
func shop(w *wrapper.Run) {
	w.Script("shop")
	w.Spec.Script.Directories = []v1alpha1.ScriptDirectory{{Path: "lib/a", ConfigMapName: "lib"}}
	w.Spec.Script.Env = []v1alpha1.EnvironmentVariable{
		{Name: "USERS", Value: ptr.To("$(PATH)")}, {Name: "TOKEN", SecretKeyRef: &v1alpha1.SecretKeyReference{Name: "token", Key: "t"}},
	}
	w.Spec.Script.Outputs = &v1alpha1.ScriptOutputs{
		PrometheusRemoteWrite: &v1alpha1.PrometheusRemoteWrite{
			URL: "http://p/write", TrendStatistics: []string{"p(95)", "max"},
			Authentication: &v1alpha1.OutputAuthentication{Scheme: v1alpha1.AuthenticationBasic, SecretName: "prometheus"},
		},
		OpenTelemetry: &v1alpha1.OpenTelemetry{Endpoint: "c:4317", Protocol: v1alpha1.TelemetryGRPC, Encryption: v1alpha1.TelemetryClear},
	}
}

// TestScriptIsMounted checks that a client has the script's files as they were when
// the run started, and its environment. Secret values must only be in their Secret.
func TestScriptIsMounted(t *testing.T) {
	b := newBench(t, shop)
	b.reconcile()
	b.wants(v1alpha1.ReasonStarting, "spec.script.configMapName: ConfigMap "+b.run.Namespace+"/shop: not found", "spec.script.directories[0].configMapName: ConfigMap "+b.run.Namespace+"/lib: not found")
	b.users("lib", map[string]string{"b.js": "export const b = 1"}, map[string][]byte{"c.bin": {0xff, 0}})
	shop := b.users("shop", map[string]string{"other.js": "x"}, nil)
	b.reconcile()
	b.wants(v1alpha1.ReasonStarting, "spec.script.file: script.js not found in ConfigMap shop")
	shop.Data["script.js"] = "export default function () {}"
	if err := api.Update(t.Context(), shop); err != nil {
		t.Fatal(err)
	}
	b.scheduled()
	config := b.config()
	job := &batchv1.Job{}
	if err := b.get("run-client", job); err != nil {
		t.Fatal(err)
	}
	spec := job.Spec.Template.Spec
	got := map[string]string{}
	for _, volume := range spec.Volumes {
		if volume.Name == "script" {
			for _, item := range volume.Projected.Sources[0].ConfigMap.Items {
				got[item.Path] = config.Data[item.Key] + string(config.BinaryData[item.Key])
			}
		}
	}
	want := map[string]string{
		"script.js": "export default function () {}", "other.js": "x", "lib/a/b.js": "export const b = 1", "lib/a/c.bin": "\xff\x00",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	container := spec.Containers[0]
	if strings.Join(container.Args, " ") != "client --script" {
		t.Errorf("arguments %q", container.Args)
	}
	wantEnv := []corev1.EnvVar{
		{Name: "USERS", Value: "$$(PATH)"}, fromSecret("TOKEN", "token", "t"),
		{Name: "K6_PROMETHEUS_RW_SERVER_URL", Value: "http://p/write"}, {Name: "K6_PROMETHEUS_RW_TREND_STATS", Value: "p(95),max"},
		fromSecret("K6_PROMETHEUS_RW_USERNAME", "prometheus", "username"), fromSecret("K6_PROMETHEUS_RW_PASSWORD", "prometheus", "password"),
		{Name: "K6_OTEL_EXPORTER_PROTOCOL", Value: "grpc"}, {Name: "K6_OTEL_GRPC_EXPORTER_ENDPOINT", Value: "c:4317"},
		{Name: "K6_OTEL_GRPC_EXPORTER_INSECURE", Value: "true"},
	}
	if diff := cmp.Diff(wantEnv, container.Env[3:]); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	b.podsRun()
	b.reconcile()
	plans := b.sessions.plans
	if len(plans) != 2 || plans[0].Script.Segment != "0:1/2" || plans[1].Script.Segment != "1/2:1" || plans[1].Script.Sequence != "0,1/2,1" ||
		!plans[0].Script.Leads || plans[1].Script.Leads || plans[1].Script.Tags["assay_client"] != "1" {
		t.Errorf("plans %+v %+v", plans[0].Script, plans[1].Script)
	}
	for i, plan := range plans {
		if err := plan.Check(); err != nil {
			t.Errorf("client %d: %v", i, err)
		}
	}
}

func TestScriptThatCannotBeIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		shop, lib map[string]string
		says      []string
	}{
		"a file that is a directory": {map[string]string{"script.js": "", "lib": "x"}, map[string]string{"b.js": ""}, []string{"spec.script.directories", "lib must not be both a file and a directory"}},
		"too large":                  {map[string]string{"script.js": strings.Repeat("x", 500_000)}, map[string]string{"b.js": strings.Repeat("x", 500_000)}, []string{"spec.script", "1000000 bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, shop)
			b.users("shop", tc.shop, nil)
			b.users("lib", tc.lib, nil)
			b.reconcile()
			b.wants(v1alpha1.ReasonInvalidSpec, tc.says...)
		})
	}
}

func fromSecret(name, secret, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key,
	}}}
}

// TestScriptIsMerged checks the metrics, thresholds and findings of a script over two
// clients in the result and the status.
func TestScriptIsMerged(t *testing.T) {
	b := newBench(t, func(w *wrapper.Run) { w.Script("shop") })
	b.users("shop", map[string]string{"script.js": "x"}, nil)
	b.measuring()
	at := b.sessions.starts[setupStage]
	b.sessions.observation.Starts = map[sessionpb.Stage]int64{setupStage: at, measurementStage: at, teardownStage: at}
	b.measured(at)
	for i, c := range b.sessions.observation.Clients {
		price, iterations := k6metric.New("price", k6metric.Trend, k6metric.None), k6metric.New("iterations", k6metric.Counter, k6metric.None)
		for v := range 1000 {
			price.Add(float64(1000*i+v), int64(v))
			iterations.Add(1, int64(v))
		}
		c.Totals.Script = &result.ScriptTotals{
			VirtualUsers: 3, RunMicroseconds: 2_000_000, Metrics: []k6metric.Metric{*price, *iterations},
			Thresholds:    []k6metric.Threshold{{Metric: "price", Source: "p(50)<1005"}, {Metric: "iterations", Source: "rate<900"}},
			TeardownError: map[int]string{0: "still there"}[i], MarkedFailed: i == 1,
		}
		b.sessions.observation.Clients[i] = c
	}
	b.reconcile()
	b.reconcile()
	b.wants(v1alpha1.ReasonCompleted)
	for kind, texts := range map[string][]string{
		v1alpha1.ConditionThresholdsMet: {"price p(50)<1005: 9", "(met)", "iterations rate<900: 1000 (missed)"},
		v1alpha1.ConditionValid:         {"ScriptMarkedFailed", "client 1", "TeardownFailed", "still there"},
	} {
		for _, c := range b.run.Status.Conditions {
			for _, text := range texts {
				if c.Type == kind && !strings.Contains(c.Message, text) {
					t.Errorf("%s: %s: lacks %q", kind, c.Message, text)
				}
			}
		}
	}
	if got := b.run.Status.Result; got.BodyBytesReceived != nil || *got.Requests != 2000 {
		t.Errorf("%+v", got)
	}
}

// scriptMeasuring reconciles a run of a script up to the measurement of both clients.
func scriptMeasuring(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, func(w *wrapper.Run) { w.Script("shop") })
	b.users("shop", map[string]string{"script.js": "x"}, nil)
	b.measuring()
	at := b.sessions.starts[setupStage]
	b.sessions.observation.Starts = map[sessionpb.Stage]int64{setupStage: at, measurementStage: at}
	b.clients(func(_ int, c *session.ClientState) { c.Script.SetupEnded = true })
	b.later(time.Second)
	b.reconcile()
	b.wants(v1alpha1.ReasonMeasuring)
	return b
}

// clients changes the state of every client.
func (b *bench) clients(change func(int, *session.ClientState)) {
	for i, c := range b.sessions.observation.Clients {
		change(i, &c)
		b.sessions.observation.Clients[i] = c
	}
}

// TestScriptIsAbortedAndSummarized takes a run of a script through the abort of its load by a threshold and its
// handleSummary(). The decision to abort must be in the status before it is sent, and another manager must keep to it.
func TestScriptIsAbortedAndSummarized(t *testing.T) {
	b := scriptMeasuring(t)
	requests := k6metric.New("http_reqs", k6metric.Counter, k6metric.None)
	for v := range 60 {
		requests.Add(1, int64(v))
	}
	crossed := k6metric.Threshold{Metric: "http_reqs", Source: "count<100", AbortOnFail: true}
	b.clients(func(_ int, c *session.ClientState) {
		c.Metrics = &session.ScriptMetrics{Elapsed: 1_000_000, Metrics: []k6metric.Metric{*requests}, Thresholds: []k6metric.Threshold{crossed}}
	})
	restore := b.intercept(interceptor.Funcs{SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
		return errors.New("the API server is gone")
	}, SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
		return errors.New("the API server is gone")
	}})
	if _, err := b.Reconcile(t.Context(), b.request()); err == nil || b.sessions.endSecond != 0 {
		t.Errorf("error %v; the clients were to end at %d before the status said so", err, b.sessions.endSecond)
	}
	restore()
	b.reconcile()
	if b.run.Status.Abort == nil || b.sessions.endSecond != *b.run.Status.Abort.EndSeconds {
		t.Fatalf("%+v; the clients end at %d", b.run.Status.Abort, b.sessions.endSecond)
	}
	end := b.sessions.endSecond
	b.sessions.endSecond = 0 // another manager, to which no client has reported its metrics
	b.clients(func(_ int, c *session.ClientState) { c.Metrics = nil })
	b.reconcile()
	if b.sessions.endSecond != end {
		t.Errorf("another manager ends the load at %d instead of %d", b.sessions.endSecond, end)
	}

	at := b.sessions.observation.Starts[measurementStage]
	b.measured(at)
	b.clients(func(_ int, c *session.ClientState) {
		c.Totals.Script = &result.ScriptTotals{VirtualUsers: 1, RunMicroseconds: 2_000_000, Metrics: []k6metric.Metric{*requests}, Thresholds: []k6metric.Threshold{crossed}, Summarizes: true}
	})
	b.reconcile()
	b.wants(v1alpha1.ReasonCollecting, "handleSummary()")
	if data := b.sessions.summarized[0]; !strings.Contains(data, `"http_reqs"`) || !strings.Contains(data, `"count":120`) {
		t.Errorf("summarized with %v", b.sessions.summarized)
	}
	b.clients(func(i int, c *session.ClientState) {
		if i == 0 {
			c.Summary = &result.ScriptSummary{Files: []result.SummaryFile{{Name: "a", Content: []byte("x"), Size: 1}}}
		}
	})
	b.reconcile()
	b.reconcile()
	b.wants(v1alpha1.ReasonCompleted, "aborted at second 2")
	met := meta.FindStatusCondition(b.run.Status.Conditions, v1alpha1.ConditionThresholdsMet)
	if met.Status != metav1.ConditionFalse || met.Reason != v1alpha1.ReasonAbortedOnFail {
		t.Errorf("%+v", met)
	}
	if s := b.stored().Script; s.Summary == nil || string(s.Summary.Files[0].Content) != "x" || s.Abort == nil {
		t.Errorf("%+v", s)
	}
}

// TestScriptFailureWaitsForTeardown checks that the pods stay until client 0 has run teardown() after a failure of its own.
func TestScriptFailureWaitsForTeardown(t *testing.T) {
	b := scriptMeasuring(t)
	b.clients(func(i int, c *session.ClientState) {
		if i == 0 {
			c.Connected, c.Failure = true, "k6 aborted"
		}
	})
	b.sessions.forgotten, b.sessions.released = false, false // since the admission
	b.reconcile()
	b.wants(v1alpha1.ReasonClientFailed, "k6 aborted")
	b.reconcile()
	if b.sessions.forgotten || b.sessions.released {
		t.Fatalf("%+v", b.sessions)
	}
	if err := b.get("run-target", &corev1.Pod{}); err != nil {
		t.Errorf("the target: %v", err)
	}
	b.clients(func(_ int, c *session.ClientState) { c.Connected = false })
	b.reconcile()
	if !b.sessions.forgotten {
		t.Error("the sessions remain")
	}
}

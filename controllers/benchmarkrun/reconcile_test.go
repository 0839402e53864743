package benchmarkrun

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/manager"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/steady"
	"github.com/assay-dev/assay/test/wrapper"
)

const (
	warmupStage      = sessionpb.Stage_STAGE_WARMUP
	measurementStage = sessionpb.Stage_STAGE_MEASUREMENT
)

// maxInputBytes is package run's limit of what a run copies from ConfigMaps.
const maxInputBytes = 900_000

// Timeouts of package run.
const (
	inputTimeout        = 20 * time.Second
	podEventDelay       = 3 * time.Second
	verificationTimeout = 30 * time.Second
	contactTimeout      = 2 * time.Minute
	exitTimeout         = 5 * time.Second
	certificateInterval = 2 * time.Second
)

// api is a client of a real API server without controllers, apiConfig its
// configuration.
var (
	api       client.Client
	apiConfig *rest.Config
)

func TestMain(m *testing.M) {
	code, err := withAPIServer(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "envtest:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func withAPIServer(run func() int) (code int, err error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return 0, err
		}
	}
	environment := &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}
	// Stop what was started before an error, too.
	defer func() { err = errors.Join(err, environment.Stop()) }()
	if apiConfig, err = environment.Start(); err != nil {
		return 0, err
	}
	if api, err = client.New(apiConfig, client.Options{Scheme: scheme}); err != nil {
		return 0, err
	}
	return run(), nil
}

// fakeSessions returns what a test wants the pods to have reported, and records what
// is sent to them.
type fakeSessions struct {
	observation manager.Observation
	address     string
	plans       []*session.Plan
	starts      map[sessionpb.Stage]int64
	windows     []result.WarmupWindow
	ended       bool
	read        int
	released    bool
	forgotten   bool
}

func (f *fakeSessions) Observe(string) manager.Observation   { return f.observation }
func (f *fakeSessions) ServerCPU(string, int64, int64) int64 { return -1 }

func (f *fakeSessions) Windows(string, int, steady.Criterion) []result.WarmupWindow {
	return f.windows
}

func (f *fakeSessions) Series(string) []result.Second {
	return []result.Second{{Seconds: 1, Requests: 2000}}
}
func (f *fakeSessions) Watch(_ string, watch session.Watch) { f.address = watch.Address }
func (f *fakeSessions) Prepare(_ string, plans []*session.Plan, _ string) {
	f.plans = plans
}
func (f *fakeSessions) Start(_ string, stage sessionpb.Stage, at int64) { f.starts[stage] = at }
func (f *fakeSessions) End(string)                                      { f.ended = true }
func (f *fakeSessions) RequestSample(string)                            { f.read++ }
func (f *fakeSessions) Release(string)                                  { f.released = true }
func (f *fakeSessions) Forget(string)                                   { f.forgotten = true }

// bench is a reconciler with one run.
type bench struct {
	*Reconciler
	t        *testing.T
	sessions *fakeSessions
	clock    *clocktesting.FakePassiveClock
	run      *v1alpha1.BenchmarkRun
}

func newBench(t *testing.T, change ...func(*wrapper.Run)) *bench {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "reconcile-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	if err := api.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	w := wrapper.NewRun(ns.Name, "run", "image:1").Clients(2, "1", "128Mi").Requests(5, 1000).Lane(ns.Name)
	for _, c := range change {
		c(w)
	}
	if err := api.Create(t.Context(), w.Obj()); err != nil {
		t.Fatal(err)
	}
	sessions := &fakeSessions{starts: map[sessionpb.Stage]int64{}}
	clock := clocktesting.NewFakePassiveClock(time.Now())
	return &bench{
		t: t, sessions: sessions, clock: clock, run: w.Obj(),
		Reconciler: &Reconciler{
			Client: api, APIReader: api, Events: events.NewFakeRecorder(100), Clock: clock, Sessions: sessions,
			CA:       func() []byte { return []byte("ca") },
			Settings: manifest.Settings{AssayImage: "assay:1", LoadImage: "assay-load:1", SessionAddress: "assay-session.assay-system.svc:9443"},
		},
	}
}

// reconcile reconciles the run and reads it again.
func (b *bench) reconcile() *v1alpha1.BenchmarkRun {
	b.t.Helper()
	b.reload()
	if _, err := b.Reconcile(b.t.Context(), b.request()); err != nil {
		b.t.Fatal(err)
	}
	b.reload()
	return b.run
}

func (b *bench) request() ctrl.Request {
	return ctrl.Request{NamespacedName: client.ObjectKeyFromObject(b.run)}
}

func (b *bench) reload() {
	b.t.Helper()
	if err := api.Get(b.t.Context(), client.ObjectKeyFromObject(b.run), b.run); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) get(name string, obj client.Object) error {
	return api.Get(b.t.Context(), client.ObjectKey{Namespace: b.run.Namespace, Name: name}, obj)
}

func (b *bench) state() metav1.Condition {
	return *meta.FindStatusCondition(b.run.Status.Conditions, v1alpha1.ConditionSucceeded)
}

// podsRun gives the target's pod, which no kubelet starts here, a node and an
// address, and makes target and clients ready.
func (b *bench) podsRun() {
	b.t.Helper()
	var pod corev1.Pod
	if err := b.get("run-target", &pod); err != nil {
		b.t.Fatal(err)
	}
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "node"}}
	if err := api.SubResource("binding").Create(b.t.Context(), &pod, binding); err != nil {
		b.t.Fatal(err)
	}
	if err := b.get("run-target", &pod); err != nil {
		b.t.Fatal(err)
	}
	pod.Status.Phase, pod.Status.PodIP, pod.Status.PodIPs = corev1.PodRunning, "10.1.2.3", []corev1.PodIP{{IP: "10.1.2.3"}}
	if err := api.Status().Update(b.t.Context(), &pod); err != nil {
		b.t.Fatal(err)
	}
	b.sessions.observation = manager.Observation{
		Agent: &manager.AgentState{
			Connected: true, ProbeResult: &session.ProbeResult{Software: "test", DocumentLength: 7},
			Usage: manager.Usage{Latest: &result.ServerUsage{CPUs: "1", AgentCPUs: "0"}},
		},
		Clients: map[int]manager.ClientState{
			0: {Connected: true, Ready: true, Node: "node"}, 1: {Connected: true, Ready: true, Node: "node"},
		},
	}
}

// measuring reconciles a new run up to its measurement.
func (b *bench) measuring() {
	b.t.Helper()
	b.reconcile()
	b.podsRun()
	b.reconcile()
}

// measured adds the totals of both clients, of a measurement that started at at and
// took a second.
func (b *bench) measured(at int64) {
	for i, c := range b.sessions.observation.Clients {
		totals := &result.Totals{StartedAt: at + int64(i)*100, EndedAt: at + 1_000_000}
		totals.Requests = 1000
		for v := range 1000 {
			totals.Latencies.Of(result.Total).Record(int64(v))
		}
		c.Totals = totals
		c.Starts = map[sessionpb.Stage]int64{measurementStage: at}
		b.sessions.observation.Clients[i] = c
	}
	b.clock.SetTime(time.UnixMicro(at).Add(1100 * time.Millisecond))
	b.sessions.observation.Agent.Begin = &result.ServerUsage{At: at}
	b.sessions.observation.Agent.Latest = &result.ServerUsage{At: at + 1_050_000, UserCPU: 500_000}
}

func TestReconcileTakesARunThroughAllStages(t *testing.T) {
	b := newBench(t)
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonStarting {
		t.Fatalf("after creation: %+v", got)
	}
	var config corev1.ConfigMap
	var job batchv1.Job
	for name, obj := range map[string]client.Object{"run-config": &config, "run-client": &job} {
		if err := b.get(name, obj); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !metav1.IsControlledBy(obj, b.run) {
			t.Errorf("%s isn't controlled by its run", name)
		}
	}
	if config.Data["ca.crt"] != "ca" || config.Data["content.json"] != "[]" {
		t.Errorf("config: %v", config.Data)
	}

	b.podsRun()
	b.reconcile()
	if b.sessions.address != "10.1.2.3:8080" || len(b.sessions.plans) != 2 {
		t.Errorf("the pods got %q and %d plans", b.sessions.address, len(b.sessions.plans))
	}
	at := b.sessions.starts[measurementStage]
	if got := b.state(); got.Reason != v1alpha1.ReasonMeasuring || at == 0 {
		t.Fatalf("with all ready: %+v, start %d", got, at)
	}

	b.measured(at)
	b.reconcile() // stores
	b.reconcile() // completes
	if got := b.state(); got.Status != metav1.ConditionTrue {
		t.Fatalf("with all collected: %+v", got)
	}
	if !b.sessions.released {
		t.Error("the pods weren't released")
	}
	if s := b.run.Status.Result; *s.Requests != 2000 || *s.Latency.Total.Count != 2000 {
		t.Errorf("result: %d requests", *s.Requests)
	}
	var stored corev1.ConfigMap
	if err := b.get("run-result", &stored); err != nil {
		t.Fatal(err)
	}
	decoded, err := artifact.Decode(stored.BinaryData[artifact.Key])
	if err != nil || decoded.Merged.Requests != 2000 || decoded.Server == nil || decoded.StartSkewMicroseconds() != 100 {
		t.Errorf("artifact: %v, %+v", err, decoded)
	}

	b.clock.SetTime(b.clock.Now().Add(exitTimeout + time.Second))
	b.reconcile()
	if !b.sessions.forgotten {
		t.Error("the sessions weren't forgotten")
	}
	for _, name := range []string{"run-target", "run-config", "run-client"} {
		for _, obj := range []client.Object{&corev1.Pod{}, &corev1.ConfigMap{}, &batchv1.Job{}} {
			if err := b.get(name, obj); !apierrors.IsNotFound(err) && obj.GetDeletionTimestamp().IsZero() {
				t.Errorf("%T %s is left: %v", obj, name, err)
			}
		}
	}
}

func TestReconcileCompletesFromAnArtifactAfterACrash(t *testing.T) {
	b := newBench(t)
	b.measuring()
	b.measured(b.sessions.starts[measurementStage])
	b.reconcile() // stores; and here the manager is killed
	b.sessions.observation = manager.Observation{}
	b.reconcile()
	if got := b.state(); got.Status != metav1.ConditionTrue || *b.run.Status.Result.Requests != 2000 {
		t.Errorf("%+v", got)
	}
}

func TestReconcileStoresOnlyOnce(t *testing.T) {
	b := newBench(t)
	b.measuring()
	b.measured(b.sessions.starts[measurementStage])
	b.reconcile()
	var first, second corev1.ConfigMap
	if err := b.get("run-result", &first); err != nil {
		t.Fatal(err)
	}
	b.reconcile()
	b.reconcile()
	if err := b.get("run-result", &second); err != nil || first.ResourceVersion != second.ResourceVersion {
		t.Errorf("the artifact was written again: %v", err)
	}
}

func TestReconcileLeavesOthersObjectsAlone(t *testing.T) {
	b := newBench(t)
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.run.Namespace, Name: "run-config"}, Data: map[string]string{"mine": "yes"}}
	if err := api.Create(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonNameConflict {
		t.Errorf("%+v", got)
	}
	var after corev1.ConfigMap
	if err := b.get("run-config", &after); err != nil || after.Data["mine"] != "yes" {
		t.Errorf("%v, %v", after.Data, err)
	}
}

func TestReconcileReportsWhatTheAPIServerRejected(t *testing.T) {
	b := newBench(t, func(w *wrapper.Run) { w.Spec.Target.PodSecurity = v1alpha1.PodSecurityBaseline })
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonInvalidSpec || !meta.IsStatusConditionTrue(b.run.Status.Conditions, v1alpha1.ConditionFinished) {
		t.Errorf("%+v", got)
	}
}

func TestReconcileGivesALaneToOneRun(t *testing.T) {
	first := newBench(t)
	second := newBench(t, func(w *wrapper.Run) { w.Lane(first.run.Spec.Lane) })
	first.reload()
	second.reload()
	runs := []v1alpha1.BenchmarkRun{*first.run, *second.run}
	if next, _ := run.Next(first.run.Spec.Lane, runs); next.Namespace == second.run.Namespace { // created in the same second, with generated names
		first, second = second, first
	}
	first.reconcile()
	second.reconcile()
	if got := second.state(); got.Reason != v1alpha1.ReasonQueued {
		t.Errorf("next to a run that holds the lane: %+v", got)
	}
	first.sessions.observation = manager.Observation{Agent: &manager.AgentState{Failure: "on purpose"}}
	first.reconcile()
	var pod corev1.Pod
	if err := first.get("run-target", &pod); err == nil {
		second.reconcile()
		if got := second.state(); got.Reason != v1alpha1.ReasonQueued {
			t.Errorf("next to a pod that still runs: %+v", got)
		}
		if err := api.Delete(t.Context(), &pod, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
	}
	second.reconcile()
	if got := second.state(); got.Reason != v1alpha1.ReasonStarting {
		t.Errorf("after it: %+v", got)
	}
}

func TestReconcileExpiresARun(t *testing.T) {
	b := newBench(t, func(w *wrapper.Run) { w.TTL(60) })
	b.reconcile()
	b.sessions.observation = manager.Observation{Agent: &manager.AgentState{Failure: "on purpose"}}
	b.reconcile()
	b.clock.SetTime(b.clock.Now().Add(61 * time.Second))
	if _, err := b.Reconcile(t.Context(), b.request()); err != nil {
		t.Fatal(err)
	}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(b.run), b.run); !apierrors.IsNotFound(err) {
		t.Errorf("the run is left: %v", err)
	}
}

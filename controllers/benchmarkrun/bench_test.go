package benchmarkrun

import (
	"context"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/steady"
	"github.com/assay-dev/assay/test/wrapper"
)

// fakeSessions returns what a test wants the pods to have reported, and records what
// is sent to them.
type fakeSessions struct {
	clock       clock.PassiveClock
	observation session.Observation
	address     string
	plans       []*session.Plan
	starts      map[sessionpb.Stage]int64
	windows     []result.WarmupWindow
	ended       bool
	passed      []result.Second
	endSecond   int64
	read        int
	merged      int // calls of Series
	summarized  map[int]string
	released    bool
	forgotten   bool
}

func (f *fakeSessions) Observe(string) session.Observation {
	o := f.observation
	o.Now = f.Now()
	return o
}
func (f *fakeSessions) Now() int64                         { return f.clock.Now().UnixMicro() }
func (f *fakeSessions) Passed(string, int) []result.Second { return f.passed }

// Window implements Sessions. It has no seconds.
func (f *fakeSessions) Window(string, int, int64) result.Second { return result.Second{} }
func (f *fakeSessions) TargetUsage(string, int64, int64) result.TargetUsage {
	return result.TargetUsage{Server: &result.Used{UserCPU: 1_000_000}}
}

func (f *fakeSessions) Windows(string, int, steady.Criterion) []result.WarmupWindow {
	return f.windows
}

func (f *fakeSessions) Series(string) []result.Second {
	f.merged++
	h := result.NewHistogram()
	h.Record(700)
	return []result.Second{{Seconds: 1, Requests: 2000, Sketch: h.Sketch()}}
}

func (f *fakeSessions) Watch(_ string, watch session.Watch) { f.address = watch.Address }
func (f *fakeSessions) Prepare(_ string, plans []*session.Plan, _ string) {
	f.plans = plans
}
func (f *fakeSessions) StartTogether(_ []string, stage sessionpb.Stage, at int64) {
	f.starts[stage] = at
}
func (f *fakeSessions) End(string)                            { f.ended = true }
func (f *fakeSessions) EndMeasurement(_ string, second int64) { f.endSecond = second }
func (f *fakeSessions) Summarize(_ string, client int, data []byte) {
	f.summarized = map[int]string{client: string(data)}
}
func (f *fakeSessions) RequestSample(string) { f.read++ }
func (f *fakeSessions) Release(string)       { f.released = true }
func (f *fakeSessions) Forget(string)        { f.forgotten = true }

// cached is a client that reads what the manager's cache holds, with its index of lanes.
type cached struct{ client.Client }

// Get implements client.Client.
func (c cached) Get(ctx context.Context, name client.ObjectKey, obj client.Object, options ...client.GetOption) error {
	err := c.Client.Get(ctx, name, obj, options...)
	if err == nil {
		hold(obj)
	}
	return err
}

// hold makes of an object what the manager's cache holds of it.
func hold(obj runtime.Object) {
	switch obj := obj.(type) {
	case *v1alpha1.BenchmarkRun:
		_, _ = trimRun(obj)
	case *corev1.Pod:
		*obj = *trimPod(obj)
	case *batchv1.Job:
		held, _ := trimChild(obj)
		*obj = *held.(*batchv1.Job)
	case *metav1.PartialObjectMetadata:
		held, _ := trimChild(obj)
		*obj = *held.(*metav1.PartialObjectMetadata)
	}
}

// List implements client.Client.
func (c cached) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := c.list(ctx, list, options...)
	if err == nil {
		err = meta.EachListItem(list, func(obj runtime.Object) error { hold(obj); return nil })
	}
	return err
}

func (c cached) list(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	all := (&client.ListOptions{}).ApplyOptions(options)
	for field, index := range map[string]client.IndexerFunc{laneField: laneIndex, placeField: placeIndex} {
		if all.FieldSelector == nil {
			break
		}
		value, ok := all.FieldSelector.RequiresExactMatch(field)
		if !ok {
			continue
		}
		all.FieldSelector = nil
		runs := list.(*v1alpha1.BenchmarkRunList)
		err := c.Client.List(ctx, runs, all)
		runs.Items = slices.DeleteFunc(runs.Items, func(br v1alpha1.BenchmarkRun) bool { return !slices.Contains(index(&br), value) })
		return err
	}
	return c.Client.List(ctx, list, options...)
}

// bench is a reconciler with one run.
type bench struct {
	*Reconciler
	t        testing.TB
	sessions *fakeSessions
	clock    *clocktesting.FakePassiveClock
	run      *v1alpha1.BenchmarkRun
}

func newBench(t testing.TB, change ...func(*wrapper.Run)) *bench {
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
	clock := clocktesting.NewFakePassiveClock(time.Now())
	sessions := &fakeSessions{clock: clock, starts: map[sessionpb.Stage]int64{}}
	return &bench{
		t: t, sessions: sessions, clock: clock, run: w.Obj(),
		Reconciler: &Reconciler{
			Client: cached{api}, APIReader: api, Events: events.NewFakeRecorder(100), Clock: clock, Sessions: sessions,
			CA:       func() []byte { return []byte("ca") },
			Settings: manifest.Settings{AssayImage: "assay:1", LoadImage: "assay-load:1", K6Image: "assay-k6:1", SessionAddress: "assay-session.assay-system.svc:9443", Issuers: []string{"Issuer/*", "ClusterIssuer.example.org/other"}},
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

// scheduled reconciles until the run has all its objects. It gives the target's pod, which no scheduler
// sees here, a node: the clients are created after that.
func (b *bench) scheduled() {
	b.t.Helper()
	b.reconcile()
	b.bind()
	b.reconcile()
}

// stored returns the result in the run's artifact.
func (b *bench) stored() *result.Result {
	b.t.Helper()
	var stored corev1.ConfigMap
	if err := b.get("run-result", &stored); err != nil {
		b.t.Fatal(err)
	}
	decoded, err := artifact.Decode(stored.BinaryData[artifact.Key])
	if err != nil {
		b.t.Fatal(err)
	}
	return decoded
}

// bind gives the target's pod a node, unless it has one.
func (b *bench) bind() {
	b.t.Helper()
	b.bindTo("node")
}

// bindTo is like bind, with a given node.
func (b *bench) bindTo(node string) {
	b.t.Helper()
	var pod corev1.Pod
	if err := b.get("run-target", &pod); err != nil {
		b.t.Fatal(err)
	}
	if pod.Spec.NodeName != "" {
		return
	}
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node}}
	if err := api.SubResource("binding").Create(b.t.Context(), &pod, binding); err != nil {
		b.t.Fatal(err)
	}
}

// podsRun gives the target's pod, which no kubelet starts here, a node and an
// address, has the clients created, and makes target and clients ready.
func (b *bench) podsRun() {
	b.t.Helper()
	b.bind()
	b.reconcile()
	var pod corev1.Pod
	if err := b.get("run-target", &pod); err != nil {
		b.t.Fatal(err)
	}
	pod.Status.Phase, pod.Status.PodIP, pod.Status.PodIPs = corev1.PodRunning, "10.1.2.3", []corev1.PodIP{{IP: "10.1.2.3"}}
	if err := api.Status().Update(b.t.Context(), &pod); err != nil {
		b.t.Fatal(err)
	}
	b.sessions.observation = session.Observation{
		Agent: &session.AgentState{
			PodState: session.PodState{Connected: true, ProbeResult: &session.ProbeResult{Software: "test", DocumentLength: 7}},
			Usage:    session.Usage{Latest: &result.ServerUsage{CPUs: "1", AgentCPUs: "0"}},
		},
		Clients: map[int]session.ClientState{
			0: {PodState: session.PodState{Connected: true, Node: "node"}, Ready: true}, 1: {PodState: session.PodState{Connected: true, Node: "node"}, Ready: true},
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
		c.Totals, c.TotalsSince = totals, time.UnixMicro(at).Add(1050*time.Millisecond)
		c.Starts = map[sessionpb.Stage]int64{measurementStage: at}
		b.sessions.observation.Clients[i] = c
	}
	b.clock.SetTime(time.UnixMicro(at).Add(1100 * time.Millisecond))
	b.sessions.observation.Agent.Begin = &result.ServerUsage{At: at}
	b.sessions.observation.Agent.Latest = &result.ServerUsage{At: at + 1_050_000, UserCPU: 500_000}
}

package benchmark

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark/objects"
	"github.com/assay-dev/assay/internal/result"
)

var api client.Client

func TestMain(m *testing.M) { os.Exit(withAPIServer(m)) }

func withAPIServer(m *testing.M) int {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		fmt.Fprintln(os.Stderr, "KUBEBUILDER_ASSETS must name a folder with kube-apiserver and etcd: run make test-api")
		return 1
	}
	environment := &envtest.Environment{CRDDirectoryPaths: []string{"../../config/crd/bases"}, ErrorIfCRDPathMissing: true}
	config, err := environment.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the API server:", err)
		return 1
	}
	defer func() {
		if err := environment.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the API server:", err)
		}
	}()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if api, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// indexed is a client that filters by the Benchmark's index, as the cache does.
type indexed struct{ client.Client }

// Get implements client.Client. The cache holds no large specs of Benchmarks, here none at all.
func (c indexed) Get(ctx context.Context, name client.ObjectKey, obj client.Object, options ...client.GetOption) error {
	err := c.Client.Get(ctx, name, obj, options...)
	if b, ok := obj.(*v1alpha1.Benchmark); ok {
		b.Spec = v1alpha1.BenchmarkSpec{}
	}
	return err
}

// List implements client.Client.
func (c indexed) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	var kept []client.ListOption
	owner := ""
	for _, o := range options {
		if fields, ok := o.(client.MatchingFields); ok {
			owner = fields[ownerField]
			continue
		}
		kept = append(kept, o)
	}
	if err := c.Client.List(ctx, list, kept...); err != nil || owner == "" {
		return err
	}
	runs := list.(*v1alpha1.BenchmarkRunList)
	all := runs.Items
	runs.Items = nil
	for i := range all {
		if reference := objects.OwnerOf(&all[i]); reference != nil && string(reference.UID) == owner {
			runs.Items = append(runs.Items, all[i])
		}
	}
	return nil
}

// bench is a Benchmark on the API server, with a reconciler.
type bench struct {
	*Reconciler
	t *testing.T
	b *v1alpha1.Benchmark
	// kernel is the release of the kernel of the node.
	kernel string
	// checkout returns the latency of the request checkout of a run in microseconds; nil if no request has metrics of its own.
	checkout func(run *v1alpha1.BenchmarkRun) int64
}

func newBench(t *testing.T, change func(*v1alpha1.BenchmarkSpec)) *bench {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "benchmark-"}}
	if err := api.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	b := &v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: "sizes"}}
	b.Spec.Template.Spec = v1alpha1.BenchmarkRunSpec{
		Target: v1alpha1.Target{Image: "tomcat:9.0", Server: v1alpha1.Server{Tomcat: &v1alpha1.TomcatServer{}}},
		Load: v1alpha1.Load{
			Requests: []v1alpha1.Request{{Path: "/"}},
			Closed:   &v1alpha1.ClosedLoad{Connections: 25, DurationSeconds: ptr.To(int32(1))},
		},
	}
	b.Spec.Repetitions = &v1alpha1.Repetitions{Min: ptr.To(int32(6))}
	change(&b.Spec)
	if err := api.Create(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, b: b, Reconciler: newReconciler(), kernel: "6.1"}
}

func newReconciler() *Reconciler {
	return &Reconciler{Client: indexed{api}, APIReader: api, Events: events.NewFakeRecorder(10_000), Clock: clock.RealClock{}}
}

// reconcile reconciles until nothing is to be done at once, and reads the Benchmark again.
func (b *bench) reconcile() ctrl.Result {
	b.t.Helper()
	for {
		r, err := b.Reconcile(b.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(b.b)})
		if err != nil {
			b.t.Fatal(err)
		}
		if err := api.Get(b.t.Context(), client.ObjectKeyFromObject(b.b), b.b); err != nil {
			b.t.Fatal(err)
		}
		if r.RequeueAfter == 0 || r.RequeueAfter > time.Second {
			return r
		}
	}
}

// runs returns the Benchmark's runs.
func (b *bench) runs() []v1alpha1.BenchmarkRun {
	b.t.Helper()
	var list v1alpha1.BenchmarkRunList
	if err := api.List(b.t.Context(), &list, client.InNamespace(b.b.Namespace)); err != nil {
		b.t.Fatal(err)
	}
	return list.Items
}

// measured ends the run under way with a latency in microseconds, as its controller would.
func (b *bench) measured(latency func(run *v1alpha1.BenchmarkRun) int64) *v1alpha1.BenchmarkRun {
	b.t.Helper()
	if b.b.Status.Round == nil || b.b.Status.Round.CurrentRun == nil {
		b.t.Fatalf("no run is under way: %+v", b.b.Status)
	}
	run := &v1alpha1.BenchmarkRun{}
	if err := api.Get(b.t.Context(), client.ObjectKey{Namespace: b.b.Namespace, Name: b.b.Status.Round.CurrentRun.Name}, run); err != nil {
		b.t.Fatal(err)
	}
	measured := resultOf(latency(run))
	measured.Environment.Kernel = b.kernel
	if b.checkout != nil {
		latencies := result.NewHistogram()
		latencies.Record(b.checkout(run))
		measured.ByRequest = []result.RequestMetrics{{Name: "cart", Requests: 999}, {Name: "checkout", Requests: 1, Latency: latencies}}
	}
	encoded, err := artifact.Encode(measured, artifact.ConfigMapLimit)
	if err != nil {
		b.t.Fatal(err)
	}
	name := run.Name + "-result"
	if err := api.Create(b.t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: run.Namespace, Name: name}, BinaryData: map[string][]byte{artifact.Key: encoded},
	}); err != nil {
		b.t.Fatal(err)
	}
	identity := artifact.Identify(encoded)
	run.Status.Artifact = &v1alpha1.ArtifactReference{
		ConfigMap: &v1alpha1.ArtifactConfigMap{Name: name, Key: artifact.Key}, SizeBytes: &identity.SizeBytes, SHA256: identity.SHA256,
	}
	b.end(run, v1alpha1.VerdictPassed, metav1.ConditionTrue, v1alpha1.ReasonCompleted)
	return run
}

func (b *bench) end(run *v1alpha1.BenchmarkRun, verdict v1alpha1.Verdict, succeeded metav1.ConditionStatus, reason string) {
	b.t.Helper()
	run.Status.Verdict = verdict
	run.Status.CompletionTime = ptr.To(metav1.Now())
	for _, kind := range []string{v1alpha1.ConditionFinished, v1alpha1.ConditionSucceeded} {
		status := succeeded
		if kind == v1alpha1.ConditionFinished {
			status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&run.Status.Conditions, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: "It ended."})
	}
	if err := api.Status().Update(b.t.Context(), run); err != nil {
		b.t.Fatal(err)
	}
}

// resultOf returns a valid result of 1,000 requests of the same latency.
func resultOf(latency int64) *result.Result {
	r := &result.Result{
		SchemaVersion: result.SchemaVersion,
		Run:           result.Run{Load: result.LoadClosed, Connections: 25},
		Environment:   result.Environment{TargetImageID: "sha256:1", CPUExclusivity: "Exclusive"},
	}
	client := result.Client{Totals: result.Totals{StartedAt: 1, EndedAt: 1 + latency*1000}}
	client.Requests = 1000
	for range 1000 {
		client.Latencies.Of(result.Total).Record(latency)
	}
	r.AddClients([]result.Client{client})
	return r
}

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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/run/lane"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
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

func TestReconcileTakesARunThroughAllStages(t *testing.T) {
	b := newBench(t)
	b.scheduled()
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
	b.reconcile() // stores and completes
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
	if next, _ := lane.Next(&lane.Lane{Runs: []*v1alpha1.BenchmarkRun{first.run, second.run}}); next.Namespace == second.run.Namespace { // created in the same second, with generated names
		first, second = second, first
	}
	first.reconcile()
	second.reconcile()
	if got := second.state(); got.Reason != v1alpha1.ReasonQueued {
		t.Errorf("next to a run that holds the lane: %+v", got)
	}
	first.sessions.observation = session.Observation{Agent: &session.AgentState{PodState: session.PodState{Failure: "on purpose"}}}
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
	b.sessions.observation = session.Observation{Agent: &session.AgentState{PodState: session.PodState{Failure: "on purpose"}}}
	b.reconcile()
	b.clock.SetTime(b.clock.Now().Add(61 * time.Second))
	if _, err := b.Reconcile(t.Context(), b.request()); err != nil {
		t.Fatal(err)
	}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(b.run), b.run); !apierrors.IsNotFound(err) {
		t.Errorf("the run is left: %v", err)
	}
}

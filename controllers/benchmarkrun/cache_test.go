package benchmarkrun

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run"
	"github.com/assay-dev/assay/internal/run/lane"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/run/step"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/test/wrapper"
)

// cachedRuns is the number of finished runs a manager must have room for, and cachedBytes the memory that they
// may take of its 256 MiB.
const (
	cachedRuns  = 10_000
	cachedBytes = 64 << 20
)

// finishedRun returns a run as the API server has it when it has finished, with everything that users add.
func finishedRun(t testing.TB, change ...func(*wrapper.Run)) *v1alpha1.BenchmarkRun {
	t.Helper()
	b := newBench(t, append(change, func(w *wrapper.Run) {
		w.Obj().Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: "{}", "ci.example.org/commit": "0123456789"}
		w.Obj().Labels = map[string]string{"app.kubernetes.io/part-of": "shop"}
	})...)
	b.measuring()
	b.measured(b.sessions.starts[measurementStage])
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonCompleted {
		t.Fatalf("%+v", got)
	}
	return b.run
}

func trimmed(t testing.TB, br *v1alpha1.BenchmarkRun) *v1alpha1.BenchmarkRun {
	t.Helper()
	obj, err := trimRun(br.DeepCopy())
	if err != nil {
		t.Fatal(err)
	}
	return obj.(*v1alpha1.BenchmarkRun)
}

// TestTrimmedRunsAreCleanedUpAlike compares what is decided of a finished run from the cache with what is
// decided of the run itself.
func TestTrimmedRunsAreCleanedUpAlike(t *testing.T) {
	for name, change := range map[string]func(*wrapper.Run){
		"plain":             func(*wrapper.Run) {},
		"TLS":               mutual(selfSigned(), selfSigned()),
		"pods are kept":     func(w *wrapper.Run) { w.Retain(v1alpha1.RetainAlways) },
		"it expires":        func(w *wrapper.Run) { w.Obj().Spec.TTLSecondsAfterFinished = ptr.To(int32(0)) },
		"it is kept for 1h": func(w *wrapper.Run) { w.Obj().Spec.TTLSecondsAfterFinished = ptr.To(int32(3600)) },
	} {
		t.Run(name, func(t *testing.T) {
			br := finishedRun(t, change)
			now := br.Status.CompletionTime.Add(10e9)
			o := &observed.Run{Target: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "run-target"}}, Config: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "run-config"}}}
			cached := trimmed(t, br)
			want, got := run.Decide(br, o, now), run.Decide(cached, o, now)
			if len(want.Delete)+len(want.Stop) == 0 {
				t.Fatal("nothing is planned")
			}
			var deletes [2][]string
			for i, plan := range []step.Plan{want, got} {
				for _, obj := range plan.Delete {
					deletes[i] = append(deletes[i], obj.GetNamespace()+"/"+obj.GetName())
				}
			}
			if diff := cmp.Diff(deletes[0], deletes[1]); diff != "" {
				t.Errorf("deletes (-want +got):\n%s", diff)
			}
			if want.Expire != got.Expire || want.Release != got.Release || want.RequeueAfter != got.RequeueAfter || len(want.Stop) != len(got.Stop) {
				t.Errorf("want %+v, got %+v", want, got)
			}
			if state.Of(cached) != state.Of(br) || lane.HasLeft(cached, now) != lane.HasLeft(br, now) || cached.Spec.Lane != br.Spec.Lane {
				t.Errorf("state %s, want %s", state.Of(cached), state.Of(br))
			}
			again := trimmed(t, cached)
			if diff := cmp.Diff(cached, again); diff != "" {
				t.Errorf("trimmed twice (-once +twice):\n%s", diff)
			}
		})
	}
}

// TestTrimmedScriptsAreTornDown checks that client 0 has time to run teardown() after it has failed, also if what is known
// of the run comes from the cache.
func TestTrimmedScriptsAreTornDown(t *testing.T) {
	br := finishedRun(t)
	br.Spec.Script, br.Spec.Clients.Replicas = &v1alpha1.Script{ConfigMapName: "script"}, ptr.To(int32(2))
	br.Status.Verdict = v1alpha1.VerdictError
	meta.SetStatusCondition(&br.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonClientFailed})
	o := &observed.Run{Job: &batchv1.Job{}}
	o.Sessions.Clients = map[int]session.ClientState{0: {PodState: session.PodState{Connected: true, Failure: "x"}, Script: session.ScriptState{SetupEnded: true}}}
	for name, known := range map[string]*v1alpha1.BenchmarkRun{"whole": br, "trimmed": trimmed(t, br)} {
		if plan := run.Decide(known, o, br.Status.CompletionTime.Time); plan.Release || plan.Forget || len(plan.Delete) > 0 {
			t.Errorf("%s: the clients are removed: %+v", name, plan)
		}
	}
}

// TestTrimmedRunsHaveNothingOfUsers checks that what is kept of a finished run has a bounded size.
func TestTrimmedRunsHaveNothingOfUsers(t *testing.T) {
	br := finishedRun(t)
	br.Annotations["large"], br.Labels["large"] = strings.Repeat("x", 100_000), strings.Repeat("x", 60)
	br.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	for i := range br.Status.Conditions {
		br.Status.Conditions[i].Message = strings.Repeat("x", 1000)
	}
	meta.FindStatusCondition(br.Status.Conditions, v1alpha1.ConditionReconciling).Message = "The run has finished."
	encoded, err := json.Marshal(trimmed(t, br))
	if err != nil {
		t.Fatal(err)
	}
	if len(encoded) > 2000 {
		t.Errorf("%d bytes are kept", len(encoded))
	}
}

// TestTrimKeepsRunsThatGoOn checks that all of a run is in the cache from its admission until it has finished, except for
// what no controller reads.
func TestTrimKeepsRunsThatGoOn(t *testing.T) {
	br := wrapper.NewRun("ns", "run", "image:1").Lane("l").Requests(5, 1000).Obj()
	br.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: "{}", "mine": "x", benchmark.AnnotationCell: "kept"}
	br.Labels = map[string]string{"mine": "x", benchmark.LabelRound: "1"}
	br.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	br.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionAdmitted, Status: metav1.ConditionTrue, Message: "kept"}}
	got, want := trimmed(t, br), br.DeepCopy()
	want.ManagedFields = nil
	want.Annotations, want.Labels = map[string]string{benchmark.AnnotationCell: "kept"}, map[string]string{benchmark.LabelRound: "1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// BenchmarkCachedRun reports the heap that a finished run takes in the cache, and fails if there isn't room
// for as many as there must be.
func BenchmarkCachedRun(b *testing.B) {
	encoded, err := json.Marshal(finishedRun(b))
	if err != nil {
		b.Fatal(err)
	}
	cached := make([]*v1alpha1.BenchmarkRun, cachedRuns)
	for b.Loop() {
		clear(cached)
		before := heap()
		for i := range cached {
			br := &v1alpha1.BenchmarkRun{}
			if err := json.Unmarshal(encoded, br); err != nil {
				b.Fatal(err)
			}
			cached[i] = trimmed(b, br)
		}
		all := heap() - before
		if all > cachedBytes {
			b.Errorf("%d finished runs take %d bytes, more than %d", cachedRuns, all, cachedBytes)
		}
		b.ReportMetric(float64(all)/cachedRuns, "heap-B/run")
	}
	b.ReportMetric(float64(len(encoded)), "JSON-B/run")
	runtime.KeepAlive(cached)
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// TestPredicates checks after which events the next run of a lane is looked for.
func TestPredicates(t *testing.T) {
	base := func(conditions ...string) *v1alpha1.BenchmarkRun {
		br := wrapper.NewRun("ns", "run", "image:1").Lane("l").Obj()
		for _, kind := range conditions {
			br.Status.Conditions = append(br.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue})
		}
		return br
	}
	pod := func(phase corev1.PodPhase) *corev1.Pod { return &corev1.Pod{Status: corev1.PodStatus{Phase: phase}} }
	exited := pod(corev1.PodRunning)
	exited.Spec.Containers = []corev1.Container{{Name: "client"}}
	exited.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}
	waiting, admitted := base(), base(v1alpha1.ConditionAdmitted)
	finished := base(v1alpha1.ConditionAdmitted, v1alpha1.ConditionFinished)
	progressed := base(v1alpha1.ConditionAdmitted)
	progressed.Status.Progress = &v1alpha1.Progress{Percent: ptr.To(int32(50))}
	suspended, deleted := base(), base()
	suspended.Spec.Suspend = ptr.To(true)
	deleted.DeletionTimestamp = ptr.To(metav1.Now())

	moves := func(before, after client.Object) bool {
		return laneMoves.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})
	}
	ends := func(before, after client.Object) bool {
		return podEnds.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})
	}
	tests := map[string]struct{ got, want bool }{
		"a run is created":        {laneMoves.Create(event.CreateEvent{Object: waiting}), false},
		"a run is deleted":        {laneMoves.Delete(event.DeleteEvent{Object: waiting}), true},
		"is admitted":             {moves(waiting, admitted), true},
		"makes progress":          {moves(admitted, progressed), false},
		"finishes":                {moves(admitted, finished), true},
		"finishes, as it is kept": {moves(admitted, trimmed(t, finished)), true},
		"is cleaned up":           {moves(finished, trimmed(t, finished)), false},
		"is suspended":            {moves(waiting, suspended), true},
		"goes on":                 {moves(suspended, waiting), true},
		"is being deleted":        {moves(waiting, deleted), true},
		"a pod is created":        {podEnds.Create(event.CreateEvent{Object: pod(corev1.PodPending)}), false},
		"a pod is gone":           {podEnds.Delete(event.DeleteEvent{Object: pod(corev1.PodRunning)}), true},
		"a pod starts":            {ends(pod(corev1.PodPending), pod(corev1.PodRunning)), false},
		"a pod's containers end":  {ends(pod(corev1.PodRunning), exited), true},
		"a pod ends after them":   {ends(exited, pod(corev1.PodSucceeded)), false},
		"a pod succeeds":          {ends(pod(corev1.PodRunning), pod(corev1.PodSucceeded)), true},
		"a pod fails":             {ends(pod(corev1.PodRunning), pod(corev1.PodFailed)), true},
		"a pod had ended before":  {ends(pod(corev1.PodFailed), pod(corev1.PodFailed)), false},
	}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		if test := tests[name]; test.got != test.want {
			t.Errorf("%s: %t", name, test.got)
		}
	}
}

// TestNobodyFillsTheCache makes objects with the label of a run as large as the API server takes them.
func TestNobodyFillsTheCache(t *testing.T) {
	large := strings.Repeat("x", 250_000)
	m := metav1.ObjectMeta{
		Name: "x", Labels: map[string]string{manifest.LabelRunUID: "uid"}, Annotations: map[string]string{"large": large, manifest.AnnotationCA: large},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: large}},
	}
	for i := range 2000 {
		m.Labels[fmt.Sprint("l", i)] = strings.Repeat("x", 63)
		m.Finalizers = append(m.Finalizers, "example.org/"+strings.Repeat("x", 63))
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{Name: large, Kind: "Job", Controller: ptr.To(i == 0)})
	}
	pod := &corev1.Pod{ObjectMeta: m, Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, NodeSelector: map[string]string{"x": large}, Hostname: large}}
	pod.Annotations = map[string]string{"large": large, manifest.AnnotationWritten: `{"x":"y"}`, manifest.AnnotationChanges: large}
	for i := range 2000 {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{
			Name: fmt.Sprintf("%063d", i), Image: large, Command: []string{large}, Env: []corev1.EnvVar{{Name: "x", Value: large}},
		})
	}
	for name, obj := range map[string]client.Object{
		"pod": pod, "Job": &batchv1.Job{ObjectMeta: m, Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: pod.Spec}}},
		"ConfigMap": &metav1.PartialObjectMetadata{ObjectMeta: m},
	} {
		held, err := trimChild(obj)
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := json.Marshal(held)
		if err != nil || len(encoded) > 24<<10 {
			t.Errorf("%d bytes of a %s are kept: %v", len(encoded), name, err)
		}
		again, err := trimChild(held)
		if diff := cmp.Diff(held, again); diff != "" || err != nil {
			t.Errorf("%s, trimmed twice (-once +twice): %v\n%s", name, err, diff)
		}
	}
}

// TestLargeBenchmarksAreSmall makes a Benchmark as large as the API server takes it.
func TestLargeBenchmarksAreSmall(t *testing.T) {
	large := &v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{
		Name: "x", Labels: map[string]string{"x": "y"}, Annotations: map[string]string{"large": strings.Repeat("x", 250_000), v1alpha1.AnnotationRunRound: "1"},
	}}
	small := large.DeepCopy()
	small.Spec.Template.Spec.Target.Image = "image:1"
	large.Spec.Axes = make([]v1alpha1.Axis, 8)
	for i := range large.Spec.Axes {
		large.Spec.Axes[i].Values = []apiextensionsv1.JSON{{Raw: []byte(`"` + strings.Repeat("x", 100_000) + `"`)}}
	}
	for name, b := range map[string]*v1alpha1.Benchmark{"large": large, "small": small} {
		before := b.Spec.DeepCopy()
		held, err := trimBenchmark(b)
		if err != nil {
			t.Fatal(err)
		}
		if encoded, err := json.Marshal(held); err != nil || len(encoded) > 2000 || b.Annotations[v1alpha1.AnnotationRunRound] != "1" {
			t.Errorf("%d bytes of a %s Benchmark are kept: %v", len(encoded), name, err)
		}
		if name == "small" && !equality.Semantic.DeepEqual(before, &b.Spec) {
			t.Errorf("%+v is kept of a small one", b.Spec)
		}
	}
}

// TestWaitingRunsAreSmall queues runs with the largest specs: they are read again when it is their turn.
func TestWaitingRunsAreSmall(t *testing.T) {
	b := newBench(t, func(w *wrapper.Run) {
		w.Obj().Annotations = map[string]string{"large": strings.Repeat("x", 200_000)}
		w.Obj().Spec.Load.Requests, w.Obj().Spec.Target.Readiness.Path = nil, "/"
		for i := range 40 {
			w.Obj().Spec.Load.Requests = append(w.Obj().Spec.Load.Requests, v1alpha1.Request{
				Path: fmt.Sprint("/", i), Method: v1alpha1.MethodPost, Body: &v1alpha1.Body{Text: strings.Repeat("x", 16384)},
			})
		}
	})
	held := &v1alpha1.BenchmarkRun{}
	if err := b.Get(t.Context(), client.ObjectKeyFromObject(b.run), held); err != nil {
		t.Fatal(err)
	}
	if encoded, err := json.Marshal(held); err != nil || len(encoded) > 2000 || !isTrimmed(held) {
		t.Errorf("%d bytes of a waiting run are kept: %v", len(encoded), err)
	}
	again := trimmed(t, held)
	if diff := cmp.Diff(held, again); diff != "" {
		t.Errorf("trimmed twice (-once +twice):\n%s", diff)
	}
	b.reconcile()
	b.podsRun()
	b.reconcile()
	if got := b.sessions.plans[0].Requests; len(got) != 40 || len(got[39].Body) != 16384 {
		t.Errorf("the clients got %d requests", len(got))
	}
}

// TestTheCacheHoldsLittle fills a cache as the manager has it with objects that somebody labels as those of a run, and with
// large ones of our own kinds.
func TestTheCacheHoldsLittle(t *testing.T) {
	ns := mustCreate(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "cache-"}})
	m := metav1.ObjectMeta{
		GenerateName: "x-", Namespace: ns.Name, Labels: map[string]string{manifest.LabelRunUID: "uid"}, Annotations: map[string]string{"large": strings.Repeat("x", 200_000)},
	}
	run := wrapper.NewRun(ns.Name, "run", "image:1").Path("/").Requests(5, 1000).Lane(ns.Name).Obj()
	run.Annotations = m.Annotations
	for i := range 40 {
		run.Spec.Load.Requests = append(run.Spec.Load.Requests, v1alpha1.Request{Path: fmt.Sprint("/", i), Method: v1alpha1.MethodPost, Body: &v1alpha1.Body{Text: strings.Repeat("x", 16384)}})
	}
	mustCreate(t, run)
	mustCreate(t, &corev1.ConfigMap{ObjectMeta: m, Data: map[string]string{"x": strings.Repeat("x", 500_000)}})
	pod := clientPodSpec(ns.Name, "")
	pod.ObjectMeta = m
	mustCreate(t, pod)
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	mustCreate(t, &batchv1.Job{ObjectMeta: m, Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: m.Annotations}, Spec: pod.Spec,
	}}})
	options, err := CacheOptions()
	if err != nil {
		t.Fatal(err)
	}
	options.Scheme, options.ReaderFailOnMissingInformer = api.Scheme(), false
	held, err := cache.New(apiConfig, options)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = held.Start(t.Context()) }()
	held.WaitForCacheSync(t.Context())
	metadata := &metav1.PartialObjectMetadataList{}
	metadata.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	for _, list := range []client.ObjectList{&v1alpha1.BenchmarkRunList{}, &corev1.PodList{}, &batchv1.JobList{}, metadata} {
		if err := held.List(t.Context(), list, client.InNamespace(ns.Name)); err != nil {
			t.Fatal(err)
		}
		encoded, err := json.Marshal(list)
		if n := meta.LenList(list); err != nil || n != 1 || len(encoded) > 3000 {
			t.Errorf("%T: %d bytes of %d objects are kept: %v", list, len(encoded), n, err)
		}
	}
}

package benchmarkrun

import (
	"context"
	"errors"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/manager"
	"github.com/assay-dev/assay/test/wrapper"
)

// refOf returns an owner reference to a run as a tenant would write it by hand.
func refOf(b *bench) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "assay.dev/v1alpha1", Kind: "BenchmarkRun", Name: "run", UID: b.run.UID, Controller: ptr.To(true)}
}

// forged returns a pod in a namespace with all labels of a run's pod and the given owner.
func forged(b *bench, namespace, name, role string, owner metav1.OwnerReference) *corev1.Pod {
	pod := clientPodSpec(namespace, name)
	pod.Labels = map[string]string{
		manifest.LabelRun: "run", manifest.LabelRunUID: string(b.run.UID), manifest.LabelRole: role, manifest.LabelLane: b.run.Spec.Lane,
	}
	pod.OwnerReferences = []metav1.OwnerReference{owner}
	return pod
}

func mustCreate[T client.Object](t testing.TB, obj T) T {
	t.Helper()
	if err := api.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// TestIdentifyRefusesForgedPods has a tenant plant pods that claim to belong to a run.
func TestIdentifyRefusesForgedPods(t *testing.T) {
	asClient := func(index string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Labels[batchv1.JobCompletionIndexAnnotation] = index
			p.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: index}
		}
	}
	for name, plant := range map[string]func(t *testing.T, b *bench) *corev1.Pod{
		"a second target": func(t *testing.T, b *bench) *corev1.Pod {
			return mustCreate(t, forged(b, b.run.Namespace, "other", manifest.RoleTarget, refOf(b)))
		},
		"the target, replaced after it was recorded": func(t *testing.T, b *bench) *corev1.Pod {
			var target corev1.Pod
			if err := b.get("run-target", &target); err != nil {
				t.Fatal(err)
			}
			if err := api.Delete(t.Context(), &target, client.GracePeriodSeconds(0)); err != nil {
				t.Fatal(err)
			}
			return mustCreate(t, forged(b, b.run.Namespace, "run-target", manifest.RoleTarget, refOf(b)))
		},
		"the target of a run in another namespace": func(t *testing.T, b *bench) *corev1.Pod {
			ns := mustCreate(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "attacker-"}})
			return mustCreate(t, forged(b, ns.Name, "run-target", manifest.RoleTarget, refOf(b)))
		},
		"a client of a run in another namespace": func(t *testing.T, b *bench) *corev1.Pod {
			ns := mustCreate(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "attacker-"}})
			return clientOf(t, b, 0, func(p *corev1.Pod) { p.Namespace = ns.Name })
		},
		"a client of another run of the same name in another namespace": func(t *testing.T, b *bench) *corev1.Pod {
			other := newBench(t)
			other.scheduled()
			return clientOf(t, b, 0, func(p *corev1.Pod) { p.Namespace = other.run.Namespace })
		},
		"a pod of a Job with a forged owner": func(t *testing.T, b *bench) *corev1.Pod {
			job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: b.run.Namespace, Name: "forged", OwnerReferences: []metav1.OwnerReference{refOf(b)}},
				Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: clientPodSpec(b.run.Namespace, "").Spec}}}
			mustCreate(t, job)
			return clientOf(t, b, 0, func(p *corev1.Pod) { p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = job.Name, job.UID })
		},
		"a client of an earlier Job": func(t *testing.T, b *bench) *corev1.Pod {
			return clientOf(t, b, 0, func(p *corev1.Pod) { p.OwnerReferences[0].UID = "11111111-2222-3333-4444-555555555555" })
		},
		"a client with another kind of owner": func(t *testing.T, b *bench) *corev1.Pod {
			return clientOf(t, b, 0, func(p *corev1.Pod) { p.OwnerReferences[0].APIVersion = "example.org/v1" })
		},
		"a client owned by the run itself": func(t *testing.T, b *bench) *corev1.Pod {
			pod := forged(b, b.run.Namespace, "run-client-0-abcde", manifest.RoleClient, refOf(b))
			asClient("0")(pod)
			return mustCreate(t, pod)
		},
		"a client with a name of its own": func(t *testing.T, b *bench) *corev1.Pod {
			return clientOf(t, b, 0, func(p *corev1.Pod) { p.GenerateName, p.Name = "", "mine" })
		},
		"a client with the name of another index": func(t *testing.T, b *bench) *corev1.Pod {
			return clientOf(t, b, 0, asClient("1"))
		},
		"a client whose label has another index": func(t *testing.T, b *bench) *corev1.Pod {
			return clientOf(t, b, 0, func(p *corev1.Pod) { p.Labels[batchv1.JobCompletionIndexAnnotation] = "1" })
		},
		"a client with an index of many spellings": func(t *testing.T, b *bench) *corev1.Pod {
			return clientOf(t, b, 0, asClient("00"), func(p *corev1.Pod) { p.GenerateName = "run-client-00-" })
		},
		"a client with an index that the run lacks": func(t *testing.T, b *bench) *corev1.Pod { return clientOf(t, b, 2) },
		"a client that has a twin": func(t *testing.T, b *bench) *corev1.Pod {
			clientOf(t, b, 0)
			return clientOf(t, b, 0)
		},
		"a client of a finished run": func(t *testing.T, b *bench) *corev1.Pod {
			pod := clientOf(t, b, 0)
			b.sessions.observation = session.Observation{Agent: &session.AgentState{PodState: session.PodState{Failure: "on purpose"}}}
			b.reconcile()
			return pod
		},
		"a client of a suspended run": func(t *testing.T, b *bench) *corev1.Pod {
			pod := clientOf(t, b, 0)
			b.run.Spec.Suspend = ptr.To(true)
			if err := api.Update(t.Context(), b.run); err != nil {
				t.Fatal(err)
			}
			b.reconcile()
			return pod
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.scheduled()
			pod := plant(t, b)
			identifier := &Identifier{Client: api, APIReader: api}
			got, err := identifier.Identify(t.Context(), token(t, pod.Namespace, session.Audience, pod))
			if !errors.Is(err, manager.ErrForbidden) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// behind is a client whose cache still has an earlier version of a run.
type behind struct {
	client.Client
	run *v1alpha1.BenchmarkRun
}

// Get implements client.Client.
func (c behind) Get(ctx context.Context, name client.ObjectKey, obj client.Object, options ...client.GetOption) error {
	if br, ok := obj.(*v1alpha1.BenchmarkRun); ok {
		c.run.DeepCopyInto(br)
		return nil
	}
	return c.Client.Get(ctx, name, obj, options...)
}

func TestIdentifyReadsPastACacheThatIsBehind(t *testing.T) {
	b := newBench(t)
	b.reload()
	before := b.run.DeepCopy()
	b.scheduled()
	pod := clientOf(t, b, 1)
	identifier := &Identifier{Client: behind{Client: api, run: before}, APIReader: api}
	if got, err := identifier.Identify(t.Context(), token(t, b.run.Namespace, session.Audience, pod)); err != nil || got.Index != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// settled reconciles until the run has recorded target and Job. Nobody gives the target a node or
// completes deletions of running pods here, so it does.
func (b *bench) settled() {
	b.t.Helper()
	for range 6 {
		b.reload()
		_, _ = b.Reconcile(b.t.Context(), b.request())
		var pod corev1.Pod
		if err := b.get("run-target", &pod); err == nil && !pod.DeletionTimestamp.IsZero() {
			if err := api.Delete(b.t.Context(), &pod, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
				b.t.Fatal(err)
			}
		} else if err == nil && b.run.Status.Children != nil && b.run.Status.Children.TargetPodUID == string(pod.UID) {
			b.bind()
		}
	}
	b.reload()
}

// plant creates a pod and a Job with the names of the run's, as a tenant would.
func (b *bench) plant(change func(client.Object)) map[string]types.UID {
	b.t.Helper()
	b.reload()
	pod := forged(b, b.run.Namespace, "run-target", manifest.RoleTarget, refOf(b))
	job := &batchv1.Job{ObjectMeta: *pod.ObjectMeta.DeepCopy(), Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: pod.Spec}}}
	job.Name = "run-client"
	planted := map[string]types.UID{}
	for _, obj := range []client.Object{pod, job} {
		change(obj)
		planted[mustCreate(b.t, obj).GetName()] = obj.GetUID()
	}
	b.Client = asCached(b.t)
	return planted
}

// TestReconcileReplacesPlantedObjects has a tenant plant objects before the manager creates its own.
func TestReconcileReplacesPlantedObjects(t *testing.T) {
	b := newBench(t)
	planted := b.plant(func(client.Object) {})
	b.settled()
	children := b.run.Status.Children
	if children == nil || children.TargetPodUID == "" || children.ClientJobUID == "" {
		t.Fatalf("nothing is recorded: %+v, %+v", children, b.run.Status.Conditions)
	}
	if children.TargetPodUID == string(planted["run-target"]) || children.ClientJobUID == string(planted["run-client"]) {
		t.Errorf("a planted object is recorded: %+v of %v", children, planted)
	}
	identifier := &Identifier{Client: api, APIReader: api}
	var target corev1.Pod
	if err := b.get("run-target", &target); err != nil || string(target.UID) != children.TargetPodUID {
		t.Fatalf("%v: %s", err, target.UID)
	}
	if _, err := identifier.Identify(t.Context(), token(t, b.run.Namespace, session.Audience, &target)); err != nil {
		t.Error(err)
	}
}

// TestReconcileRefusesPlantedObjectsThatTheCacheHides plants objects without the labels of a run's.
func TestReconcileRefusesPlantedObjectsThatTheCacheHides(t *testing.T) {
	b := newBench(t)
	b.plant(func(obj client.Object) { obj.SetLabels(nil) })
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonNameConflict || !strings.Contains(got.Message, "Pod run-target") {
		t.Errorf("%+v", got)
	}
}

// asCached returns a client that sees pods and Jobs as the manager's cache does: by their labels.
func asCached(t testing.TB) client.Client {
	t.Helper()
	watching, err := client.NewWithWatch(apiConfig, client.Options{Scheme: api.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return cached{interceptor.NewClient(watching, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, name client.ObjectKey, obj client.Object, options ...client.GetOption) error {
			if err := c.Get(ctx, name, obj, options...); err != nil {
				return err
			}
			if _, isRun := obj.(*v1alpha1.BenchmarkRun); !isRun && obj.GetLabels()[manifest.LabelRunUID] == "" {
				return apierrors.NewNotFound(corev1.Resource("objects"), name.Name)
			}
			return nil
		},
	})}
}

// killedBeforeStatus kills the manager between the creation of target and Job and the status, and returns the target's pod.
func (b *bench) killedBeforeStatus() corev1.Pod {
	b.t.Helper()
	restore := b.intercept(interceptor.Funcs{
		SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
			return errKilled
		},
	})
	b.killed()
	restore()
	var before corev1.Pod
	if err := b.get("run-target", &before); err != nil {
		b.t.Fatal(err)
	}
	return before
}

// TestReconcileCreatesAgainWhatAKilledManagerDidNotRecord kills the manager between the creation of
// target and Job and the status: nothing shows that a manager created them.
func TestReconcileCreatesAgainWhatAKilledManagerDidNotRecord(t *testing.T) {
	b := newBench(t)
	before := b.killedBeforeStatus()
	fresh := newBench(t, func(w *wrapper.Run) { w.Lane("unused") }) // the manager that follows
	fresh.run = b.run
	identifier := &Identifier{Client: api, APIReader: api}
	if who, err := identifier.Identify(t.Context(), token(t, b.run.Namespace, session.Audience, &before)); !errors.Is(err, manager.ErrForbidden) {
		t.Errorf("before it is recorded: %+v, %v", who, err)
	}
	fresh.settled()
	if children := fresh.run.Status.Children; children == nil || children.TargetPodUID == "" || children.TargetPodUID == string(before.UID) {
		t.Errorf("%+v; %s was never recorded", children, before.UID)
	}
}

// TestReconcileKeepsWhatItCreated has the status write fail in the same process: nothing is created
// twice.
func TestReconcileKeepsWhatItCreated(t *testing.T) {
	b := newBench(t)
	before := b.killedBeforeStatus()
	b.scheduled()
	if children := b.run.Status.Children; children == nil || children.TargetPodUID != string(before.UID) || children.ClientJobUID == "" {
		t.Errorf("%+v, want target %s", children, before.UID)
	}
}

// TestReconcileDeletesNothingWhileTheCacheIsBehind has a manager see a target that its cache's version of
// the run doesn't record yet.
func TestReconcileDeletesNothingWhileTheCacheIsBehind(t *testing.T) {
	b := newBench(t)
	b.reload()
	before := b.run.DeepCopy()
	b.reconcile()
	fresh := newBench(t, func(w *wrapper.Run) { w.Lane("unused") })
	fresh.run, fresh.Client = b.run, behind{Client: cached{api}, run: before}
	if result, err := fresh.Reconcile(t.Context(), fresh.request()); err != nil || result.RequeueAfter == 0 {
		t.Errorf("%+v, %v", result, err)
	}
	var pod corev1.Pod
	if err := b.get("run-target", &pod); err != nil || !pod.DeletionTimestamp.IsZero() || string(pod.UID) != b.run.Status.Children.TargetPodUID {
		t.Errorf("%v, %v", err, pod.ObjectMeta)
	}
}

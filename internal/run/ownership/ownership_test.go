package ownership

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/test/wrapper"
)

// active returns a run that holds its lane, and has recorded its children.
func active() *v1alpha1.BenchmarkRun {
	run := wrapper.NewRun("ns", "run", "image").Clients(2, "1", "128Mi").Obj()
	run.UID = "uid"
	run.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionAdmitted, Status: metav1.ConditionTrue}}
	run.Status.Children = &v1alpha1.ChildrenStatus{TargetPodUID: "target", ClientJobUID: "job"}
	return run
}

// of makes an object one of an owner.
func of[T metav1.Object](obj T, uid types.UID, owner metav1.OwnerReference) T {
	obj.SetUID(uid)
	obj.SetOwnerReferences([]metav1.OwnerReference{owner})
	return obj
}

func TestOf(t *testing.T) {
	reference := func(kind, name string, uid types.UID) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: "assay.dev/v1alpha1", Kind: kind, Name: name, UID: uid, Controller: ptr.To(true)}
	}
	ours := reference("BenchmarkRun", "run", "uid")
	notControlling := ours
	notControlling.Controller = nil
	over := func(run *v1alpha1.BenchmarkRun) { run.Spec.Suspend = ptr.To(true) }
	for name, test := range map[string]struct {
		obj    metav1.Object
		made   v1alpha1.ChildrenStatus
		change func(*v1alpha1.BenchmarkRun)
		want   Relation
	}{
		"the target that the status records":           {obj: of(&corev1.Pod{}, "target", ours), want: Own},
		"the Job that the status records":              {obj: of(&batchv1.Job{}, "job", ours), want: Own},
		"a target that this manager made just now":     {obj: of(&corev1.Pod{}, "new", ours), made: v1alpha1.ChildrenStatus{TargetPodUID: "new"}, want: Own},
		"a target that nobody recorded":                {obj: of(&corev1.Pod{}, "planted", ours), want: Unrecorded},
		"a Job that nobody recorded":                   {obj: of(&batchv1.Job{}, "planted", ours), want: Unrecorded},
		"a Job with the UID of the target":             {obj: of(&batchv1.Job{}, "target", ours), want: Unrecorded},
		"a target of a run that has recorded nothing":  {obj: of(&corev1.Pod{}, "target", ours), change: func(r *v1alpha1.BenchmarkRun) { r.Status.Children = nil }, want: Unrecorded},
		"what a run that is over leaves behind":        {obj: of(&corev1.Pod{}, "planted", ours), change: over, want: Own},
		"a ConfigMap, by which no pod speaks":          {obj: of(&corev1.ConfigMap{}, "any", ours), want: Own},
		"the target of an earlier run of the name":     {obj: of(&corev1.Pod{}, "target", reference("BenchmarkRun", "run", "earlier")), want: EarlierRun},
		"the target of another run":                    {obj: of(&corev1.Pod{}, "target", reference("BenchmarkRun", "other", "other")), want: Foreign},
		"an object of another kind of owner":           {obj: of(&corev1.Pod{}, "target", reference("Deployment", "run", "other")), want: Foreign},
		"an object that the run owns but not controls": {obj: of(&corev1.Pod{}, "target", notControlling), want: Foreign},
		"an object without an owner":                   {obj: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "target"}}, want: Foreign},
		"a foreign object beside a run that is over":   {obj: &corev1.Pod{}, change: over, want: Foreign},
	} {
		run := active()
		if test.change != nil {
			test.change(run)
		}
		if got := Of(run, test.made, test.obj); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

// client returns a pod as the Job controller creates it.
func client(uid types.UID, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := of(&corev1.Pod{}, uid, metav1.OwnerReference{APIVersion: "batch/v1", Kind: "Job", Name: "run-client", UID: "job", Controller: ptr.To(true)})
	pod.Namespace, pod.Name, pod.GenerateName = "ns", "run-client-1-abcde", "run-client-1-"
	pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: "1"}
	pod.Labels = map[string]string{batchv1.JobCompletionIndexAnnotation: "1"}
	pod.Spec.ServiceAccountName = manifest.ServiceAccount
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func TestSpeaker(t *testing.T) {
	target := func(uid types.UID, namespace, name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: uid}}
	}
	for name, test := range map[string]struct {
		pod    *corev1.Pod
		change func(*v1alpha1.BenchmarkRun)
		want   Role
	}{
		"the target":                       {pod: target("target", "ns", "run-target"), want: Target},
		"a second target":                  {pod: target("planted", "ns", "run-target")},
		"a target of another name":         {pod: target("target", "ns", "other")},
		"a target of another namespace":    {pod: target("target", "other", "run-target")},
		"a client":                         {pod: client("1"), want: Client},
		"a client of another Job":          {pod: client("1", func(p *corev1.Pod) { p.OwnerReferences[0].UID = "other" })},
		"a client with a name of its own":  {pod: client("1", func(p *corev1.Pod) { p.Name = "mine" })},
		"a client of another name":         {pod: client("1", func(p *corev1.Pod) { p.Name = "run-client-2-abcde" })},
		"a client of an index too many":    {pod: client("1", func(p *corev1.Pod) { p.Annotations[batchv1.JobCompletionIndexAnnotation] = "2" })},
		"a client of another account":      {pod: client("1", func(p *corev1.Pod) { p.Spec.ServiceAccountName = "mine" })},
		"a client of another namespace":    {pod: client("1", func(p *corev1.Pod) { p.Namespace = "other" })},
		"of a run that has finished":       {pod: client("1"), change: with(v1alpha1.ConditionFinished)},
		"of a run that was never admitted": {pod: client("1"), change: func(r *v1alpha1.BenchmarkRun) { r.Status.Conditions = nil }},
		"of a run that is being deleted":   {pod: client("1"), change: func(r *v1alpha1.BenchmarkRun) { r.DeletionTimestamp = ptr.To(metav1.NewTime(time.Unix(1, 0))) }},
		"of a run that recorded nothing":   {pod: client("1"), change: func(r *v1alpha1.BenchmarkRun) { r.Status.Children = nil }},
		"of a run that recorded no Job":    {pod: client("1"), change: func(r *v1alpha1.BenchmarkRun) { r.Status.Children.ClientJobUID = "" }},
	} {
		run := active()
		if test.change != nil {
			test.change(run)
		}
		if got, index := Speaker(run, test.pod); got != test.want || got == Client && index != 1 {
			t.Errorf("%s: %d %d, want %d", name, got, index, test.want)
		}
	}
}

func with(kind string) func(*v1alpha1.BenchmarkRun) {
	return func(run *v1alpha1.BenchmarkRun) {
		run.Status.Conditions = append(run.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue})
	}
}

func TestTwin(t *testing.T) {
	named := func(p *corev1.Pod) { p.Name = "run-client-1-fghij" }
	for name, test := range map[string]struct {
		other *corev1.Pod
		want  string
	}{
		"itself":                  {client("1"), ""},
		"another one":             {client("2", named), "run-client-1-fghij"},
		"one that has ended":      {client("2", named, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), ""},
		"one that isn't a client": {client("2", named, func(p *corev1.Pod) { p.OwnerReferences = nil }), ""},
	} {
		if got := Twin(active(), client("1"), 1, []corev1.Pod{*test.other}); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

package benchmarkrun

import (
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/manager"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/test/wrapper"
)

// token requests a token of the namespace's default service account, bound to pod
// unless that is nil. Without an audience it is for the API server.
func token(t *testing.T, namespace, audience string, pod *corev1.Pod) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}}
	if err := api.Create(t.Context(), account); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences: []string{audience}, ExpirationSeconds: ptr.To(int64(600)),
	}}
	if audience == "" {
		request.Spec.Audiences = nil
	}
	if pod != nil {
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}
	}
	if err := api.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// clientOf creates a pod as the Job controller does, after the given changes.
func clientOf(t *testing.T, b *bench, index int, changes ...func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	var job batchv1.Job
	if err := b.get("run-client", &job); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: *job.Spec.Template.ObjectMeta.DeepCopy(), Spec: *job.Spec.Template.Spec.DeepCopy()}
	pod.Namespace, pod.GenerateName = job.Namespace, fmt.Sprintf("run-client-%d-", index)
	pod.Labels[batchv1.JobCompletionIndexAnnotation] = strconv.Itoa(index)
	pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: strconv.Itoa(index)}
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(&job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	for _, change := range changes {
		change(pod)
	}
	if err := api.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

func TestIdentify(t *testing.T) {
	b := newBench(t)
	b.scheduled()
	var target corev1.Pod
	if err := b.get("run-target", &target); err != nil {
		t.Fatal(err)
	}
	client1 := clientOf(t, b, 1)
	identifier := &Identifier{Client: api, APIReader: api}
	uid := string(b.run.UID)
	for name, test := range map[string]struct {
		pod  *corev1.Pod
		want manager.Identity
	}{
		"target": {&target, manager.Identity{Run: uid, Namespace: target.Namespace, Role: sessionpb.Role_ROLE_AGENT, Pod: "run-target", PodUID: string(target.UID), Node: "node"}},
		"client": {client1, manager.Identity{Run: uid, Namespace: target.Namespace, Role: sessionpb.Role_ROLE_CLIENT, Index: 1, Pod: client1.Name, PodUID: string(client1.UID)}},
	} {
		got, err := identifier.Identify(t.Context(), token(t, b.run.Namespace, session.Audience, test.pod))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestIdentifyRefuses(t *testing.T) {
	b := newBench(t)
	b.scheduled()
	namespace := b.run.Namespace
	var target corev1.Pod
	if err := b.get("run-target", &target); err != nil {
		t.Fatal(err)
	}
	pod := func(name string, change func(*corev1.Pod)) *corev1.Pod {
		p := clientPodSpec(namespace, name)
		for k, v := range target.Labels {
			p.Labels[k] = v
		}
		change(p)
		if err := api.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	ownedByTheRun := []metav1.OwnerReference{*metav1.NewControllerRef(b.run, b.run.GroupVersionKind())}
	ownedByTheRun[0].APIVersion, ownedByTheRun[0].Kind = "assay.dev/v1alpha1", "BenchmarkRun"
	foreignJob := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "foreign"}, Spec: batchv1.JobSpec{
		Template: corev1.PodTemplateSpec{Spec: clientPodSpec(namespace, "").Spec},
	}}
	foreignJob.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	if err := api.Create(t.Context(), foreignJob); err != nil {
		t.Fatal(err)
	}
	gone := pod("gone", func(p *corev1.Pod) { p.OwnerReferences = ownedByTheRun })
	goneToken := token(t, namespace, session.Audience, gone)
	if err := api.Delete(t.Context(), gone, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		token string
		want  error
	}{
		"nonsense":                 {"nonsense", manager.ErrUnauthenticated},
		"another audience":         {token(t, namespace, "somebody", &target), manager.ErrUnauthenticated},
		"bound to no pod":          {token(t, namespace, session.Audience, nil), manager.ErrUnauthenticated},
		"of a pod that is gone":    {goneToken, manager.ErrUnauthenticated},
		"of a pod with the labels": {token(t, namespace, session.Audience, pod("labelled", func(*corev1.Pod) {})), manager.ErrForbidden},
		"of a pod without a role": {token(t, namespace, session.Audience, pod("roleless", func(p *corev1.Pod) {
			p.OwnerReferences = ownedByTheRun
			delete(p.Labels, manifest.LabelRole)
		})), manager.ErrForbidden},
		"of another Job's pod": {token(t, namespace, session.Audience, pod("foreign-0", func(p *corev1.Pod) {
			p.Labels[manifest.LabelRole] = manifest.RoleClient
			p.Labels[batchv1.JobCompletionIndexAnnotation] = "0"
			p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(foreignJob, batchv1.SchemeGroupVersion.WithKind("Job"))}
		})), manager.ErrForbidden},
		"of a client without index": {token(t, namespace, session.Audience, func() *corev1.Pod {
			var job batchv1.Job
			if err := b.get("run-client", &job); err != nil {
				t.Fatal(err)
			}
			return pod("indexless", func(p *corev1.Pod) {
				p.Labels[manifest.LabelRole] = manifest.RoleClient
				p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(&job, batchv1.SchemeGroupVersion.WithKind("Job"))}
			})
		}()), manager.ErrForbidden},
	}
	identifier := &Identifier{Client: api, APIReader: api}
	for name, test := range tests {
		if who, err := identifier.Identify(t.Context(), test.token); !errors.Is(err, test.want) {
			t.Errorf("a token %s: %+v, %v; want %v", name, who, err, test.want)
		}
	}

	// The target's token is good for a manager that serves its namespace.
	good := token(t, namespace, session.Audience, &target)
	for name, test := range map[string]struct {
		serves []string
		want   error
	}{
		"all namespaces":         {nil, nil},
		"its namespace":          {[]string{"another", namespace}, nil},
		"another namespace":      {[]string{"another"}, manager.ErrForbidden},
		"one with a longer name": {[]string{namespace + "-2", namespace[:len(namespace)-1]}, manager.ErrForbidden},
	} {
		identifier := &Identifier{Client: api, APIReader: api, Namespaces: test.serves}
		if who, err := identifier.Identify(t.Context(), good); !errors.Is(err, test.want) || (err == nil) != (who.Run == string(b.run.UID)) {
			t.Errorf("a manager of %s: %+v, %v; want %v", name, who, err, test.want)
		}
	}
}

// TestTokensOfPodsHaveNoRights uses the token of a client, whose service account may do everything in its
// namespace, at the API server.
func TestTokensOfPodsHaveNoRights(t *testing.T) {
	b := newBench(t)
	b.scheduled()
	pod := clientOf(t, b, 0)
	mustCreate(t, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.run.Namespace, Name: "all"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: b.run.Namespace, Name: pod.Spec.ServiceAccountName}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
	})
	var target corev1.Pod
	if err := b.get("run-target", &target); err != nil {
		t.Fatal(err)
	}
	for name, spec := range map[string]*corev1.PodSpec{"target": &target.Spec, "client": &pod.Spec} {
		tokens := 0
		for _, v := range spec.Volumes {
			for _, source := range ptr.Deref(v.Projected, corev1.ProjectedVolumeSource{}).Sources {
				if source.ServiceAccountToken != nil && source.ServiceAccountToken.Audience == session.Audience {
					tokens++
				} else if source.ServiceAccountToken != nil {
					t.Errorf("the %s has a token for audience %q", name, source.ServiceAccountToken.Audience)
				}
			}
		}
		if tokens != 1 || ptr.Deref(spec.AutomountServiceAccountToken, true) {
			t.Errorf("the %s has %d tokens, and mounts that of its service account: %v", name, tokens, spec.AutomountServiceAccountToken)
		}
	}
	for audience, want := range map[string]func(error) bool{
		session.Audience: apierrors.IsUnauthorized,
		"":               func(err error) bool { return err == nil }, // the API server's own
	} {
		config := rest.AnonymousClientConfig(apiConfig)
		config.BearerToken = token(t, b.run.Namespace, audience, pod)
		as, err := client.New(config, client.Options{Scheme: api.Scheme()})
		if err != nil {
			t.Fatal(err)
		}
		if err := as.List(t.Context(), &corev1.PodList{}, client.InNamespace(b.run.Namespace)); !want(err) {
			t.Errorf("with a token for audience %q: %v", audience, err)
		}
	}
}

// clientPodSpec returns a pod that the restricted Pod Security Standard allows.
func clientPodSpec(namespace, name string) *corev1.Pod {
	run := wrapper.NewRun(namespace, "run", "image:1").Obj()
	job, err := manifest.ClientJob(run, "node", nil, &manifest.Settings{LoadImage: "image:1"})
	if err != nil {
		panic(err)
	}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{}}, Spec: job.Spec.Template.Spec}
}

package manifest

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestPodsEndWithoutAManager checks that the pods of a run have a deadline of their own, and a token
// that is valid until then: while the API server is away the kubelet can't renew it.
func TestPodsEndWithoutAManager(t *testing.T) {
	const deadline = 600
	run := wrapper.NewRun("ns", "run", "image").Deadline(deadline).Obj()
	target, err := TargetPod(run, &server.Rendering{Containers: []corev1.Container{{Name: "server"}}}, &Settings{})
	if err != nil {
		t.Fatal(err)
	}
	job := jobOf(t, run, "node")
	want := int64(deadline + deadlineMargin.Seconds())
	if got := ptr.Deref(target.Spec.ActiveDeadlineSeconds, 0); got != want {
		t.Errorf("the target ends after %d s, want %d", got, want)
	}
	if got := ptr.Deref(job.Spec.ActiveDeadlineSeconds, 0); got != want {
		t.Errorf("the Job ends after %d s, want %d", got, want)
	}
	for name, volumes := range map[string][]corev1.Volume{"target": target.Spec.Volumes, "client": job.Spec.Template.Spec.Volumes} {
		for _, v := range volumes {
			if v.Name != identityVolume {
				continue
			}
			if token := v.Projected.Sources[0].ServiceAccountToken; *token.ExpirationSeconds < want {
				t.Errorf("%s: the token expires after %d s, before the pod ends", name, *token.ExpirationSeconds)
			}
		}
	}
}

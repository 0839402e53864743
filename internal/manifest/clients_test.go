package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestClientsAreGivenTheirCredentials checks that clients get only the keys that
// the scheme needs of the Secret that load.authentication names.
func TestClientsAreGivenTheirCredentials(t *testing.T) {
	for scheme, want := range map[v1alpha1.AuthenticationScheme][]string{
		"":                            nil,
		v1alpha1.AuthenticationBasic:  {"password", "username"},
		v1alpha1.AuthenticationDigest: {"password", "username"},
		v1alpha1.AuthenticationBearer: {"token"},
	} {
		run := wrapper.NewRun("ns", "run", "image").Obj()
		if scheme != "" {
			run.Spec.Load.Authentication = &v1alpha1.Authentication{Scheme: scheme, SecretName: "login"}
		}
		var got []string
		pod := ClientJob(run, "node", nil, &Settings{}).Spec.Template.Spec
		for _, volume := range pod.Volumes {
			if volume.Name == CredentialsVolume {
				secret := volume.Projected.Sources[0].Secret
				if secret.Name != "login" || !mounted(&pod, CredentialsVolume, session.CredentialsDirectory) {
					t.Errorf("%s: %+v isn't mounted", scheme, secret)
				}
				for _, item := range secret.Items {
					got = append(got, item.Key)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", scheme, diff)
		}
	}
}

func mounted(pod *corev1.PodSpec, volume, path string) bool {
	for _, m := range pod.Containers[0].VolumeMounts {
		if m.Name == volume && m.MountPath == path && m.ReadOnly {
			return true
		}
	}
	return false
}

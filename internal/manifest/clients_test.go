package manifest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
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
		pod := jobOf(t, run, "node").Spec.Template.Spec
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

// jobOf returns the clients' Job of a run whose spec has no mistake.
func jobOf(t *testing.T, run *v1alpha1.BenchmarkRun, node string) *batchv1.Job {
	t.Helper()
	return jobWith(t, run, node, &Settings{})
}

func jobWith(t *testing.T, run *v1alpha1.BenchmarkRun, node string, settings *Settings) *batchv1.Job {
	t.Helper()
	job, err := ClientJob(run, node, nil, settings)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func mounted(pod *corev1.PodSpec, volume, path string) bool {
	for _, m := range pod.Containers[0].VolumeMounts {
		if m.Name == volume && m.MountPath == path && m.ReadOnly {
			return true
		}
	}
	return false
}

// TestTheAgentIsGivenCredentials checks that the agent gets the Secret if its probe is a request with credentials, and the server never does.
func TestTheAgentIsGivenCredentials(t *testing.T) {
	for name, test := range map[string]struct {
		scheme v1alpha1.AuthenticationScheme
		path   string
		want   bool
	}{
		"Basic":             {v1alpha1.AuthenticationBasic, "", true},
		"Bearer":            {v1alpha1.AuthenticationBearer, "", true},
		"a path of its own": {v1alpha1.AuthenticationBasic, "/health", false},
		"Digest":            {v1alpha1.AuthenticationDigest, "/health", false},
	} {
		run := wrapper.NewRun("ns", "run", "image").Obj()
		run.Spec.Load.Authentication = &v1alpha1.Authentication{Scheme: test.scheme, SecretName: "login"}
		run.Spec.Target.Readiness.Path = test.path
		pod, err := TargetPod(run, &server.Rendering{Containers: []corev1.Container{{Name: server.ContainerName}}}, &Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range pod.Spec.Containers {
			got := slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == CredentialsVolume })
			if want := test.want && c.Name == AgentContainer; got != want {
				t.Errorf("%s: container %s has credentials: %t, want %t", name, c.Name, got, want)
			}
		}
	}
}

package manifest

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/test/wrapper"
)

// filesIn returns the files that a projected volume takes from Secrets and
// ConfigMaps, as "name/key as path".
func filesIn(volumes []corev1.Volume, name string) []string {
	var files []string
	for _, v := range volumes {
		if v.Name != name {
			continue
		}
		for _, source := range v.Projected.Sources {
			if s := source.Secret; s != nil {
				for _, item := range s.Items {
					files = append(files, s.Name+"/"+item.Key+" as "+item.Path)
				}
			}
			if c := source.ConfigMap; c != nil {
				for _, item := range c.Items {
					files = append(files, c.Name+"/"+item.Key+" as "+item.Path)
				}
			}
		}
	}
	slices.Sort(files)
	return files
}

// TestTLSKeysAreWhereTheyBelong checks that every pod and container sees no other
// key than its own.
func TestTLSKeysAreWhereTheyBelong(t *testing.T) {
	run := fullTarget()
	secret, clients := "run-tls-01234567", "run-client-tls-01234567"
	job := jobOf(t, run, "node")
	pod, err := podOf(t, run, nil)
	if err != nil {
		t.Fatal(err)
	}
	asks := []string{
		clients + "/tls.crt as client.crt", clients + "/tls.key as client.key",
		secret + "/ca.crt as ca.crt", secret + "/tls.crt as server.crt",
	}
	for name, test := range map[string]struct{ got, want []string }{
		"of the clients": {filesIn(job.Spec.Template.Spec.Volumes, clientTLSVolumeName), asks},
		"of the agent":   {filesIn(pod.Spec.Volumes, clientTLSVolumeName), asks},
		"of the server": {filesIn(pod.Spec.Volumes, server.TLSVolume), []string{
			clients + "/ca.crt as client-ca.crt", secret + "/tls.crt as tls.crt", secret + "/tls.key as tls.key",
		}},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("the files %s (-want +got):\n%s", name, diff)
		}
	}
	encoded, err := json.Marshal(job.Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(encoded, []byte(secret)); n != 2 {
		t.Errorf("the clients' pods name the server's Secret %d times", n)
	}
	for _, c := range pod.Spec.Containers {
		for _, m := range c.VolumeMounts {
			if m.Name == server.TLSVolume && c.Name != server.ContainerName || m.Name == clientTLSVolumeName && c.Name != AgentContainer {
				t.Errorf("container %s mounts %s", c.Name, m.Name)
			}
		}
	}
}

func TestTLSVolumesOfWhatTheUserHas(t *testing.T) {
	external := func(authority v1alpha1.CertificateAuthority) v1alpha1.Target {
		return v1alpha1.Target{Server: v1alpha1.Server{External: &v1alpha1.ExternalServer{URL: "https://a.example", CertificateAuthority: &authority}}}
	}
	tests := map[string]struct {
		target v1alpha1.Target
		want   []string
	}{
		"no TLS":                     {v1alpha1.Target{}, nil},
		"external":                   {v1alpha1.Target{Server: v1alpha1.Server{External: &v1alpha1.ExternalServer{URL: "https://a.example"}}}, nil},
		"external, with a ConfigMap": {external(v1alpha1.CertificateAuthority{ConfigMapName: "c"}), []string{"c/ca.crt as ca.crt"}},
		"external, with a Secret":    {external(v1alpha1.CertificateAuthority{SecretName: "s"}), []string{"s/ca.crt as ca.crt"}},
		"a Secret": {
			v1alpha1.Target{TLS: &v1alpha1.TLS{Certificate: &v1alpha1.Certificate{SecretName: "s"}}},
			[]string{"s/ca.crt as ca.crt", "s/tls.crt as server.crt"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			run := wrapper.NewRun("ns", "run", "").Obj()
			run.Spec.Target = test.target
			var got []string
			if volume := clientTLSVolume(run); volume != nil {
				got = filesIn([]corev1.Volume{*volume}, clientTLSVolumeName)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

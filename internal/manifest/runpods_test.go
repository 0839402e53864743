package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// TestObjectsHaveLabels checks the labels of each kind of object, and that neither the administrator's nor a run's own replace Assay's.
func TestObjectsHaveLabels(t *testing.T) {
	p, err := ReadRunPods(`{"podLabels": {"a": "all", "team": "all"}, "inheritLabels": ["team", "example.org/*"]}`)
	if err != nil {
		t.Fatal(err)
	}
	run := fullTarget()
	run.Labels = map[string]string{"team": "own", "example.org/x": "own", "other": "own", LabelRunUID: "forged"}
	run.Spec.Target.TLS.Certificate = &v1alpha1.Certificate{IssuerRef: &v1alpha1.IssuerReference{Name: "a", Kind: "Issuer"}}
	run.Spec.Clients.Labels = map[string]string{"team": "clients"}
	pod, err := podOf(t, run, nil)
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]string{"a": "all", "team": "own", "example.org/x": "own", LabelManagedBy: managedBy, LabelRun: "run", LabelRunUID: "0123456789"}
	issued := IssuedCertificate(run, &Certificates(run)[0])
	for _, obj := range []Object{pod, jobOf(t, run, "node"), &corev1.ConfigMap{ObjectMeta: objectMeta(run, "x")}, NetworkPolicy(run, &Settings{}), issued} {
		p.Label(obj, run.Labels)
		got := obj.GetLabels()
		delete(got, LabelRole)
		delete(got, LabelLane)
		if diff := cmp.Diff(own, got); diff != "" {
			t.Errorf("%T (-want +got):\n%s", obj, diff)
		}
		if job, ok := obj.(*batchv1.Job); ok && (job.Spec.Template.Labels["a"] != "all" || job.Spec.Template.Labels["team"] != "clients") {
			t.Errorf("the clients' pods: %v", job.Spec.Template.Labels)
		}
	}
	if secret, _, _ := unstructured.NestedStringMap(issued.Object, "spec", "secretTemplate", "labels"); secret["a"] != "all" || secret["team"] != "own" {
		t.Errorf("the certificate's Secret: %v", secret)
	}
}

// TestRunPods checks what pods of all runs have, and that a run's own annotations and users win.
func TestRunPods(t *testing.T) {
	p, err := ReadRunPods(`{"podAnnotations": {"a": "all", "b": "all"}, "imagePullSecrets": ["registry"], "agentResources": {"cpu": "200m"}, "securityContext": "Any"}`)
	if err != nil {
		t.Fatal(err)
	}
	run := fullTarget()
	run.Spec.Target.Annotations = map[string]string{"b": "own", "karpenter.sh/do-not-disrupt": "false"}
	pod, err := TargetPod(run, rendered(t, run), &Settings{RunPods: p})
	if err != nil {
		t.Fatal(err)
	}
	job := jobWith(t, run, "node", &Settings{RunPods: p})
	for name, spec := range map[string]*corev1.PodSpec{"target": &pod.Spec, "client": &job.Spec.Template.Spec} {
		if spec.ImagePullSecrets[0].Name != "registry" || spec.SecurityContext.RunAsUser != nil || !*spec.SecurityContext.RunAsNonRoot {
			t.Errorf("%s: %v, %v", name, spec.ImagePullSecrets, spec.SecurityContext)
		}
		for _, c := range append(spec.InitContainers, spec.Containers...) {
			if c.SecurityContext.RunAsUser != nil || c.SecurityContext.RunAsGroup != nil {
				t.Errorf("%s: container %s runs as a fixed user: %v", name, c.Name, c.SecurityContext)
			}
		}
	}
	agent := containerOf(pod, AgentContainer).Resources
	if agent.Requests.Cpu().String() != "200m" || agent.Limits.Cpu().String() != "200m" || agent.Limits.Memory().String() != "64Mi" {
		t.Errorf("the agent: %v", agent)
	}
	got := pod.Annotations
	delete(got, AnnotationWritten)
	want := map[string]string{"a": "all", "b": "own", "karpenter.sh/do-not-disrupt": "false", "cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

func TestRunPodsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"podLabels": {"assay.dev/run": "a"}}`:               "assay.dev/run is Assay's own",
		`{"podAnnotations": {"x.assay.dev/run": "a"}}`:        "x.assay.dev/run is Assay's own",
		`{"podLabels": {"app.kubernetes.io/managed-by": ""}}`: "managed-by is Assay's own",
		`{"securityContext": "Some"}`:                         "it must be Fixed or Any",
		`{"agentResources": {"cpu": "0"}}`:                    "agentResources must be more than zero",
		`{"labels": {}}`:                                      "unknown field",
	} {
		if _, err := ReadRunPods(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

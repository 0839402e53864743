package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/test/wrapper"
)

// TestChanges changes the pod of a client as Kubernetes itself and what platform teams install do.
func TestChanges(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	proxy := corev1.Container{Name: "istio-proxy", Image: "proxy:1", Env: []corev1.EnvVar{{Name: "A"}}, Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
	}}
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   []Change
	}{
		"nothing": {func(*corev1.Pod) {}, nil},
		"what Kubernetes itself sets": {func(p *corev1.Pod) {
			s := &p.Spec
			s.NodeName, s.SchedulerName, s.DNSPolicy, s.Priority, s.PreemptionPolicy = "node-1", "default-scheduler", corev1.DNSClusterFirst, new(int32(0)), new(corev1.PreemptLowerPriority)
			s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300))})
			s.Hostname, s.Subdomain, s.ImagePullSecrets = "run-client-0", "", []corev1.LocalObjectReference{{Name: "of-the-service-account"}}
			c := &s.Containers[0]
			c.TerminationMessagePath, c.ImagePullPolicy = "/dev/termination-log", corev1.PullIfNotPresent
			c.Resources.Limits[corev1.ResourceCPU] = resource.MustParse("1000m")
			c.Env = append(c.Env, corev1.EnvVar{Name: "JOB_COMPLETION_INDEX", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['x']"}}})
			p.Labels["batch.kubernetes.io/job-name"], p.Annotations["batch.kubernetes.io/job-completion-index"] = "run-client", "0"
			p.Status.QOSClass = corev1.PodQOSGuaranteed
		}, nil},
		"a sidecar": {func(p *corev1.Pod) {
			p.Spec.Containers, p.Status.QOSClass = append([]corev1.Container{proxy}, p.Spec.Containers...), corev1.PodQOSBurstable
		}, []Change{
			{"containers[istio-proxy]", "", "proxy:1", AddsContainer},
			{"containers[istio-proxy].resources", "", "cpu 100m without a limit", NoEffect},
			{"qosClass", "Guaranteed", "Burstable", ChangesResources},
		}},
		"a sidecar, before the API server says the class": {func(p *corev1.Pod) {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "x", Image: "y"})
		}, []Change{{"containers[x]", "", "y", AddsContainer}, {"qosClass", "Guaranteed", "Burstable", ChangesResources}}},
		"a native sidecar and an init container": {func(p *corev1.Pod) {
			native, begin := proxy, proxy
			native.RestartPolicy, begin.Name = &always, "istio-init"
			native.Resources, begin.Resources = corev1.ResourceRequirements{}, corev1.ResourceRequirements{}
			p.Spec.InitContainers, p.Status.QOSClass = []corev1.Container{begin, native}, corev1.PodQOSGuaranteed
		}, []Change{{"initContainers[istio-init]", "", "proxy:1", NoEffect}, {"initContainers[istio-proxy]", "", "proxy:1", AddsContainer}}},
		"kubectl debug": {func(p *corev1.Pod) {
			p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debugger", Image: "busybox"}}}
		}, []Change{{"ephemeralContainers[debugger]", "", "busybox", AddsContainer}}},
		"a mesh without sidecars": {func(p *corev1.Pod) { p.Annotations["ambient.istio.io/redirection"] = "enabled" },
			[]Change{{"metadata.annotations[ambient.istio.io/redirection]", "", "enabled", AddsContainer}}},
		"a mesh without sidecars that leaves it out": {func(p *corev1.Pod) { p.Annotations["ambient.istio.io/redirection"] = "disabled" }, nil},
		"limits": {func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}
		},
			[]Change{
				{"containers[client].resources", "cpu 1, ephemeral-storage 64Mi to 1Gi, memory 128Mi", "cpu 500m to 1, ephemeral-storage 1Gi, memory 128Mi", ChangesResources},
				{"qosClass", "Guaranteed", "Burstable", ChangesResources},
			}},
		"classes, placement and volumes": {func(p *corev1.Pod) {
			p.Spec.RuntimeClassName, p.Spec.PriorityClassName, p.Spec.SchedulerName = new("gvisor"), "low", "volcano"
			p.Spec.NodeSelector = map[string]string{"pool": "a"}
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "certs"})
		}, []Change{
			{"nodeSelector[pool]", "", "a", NoEffect}, {"priorityClassName", "", "low", NoEffect}, {"runtimeClassName", "", "gvisor", ChangesProcess},
			{"schedulerName", "", "volcano", NoEffect}, {"volumes[certs]", "", "present", NoEffect},
		}},
		"the container": {func(p *corev1.Pod) {
			c := &p.Spec.Containers[0]
			c.Image, c.Command = "mirror.example.org/load:1", []string{"/wrapper"}
			c.Env = append(c.Env, corev1.EnvVar{Name: "REGION", Value: "secret"}, corev1.EnvVar{Name: "https_proxy", Value: "secret"})
			c.EnvFrom = []corev1.EnvFromSource{{Prefix: "x"}}
		}, []Change{
			{"containers[client]", "load:1", "mirror.example.org/load:1", NoEffect}, {"containers[client].command", "present", "present", ChangesProcess},
			{"containers[client].envFrom[0]", "", "present", NoEffect},
			{"containers[client].env[REGION]", "", "present", NoEffect}, {"containers[client].env[https_proxy]", "", "present", ChangesProcess},
		}},
		"a removed variable": {func(p *corev1.Pod) { p.Spec.Containers[0].Env = p.Spec.Containers[0].Env[1:] },
			[]Change{{"containers[client].env[ASSAY_MANAGER]", "present", "", NoEffect}}},
		"a long name": {func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"a": strings.Repeat("x", 1000)} },
			[]Change{{"nodeSelector[a]", "", strings.Repeat("x", maxChange), NoEffect}}},
		"somebody else's pod": {func(p *corev1.Pod) {
			p.Annotations, p.Spec.RuntimeClassName = map[string]string{AnnotationChanges: "[{}]"}, new("x")
		}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			run := wrapper.NewRun("ns", "run", "image").Clients(1, "1", "128Mi").Obj()
			template := jobWith(t, run, "node", &Settings{LoadImage: "load:1", SessionAddress: "x:1"}).Spec.Template
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: template.Labels, Annotations: template.Annotations}, Spec: template.Spec}
			test.change(pod)
			kept := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{AnnotationChanges: "others' words"}}}
			NoteChanges(kept, pod)
			if diff := cmp.Diff(test.want, Changes(kept)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestChangesAreFew checks the bound of what is kept of a pod.
func TestChangesAreFew(t *testing.T) {
	pod, err := podOf(t, fullTarget(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "x" + resource.NewQuantity(int64(len(pod.Spec.Containers)), resource.DecimalSI).String(), Image: "x"})
	}
	kept := &corev1.Pod{}
	if NoteChanges(kept, pod); len(Changes(kept)) < 50 || len(kept.Annotations[AnnotationChanges]) > 4*maxChanges {
		t.Errorf("%d changes, %d bytes", len(Changes(kept)), len(kept.Annotations[AnnotationChanges]))
	}
}

package manifest

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/test/wrapper"
)

// fullTarget returns a run whose target has all that a pod can have: content,
// mutual TLS and a backend.
func fullTarget() *v1alpha1.BenchmarkRun {
	run := wrapper.NewRun("ns", "run", "image").Tomcat().Content("/a.html", 10).Obj()
	run.UID = "0123456789"
	run.Spec.Target.TLS = &v1alpha1.TLS{
		Certificate:          &v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}},
		ClientAuthentication: &v1alpha1.ClientAuthentication{Certificate: v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}}},
	}
	run.Spec.Target.Backends = []v1alpha1.Backend{{
		Name: "app", Image: "app:1", Resources: wrapper.Resources("1", "64Mi"),
		Server: v1alpha1.BackendServer{Generic: &v1alpha1.GenericServer{}},
	}}
	return run
}

// podOf returns the target's pod of a run with additions.
func podOf(t *testing.T, run *v1alpha1.BenchmarkRun, additions *v1alpha1.PodAdditions) (*corev1.Pod, error) {
	t.Helper()
	rendering, err := server.Render(&run.Spec.Target, nil)
	if err != nil {
		t.Fatal(err)
	}
	run.Spec.Target.Pod = additions
	return TargetPod(run, rendering, &Settings{AssayImage: "assay:1"})
}

func containerOf(pod *corev1.Pod, name string) *corev1.Container {
	return &pod.Spec.Containers[place(pod, name)]
}

// TestAgentReadsGCLogs checks that the agent can read, and not write, the garbage collection logs of each server.
func TestAgentReadsGCLogs(t *testing.T) {
	run := fullTarget()
	run.Spec.Target.Backends[0].Server = v1alpha1.BackendServer{Tomcat: &v1alpha1.TomcatServer{}}
	pod, err := podOf(t, run, nil)
	if err != nil {
		t.Fatal(err)
	}
	mounts := map[string]string{}
	for _, m := range containerOf(pod, AgentContainer).VolumeMounts {
		if strings.HasPrefix(m.MountPath, "/assay/gc") && m.ReadOnly {
			mounts[m.MountPath] = m.Name
		}
	}
	if diff := cmp.Diff(map[string]string{"/assay/gc/server": "server-gc", "/assay/gc/app": "app-gc"}, mounts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAdditionsChangeNothingElse checks that the pod with an addition differs from
// the pod without it only in what was added.
func TestAdditionsChangeNothingElse(t *testing.T) {
	tests := map[string]struct {
		additions v1alpha1.PodAdditions
		added     func(*corev1.Pod)
	}{
		"Annotations": {
			v1alpha1.PodAdditions{Annotations: map[string]string{"a": "b"}},
			func(p *corev1.Pod) { p.Annotations = map[string]string{"a": "b"} },
		},
		"NodeSelector": {
			v1alpha1.PodAdditions{NodeConstraints: v1alpha1.NodeConstraints{NodeSelector: map[string]string{"a": "b"}}},
			func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"a": "b"} },
		},
		"Tolerations": {
			v1alpha1.PodAdditions{NodeConstraints: v1alpha1.NodeConstraints{Tolerations: []v1alpha1.Toleration{{Key: "a"}, {Key: "b"}}}},
			func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{Key: "a"}, {Key: "b"}} },
		},
		"PriorityClassName": {
			v1alpha1.PodAdditions{PriorityClassName: "a"},
			func(p *corev1.Pod) { p.Spec.PriorityClassName = "a" },
		},
		"RuntimeClassName": {
			v1alpha1.PodAdditions{RuntimeClassName: "a"},
			func(p *corev1.Pod) { p.Spec.RuntimeClassName = ptr.To("a") },
		},
		"SecurityContext": {
			v1alpha1.PodAdditions{SecurityContext: &v1alpha1.PodSecurityContext{
				FSGroup: ptr.To(int64(7)), Sysctls: []v1alpha1.Sysctl{{Name: "net.ipv4.tcp_fin_timeout", Value: "10"}},
			}},
			func(p *corev1.Pod) {
				p.Spec.SecurityContext.FSGroup = ptr.To(int64(7))
				p.Spec.SecurityContext.Sysctls = []corev1.Sysctl{{Name: "net.ipv4.tcp_fin_timeout", Value: "10"}}
			},
		},
		"SecurityContext of another user": {
			v1alpha1.PodAdditions{SecurityContext: &v1alpha1.PodSecurityContext{UserIdentity: v1alpha1.UserIdentity{RunAsUser: ptr.To(int64(7))}}},
			func(p *corev1.Pod) { p.Spec.SecurityContext.RunAsUser = ptr.To(int64(7)) },
		},
		"Volumes": {
			v1alpha1.PodAdditions{Volumes: []v1alpha1.PodVolume{
				{Name: "a", ConfigMap: &v1alpha1.ConfigMapVolume{Name: "c"}},
				{Name: "b", Secret: &v1alpha1.SecretVolume{SecretName: "s"}},
				{Name: "c", EmptyDir: &v1alpha1.EmptyDirVolume{}},
				{Name: "d", EmptyDir: &v1alpha1.EmptyDirVolume{Medium: corev1.StorageMediumMemory}},
				{Name: "e", PersistentVolumeClaim: &v1alpha1.ClaimVolume{ClaimName: "p", ReadOnly: ptr.To(true)}},
			}},
			func(p *corev1.Pod) {
				p.Spec.Volumes = append([]corev1.Volume{
					{Name: "a", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}}},
					{Name: "b", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}},
					{Name: "c", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(resource.MustParse("4Gi"))}}},
					{Name: "d", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
						Medium: corev1.StorageMediumMemory, SizeLimit: ptr.To(resource.MustParse("256Mi")),
					}}},
					{Name: "e", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "p", ReadOnly: true}}},
				}, p.Spec.Volumes...)
			},
		},
		"Containers": {
			v1alpha1.PodAdditions{Containers: []v1alpha1.ContainerAdditions{
				{Name: "app", Env: []v1alpha1.EnvironmentVariable{
					{Name: "A", Value: ptr.To("$(HOME) and $$(A), $")}, {Name: "B"}, {Name: "C", SecretKeyRef: &v1alpha1.SecretKeyReference{Name: "s", Key: "k"}},
				}},
				{
					Name:            server.ContainerName,
					VolumeMounts:    []v1alpha1.VolumeMount{{Name: "a", MountPath: "/a", SubPath: "b", ReadOnly: ptr.To(true)}},
					SecurityContext: &v1alpha1.ContainerSecurityContext{Capabilities: &v1alpha1.Capabilities{Add: []v1alpha1.Capability{"NET_BIND_SERVICE"}}},
				},
			}},
			func(p *corev1.Pod) {
				app, server := containerOf(p, "app"), containerOf(p, server.ContainerName)
				app.Env = append([]corev1.EnvVar{
					{Name: "A", Value: "$$(HOME) and $$$$(A), $$"}, {Name: "B"},
					{Name: "C", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
						LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k",
					}}},
				}, app.Env...)
				server.VolumeMounts = append([]corev1.VolumeMount{{Name: "a", MountPath: "/a", SubPath: "b", ReadOnly: true}}, server.VolumeMounts...)
				server.SecurityContext.Capabilities.Add = []corev1.Capability{"NET_BIND_SERVICE"}
			},
		},
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[v1alpha1.PodAdditions]()) {
		if _, ok := tests[field.Name]; !ok && !field.Anonymous {
			t.Errorf("nothing tries %s", field.Name)
		}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want, err := podOf(t, fullTarget(), nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := podOf(t, fullTarget(), &test.additions)
			if err != nil {
				t.Fatal(err)
			}
			test.added(want)
			noteWritten(&want.ObjectMeta, &want.Spec)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAdditionsAreRefused(t *testing.T) {
	mount := func(path string) v1alpha1.PodAdditions {
		return v1alpha1.PodAdditions{Containers: []v1alpha1.ContainerAdditions{
			{Name: "app"}, {Name: server.ContainerName, VolumeMounts: []v1alpha1.VolumeMount{{Name: "a", MountPath: "/fine"}, {Name: "a", MountPath: path}}},
		}}
	}
	env := func(container, name string) v1alpha1.PodAdditions {
		return v1alpha1.PodAdditions{Containers: []v1alpha1.ContainerAdditions{
			{Name: container, Env: []v1alpha1.EnvironmentVariable{{Name: "FINE"}, {Name: name}}},
		}}
	}
	volume := func(name string) v1alpha1.PodAdditions {
		return v1alpha1.PodAdditions{Volumes: []v1alpha1.PodVolume{{Name: "fine", EmptyDir: &v1alpha1.EmptyDirVolume{}}, {Name: name, EmptyDir: &v1alpha1.EmptyDirVolume{}}}}
	}
	tests := map[string]struct {
		additions v1alpha1.PodAdditions
		says      string
	}{
		"the agent":                  {v1alpha1.PodAdditions{Containers: []v1alpha1.ContainerAdditions{{Name: AgentContainer}}}, "spec.target.pod.containers[0].name"},
		"who writes the content":     {v1alpha1.PodAdditions{Containers: []v1alpha1.ContainerAdditions{{Name: ContentContainer}}}, "spec.target.pod.containers[0].name"},
		"a container of its own":     {v1alpha1.PodAdditions{Containers: []v1alpha1.ContainerAdditions{{Name: "app"}, {Name: "mine"}}}, "spec.target.pod.containers[1].name"},
		"the identity":               {volume(identityVolume), "spec.target.pod.volumes[1].name"},
		"the configuration":          {volume(server.ConfigVolume), "spec.target.pod.volumes[1].name"},
		"the content":                {volume(server.ContentVolume), "spec.target.pod.volumes[1].name"},
		"the certificate":            {volume(server.TLSVolume), "spec.target.pod.volumes[1].name"},
		"what the agent checks":      {volume(clientTLSVolumeName), "spec.target.pod.volumes[1].name"},
		"the server's own directory": {volume("server-temp"), "spec.target.pod.volumes[1].name"},
		"over server.xml":            {mount("/usr/local/tomcat/conf/server.xml"), "spec.target.pod.containers[1].volumeMounts[1].mountPath"},
		"over the content":           {mount("/usr/local/tomcat/webapps/ROOT"), "spec.target.pod.containers[1].volumeMounts[1].mountPath"},
		"over a file of content":     {mount("/usr/local/tomcat/webapps/ROOT/a.html"), "spec.target.pod.containers[1].volumeMounts[1].mountPath"},
		"over the key":               {mount("/assay/tls/tls.key"), "spec.target.pod.containers[1].volumeMounts[1].mountPath"},
		"spelled otherwise":          {mount("/assay//tls/"), "spec.target.pod.containers[1].volumeMounts[1].mountPath"},
		"a variable of Tomcat's":     {env(server.ContainerName, "CATALINA_OPTS"), "spec.target.pod.containers[0].env[1].name"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := podOf(t, fullTarget(), &test.additions); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %s", err, test.says)
			}
		})
	}
}

func TestAdditionsMayMountBesideWhatAssayMounts(t *testing.T) {
	for _, path := range []string{"/usr/local/tomcat/webapps/other", "/usr/local/tomcat/webapps/ROOTS", "/usr/local/tomcat/temp/mine", "/assay/mine"} {
		additions := &v1alpha1.PodAdditions{Containers: []v1alpha1.ContainerAdditions{
			{Name: server.ContainerName, VolumeMounts: []v1alpha1.VolumeMount{{Name: "a", MountPath: path}}},
		}}
		if _, err := podOf(t, fullTarget(), additions); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

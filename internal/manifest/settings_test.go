package manifest

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
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

// podOf returns the target's pod of a run with settings, or those that it has.
func podOf(t *testing.T, run *v1alpha1.BenchmarkRun, settings *v1alpha1.PodSettings) (*corev1.Pod, error) {
	t.Helper()
	if settings != nil {
		run.Spec.Target.PodSettings = *settings
	}
	return TargetPod(run, rendered(t, run), &Settings{AssayImage: "assay:1"})
}

func rendered(t *testing.T, run *v1alpha1.BenchmarkRun) *server.Rendering {
	t.Helper()
	rendering, err := server.Render(&run.Spec.Target, nil)
	if err != nil {
		t.Fatal(err)
	}
	return rendering
}

func containerOf(pod *corev1.Pod, name string) *corev1.Container {
	return &pod.Spec.Containers[slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == name })]
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

// TestSettingsChangeNothingElse checks that the pods of target and clients with a setting differ from
// those without it only in what was set.
func TestSettingsChangeNothingElse(t *testing.T) {
	term := func(key string) v1alpha1.NodeSelectorTerm {
		return v1alpha1.NodeSelectorTerm{MatchExpressions: []v1alpha1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{"b"}}}}
	}
	kubernetesTerm := func(key string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{"b"}}}}
	}
	others := &v1alpha1.PodAntiAffinity{Required: []v1alpha1.PodAffinityTerm{{LabelSelector: v1alpha1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}, TopologyKey: "c"}}}
	kubernetesOthers := []corev1.PodAffinityTerm{{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}, TopologyKey: "c"}}
	type part struct {
		meta      *metav1.ObjectMeta
		spec      *corev1.PodSpec
		container *corev1.Container
	}
	tests := map[string]struct {
		settings v1alpha1.PodSettings
		put      func(part)
	}{
		"Labels":      {v1alpha1.PodSettings{Labels: map[string]string{"a": "b"}}, func(p part) { p.meta.Labels["a"] = "b" }},
		"Annotations": {v1alpha1.PodSettings{Annotations: map[string]string{"a": "b"}}, func(p part) { p.meta.Annotations = merged(p.meta.Annotations, map[string]string{"a": "b"}) }},
		"NodeSelector": {
			v1alpha1.PodSettings{NodeSelector: map[string]string{"a": "b"}},
			func(p part) { p.spec.NodeSelector = map[string]string{"a": "b"} },
		},
		"Affinity": {
			v1alpha1.PodSettings{Affinity: &v1alpha1.Affinity{
				NodeAffinity: &v1alpha1.NodeAffinity{
					Required:  &v1alpha1.NodeSelector{NodeSelectorTerms: []v1alpha1.NodeSelectorTerm{term("a")}},
					Preferred: []v1alpha1.PreferredSchedulingTerm{{Weight: 5, Preference: term("c")}},
				},
				PodAntiAffinity: others,
			}},
			func(p part) {
				nodes := &corev1.NodeAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution:  &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{kubernetesTerm("a")}},
					PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 5, Preference: kubernetesTerm("c")}},
				}
				if p.spec.Affinity != nil { // of clients
					nodes.PreferredDuringSchedulingIgnoredDuringExecution = append(nodes.PreferredDuringSchedulingIgnoredDuringExecution,
						p.spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution...)
				}
				p.spec.Affinity = &corev1.Affinity{
					NodeAffinity:    nodes,
					PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: kubernetesOthers},
				}
			},
		},
		"Tolerations": {
			v1alpha1.PodSettings{Tolerations: []v1alpha1.Toleration{{Key: "a"}, {Key: "b"}}},
			func(p part) { p.spec.Tolerations = []corev1.Toleration{{Key: "a"}, {Key: "b"}} },
		},
		"PriorityClassName": {v1alpha1.PodSettings{PriorityClassName: "a"}, func(p part) { p.spec.PriorityClassName = "a" }},
		"RuntimeClassName":  {v1alpha1.PodSettings{RuntimeClassName: "a"}, func(p part) { p.spec.RuntimeClassName = ptr.To("a") }},
		"ImagePullSecrets": {
			v1alpha1.PodSettings{ImagePullSecrets: []v1alpha1.PullSecret{{Name: "a"}}},
			func(p part) { p.spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "a"}} },
		},
		"HostAliases": {
			v1alpha1.PodSettings{HostAliases: []v1alpha1.HostAlias{{IP: "10.0.0.1", Hostnames: []string{"a"}}}},
			func(p part) { p.spec.HostAliases = []corev1.HostAlias{{IP: "10.0.0.1", Hostnames: []string{"a"}}} },
		},
		"DNSConfig": {
			v1alpha1.PodSettings{DNSConfig: &v1alpha1.DNSConfig{
				Nameservers: []string{"10.0.0.1"}, Searches: []string{"a"}, Options: []v1alpha1.DNSOption{{Name: "ndots", Value: "1"}, {Name: "use-vc"}},
			}},
			func(p part) {
				p.spec.DNSConfig = &corev1.PodDNSConfig{
					Nameservers: []string{"10.0.0.1"}, Searches: []string{"a"}, Options: []corev1.PodDNSConfigOption{{Name: "ndots", Value: ptr.To("1")}, {Name: "use-vc"}},
				}
			},
		},
		"SecurityContext": {
			v1alpha1.PodSettings{SecurityContext: &v1alpha1.SecurityContext{
				FSGroup: ptr.To(int64(7)), SupplementalGroups: []int64{8}, Sysctls: []v1alpha1.Sysctl{{Name: "net.ipv4.tcp_fin_timeout", Value: "10"}},
			}},
			func(p part) {
				p.spec.SecurityContext.FSGroup, p.spec.SecurityContext.SupplementalGroups = ptr.To(int64(7)), []int64{8}
				p.spec.SecurityContext.Sysctls = []corev1.Sysctl{{Name: "net.ipv4.tcp_fin_timeout", Value: "10"}}
			},
		},
		"SecurityContext of another user": {
			v1alpha1.PodSettings{SecurityContext: &v1alpha1.SecurityContext{ContainerSecurityContext: v1alpha1.ContainerSecurityContext{
				UserIdentity: v1alpha1.UserIdentity{RunAsUser: ptr.To(int64(7)), RunAsGroup: ptr.To(int64(8))},
			}}},
			func(p part) {
				p.spec.SecurityContext.RunAsUser, p.spec.SecurityContext.RunAsGroup = ptr.To(int64(7)), ptr.To(int64(8))
			},
		},
		"SecurityContext of the container": {
			v1alpha1.PodSettings{SecurityContext: &v1alpha1.SecurityContext{ContainerSecurityContext: v1alpha1.ContainerSecurityContext{
				ReadOnlyRootFilesystem: ptr.To(true), Capabilities: &v1alpha1.Capabilities{Add: []v1alpha1.Capability{"NET_BIND_SERVICE"}},
			}}},
			func(p part) {
				p.container.SecurityContext.ReadOnlyRootFilesystem = ptr.To(true)
				p.container.SecurityContext.Capabilities.Add = []corev1.Capability{"NET_BIND_SERVICE"}
			},
		},
		"Volumes": {
			v1alpha1.PodSettings{Volumes: []v1alpha1.PodVolume{
				{Name: "a", ConfigMap: &v1alpha1.ConfigMapVolume{Name: "c"}},
				{Name: "b", Secret: &v1alpha1.SecretVolume{SecretName: "s"}},
				{Name: "e", PersistentVolumeClaim: &v1alpha1.ClaimVolume{ClaimName: "p", ReadOnly: ptr.To(true)}},
			}},
			func(p part) {
				p.spec.Volumes = append(p.spec.Volumes,
					corev1.Volume{Name: "a", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}}},
					corev1.Volume{Name: "b", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}},
					corev1.Volume{Name: "e", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "p", ReadOnly: true}}})
			},
		},
		"VolumeMounts": {
			v1alpha1.PodSettings{VolumeMounts: []v1alpha1.VolumeMount{{Name: "a", MountPath: "/a", SubPath: "b", ReadOnly: ptr.To(true)}}},
			func(p part) {
				p.container.VolumeMounts = append(p.container.VolumeMounts, corev1.VolumeMount{Name: "a", MountPath: "/a", SubPath: "b", ReadOnly: true})
			},
		},
		"Env": {
			v1alpha1.PodSettings{Env: []v1alpha1.EnvironmentVariable{
				{Name: "A", Value: ptr.To("$(HOME) and $$(A), $")}, {Name: "B"}, {Name: "C", SecretKeyRef: &v1alpha1.SecretKeyReference{Name: "s", Key: "k"}},
				{Name: "D", ConfigMapKeyRef: &v1alpha1.ConfigMapKeyReference{Name: "s", Key: "k"}}, {Name: "E", FieldRef: &v1alpha1.FieldReference{FieldPath: "status.podIP"}},
			}},
			func(p part) {
				object := corev1.LocalObjectReference{Name: "s"}
				p.container.Env = append(p.container.Env,
					corev1.EnvVar{Name: "A", Value: "$$(HOME) and $$$$(A), $$"}, corev1.EnvVar{Name: "B"},
					corev1.EnvVar{Name: "C", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: object, Key: "k"}}},
					corev1.EnvVar{Name: "D", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: object, Key: "k"}}},
					corev1.EnvVar{Name: "E", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}})
			},
		},
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[v1alpha1.PodSettings]()) {
		if _, ok := tests[field.Name]; !ok {
			t.Errorf("nothing tries %s", field.Name)
		}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want, err := podOf(t, fullTarget(), nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := podOf(t, fullTarget(), &test.settings)
			if err != nil {
				t.Fatal(err)
			}
			test.put(part{&want.ObjectMeta, &want.Spec, containerOf(want, server.ContainerName)})
			noteWritten(&want.ObjectMeta, &want.Spec)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the target (-want +got):\n%s", diff)
			}
			run := fullTarget()
			wantClient := jobOf(t, run, "node").Spec.Template
			run.Spec.Clients.PodSettings = test.settings
			gotClient := jobOf(t, run, "node").Spec.Template
			test.put(part{&wantClient.ObjectMeta, &wantClient.Spec, &wantClient.Spec.Containers[0]})
			noteWritten(&wantClient.ObjectMeta, &wantClient.Spec)
			if diff := cmp.Diff(wantClient, gotClient); diff != "" {
				t.Errorf("clients (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBackendsSettings checks that settings of a backend are its container's only.
func TestBackendsSettings(t *testing.T) {
	want, err := podOf(t, fullTarget(), nil)
	if err != nil {
		t.Fatal(err)
	}
	run := fullTarget()
	b := &run.Spec.Target.Backends[0]
	b.Env = []v1alpha1.EnvironmentVariable{{Name: "A", Value: ptr.To("b")}}
	b.VolumeMounts = []v1alpha1.VolumeMount{{Name: "a", MountPath: "/a"}}
	b.SecurityContext = &v1alpha1.ContainerSecurityContext{UserIdentity: v1alpha1.UserIdentity{RunAsUser: ptr.To(int64(7))}}
	got, err := podOf(t, run, nil)
	if err != nil {
		t.Fatal(err)
	}
	app := containerOf(want, "app")
	app.Env = append(app.Env, corev1.EnvVar{Name: "A", Value: "b"})
	app.VolumeMounts = append(app.VolumeMounts, corev1.VolumeMount{Name: "a", MountPath: "/a"})
	app.SecurityContext.RunAsUser = ptr.To(int64(7))
	noteWritten(&want.ObjectMeta, &want.Spec)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSettingsAreRefused(t *testing.T) {
	mount := func(path string) v1alpha1.PodSettings {
		return v1alpha1.PodSettings{VolumeMounts: []v1alpha1.VolumeMount{{Name: "a", MountPath: "/fine"}, {Name: "a", MountPath: path}}}
	}
	env := func(name string) v1alpha1.PodSettings {
		return v1alpha1.PodSettings{Env: []v1alpha1.EnvironmentVariable{{Name: "FINE"}, {Name: name}}}
	}
	volume := func(name string) v1alpha1.PodSettings {
		return v1alpha1.PodSettings{Volumes: []v1alpha1.PodVolume{{Name: "fine", EmptyDir: &v1alpha1.EmptyDirVolume{}}, {Name: name, EmptyDir: &v1alpha1.EmptyDirVolume{}}}}
	}
	const mountPath, variable, volumeName = "volumeMounts[1].mountPath", "env[1].name", "volumes[1].name"
	for name, test := range map[string]struct {
		settings v1alpha1.PodSettings
		field    string
	}{
		"the identity":               {volume(identityVolume), volumeName},
		"the configuration":          {volume(server.ConfigVolume), volumeName},
		"the content":                {volume(server.ContentVolume), volumeName},
		"the certificate":            {volume(server.TLSVolume), volumeName},
		"what the agent checks":      {volume(clientTLSVolumeName), volumeName},
		"the server's own directory": {volume("server-temp"), volumeName},
		"over server.xml":            {mount("/usr/local/tomcat/conf/server.xml"), mountPath},
		"over the content":           {mount("/usr/local/tomcat/webapps/ROOT"), mountPath},
		"over a file of content":     {mount("/usr/local/tomcat/webapps/ROOT/a.html"), mountPath},
		"over the key":               {mount("/assay/tls/tls.key"), mountPath},
		"spelled otherwise":          {mount("/assay//tls/"), mountPath},
		"a variable of Tomcat's":     {env("CATALINA_OPTS"), variable},
	} {
		if _, err := podOf(t, fullTarget(), &test.settings); err == nil || !strings.Contains(err.Error(), "spec.target."+test.field) {
			t.Errorf("%s of the target: %v, want %s", name, err, test.field)
		}
	}
	for name, test := range map[string]struct {
		settings v1alpha1.PodSettings
		field    string
	}{
		"the identity":           {volume(identityVolume), volumeName},
		"the certificate":        {volume(clientTLSVolumeName), volumeName},
		"the script":             {volume(scriptVolume), volumeName},
		"over the identity":      {mount(identityFolder + "/token"), mountPath},
		"over the program":       {mount(k6Program), mountPath},
		"over a script":          {mount(session.ScriptDirectory), mountPath},
		"the manager's address":  {env("ASSAY_MANAGER"), variable},
		"a variable of a script": {env("OWN"), variable},
	} {
		run := fullTarget()
		run.Spec.Script = &v1alpha1.Script{Env: []v1alpha1.EnvironmentVariable{{Name: "OWN"}}}
		run.Spec.Clients.PodSettings = test.settings
		if _, err := ClientJob(run, "node", nil, &Settings{}); err == nil || !strings.Contains(err.Error(), "spec.clients."+test.field) {
			t.Errorf("%s of clients: %v, want %s", name, err, test.field)
		}
	}
	backend := fullTarget()
	backend.Spec.Target.Backends[0].VolumeMounts = []v1alpha1.VolumeMount{{Name: "a", MountPath: "/assay/content/a"}}
	if _, err := podOf(t, backend, nil); err == nil || !strings.Contains(err.Error(), "spec.target.backends[0].volumeMounts[0].mountPath") {
		t.Errorf("over the content of a backend: %v", err)
	}
}

func TestSettingsMayMountBesideWhatAssayMounts(t *testing.T) {
	for _, path := range []string{"/usr/local/tomcat/webapps/other", "/usr/local/tomcat/webapps/ROOTS", "/usr/local/tomcat/temp/mine", "/assay/mine"} {
		if _, err := podOf(t, fullTarget(), &v1alpha1.PodSettings{VolumeMounts: []v1alpha1.VolumeMount{{Name: "a", MountPath: path}}}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

package manifest

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// TestPodSecurity asks for what the Pod Security Standards forbid. Neither level may be had by an addition.
func TestPodSecurity(t *testing.T) {
	pod := func(c v1alpha1.SecurityContext) v1alpha1.PodSettings {
		return v1alpha1.PodSettings{SecurityContext: &c}
	}
	container := func(c v1alpha1.ContainerSecurityContext) v1alpha1.PodSettings {
		return pod(v1alpha1.SecurityContext{ContainerSecurityContext: c})
	}
	capabilities := func(add, drop []v1alpha1.Capability) v1alpha1.PodSettings {
		return container(v1alpha1.ContainerSecurityContext{Capabilities: &v1alpha1.Capabilities{Add: add, Drop: drop}})
	}
	annotation := func(name, value string) v1alpha1.PodSettings {
		return v1alpha1.PodSettings{Annotations: map[string]string{name: value}}
	}
	sysctl := func(name string) v1alpha1.PodSettings {
		return pod(v1alpha1.SecurityContext{Sysctls: []v1alpha1.Sysctl{{Name: name, Value: "1"}}})
	}
	root := v1alpha1.UserIdentity{RunAsUser: ptr.To(int64(0))}
	for name, test := range map[string]struct {
		settings v1alpha1.PodSettings
		// baseline and restricted are what the standards call it, or empty if they allow it.
		baseline, restricted string
	}{
		"nothing":                 {},
		"AppArmor off":            {annotation("container.apparmor.security.beta.kubernetes.io/server", "unconfined"), "forbidden AppArmor profile", "forbidden AppArmor profile"},
		"AppArmor":                {annotation("container.apparmor.security.beta.kubernetes.io/server", "runtime/default"), "", ""},
		"seccomp off":             {annotation("seccomp.security.alpha.kubernetes.io/pod", "unconfined"), "", ""}, // Kubernetes ignores it since 1.27
		"an unsafe sysctl":        {sysctl("kernel.msgmax"), "forbidden sysctls (kernel.msgmax)", "forbidden sysctls (kernel.msgmax)"},
		"an unsafe sysctl of IP":  {sysctl("net.core.somaxconn"), "forbidden sysctls", "forbidden sysctls"},
		"with slashes":            {sysctl("net/core/somaxconn"), "forbidden sysctls", "forbidden sysctls"},
		"a safe sysctl":           {sysctl("net.ipv4.ip_local_port_range"), "", ""},
		"NET_BIND_SERVICE":        {capabilities([]v1alpha1.Capability{"NET_BIND_SERVICE"}, nil), "", ""},
		"CHOWN":                   {capabilities([]v1alpha1.Capability{"CHOWN"}, nil), "", "unrestricted capabilities"},
		"NET_RAW":                 {capabilities([]v1alpha1.Capability{"NET_RAW"}, nil), "non-default capabilities", "unrestricted capabilities"},
		"SYS_ADMIN":               {capabilities([]v1alpha1.Capability{"SYS_ADMIN"}, nil), "non-default capabilities", "unrestricted capabilities"},
		"ALL":                     {capabilities([]v1alpha1.Capability{"ALL"}, nil), "non-default capabilities", "unrestricted capabilities"},
		"dropped":                 {capabilities(nil, []v1alpha1.Capability{"ALL"}), "", ""},
		"only one dropped":        {capabilities(nil, []v1alpha1.Capability{"CHOWN"}), "", "unrestricted capabilities"},
		"more privileges":         {container(v1alpha1.ContainerSecurityContext{AllowPrivilegeEscalation: ptr.To(true)}), "", "allowPrivilegeEscalation != false"},
		"root":                    {container(v1alpha1.ContainerSecurityContext{UserIdentity: root}), "", "runAsUser=0"},
		"maybe root":              {container(v1alpha1.ContainerSecurityContext{UserIdentity: v1alpha1.UserIdentity{RunAsNonRoot: ptr.To(false)}}), "", "runAsNonRoot != true"},
		"a profile of the node's": {container(v1alpha1.ContainerSecurityContext{UserIdentity: v1alpha1.UserIdentity{SeccompProfile: &v1alpha1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: "a"}}}), "", ""},
		"no profile":              {container(v1alpha1.ContainerSecurityContext{UserIdentity: v1alpha1.UserIdentity{SeccompProfile: &v1alpha1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined}}}), "seccompProfile", "seccompProfile"},
	} {
		for standard, want := range map[v1alpha1.PodSecurity]string{
			v1alpha1.PodSecurityRestricted: test.restricted, v1alpha1.PodSecurityBaseline: test.baseline, "": test.restricted,
		} {
			run := fullTarget()
			run.Spec.Target.PodSecurity = standard
			_, err := podOf(t, run, &test.settings)
			check(t, name+" with "+string(standard), "spec.target", err, want)
			backend := fullTarget()
			backend.Spec.Target.PodSecurity = standard
			if c := test.settings.SecurityContext; c != nil && c.Sysctls == nil {
				backend.Spec.Target.Backends[0].SecurityContext = &c.ContainerSecurityContext
				_, err := podOf(t, backend, &v1alpha1.PodSettings{})
				check(t, name+" of a backend with "+string(standard), "spec.target", err, want)
			}
		}
		clients := fullTarget()
		clients.Spec.Clients.PodSettings = test.settings
		_, err := ClientJob(clients, "node", nil, &Settings{})
		if strings.HasPrefix(name, "AppArmor") { // the annotation is of a container
			continue
		}
		check(t, name+" of clients", "spec.clients", err, test.restricted)
	}
}

func check(t *testing.T, name, field string, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), field+" breaks the Pod Security Standard") || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: %v, want %q", name, err, want)
	}
}

// TestClientsAreRestricted checks the pods of clients of each kind.
func TestClientsAreRestricted(t *testing.T) {
	run := fullTarget()
	run.Spec.Script = &v1alpha1.Script{}
	tool := fullTarget()
	tool.Spec.Clients.Tool = &v1alpha1.ClientTool{Image: "ab"}
	for _, run := range []*v1alpha1.BenchmarkRun{fullTarget(), run, tool} {
		template := jobOf(t, run, "node").Spec.Template
		if err := checkPodSecurity("spec.clients", v1alpha1.PodSecurityRestricted, &template.ObjectMeta, &template.Spec); err != nil {
			t.Error(err)
		}
	}
}

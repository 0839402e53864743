package manifest

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
)

// TestPodSecurity asks for what the Pod Security Standards forbid. Neither level may be had by an addition.
func TestPodSecurity(t *testing.T) {
	pod := func(c v1alpha1.PodSecurityContext) v1alpha1.PodAdditions {
		return v1alpha1.PodAdditions{SecurityContext: &c}
	}
	container := func(c v1alpha1.ContainerSecurityContext) v1alpha1.PodAdditions {
		return v1alpha1.PodAdditions{Containers: []v1alpha1.ContainerAdditions{{Name: "app"}, {Name: server.ContainerName, SecurityContext: &c}}}
	}
	capabilities := func(add, drop []v1alpha1.Capability) v1alpha1.PodAdditions {
		return container(v1alpha1.ContainerSecurityContext{Capabilities: &v1alpha1.Capabilities{Add: add, Drop: drop}})
	}
	annotation := func(name, value string) v1alpha1.PodAdditions {
		return v1alpha1.PodAdditions{Annotations: map[string]string{name: value}}
	}
	sysctl := func(name string) v1alpha1.PodAdditions {
		return pod(v1alpha1.PodSecurityContext{Sysctls: []v1alpha1.Sysctl{{Name: name, Value: "1"}}})
	}
	root := v1alpha1.UserIdentity{RunAsUser: ptr.To(int64(0))}
	for name, test := range map[string]struct {
		additions v1alpha1.PodAdditions
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
		"root in the pod":         {pod(v1alpha1.PodSecurityContext{UserIdentity: root}), "", "runAsUser=0"},
		"maybe root":              {container(v1alpha1.ContainerSecurityContext{UserIdentity: v1alpha1.UserIdentity{RunAsNonRoot: ptr.To(false)}}), "", "runAsNonRoot != true"},
		"a profile of the node's": {container(v1alpha1.ContainerSecurityContext{UserIdentity: v1alpha1.UserIdentity{SeccompProfile: &v1alpha1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: "a"}}}), "", ""},
		"no profile":              {container(v1alpha1.ContainerSecurityContext{UserIdentity: v1alpha1.UserIdentity{SeccompProfile: &v1alpha1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined}}}), "seccompProfile", "seccompProfile"},
	} {
		for standard, want := range map[v1alpha1.PodSecurity]string{
			v1alpha1.PodSecurityRestricted: test.restricted, v1alpha1.PodSecurityBaseline: test.baseline, "": test.restricted,
		} {
			run := fullTarget()
			run.Spec.Target.PodSecurity = standard
			_, err := podOf(t, run, &test.additions)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), "spec.target.pod breaks") || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s with %q: %v, want %q", name, standard, err, want)
			}
		}
	}
}

// TestClientsAreRestricted checks the pods of clients of each kind.
func TestClientsAreRestricted(t *testing.T) {
	run := fullTarget()
	run.Spec.Script = &v1alpha1.Script{}
	tool := fullTarget()
	tool.Spec.Clients.Tool = &v1alpha1.ClientTool{Image: "ab"}
	for _, run := range []*v1alpha1.BenchmarkRun{fullTarget(), run, tool} {
		template := ClientJob(run, "node", nil, &Settings{}).Spec.Template
		if err := checkPodSecurity(v1alpha1.PodSecurityRestricted, &template.ObjectMeta, &template.Spec); err != nil {
			t.Error(err)
		}
	}
}

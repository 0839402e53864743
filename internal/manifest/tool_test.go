package manifest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestToolsImage checks that the client of a tool runs Assay's program in the tool's image, without further rights.
func TestToolsImage(t *testing.T) {
	run := wrapper.NewRun("ns", "run", "image").Obj()
	settings := &Settings{LoadImage: "load", ImagePullPolicy: corev1.PullNever}
	plain := jobWith(t, run, "node", settings).Spec.Template.Spec
	run.Spec.Clients.Tool = &v1alpha1.ClientTool{Name: v1alpha1.ToolAB, Image: "httpd:2.4", ImagePullPolicy: corev1.PullAlways}
	pod := jobWith(t, run, "node", settings).Spec.Template.Spec
	client, installer := pod.Containers[0], pod.InitContainers[0]
	if client.Image != "httpd:2.4" || client.ImagePullPolicy != corev1.PullAlways || installer.Image != "load" || installer.ImagePullPolicy != corev1.PullNever {
		t.Errorf("images %s (%s) and %s (%s)", client.Image, client.ImagePullPolicy, installer.Image, installer.ImagePullPolicy)
	}
	if diff := cmp.Diff([]string{session.ToolProgram, "client", "--tool"}, append(client.Command, client.Args...)); diff != "" {
		t.Errorf("command, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/assay-load", "copy", session.ToolProgram}, append(installer.Command, installer.Args...)); diff != "" {
		t.Errorf("command of the init container, -want +got:\n%s", diff)
	}
	for _, c := range []corev1.Container{client, installer} {
		if diff := cmp.Diff(plain.Containers[0].SecurityContext, c.SecurityContext); diff != "" {
			t.Errorf("security context of %s, -without +with a tool:\n%s", c.Name, diff)
		}
		if diff := cmp.Diff(plain.Containers[0].Resources, c.Resources); diff != "" {
			t.Errorf("resources of %s, -without +with a tool:\n%s", c.Name, diff)
		}
	}
	for _, m := range installer.VolumeMounts {
		if m.Name != programVolume {
			t.Errorf("the init container has the volume %s", m.Name)
		}
	}
	for _, m := range client.VolumeMounts {
		if m.Name == programVolume && !m.ReadOnly {
			t.Error("the tool can change the client's program")
		}
	}
}

// TestK6Image checks that only clients that run k6 use its image.
func TestK6Image(t *testing.T) {
	run := wrapper.NewRun("ns", "run", "image").Obj()
	settings := &Settings{LoadImage: "load", K6Image: "k6"}
	if c := jobWith(t, run, "node", settings).Spec.Template.Spec.Containers[0]; c.Image != "load" || c.Command[0] != "/assay-load" {
		t.Errorf("a load: image %s, command %v", c.Image, c.Command)
	}
	run.Spec.Script = &v1alpha1.Script{}
	if c := jobWith(t, run, "node", settings).Spec.Template.Spec.Containers[0]; c.Image != "k6" || c.Command[0] != "/assay-k6" {
		t.Errorf("a script: image %s, command %v", c.Image, c.Command)
	}
	run.Spec.Script, run.Spec.Clients.Image = nil, "own"
	run.Spec.Clients.Tool = &v1alpha1.ClientTool{Name: v1alpha1.ToolK6}
	pod := jobWith(t, run, "node", settings).Spec.Template.Spec
	if c := pod.Containers[0]; c.Image != "own" || c.Command[0] != "/assay-k6" || !slices.Equal(c.Args, []string{"x", "assay", "client", "--tool"}) || len(pod.InitContainers) > 0 {
		t.Errorf("the tool K6: image %s, command %v, arguments %v", c.Image, c.Command, c.Args)
	}
	if !slices.ContainsFunc(pod.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == session.WorkDirectory }) {
		t.Error("the tool K6 has no place for its script")
	}
}

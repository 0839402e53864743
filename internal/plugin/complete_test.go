package plugin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/internal/plugin/exit"
)

func TestCompletionOfFlags(t *testing.T) {
	server := startAPIServer(t)
	server.Answer("/api/v1/namespaces", &corev1.NamespaceList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NamespaceList"},
		Items:    []corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, {ObjectMeta: metav1.ObjectMeta{Name: "shop"}}},
	})
	start(t, server, "__complete", "watch", "--namespace", "").wantEnd(t, exit.Success, "default\nshop\n:4\n")
	start(t, server, "__complete", "report", "tomcat", "-n", "").wantEnd(t, exit.Success, "default\nshop\n:4\n")
	start(t, server, "__complete", "table", "--metric", "LatencyP9").wantEnd(t, exit.Success, "LatencyP90\n", "LatencyP99\n")
	start(t, server, "__complete", "report", "-o", "").wantEnd(t, exit.Success, "json\n", "text\n", ":4\n")

	kubeconfig := filepath.Join(t.TempDir(), "config")
	const content = `{contexts: [{name: b, context: {}}, {name: a, context: {}}], clusters: [{name: c, cluster: {}}], users: [{name: u, user: {}}]}`
	if err := os.WriteFile(kubeconfig, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]string{"context": "a\nb\n:4\n", "cluster": "c\n:4\n", "user": "u\n:4\n"} {
		start(t, server, "__complete", "watch", "--kubeconfig", kubeconfig, "--"+flag, "").wantEnd(t, exit.Success, want)
	}
}

// TestCompletionScripts checks the scripts for the shells, and the program that kubectl calls for the completion of a plugin.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		c := start(t, startAPIServer(t), "completion", shell)
		c.wantEnd(t, exit.Success, "__complete")
		if shell != "bash" {
			continue
		}
		check := exec.CommandContext(t.Context(), "bash", "-n")
		check.Stdin = strings.NewReader(c.out.String())
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("the script for bash: %v: %s", err, out)
		}
	}

	bin := t.TempDir()
	const echo = "#!/bin/sh\nprintf '%s|' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "kubectl-assay"), []byte(echo), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	script := exec.CommandContext(t.Context(), "../../cmd/kubectl-assay/kubectl_complete-assay", "watch", "a b", "")
	script.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	out, err := script.Output()
	if want := "__complete|watch|a b||"; err != nil || string(out) != want {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
}

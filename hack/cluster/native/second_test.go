package native

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newLayout returns the directories of a cluster in temporary directories.
func newLayout(t *testing.T) Layout {
	t.Helper()
	l := Layout{State: filepath.Join(t.TempDir(), "state"), Run: filepath.Join(t.TempDir(), "run")}
	if err := l.makeDirs(); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestSetNodes(t *testing.T) {
	tests := map[string]struct {
		before, nodes int
		want          bool
		says          string
	}{
		"new, nothing said":   {},
		"new, one":            {nodes: 1},
		"new, two":            {nodes: 2, want: true},
		"one, nothing said":   {before: 1},
		"one, one":            {before: 1, nodes: 1},
		"one, two":            {before: 1, nodes: 2, says: "created with --nodes 1, not 2"},
		"two, nothing said":   {before: 2, want: true},
		"two, one":            {before: 2, nodes: 1, want: true, says: "created with --nodes 2, not 1"},
		"two, two":            {before: 2, nodes: 2, want: true},
		"three":               {nodes: 3, says: "must be 1 or 2"},
		"fewer than none":     {nodes: -1, says: "must be 1 or 2"},
		"an interrupted two":  {before: -2, want: true},
		"it, and one is said": {before: -2, nodes: 1, want: true, says: "created with --nodes 2, not 1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLayout(t)
			if test.before == 2 || test.before == -2 {
				if err := l.second().makeDirs(); err != nil {
					t.Fatal(err)
				}
			}
			if test.before > 0 {
				if err := l.issueCertificates("198.51.100.7", issued); err != nil {
					t.Fatal(err)
				}
			}
			said := ""
			if err := l.setNodes(test.nodes); err != nil {
				said = err.Error()
			}
			if (said == "") != (test.says == "") || !strings.Contains(said, test.says) {
				t.Errorf("error %q, want one with %q", said, test.says)
			}
			if got := l.hasSecond(); got != test.want {
				t.Errorf("has a second node: %v, want %v", got, test.want)
			}
		})
	}
}

// What is written for one node must not be read, removed or used by the other.
func TestNodesShareOnlyTheKeys(t *testing.T) {
	first := newLayout(t)
	second := first.second()
	if err := second.makeDirs(); err != nil {
		t.Fatal(err)
	}
	for what, pair := range map[string][2]string{
		"name":            {first.node().name, second.node().name},
		"cgroup":          {first.node().cgroup, second.node().cgroup},
		"certificate":     {first.node().user, second.node().user},
		"socket":          {first.containerdSocket(), second.containerdSocket()},
		"log":             {first.log("kubelet"), second.log("kubelet")},
		"pid":             {first.pidFile("kubelet"), second.pidFile("kubelet")},
		"kubeconfig":      {first.kubeconfig("kube-proxy"), second.kubeconfig("kube-proxy")},
		"kubelet's files": {first.state("kubelet"), second.state("kubelet")},
		"cover":           {first.cover("/run/netns"), second.cover("/run/netns")},
		"part":            {first.partName("kubelet"), second.partName("kubelet")},
	} {
		if pair[0] == pair[1] {
			t.Errorf("%s of both nodes: %s", what, pair[0])
		}
	}
	if first.pki("ca.crt") != second.pki("ca.crt") {
		t.Errorf("CA %s and %s", first.pki("ca.crt"), second.pki("ca.crt"))
	}
	// powerOff removes the second node's, in which the namespace must not be.
	if strings.HasPrefix(first.network(), second.Run) || !strings.HasPrefix(first.network(), first.Run) {
		t.Errorf("the network namespace is in %s", first.network())
	}
	if _, err := os.Stat(second.state("etcd")); !os.IsNotExist(err) {
		t.Errorf("etcd's data on the second node: %v", err)
	}
}

// The second node reaches the API server at the machine's address, not on its own loopback.
func TestSecondNodesKubeconfig(t *testing.T) {
	first := issue(t, "198.51.100.7")
	second := first.second()
	if err := second.makeDirs(); err != nil {
		t.Fatal(err)
	}
	if err := second.writeKubeconfig(secondNode.user, "198.51.100.7"); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(second.kubeconfig(secondNode.user))
	if err != nil || !strings.Contains(string(content), "server: https://198.51.100.7:16443\n") {
		t.Errorf("kubeconfig of the second node: %v\n%s", err, content)
	}
}

func TestParts(t *testing.T) {
	l := newLayout(t)
	if _, _, err := l.part("assay-2/kubelet"); err == nil || !strings.HasSuffix(err.Error(), ", kube-proxy") {
		t.Errorf("a part of a second node that the cluster doesn't have: %v", err)
	}
	if err := l.second().makeDirs(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"kubelet": l.State, "assay-2/kubelet": l.second().State} {
		if of, d, err := l.part(name); err != nil || of.State != want || d.name != "kubelet" {
			t.Errorf("%s is %s in %s, %v", name, d.name, of.State, err)
		}
	}
	if _, _, err := l.part("assay-2/etcd"); err == nil || !strings.Contains(err.Error(), "assay-2/kube-proxy, assay-2") {
		t.Errorf("etcd of the second node: %v", err)
	}
}

func TestIsNamespace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "network")
	if isNamespace(file) {
		t.Error("a missing file is a namespace")
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if isNamespace(file) {
		t.Error("an empty file is a namespace")
	}
	if !isNamespace("/proc/self/ns/net") {
		t.Error("/proc/self/ns/net is no namespace")
	}
}

func TestSetLinkWithoutASecondNode(t *testing.T) {
	if err := newLayout(t).SetLink(Link{}); err == nil || !strings.Contains(err.Error(), "up --nodes 2") {
		t.Errorf("%v", err)
	}
}

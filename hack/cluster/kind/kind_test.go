package kind

import (
	"slices"
	"strings"
	"testing"

	"github.com/assay-dev/assay/hack/cluster/archive"
)

// kind reads the configuration strictly, so only what depends on the image and the nodes is checked here.
func TestConfiguration(t *testing.T) {
	one := []node{{Role: "control-plane", Kind: "InitConfiguration", Name: "assay"}}
	two := append(slices.Clone(one), node{Role: "worker", Kind: "JoinConfiguration", Name: "assay-2", Reserved: "1"})
	tests := map[string]struct {
		nodes         []node
		own           bool
		with, without []string
	}{
		"published image": {
			nodes: one, with: []string{"disableDefaultCNI: false", "cpuManagerPolicy: static", "nodeRegistration: {name: assay}\n"},
			without: []string{"imageRepository", "addon/coredns", "role: worker", "reserved-cpus"},
		},
		"own image": {
			nodes: one, own: true,
			with:    []string{"disableDefaultCNI: true", "imageRepository: localhost/assay-test\n", "skipPhases: [preflight, addon/coredns]"},
			without: []string{"role: worker", "taints"}, // kind itself removes the taint of a single node
		},
		"two nodes": {
			nodes: two, own: true,
			with: []string{
				"nodeRegistration: {name: assay, taints: []}\n", "role: worker", "nodeRegistration: {name: assay-2, taints: []}\n",
				"kind: JoinConfiguration\n    patch: |", `{name: reserved-cpus, value: "1"}`,
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			text, err := configuration(test.nodes, test.own)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.with {
				if !strings.Contains(text, want) {
					t.Errorf("%q not found", want)
				}
			}
			for _, not := range test.without {
				if strings.Contains(text, not) {
					t.Errorf("%q found", not)
				}
			}
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}

func TestLoaded(t *testing.T) {
	const list = `REF                TYPE                                                 DIGEST        SIZE    PLATFORMS   LABELS
localhost/a:dev    application/vnd.docker.distribution.manifest.v2+json sha256:aa     1.0 MiB linux/amd64 io.cri-containerd.image=managed
localhost/b:dev    application/vnd.docker.distribution.manifest.v2+json sha256:bb     1.0 MiB linux/amd64 io.cri-containerd.image=managed
sha256:11          application/vnd.docker.distribution.manifest.v2+json sha256:aa     1.0 MiB linux/amd64 io.cri-containerd.image=managed
sha256:22          application/vnd.docker.distribution.manifest.v2+json sha256:bb     1.0 MiB linux/amd64 io.cri-containerd.image=managed
`
	a := archive.Image{Config: "sha256:11", RepoTags: []string{"localhost/a:dev"}}
	b := archive.Image{Config: "sha256:22", RepoTags: []string{"localhost/b:dev"}}
	for name, test := range map[string]struct {
		images []archive.Image
		want   bool
	}{
		"both":                       {images: []archive.Image{a, b}, want: true},
		"a tag of an older image":    {images: []archive.Image{{Config: "sha256:22", RepoTags: a.RepoTags}}},
		"an image not loaded":        {images: []archive.Image{a, {Config: "sha256:33", RepoTags: []string{"localhost/b:dev"}}}},
		"a tag not loaded":           {images: []archive.Image{{Config: "sha256:11", RepoTags: []string{"localhost/a:dev", "localhost/a:1"}}}},
		"neither the tag nor the ID": {images: []archive.Image{{Config: "sha256:33", RepoTags: []string{"localhost/c:dev"}}}},
	} {
		if got := loaded(list, test.images); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// Tables are removed only if nothing but podman has used them.
func TestOnlyNetavark(t *testing.T) {
	const left = `# Warning: table ip nat is managed by iptables-nft, do not touch!
table ip nat {
	chain POSTROUTING {
		type nat hook postrouting priority srcnat; policy accept;
		counter packets 5 bytes 306 jump NETAVARK-HOSTPORT-MASQ
	}

	chain NETAVARK-HOSTPORT-MASQ {
		 meta mark & 0x00002000 == 0x00002000 counter packets 0 bytes 0 masquerade
	}
}
`
	for name, test := range map[string]struct {
		table string
		want  bool
	}{
		"what podman leaves":      {table: left, want: true},
		"another rule":            {table: strings.Replace(left, "jump NETAVARK-HOSTPORT-MASQ", "masquerade", 1)},
		"another chain with rule": {table: strings.Replace(left, "\tchain NETAVARK-HOSTPORT-MASQ", "\tchain DOCKER", 1)},
		"nothing of podman's":     {table: "table ip nat {\n\tchain POSTROUTING {\n\t\ttype nat hook postrouting priority srcnat; policy accept;\n\t}\n}\n"},
		"empty":                   {},
	} {
		if got := onlyNetavark(test.table); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

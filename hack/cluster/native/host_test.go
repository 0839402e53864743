package native

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/sys/mountinfo"
)

func TestHierarchiesOf(t *testing.T) {
	mount := func(kind, root, at string) *mountinfo.Info {
		return &mountinfo.Info{FSType: kind, Root: root, Mountpoint: at}
	}
	for name, test := range map[string]struct {
		mounts []*mountinfo.Info
		want   []hierarchy
	}{
		"both versions": {
			mounts: []*mountinfo.Info{mount("cgroup", "/", "/sys/fs/cgroup/cpu,cpuacct"), mount("cgroup2", "/", "/sys/fs/cgroup/unified")},
			want:   []hierarchy{{mount: "/sys/fs/cgroup/cpu,cpuacct"}, {mount: "/sys/fs/cgroup/unified", unified: true}},
		},
		"a part of a hierarchy, as a container sees it, and one mounted twice": {
			mounts: []*mountinfo.Info{mount("cgroup", "/docker/1", "/sys/fs/cgroup/memory"), mount("cgroup", "/", "/sys/fs/cgroup/cpu"), mount("cgroup", "/", "/sys/fs/cgroup/cpu")},
			want:   []hierarchy{{mount: "/sys/fs/cgroup/cpu"}},
		},
		"none": {},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, hierarchiesOf(test.mounts), cmp.AllowUnexported(hierarchy{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInheritCPUSet(t *testing.T) {
	tests := map[string]struct {
		before map[string]string
		want   string
	}{
		"a new cgroup takes the parent's": {before: map[string]string{"own/cpuset.cpus": "\n", "own/cpuset.mems": "\n"}, want: "0-1\n"},
		"what it has is kept":             {before: map[string]string{"own/cpuset.cpus": "1\n", "own/cpuset.mems": "0\n"}, want: "1\n"},
		"version 2 inherits by itself": {
			before: map[string]string{"own/cpuset.cpus": "\n", "own/cpuset.mems": "\n", "own/cgroup.subtree_control": ""},
			want:   "\n",
		},
		"another hierarchy has none": {},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{"cpuset.cpus": "0-1\n", "cpuset.mems": "0\n"}
			for file, content := range test.before {
				files[file] = content
			}
			if err := os.Mkdir(filepath.Join(dir, "own"), 0o755); err != nil {
				t.Fatal(err)
			}
			for file, content := range files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := inheritCPUSet(filepath.Join(dir, "own")); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join(dir, "own/cpuset.cpus"))
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("cpuset.cpus is %q, want %q", got, test.want)
			}
		})
	}
}

// Two directories must not be covered by the same one.
func TestCoversDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, dir := range covered {
		cover := Layout{Run: "/run/x"}.cover(dir)
		if other, ok := seen[cover]; ok || filepath.Dir(cover) != "/run/x/cover" {
			t.Errorf("cover of %s is %s, as of %q", dir, cover, other)
		}
		seen[cover] = dir
	}
}

package native

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMountPointsBelow(t *testing.T) {
	const mountinfo = `22 27 0:21 / /proc rw,nosuid - proc proc rw
27 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
90 27 0:40 / /run/assay-cluster rw shared:7 - tmpfs tmpfs rw
91 90 0:41 / /run/assay-cluster/containerd/a\040b rw - overlay overlay rw
92 27 0:42 / /run/assay-cluster-of-another rw - tmpfs tmpfs rw
93 27 0:43 / /var/lib/assay-cluster/kubelet/pods/1/tmp rw master:3 propagate_from:2 - tmpfs tmpfs rw
94 27 0:44 / /var/lib/assay rw - tmpfs tmpfs rw
95 91 0:45 / /run/assay-cluster/containerd/a\040b/x\134y rw - tmpfs tmpfs rw
short line
`
	tests := map[string]struct {
		dirs []string
		want []string
	}{
		"both directories, deepest first": {
			dirs: []string{"/var/lib/assay-cluster", "/run/assay-cluster"},
			want: []string{
				`/run/assay-cluster/containerd/a b/x\y`,
				"/var/lib/assay-cluster/kubelet/pods/1/tmp",
				"/run/assay-cluster/containerd/a b",
				"/run/assay-cluster",
			},
		},
		"a directory without mounts below it": {dirs: []string{"/run/assay-cluster/pid"}},
		"no directory":                        {},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, mountPointsBelow(mountinfo, test.dirs)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseHierarchies(t *testing.T) {
	tests := map[string]struct {
		mountinfo string
		want      []hierarchy
	}{
		"version 2": {
			mountinfo: "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
			want:      []hierarchy{{mount: "/sys/fs/cgroup", unified: true}},
		},
		"version 1": {
			mountinfo: `30 24 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw
31 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:5 - cgroup cgroup rw,cpu,cpuacct
32 30 0:28 / /sys/fs/cgroup/cpuset rw - cgroup none rw,cpuset
`,
			want: []hierarchy{
				{mount: "/sys/fs/cgroup/cpu,cpuacct"},
				{mount: "/sys/fs/cgroup/cpuset"},
			},
		},
		"both": {
			mountinfo: `31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
33 30 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
`,
			want: []hierarchy{
				{mount: "/sys/fs/cgroup/memory"},
				{mount: "/sys/fs/cgroup/unified", unified: true},
			},
		},
		"a part of a hierarchy, as a container sees it, and one mounted twice": {
			mountinfo: `31 30 0:27 /docker/1 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
32 30 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu
33 32 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu
`,
			want: []hierarchy{{mount: "/sys/fs/cgroup/cpu"}},
		},
		"none": {mountinfo: "22 27 0:21 / /proc rw - proc proc rw\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, parseHierarchies(test.mountinfo), cmp.AllowUnexported(hierarchy{})); diff != "" {
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

// Directories that were created as mount points are removed, unless they are used.
func TestRestoreHostRemovesItsFolders(t *testing.T) {
	dir := t.TempDir()
	l := Layout{State: filepath.Join(dir, "state")}
	empty, used, gone := filepath.Join(dir, "empty"), filepath.Join(dir, "used"), filepath.Join(dir, "gone")
	for _, need := range []string{l.State, empty, filepath.Join(used, "by-another")} {
		if err := os.MkdirAll(need, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	record, err := json.Marshal(hostRecord{MissingDirs: []string{empty, used, gone}})
	if err != nil {
		t.Fatal(err)
	}
	report := func(text string, args ...any) { t.Errorf(text, args...) }
	if err := l.restoreHost(report); err != nil {
		t.Errorf("without a record: %v", err)
	}
	if err := os.WriteFile(l.state("host-before.json"), record, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := l.restoreHost(report); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(empty); !os.IsNotExist(err) {
		t.Errorf("an empty directory was not removed: %v", err)
	}
	if _, err := os.Stat(filepath.Join(used, "by-another")); err != nil {
		t.Errorf("a used directory was removed: %v", err)
	}
}

// Directories that something else uses stay, and the others are removed all the same.
func TestRemoveMountPoints(t *testing.T) {
	const mountinfo = `27 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
90 27 0:21 /netns /run/netns rw shared:9 - tmpfs tmpfs rw
91 27 0:44 / /run/containerd/other rw - tmpfs tmpfs rw
`
	tests := map[string]struct {
		dir      string
		err      error
		reported []string
		fails    bool
	}{
		"removed":                     {dir: "/run/netns"},
		"missing":                     {dir: "/run/netns", err: syscall.ENOENT},
		"used":                        {dir: "/run/netns", err: syscall.ENOTEMPTY},
		"another's mount":             {dir: "/run/netns", err: syscall.EBUSY, reported: []string{"/run/netns stays: something else has mounted a file system on it"}},
		"busy, with a mount below it": {dir: "/run/containerd", err: syscall.EBUSY, fails: true},
		"busy without a mount":        {dir: "/run/mount", err: syscall.EBUSY, fails: true},
		"not permitted":               {dir: "/run/netns", err: syscall.EPERM, fails: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var reported, removed []string
			err := removeMountPoints([]string{test.dir, "/var/lib/cni"}, mountinfo, func(dir string) error {
				removed = append(removed, dir)
				if dir == test.dir {
					return test.err
				}
				return nil
			}, func(text string, args ...any) { reported = append(reported, fmt.Sprintf(text, args...)) })
			if (err != nil) != test.fails {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(test.reported, reported); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{test.dir, "/var/lib/cni"}, removed); diff != "" {
				t.Error(diff)
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

package host

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Directories that were created as mount points are removed, unless they are used.
func TestRestoreRemovesItsDirectories(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "host-before.json")
	empty, used, gone := filepath.Join(dir, "empty"), filepath.Join(dir, "used"), filepath.Join(dir, "gone")
	for _, need := range []string{empty, filepath.Join(used, "by-another")} {
		if err := os.MkdirAll(need, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	content, err := json.Marshal(record{MissingDirs: []string{empty, used, gone}})
	if err != nil {
		t.Fatal(err)
	}
	report := func(text string, args ...any) { t.Errorf(text, args...) }
	if err := Restore(file, report); err != nil {
		t.Errorf("without a record: %v", err)
	}
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
	if !Missing(file, empty) || Missing(file, dir) {
		t.Errorf("missing were %t and %t, want true and false", Missing(file, empty), Missing(file, dir))
	}
	if err := Restore(file, report); err != nil {
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
	mounted := func(dir string) (bool, error) { return dir == "/run/netns" || dir == "/run/containerd/other", nil }
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
			err := removeMountPoints([]string{test.dir, "/var/lib/cni"}, mounted, func(dir string) error {
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

package release

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestDependenciesAreUpdated checks that the bot that updates dependencies knows each module.
func TestDependenciesAreUpdated(t *testing.T) {
	var want []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != root || entry.Name() == "bin") {
			return fs.SkipDir
		}
		if entry.Name() == "go.mod" {
			directory, relative := filepath.Rel(root, filepath.Dir(path))
			if relative != nil {
				return relative
			}
			want = append(want, filepath.Join("/", directory))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, ".github/dependabot.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Updates []struct {
			Ecosystem   string   `json:"package-ecosystem"`
			Directories []string `json:"directories"`
		} `json:"updates"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	if got := config.Updates[0]; got.Ecosystem != "gomod" || !slices.Equal(slices.Sorted(slices.Values(got.Directories)), want) {
		t.Errorf("dependabot.yml updates the modules\n%v, and there are\n%v", got.Directories, want)
	}
}

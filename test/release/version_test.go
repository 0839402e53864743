// Package release checks how a release is made: its version, its manifest for krew, and its workflow. make release-dry-run
// checks what it consists of, and make test-release that it can be reproduced.
package release

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// run runs a script of hack/release, whose output it returns.
func run(t *testing.T, dir, script string, args ...string) string {
	t.Helper()
	text, err := attempt(t, dir, script, args...)
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", script, args, err, text)
	}
	return text
}

func attempt(t *testing.T, dir, script string, args ...string) (string, error) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root, dir, "hack/release", script))
	if err != nil {
		t.Fatal(err)
	}
	if dir != "" {
		path = filepath.Join(dir, "hack/release", script)
	}
	text, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	return string(text), err
}

// tree copies what names the version to a directory.
func tree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"config", "charts", "docs/quickstart.md", "docs/install.md", "hack/release", "CHANGELOG.md", "Dockerfile"} {
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if text, err := exec.CommandContext(t.Context(), "cp", "-r", filepath.Join(root, name), to).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	return dir
}

// contents returns all files of a directory by path.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		found[strings.TrimPrefix(path, dir+"/")], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestSetVersion(t *testing.T) {
	dir := tree(t)
	before := contents(t, dir)
	old := strings.TrimSpace(run(t, "", "version.sh", dir))
	run(t, "", "set-version.sh", "7.8.9-rc.1", dir)
	if got := strings.TrimSpace(run(t, "", "version.sh", dir)); got != "7.8.9-rc.1" {
		t.Errorf("the version is %q", got)
	}
	// The places that users install from, with what they say.
	for name, want := range map[string][]string{
		"charts/assay/Chart.yaml": {
			"\nversion: 7.8.9-rc.1\n", "\nappVersion: \"7.8.9-rc.1\"\n", "/assay:7.8.9-rc.1\n", "/assay-load:7.8.9-rc.1\n", "/assay-k6:7.8.9-rc.1\n",
			"artifacthub.io/prerelease: \"true\"", "\nkubeVersion: \">=1.30.0-0\"\n",
		},
		"config/manager/kustomization.yaml":                   {"newTag: 7.8.9-rc.1\n"},
		"docs/quickstart.md":                                  {"--version 7.8.9-rc.1 ", "/download/v7.8.9-rc.1/"},
		"config/gitops/recipes/argo-cd/operator.yaml":         {"targetRevision: 7.8.9-rc.1\n"},
		"config/gitops/recipes/github-actions/benchmark.yaml": {"ASSAY_VERSION: 7.8.9-rc.1\n"},
	} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !bytes.Contains(text, []byte(part)) {
				t.Errorf("%s doesn't have %q", name, part)
			}
		}
	}
	for name, text := range contents(t, dir) {
		if named := regexp.MustCompile(`(ghcr\.io/assay-dev/\S+:|releases/download/v|newTag: )` + regexp.QuoteMeta(old)).Find(text); named != nil {
			t.Errorf("%s has %q still", name, named)
		}
	}
	run(t, "", "set-version.sh", old, dir)
	for name, text := range contents(t, dir) {
		if !bytes.Equal(text, before[name]) {
			t.Errorf("%s isn't as it was after the version was set back:\n%s", name, text)
		}
	}
	for _, version := range []string{"", "v1.2.3", "1.2", "01.2.3", "1.2.3+build", "1.2.3-", "1.2.3 4", "$(id)", "1.2.3;id"} {
		if text, err := attempt(t, "", "set-version.sh", version, dir); err == nil || !strings.Contains(text, "must be MAJOR.MINOR.PATCH") {
			t.Errorf("version %q: %v, %s", version, err, text)
		}
	}
}

func TestReleaseCheck(t *testing.T) {
	dir := tree(t)
	run(t, "", "set-version.sh", "7.8.9", dir)
	if text, err := attempt(t, dir, "check.sh", "7.9.0"); err == nil || !strings.Contains(text, "make set-version VERSION=7.9.0") {
		t.Errorf("the tag of another version: %v, %s", err, text)
	}
	dockerfile := filepath.Join(dir, "Dockerfile")
	if err := os.WriteFile(dockerfile, []byte("ARG GO_IMAGE=golang:1.26\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := attempt(t, dir, "check.sh", "7.8.9"); err == nil || !strings.Contains(text, "make pin-base-image") {
		t.Errorf("a base image by its tag: %v, %s", err, text)
	}
	if err := os.WriteFile(dockerfile, []byte("ARG GO_IMAGE=golang:1.26@sha256:"+strings.Repeat("a", 64)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := attempt(t, dir, "check.sh", "7.8.9"); err == nil || !strings.Contains(text, `no section "## [7.8.9] - `) {
		t.Errorf("a changelog without the version: %v, %s", err, text)
	}
	changelog := filepath.Join(dir, "CHANGELOG.md")
	text, err := os.ReadFile(changelog)
	if err != nil {
		t.Fatal(err)
	}
	const sections = "## [7.8.9] - 2026-12-01\n\n### Added\n\n- A thing.\n\n## [7.8.8] - 2026-11-01\n\n- Another.\n"
	text = bytes.Replace(text, []byte("## [Unreleased]\n"), []byte("## [Unreleased]\n\n"+sections), 1)
	if err := os.WriteFile(changelog, text, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "check.sh", "7.8.9")
	notes, err := os.ReadFile(filepath.Join(dir, "bin/release-notes.md"))
	if err != nil || strings.TrimSpace(string(notes)) != "### Added\n\n- A thing." {
		t.Errorf("release notes %q, %v", notes, err)
	}
}

// TestImagesArePinned checks that a release's chart and manifests name its images by digest.
func TestImagesArePinned(t *testing.T) {
	dir := tree(t)
	images := filepath.Join(dir, "images.txt")
	assay, load, k6 := "sha256:"+strings.Repeat("a", 64), "sha256:"+strings.Repeat("b", 64), "sha256:"+strings.Repeat("c", 64)
	if err := os.WriteFile(images, []byte("ghcr.io/assay-dev/assay:7.8.9@"+assay+"\nghcr.io/assay-dev/assay-load:7.8.9@"+load+"\nghcr.io/assay-dev/assay-k6:7.8.9@"+k6+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "", "pin.sh", images, dir)
	for name, want := range map[string]*regexp.Regexp{
		"charts/assay/values.yaml":          regexp.MustCompile(`(?s)\n  assay:\n.{0,400}\n    digest: ` + assay + `\n  load:\n.{0,400}\n    digest: ` + load + `\n  k6:\n.{0,400}\n    digest: ` + k6 + `\n`),
		"config/manager/kustomization.yaml": regexp.MustCompile(`- name: assay\n  newName: \S+\n  digest: ` + assay + `\n- name: assay-load\n  newName: \S+\n  digest: ` + load + `\n- name: assay-k6\n  newName: \S+\n  digest: ` + k6 + `\n`),
	} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !want.Match(text) || bytes.Count(text, []byte("sha256:a")) != 1 || bytes.Count(text, []byte("sha256:b")) != 1 || bytes.Count(text, []byte("sha256:c")) != 1 {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

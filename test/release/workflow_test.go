package release

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// workflow is what is checked of a workflow of GitHub Actions; actionlint, which make lint runs, checks the rest.
type workflow struct {
	Permissions map[string]string `json:"permissions"`
	Jobs        map[string]struct {
		If          string            `json:"if"`
		Needs       string            `json:"needs"`
		Permissions map[string]string `json:"permissions"`
		Steps       []struct {
			Uses string `json:"uses"`
			Run  string `json:"run"`
		} `json:"steps"`
	} `json:"jobs"`
}

func TestReleaseWorkflow(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, ".github/workflows/release.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var w workflow
	if err := yaml.Unmarshal(content, &w); err != nil {
		t.Fatal(err)
	}
	var makefiles []string
	for _, name := range []string{"Makefile", "hack/release/release.mk"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		makefiles = append(makefiles, string(text))
	}
	pinned := regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)
	target := regexp.MustCompile(`\bmake ([a-z-]+)`)
	var targets []string
	for name, job := range w.Jobs {
		for _, step := range job.Steps {
			if step.Uses != "" && !pinned.MatchString(step.Uses) {
				t.Errorf("job %s: %s isn't pinned by a commit", name, step.Uses)
			}
			if strings.Contains(step.Run, "${{") {
				t.Errorf("job %s: a script contains an expression, whose value the shell would run: %s", name, step.Run)
			}
			for _, match := range target.FindAllStringSubmatch(step.Run, -1) {
				targets = append(targets, match[1])
				if !strings.Contains(strings.Join(makefiles, "\n"), "\n"+match[1]+":") {
					t.Errorf("job %s: make %s: no such target", name, match[1])
				}
			}
		}
		for scope, access := range job.Permissions {
			if access == "write" && name != "publish" {
				t.Errorf("job %s may write %s", name, scope)
			}
		}
	}
	slices.Sort(targets)
	if !slices.Equal(targets, []string{"release-dry-run", "release-publish"}) {
		t.Errorf("the workflow makes %v", targets)
	}
	if publish := w.Jobs["publish"]; len(w.Permissions) != 0 || publish.Needs != "build" || publish.If != "${{ github.ref_type == 'tag' }}" {
		t.Errorf("permissions %v, publish needs %q if %q", w.Permissions, publish.Needs, publish.If)
	}
}

package api

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// recipes has what docs/gitops.md shows.
const recipes = "../../config/gitops/recipes"

// documents returns the documents of a file of YAML.
func documents(t *testing.T, path ...string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	var all []*unstructured.Unstructured
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		all = append(all, parse(t, document, `{}`))
	}
	return all
}

// parameter matches the only parameter of the recipe for Argo Workflows; test/gitops replaces it by Argo's own means.
var parameter = regexp.MustCompile(`\{\{=toJson\(workflow\.parameters\.image\)\}\}`)

// TestRecipesAreAccepted creates, as a dry run, each run and Benchmark of the recipes.
func TestRecipesAreAccepted(t *testing.T) {
	namespace := newNamespace(t)
	count := map[string]int{}
	err := filepath.WalkDir(recipes, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) != ".yaml" || err != nil {
			return err
		}
		for _, object := range documents(t, path) {
			if object.GetKind() == "Workflow" {
				templates, _, err := unstructured.NestedSlice(object.Object, "spec", "templates")
				if err != nil {
					t.Fatal(err)
				}
				for _, template := range templates {
					if manifest, found, _ := unstructured.NestedString(template.(map[string]any), "resource", "manifest"); found {
						object = parse(t, parameter.ReplaceAllString(manifest, `"localhost/shop:1"`), `{}`)
					}
				}
			}
			switch object.GetKind() {
			case "BenchmarkRun":
				if err := dryCreate(t.Context(), object, namespace); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			case "Benchmark":
				acceptCells(t, object, namespace)
			}
			count[object.GetKind()]++
		}
		return nil
	})
	if err != nil || count["BenchmarkRun"] < 3 || count["Benchmark"] < 1 {
		t.Errorf("objects %v, %v", count, err)
	}
}

// shell runs scripts of recipes with the kubectl of the API server and with this plugin.
type shell struct {
	t           *testing.T
	bin, folder string
	env         []string
}

// newShell returns a shell in a new folder, which has the run of the recipes.
func newShell(t *testing.T, namespace string) *shell {
	t.Helper()
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range config.Contexts {
		c.Namespace = namespace
	}
	s := &shell{t: t, bin: t.TempDir(), folder: t.TempDir()}
	file := filepath.Join(s.bin, "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	assets, err := filepath.Abs(os.Getenv("KUBEBUILDER_ASSETS"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(assets, "kubectl"), filepath.Join(s.bin, "kubectl")); err != nil {
		t.Fatal(err)
	}
	run, err := os.ReadFile(filepath.Join(recipes, "run.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s.write(filepath.Join(s.folder, "benchmark", "run.yaml"), string(run))
	s.env = append(os.Environ(), "KUBECONFIG="+file, "HOME="+s.bin, "PATH="+s.bin+":"+os.Getenv("PATH"))
	return s
}

func (s *shell) write(path, content string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil { //nolint:gosec // a program
		s.t.Fatal(err)
	}
}

func (s *shell) read(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text)
}

// run runs a command and returns its output and exit code.
func (s *shell) run(env []string, name string, args ...string) (output string, code int) {
	s.t.Helper()
	command := exec.CommandContext(s.t.Context(), name, args...)
	command.Dir, command.Env = s.folder, slices.Concat(s.env, env)
	out, err := command.CombinedOutput()
	if err != nil && command.ProcessState == nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	return string(out), command.ProcessState.ExitCode()
}

// TestRecipeOfKubectl runs the script that waits with kubectl alone, for runs with each verdict.
func TestRecipeOfKubectl(t *testing.T) {
	script, err := filepath.Abs(filepath.Join(recipes, "kubectl/run.sh"))
	if err != nil {
		t.Fatal(err)
	}
	for verdict, want := range verdicts {
		t.Run(cmp.Or(string(verdict), "none"), func(t *testing.T) {
			namespace := newNamespace(t)
			operate(t, namespace, verdict)
			timeout, code := "5m", 1
			switch verdict {
			case v1alpha1.VerdictPassed:
				code = 0
			case "":
				timeout, code = "1s", 2
			}
			out, got := newShell(t, namespace).run(nil, script, "benchmark/run.yaml", timeout)
			if got != code || !strings.Contains(out, want.message) {
				t.Errorf("exit code %d, want %d and %q:\n%s", got, code, want.message, out)
			}
			if passed := strings.Contains(out, "8282.17 requests/s, p99 30143 us"); passed != (code == 0) {
				t.Error(out)
			}
		})
	}
}

// TestRecipeOfTekton runs the script of the Task, for runs with each verdict.
func TestRecipeOfTekton(t *testing.T) {
	task := documents(t, recipes, "tekton/task.yaml")[0]
	steps, _, err := unstructured.NestedSlice(task.Object, "spec", "steps")
	if err != nil || len(steps) != 1 {
		t.Fatal(steps, err)
	}
	script := steps[0].(map[string]any)["script"].(string)
	for verdict, want := range verdicts {
		if verdict == "" {
			continue // which waits
		}
		t.Run(string(verdict), func(t *testing.T) {
			namespace := newNamespace(t)
			operate(t, namespace, verdict)
			s := newShell(t, namespace)
			result := func(name string) string { return filepath.Join(s.folder, "results-"+name) }
			replaced := regexp.MustCompile(`\$\(results\.([a-z-]+)\.path\)`).ReplaceAllStringFunc(script, func(text string) string {
				return result(strings.TrimSuffix(strings.TrimPrefix(text, "$(results."), ".path)"))
			})
			if strings.Contains(replaced, "$(params") {
				t.Error("a parameter is a part of the script")
			}
			s.write(filepath.Join(s.folder, "script"), replaced)
			out, code := s.run([]string{"MANIFEST=benchmark/run.yaml", "TIMEOUT=5m"}, "./script")
			if (code == 0) != (verdict == v1alpha1.VerdictPassed) || !strings.Contains(out, want.finished) {
				t.Errorf("exit code %d:\n%s", code, out)
			}
			if got := s.read(result("verdict")); got != string(verdict) || !strings.HasPrefix(s.read(result("run")), "shop-") {
				t.Errorf("results %q, %q", got, s.read(result("run")))
			}
			if got := s.read(result("requests-per-second")); got != want.throughput {
				t.Errorf("throughput %q, want %q", got, want.throughput)
			}
		})
	}
}

// nested returns a text of an object at a path of fields and, as "0", elements.
func nested(t *testing.T, value any, path ...string) string {
	t.Helper()
	for _, step := range path {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			index, err := strconv.Atoi(step)
			if err != nil || index >= len(v) {
				t.Fatalf("%s of %v", step, path)
			}
			value = v[index]
		}
	}
	text, is := value.(string)
	if !is {
		t.Fatalf("no text at %v: %v", path, value)
	}
	return text
}

// TestRecipeOfArgoRollouts runs the script of the analysis' Job, for runs with each verdict.
func TestRecipeOfArgoRollouts(t *testing.T) {
	template := documents(t, recipes, "argo-rollouts/analysistemplate.yaml")[0]
	script := nested(t, template.Object, "spec", "metrics", "0", "provider", "job", "spec", "template", "spec", "containers", "0", "args", "0")
	for verdict, want := range verdicts {
		if verdict == "" {
			continue // which waits
		}
		t.Run(string(verdict), func(t *testing.T) {
			namespace := newNamespace(t)
			operate(t, namespace, verdict)
			out, code := newShell(t, namespace).run(nil, "sh", "-c", script)
			if (code == 0) != (verdict == v1alpha1.VerdictPassed) || !strings.Contains(out, want.finished) {
				t.Errorf("exit code %d:\n%s", code, out)
			}
		})
	}
}

// TestRecipeOfFlagger runs both webhooks as Flagger does, before and after a run has ended with each verdict.
func TestRecipeOfFlagger(t *testing.T) {
	canary := documents(t, recipes, "flagger/canary.yaml")[0]
	script := func(webhook string) string {
		return nested(t, canary.Object, "spec", "analysis", "webhooks", webhook, "metadata", "cmd")
	}
	confirm, rollback := script("0"), script("1")
	deployment := &unstructured.Unstructured{Object: canary.Object["spec"].(map[string]any)["targetRef"].(map[string]any)}
	for verdict := range verdicts {
		t.Run(cmp.Or(string(verdict), "none"), func(t *testing.T) {
			namespace := newNamespace(t)
			s := newShell(t, namespace)
			created := parse(t, `{"apiVersion": "`+deployment.GetAPIVersion()+`", "kind": "`+deployment.GetKind()+`", "metadata": {"name": "shop", "namespace": "`+namespace+`"},
				"spec": {"selector": {"matchLabels": {"app": "shop"}}, "template": {"metadata": {"labels": {"app": "shop"}}, "spec": {"containers": [{"name": "shop", "image": "shop:1"}]}}}}`, `{}`)
			if err := apiClient.Create(t.Context(), created); err != nil {
				t.Fatal(err)
			}
			if out, code := s.run(nil, "bash", "-c", rollback); code == 0 {
				t.Errorf("it rolls back before there is a run:\n%s", out)
			}
			if out, code := s.run(nil, "bash", "-c", confirm); code == 0 || !strings.Contains(out, "shop-canary-1 created") {
				t.Errorf("it doesn't wait for the run:\n%s", out)
			}
			if verdict != "" {
				run := &v1alpha1.BenchmarkRun{}
				if err := apiClient.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "shop-canary-1"}, run); err != nil {
					t.Fatal(err)
				}
				if err := end(t.Context(), run, verdict); err != nil {
					t.Fatal(err)
				}
			}
			confirmed, confirmCode := s.run(nil, "bash", "-c", confirm)
			rolledBack, rollbackCode := s.run(nil, "bash", "-c", rollback)
			if (confirmCode == 0) != (verdict == v1alpha1.VerdictPassed) || strings.Contains(confirmed, "created") {
				t.Errorf("confirm: exit code %d:\n%s", confirmCode, confirmed)
			}
			if (rollbackCode == 0) != (verdict != v1alpha1.VerdictPassed && verdict != "") {
				t.Errorf("rollback: exit code %d:\n%s", rollbackCode, rolledBack)
			}
		})
	}
}

// gh is a recorder in the place of GitHub's program: it keeps the comment of a pull request, which has the number 7, in a file.
const gh = `#!/bin/sh
echo "gh $*" >> "$0.log"
case "$*" in
*"--jq"*)
  for last; do :; done
  touch "$0.comment"
  jq -n --rawfile body "$0.comment" '[["Bot", "Hello", 5], ["User", "<!-- kubectl assay ab -->", 6], ["Bot", $body, 7]] | map({user: {type: .[0]}, body: .[1], id: .[2]})' |
    jq "$last" ;;
*"--method POST repos/a/shop/issues/12/comments"* | *"--method PATCH repos/a/shop/issues/comments/7 "*)
  cp body.md "$0.comment" ;;
*) exit 3 ;;
esac
`

// TestRecipeOfGitHub runs the steps of the workflow for rounds with each verdict, twice, with recorders in the place of the
// programs that make a cluster and comments.
func TestRecipeOfGitHub(t *testing.T) {
	var workflow struct {
		Env  map[string]string `json:"env"`
		Jobs map[string]struct {
			Steps []struct {
				Name, If, Run string
				Env           map[string]string
			} `json:"steps"`
		} `json:"jobs"`
	}
	text, err := os.ReadFile(filepath.Join(recipes, "github-actions/benchmark.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		t.Fatal(err)
	}
	for verdict, wantCode := range map[v1alpha1.BenchmarkVerdict]int{
		v1alpha1.BenchmarkPassed: 0, v1alpha1.BenchmarkFailed: 2, v1alpha1.BenchmarkInconclusive: 5, v1alpha1.BenchmarkError: 1,
	} {
		t.Run(string(verdict), func(t *testing.T) {
			namespace := newNamespace(t)
			conclude(t, namespace, verdict)
			s := newShell(t, namespace)
			for _, name := range []string{"kind", "docker", "helm"} {
				s.write(filepath.Join(s.bin, name), "#!/bin/sh\necho \"${0##*/} $*\" >> '"+s.bin+"/log'\n")
			}
			s.write(filepath.Join(s.bin, "gh"), gh)
			s.release("kubectl-assay-linux-amd64.tar.gz")
			temp := t.TempDir()
			file := func(name string) string { return filepath.Join(temp, name) }
			env := []string{
				"RUNNER_TEMP=" + temp, "GITHUB_PATH=" + file("path"), "GITHUB_STEP_SUMMARY=" + file("summary"), "GITHUB_REPOSITORY=a/shop",
			}
			for key, value := range workflow.Env {
				env = append(env, key+"="+value)
			}
			for range 2 {
				failed := ""
				for _, step := range workflow.Jobs["benchmark"].Steps {
					if step.Run == "" || failed != "" && step.If == "" {
						continue
					}
					own := slices.Concat(env, []string{"PATH=" + strings.Join(strings.Fields(s.read(file("path"))), ":") + ":" + s.bin + ":" + os.Getenv("PATH")})
					for key, value := range step.Env {
						own = append(own, key+"="+strings.ReplaceAll(value, "${{ github.event.pull_request.number }}", "12"))
					}
					out, code := s.run(own, "bash", "-e", "-o", "pipefail", "-c", step.Run)
					if code != 0 {
						failed += step.Name
						if code != wantCode {
							t.Errorf("%s: exit code %d, want %d:\n%s", step.Name, code, wantCode, out)
						}
					}
				}
				if (failed == "Compare") != (wantCode != 0) || failed != "" && failed != "Compare" {
					t.Errorf("failed steps: %q", failed)
				}
				for _, path := range []string{
					file("summary"), filepath.Join(s.bin, "gh.comment"), filepath.Join(s.folder, "report/report.html"), filepath.Join(s.folder, "report/junit.xml"), filepath.Join(s.folder, "report/report.json"),
				} {
					if !strings.Contains(s.read(path), namespace) {
						t.Errorf("%s isn't a report: %s", path, s.read(path))
					}
				}
				if _, code := s.run(nil, "kubectl", "delete", "benchmark", "pr"); code != 0 {
					t.Errorf("the Benchmark can't be deleted: exit code %d", code)
				}
				if err := os.RemoveAll(filepath.Join(s.folder, "report")); err != nil {
					t.Fatal(err)
				}
			}
			log := s.read(filepath.Join(s.bin, "log")) + s.read(filepath.Join(s.bin, "gh.log"))
			for _, line := range []string{"kind create cluster", "kind load docker-image localhost/shop:base localhost/shop:pr", "helm install assay oci://", "--method POST", "--method PATCH"} {
				if !strings.Contains(log, line) {
					t.Errorf("%q isn't among:\n%s", line, log)
				}
			}
			if n := strings.Count(log, "--method POST"); n != 1 {
				t.Errorf("%d comments", n)
			}
		})
	}
}

// TestFitAsksForRounds checks that doctor --fit asks for a round of one Benchmark, whose run may be another the next time.
func TestFitAsksForRounds(t *testing.T) {
	namespace := newNamespace(t)
	conclude(t, namespace, v1alpha1.BenchmarkError)
	s := newShell(t, namespace)
	s.release("kubectl-assay-linux-amd64.tar.gz")
	if out, code := s.run(nil, "tar", "-xzf", filepath.Join(s.bin, "release/kubectl-assay-linux-amd64.tar.gz"), "-C", s.bin); code != 0 {
		t.Fatal(out)
	}
	for i, args := range [][]string{nil, {"-f", "benchmark/run.yaml"}} {
		out, code := s.run(nil, "kubectl", append([]string{"assay", "doctor", "--fit"}, args...)...)
		if want := fmt.Sprintf("assay-fit, round %d ended with an error: Error: The message.", i+1); code != 1 || !strings.Contains(out, want) {
			t.Errorf("exit code %d, %q isn't in:\n%s", code, want, out)
		}
		content, _ := s.run(nil, "kubectl", "get", "benchmark", "assay-fit", "-o", "jsonpath={.spec.template.spec.target.content[*].path}")
		if (content == "") != (i == 1) {
			t.Errorf("round %d: content %s", i+1, content)
		}
	}
}

// release puts a curl in place that fetches an archive with the plugin, and the archive's checksum.
func (s *shell) release(name string) {
	s.t.Helper()
	executable, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	files := tar.NewWriter(zipped)
	// The plugin is this program: see TestMain.
	if err := files.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: "kubectl-assay", Linkname: executable, Mode: 0o777}); err != nil {
		s.t.Fatal(err)
	}
	if files.Close() != nil || zipped.Close() != nil {
		s.t.Fatal("the archive can't be written")
	}
	release := filepath.Join(s.bin, "release")
	s.write(filepath.Join(release, name), archive.String())
	s.write(filepath.Join(release, "checksums.txt"), fmt.Sprintf("%x  %s\n%064d  other.tar.gz\n", sha256.Sum256(archive.Bytes()), name, 0))
	s.write(filepath.Join(s.bin, "curl"), "#!/bin/sh\nfor url; do case $url in https://*) cp '"+release+"'/\"${url##*/}\" . || exit 22;; esac; done\n")
}

package gitops

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	argo "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/util/template"
	helm "github.com/fluxcd/helm-controller/api/v2"
	flux "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/google/go-cmp/cmp"
	tekton "github.com/tektoncd/pipeline/pkg/apis/pipeline/v1"
	"github.com/tidwall/gjson"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// recipes has what docs/gitops.md shows.
const recipes = "../../config/gitops/recipes"

// The releases of tools whose schemas the recipes are held against.
const (
	argoCD           = "github.com/argoproj/argo-cd/v3@v3.5.7"
	argoRollouts     = "github.com/argoproj/argo-rollouts@v1.9.0"
	flagger          = "github.com/fluxcd/flagger@v1.36.1"
	sourceController = "github.com/fluxcd/source-controller@v1.8.0"
)

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// decode decodes a recipe into the type of its tool, which must know every field.
func decode[T any](t *testing.T, file string) *T {
	t.Helper()
	object := new(T)
	if err := yaml.UnmarshalStrict([]byte(read(t, recipes, file)), object); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return object
}

// TestFluxRecipe checks that the Kustomization waits by the expressions that TestFluxHealthChecks tests.
func TestFluxRecipe(t *testing.T) {
	k := decode[flux.Kustomization](t, "flux/kustomization.yaml")
	if gvk := flux.GroupVersion.WithKind(flux.KustomizationKind); k.GroupVersionKind() != gvk || !k.Spec.Wait || k.Spec.Timeout == nil {
		t.Errorf("%+v", k)
	}
	var checks flux.KustomizationSpec
	if err := yaml.UnmarshalStrict([]byte(read(t, "../../config/gitops/flux/healthcheckexprs.yaml")), &checks); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(checks.HealthCheckExprs, k.Spec.HealthCheckExprs); diff != "" {
		t.Error(diff)
	}
}

// TestTektonRecipes checks the Task and the TaskRun as Tekton's webhook does.
func TestTektonRecipes(t *testing.T) {
	task := decode[tekton.Task](t, "tekton/task.yaml")
	task.SetDefaults(t.Context())
	if err := task.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	run := decode[tekton.TaskRun](t, "tekton/taskrun.yaml")
	if run.Spec.TaskRef.Name != task.Name {
		t.Errorf("the TaskRun refers to %s, not to %s", run.Spec.TaskRef.Name, task.Name)
	}
	known := map[string]bool{}
	for _, p := range task.Spec.Params {
		known[p.Name] = true
	}
	for _, p := range run.Spec.Params {
		if !known[p.Name] {
			t.Errorf("the Task has no parameter %s", p.Name)
		}
	}
}

// resourceTemplate returns the template of the workflow that creates a run.
func resourceTemplate(t *testing.T) *argo.Template {
	t.Helper()
	workflow := decode[argo.Workflow](t, "argo-workflows/workflow.yaml")
	for i := range workflow.Spec.Templates {
		if workflow.Spec.Templates[i].Resource != nil {
			return &workflow.Spec.Templates[i]
		}
	}
	t.Fatal("the workflow has no resource template")
	return nil
}

// document lets conditions of a workflow select by fields, as Argo Workflows does.
type document string

func (d document) Has(path string) bool   { return gjson.Get(string(d), path).Exists() }
func (d document) Get(path string) string { return gjson.Get(string(d), path).String() }
func (d document) Lookup(path string) (string, bool) {
	return d.Get(path), d.Has(path)
}

// TestArgoWorkflowConditions checks with which states of a run the workflow's step succeeds, fails or waits.
func TestArgoWorkflowConditions(t *testing.T) {
	resource := resourceTemplate(t).Resource
	matches := func(condition string, d document) bool {
		selector, err := labels.Parse(condition)
		if err != nil {
			t.Fatal(err)
		}
		return selector.Matches(d)
	}
	for name, s := range runs(t) {
		data, err := json.Marshal(s.object)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ", changed") {
			continue // a run is never changed by the workflow that created it
		}
		succeeded, failed := matches(resource.SuccessCondition, document(data)), matches(resource.FailureCondition, document(data))
		if succeeded != (s.health == healthy) || failed != (s.health == degraded) {
			t.Errorf("%s: succeeded %v, failed %v, want %s", name, succeeded, failed, s.health)
		}
	}
}

// TestArgoWorkflowParameter checks that Argo Workflows puts the parameter into the manifest as one string.
func TestArgoWorkflowParameter(t *testing.T) {
	text, err := json.Marshal(resourceTemplate(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, image := range []string{"nginx:1.28", "a\"\n    command: [sh]\n#", "{{workflow.name}}", "'*&\\"} {
		replaced, err := template.Replace(string(text), map[string]string{"workflow.parameters.image": image}, true)
		if err != nil {
			t.Fatal(err)
		}
		var resource argo.Template
		if err := json.Unmarshal([]byte(replaced), &resource); err != nil {
			t.Fatal(err)
		}
		var run struct {
			Spec struct{ Target map[string]any }
		}
		if err := yaml.Unmarshal([]byte(resource.Resource.Manifest), &run); err != nil {
			t.Fatalf("%v:\n%s", err, resource.Resource.Manifest)
		}
		if run.Spec.Target["image"] != image || len(run.Spec.Target) != 3 {
			t.Errorf("image %q: target %v", image, run.Spec.Target)
		}
	}
}

// checkSchema checks objects by the CustomResourceDefinition in a module of their tool's own release.
func checkSchema(t *testing.T, module, definition string, objects ...map[string]any) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module).Output()
	if err != nil {
		t.Fatalf("download %s: %v: %s", module, err, out)
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal(out, &downloaded); err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(read(t, downloaded.Dir, definition), "\n---\n") {
		var crd extensions.CustomResourceDefinition
		if err := yaml.Unmarshal([]byte(document), &crd); err != nil {
			t.Fatal(err)
		}
		for _, version := range crd.Spec.Versions {
			for i, object := range objects {
				if object["kind"] == crd.Spec.Names.Kind && object["apiVersion"] == crd.Spec.Group+"/"+version.Name {
					validate(t, version.Schema.OpenAPIV3Schema, object)
					objects[i] = nil
				}
			}
		}
	}
	for _, object := range objects {
		if object != nil {
			t.Errorf("%s has no kind %v of %v", definition, object["kind"], object["apiVersion"])
		}
	}
}

func validate(t *testing.T, external *extensions.JSONSchemaProps, object map[string]any) {
	t.Helper()
	var props apiextensions.JSONSchemaProps
	if err := extensions.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(external, &props, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := schema.NewStructural(&props)
	if err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(&props)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range validation.ValidateCustomResource(nil, object, validator) {
		t.Errorf("%s: %v", object["kind"], problem)
	}
	if unknown := pruning.PruneWithOptions(object, structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}); len(unknown) > 0 {
		t.Errorf("%s: unknown fields %v", object["kind"], unknown)
	}
}

// documents returns the objects of a recipe, with whole numbers as the API server has them.
func documents(t *testing.T, file string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for document := range strings.SplitSeq(read(t, recipes, file), "\n---\n") {
		var object map[string]any
		if err := yaml.UnmarshalStrict([]byte(document), &object); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, whole(object).(map[string]any))
	}
	return all
}

// TestArgoApplications checks the Applications by the schema of Argo CD's own release.
func TestArgoApplications(t *testing.T) {
	for _, file := range []string{"application.yaml", "operator.yaml"} {
		checkSchema(t, argoCD, "manifests/crds/application-crd.yaml", documents(t, filepath.Join("argo-cd", file))...)
	}
}

// TestFluxInstallsTheOperator checks the objects by which Flux installs the chart.
func TestFluxInstallsTheOperator(t *testing.T) {
	all := documents(t, "flux/operator.yaml")
	if len(all) != 3 {
		t.Fatalf("%d objects", len(all))
	}
	checkSchema(t, sourceController, "config/crd/bases/source.toolkit.fluxcd.io_ocirepositories.yaml", all[1])
	text, err := yaml.Marshal(all[2])
	if err != nil {
		t.Fatal(err)
	}
	var release helm.HelmRelease
	if err := yaml.UnmarshalStrict(text, &release); err != nil {
		t.Fatal(err)
	}
	if gvk := helm.GroupVersion.WithKind(helm.HelmReleaseKind); release.GroupVersionKind() != gvk || release.Spec.ChartRef.Kind != all[1]["kind"] || release.Spec.ChartRef.Name != "assay" {
		t.Errorf("%+v", release)
	}
}

// TestProgressiveDelivery checks the analysis for Argo Rollouts and the Canary for Flagger.
func TestProgressiveDelivery(t *testing.T) {
	checkSchema(t, argoRollouts, "manifests/crds/analysis-template-crd.yaml", documents(t, "argo-rollouts/analysistemplate.yaml")...)
	checkSchema(t, flagger, "artifacts/flagger/crd.yaml", documents(t, "flagger/canary.yaml")...)
}

// TestRecipesNameTheChart checks that recipes install the version of the chart in this repository.
func TestRecipesNameTheChart(t *testing.T) {
	version := regexp.MustCompile(`(?m)^version: (.+)$`).FindStringSubmatch(read(t, "../../charts/assay/Chart.yaml"))[1]
	for file, text := range map[string]string{
		"argo-cd/operator.yaml": "targetRevision: " + version + "\n", "flux/operator.yaml": "    tag: " + version + "\n", "github-actions/benchmark.yaml": "ASSAY_VERSION: " + version + "\n",
	} {
		if !strings.Contains(read(t, recipes, file), text) {
			t.Errorf("%s doesn't have %s", file, text)
		}
	}
}

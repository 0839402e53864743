package api

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/assay-dev/assay/test/definition"
)

// TestSpecIsATemplate embeds the spec of a run, as a Benchmark has it, in another kind, whose CRD the API
// server accepts only if all rules together stay within its budget. There the
// template may change, and is checked as a run is.
func TestSpecIsATemplate(t *testing.T) {
	benchmark := definition.Schema[apiextensionsv1.JSONSchemaProps](t, definitionOf("benchmarks"))
	spec := benchmark.Properties["spec"].Properties["template"].Properties["spec"]
	template := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec}}
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "suites.test.assay.dev"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "test.assay.dev", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Suite", ListKind: "SuiteList", Plural: "suites", Singular: "suite"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object",
					Properties: map[string]apiextensionsv1.JSONSchemaProps{
						"apiVersion": {Type: "string"}, "kind": {Type: "string"}, "metadata": {Type: "object"},
						"spec": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"template": template}},
					},
				}},
			}},
		},
	}
	if _, err := envtest.InstallCRDs(apiConfig, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{crd}}); err != nil {
		t.Fatal(err)
	}
	namespace := newNamespace(t)
	for name, document := range examples {
		t.Run(name, func(t *testing.T) {
			suite := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "test.assay.dev/v1", "kind": "Suite", "metadata": map[string]any{"generateName": "a-", "namespace": namespace},
				"spec": map[string]any{"template": map[string]any{"spec": parse(t, document, `{}`).Object["spec"]}},
			}}
			if err := apiClient.Create(t.Context(), suite); err != nil {
				t.Fatal(err)
			}
			change := func(patch string) error {
				return apiClient.Patch(t.Context(), suite, client.RawPatch(types.MergePatchType, toJSON(t, `spec: {template: {spec: `+patch+`}}`)))
			}
			for _, patch := range []string{`{lane: other}`, `{clients: {replicas: 4}}`, `{target: {resources: {cpu: 3}}}`, `{activeDeadlineSeconds: 7200}`} {
				if err := change(patch); err != nil {
					t.Errorf("%s: %v", patch, err)
				}
			}
			if err := change(`{activeDeadlineSeconds: 0}`); err == nil {
				t.Error("a template that no run can have was accepted")
			}
		})
	}
}

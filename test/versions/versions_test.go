// Package versions holds both kinds against the validation of a Kubernetes version: that of go.mod is the newest one that is
// supported, that of oldest.mod the oldest.
package versions

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

const root = "../.."

// TestKubernetesTakesBothKinds validates both CustomResourceDefinitions as an API server of this version does. Each version has bounds
// of its own for what their rules cost.
func TestKubernetesTakesBothKinds(t *testing.T) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	files, err := filepath.Glob(filepath.Join(root, "config/crd/bases/*.yaml"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var external apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &external); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		scheme.Default(&external)
		var definition apiextensions.CustomResourceDefinition
		if err := scheme.Convert(&external, &definition, nil); err != nil {
			t.Fatal(err)
		}
		definition.Status.StoredVersions = []string{external.Spec.Versions[0].Name}
		for _, problem := range validation.ValidateCustomResourceDefinition(t.Context(), &definition) {
			t.Errorf("%s: %v", filepath.Base(file), problem)
		}
	}
}

// TestDocsNameTheVersions checks that the docs and the chart name the versions whose libraries are used here.
func TestDocsNameTheVersions(t *testing.T) {
	const library = `k8s\.io/apiextensions-apiserver v0\.(\d+)\.`
	oldest, newest := "1."+find(t, "test/versions/oldest.mod", library), "1."+find(t, "test/versions/go.mod", library)
	for _, named := range []struct{ file, pattern, want string }{
		{"docs/install.md", `(?m)^\| (1\.\d+) \(oldest\) \|`, oldest},
		{"docs/install.md", `(?m)^\| (1\.\d+) \(newest\) \|`, newest},
		{"docs/install.md", `Kubernetes (1\.\d+) or newer`, oldest},
		{"docs/quickstart.md", `Kubernetes (1\.\d+) or newer`, oldest},
		{"README.md", `Kubernetes (1\.\d+) or newer`, oldest},
		{"charts/assay/Chart.yaml", `kubeVersion: ">=(1\.\d+)\.0-0"`, oldest},
		{"go.mod", library, strings.TrimPrefix(newest, "1.")},
	} {
		if got := find(t, named.file, named.pattern); got != named.want {
			t.Errorf("%s names %s for %s, want %s", named.file, got, named.pattern, named.want)
		}
	}
}

// find returns the first group of a pattern in a file of the repository.
func find(t *testing.T, file, pattern string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(pattern).FindSubmatch(text)
	if match == nil {
		t.Fatalf("%s: no match of %s", file, pattern)
	}
	return string(match[1])
}

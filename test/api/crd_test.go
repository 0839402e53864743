package api

import (
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestCRDsFitClientSideApply: kubectl apply without --server-side keeps the
// whole object in an annotation, and annotations have at most 256 KiB.
func TestCRDsFitClientSideApply(t *testing.T) {
	const limit = 256 << 10
	files, err := filepath.Glob(filepath.Join(crdFolder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRDs in %s: %v", crdFolder, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		data, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > limit*3/4 {
			t.Errorf("%s has %d bytes as JSON: shorten descriptions (maxDescLen) before it reaches %d", file, len(data), limit)
		}
	}
}

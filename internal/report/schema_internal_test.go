package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/assay-dev/assay/internal/report/golden"
	"github.com/assay-dev/assay/internal/report/schema"
)

// TestSchemas compares the published schemas with the types, and checks the golden documents by them and by stricter
// ones, which don't accept fields of later versions.
func TestSchemas(t *testing.T) {
	t.Chdir("../..") // that of the module
	for name, test := range map[string]struct {
		document any
		title    string
		golden   string
	}{
		"report.json": {document{}, "Report of a BenchmarkRun: kubectl assay report NAME -o json", "*.json.golden"},
		"table.json":  {tableJSON{}, "Table of BenchmarkRuns: kubectl assay table -o json", "table.json.golden"},
	} {
		t.Run(name, func(t *testing.T) {
			published, err := schema.Of(test.document, name, test.title, false)
			if err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, filepath.Join("docs", "schema", name), string(published))
			strict, err := schema.Of(test.document, name, test.title, true)
			if err != nil {
				t.Fatal(err)
			}
			var checks []func([]byte) error
			for _, s := range [][]byte{published, strict} {
				check, err := schema.Compile(s)
				if err != nil {
					t.Fatal(err)
				}
				checks = append(checks, check)
			}
			files, err := filepath.Glob(filepath.Join("internal", "report", "testdata", test.golden))
			if err != nil || len(files) == 0 {
				t.Fatalf("%d golden documents: %v", len(files), err)
			}
			for _, file := range files {
				if name == "report.json" && filepath.Base(file) == "table.json.golden" {
					continue
				}
				golden, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for _, check := range checks {
					if err := check(golden); err != nil {
						t.Errorf("%s: %v", file, err)
					}
					if check(withoutAField(t, golden)) == nil {
						t.Errorf("%s is valid without a field that it must have", file)
					}
				}
			}
		})
	}
}

// withoutAField returns a document without the field that every one has.
func withoutAField(t *testing.T, document []byte) []byte {
	t.Helper()
	var tree map[string]any
	if err := json.Unmarshal(document, &tree); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"run", "runs"} {
		delete(tree, field)
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(tree); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

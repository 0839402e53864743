package validity_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEveryReasonIsKnown compares the reasons of this package with docs/validity.md and with those that the
// API lets a run accept.
func TestEveryReasonIsKnown(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "validity.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Reason") {
			reason, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil || spec.Names[0].Name != "Reason"+reason {
				t.Errorf("%s is %q", spec.Names[0].Name, reason)
			}
			reasons = append(reasons, reason)
		}
		return true
	})
	if len(reasons) < 20 {
		t.Fatalf("only %d reasons: %v", len(reasons), reasons)
	}

	page, err := os.ReadFile("../../docs/validity.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, reason := range reasons {
		if !strings.Contains(string(page), "| [`"+reason+"`") && !strings.Contains(string(page), ", `"+reason+"`") {
			t.Errorf("the table of docs/validity.md lacks %s", reason)
		}
	}

	api, err := os.ReadFile("../../api/v1alpha1/finding_types.go")
	if err != nil {
		t.Fatal(err)
	}
	_, marker, _ := strings.Cut(string(api), "+kubebuilder:validation:Enum=")
	marker, _, _ = strings.Cut(marker, "\n")
	accepted := strings.Split(marker, ";")
	slices.Sort(accepted)
	slices.Sort(reasons)
	if !slices.Equal(accepted, reasons) {
		t.Errorf("a run can accept\n%v, want\n%v", accepted, reasons)
	}
}

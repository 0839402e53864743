package run

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type noPackages struct{}

func (noPackages) Import(string) (*types.Package, error) { return nil, errors.New("not needed") }

// usesOf returns, for each file of a package, the other files whose declarations it
// uses. It doesn't load other packages: they aren't needed to resolve the package's
// own declarations.
func usesOf(t *testing.T, directory string) map[string][]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(directory, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	set, files := token.NewFileSet(), []*ast.File{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: noPackages{}, Error: func(error) {}}
	checked, _ := config.Check(directory, set, files, info) // its errors are about other packages
	uses := map[string][]string{}
	name := func(at token.Pos) string { return filepath.Base(set.Position(at).Filename) }
	for identifier, object := range info.Uses {
		from, to := name(identifier.Pos()), name(object.Pos())
		if object.Pkg() == checked && from != to && !slices.Contains(uses[from], to) {
			uses[from] = append(uses[from], to)
		}
	}
	return uses
}

// TestFilesAreLayers checks that no two files use each other, directly or through
// others, in the packages where the order of the files is part of the design.
func TestFilesAreLayers(t *testing.T) {
	for _, directory := range []string{".", "../manifest", "../../controllers/benchmarkrun"} {
		uses := usesOf(t, directory)
		if len(uses) < 3 {
			t.Errorf("%s: only %d files use others", directory, len(uses))
		}
		for len(uses) > 0 {
			before := len(uses)
			maps.DeleteFunc(uses, func(_ string, others []string) bool {
				return !slices.ContainsFunc(others, func(other string) bool { return uses[other] != nil })
			})
			if len(uses) == before {
				t.Fatalf("%s: these files use each other: %v", directory, uses)
			}
		}
	}
}

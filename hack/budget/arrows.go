package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// countTypes returns the number of types that a file declares.
func countTypes(file *ast.File) (n int) {
	for _, decl := range file.Decls {
		if decl, ok := decl.(*ast.GenDecl); ok && decl.Tok == token.TYPE {
			n += len(decl.Specs)
		}
	}
	return n
}

// backwards returns how many percent of the arrows between the files of the packages below a directory run backwards,
// rounded up, and those that do. An arrow leads from a file to one that declares a name which it uses. It runs backwards
// if it leads from a lower file to a higher one, in the order of each package's files in which the fewest do so.
func (h *house) backwards(dir string) (percent int, back []string) {
	all := 0
	for _, name := range slices.Sorted(maps.Keys(h.packages)) {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			b, n := backArrows(references(h.packages[name]))
			back, all = append(back, b...), all+n
		}
	}
	if all == 0 {
		return 0, nil
	}
	return (100*len(back) + all - 1) / all, back
}

// graph has the files that each file refers to.
type graph map[string]map[string]bool

// references returns which files of a package refer to names that others declare. The package is checked without its
// imports: errors are ignored, since what the package itself declares is known nevertheless.
func references(files []string) graph {
	set, g := token.NewFileSet(), graph{}
	var parsed []*ast.File
	for _, name := range files {
		if file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution); err == nil {
			parsed, g[name] = append(parsed, file), map[string]bool{}
		}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Error: func(error) {}, Importer: nothing{}, FakeImportC: true}
	pkg, _ := config.Check("", set, parsed, info)
	for ident, object := range info.Uses {
		if object.Pkg() != pkg || !declared(object, pkg) {
			continue
		}
		from, to := set.Position(ident.Pos()).Filename, set.Position(object.Pos()).Filename
		if from != to {
			g[from][to] = true
		}
	}
	return g
}

// declared reports whether an object stands at the top level of a package, or is a method.
func declared(object types.Object, pkg *types.Package) bool {
	if f, ok := object.(*types.Func); ok && f.Signature().Recv() != nil {
		return true
	}
	return object.Parent() == pkg.Scope()
}

// nothing imports empty packages.
type nothing struct{}

func (nothing) Import(name string) (*types.Package, error) {
	pkg := types.NewPackage(name, name[strings.LastIndexByte(name, '/')+1:])
	pkg.MarkComplete()
	return pkg, nil
}

// backArrows returns the arrows of a graph that run backwards in the best order found, and how many arrows there are. The
// order is that of the heuristic of Eades, Lin and Smyth ("A fast and effective heuristic for the feedback arc set
// problem", 1993), improved by moving single files for as long as that helps.
func backArrows(g graph) (back []string, all int) {
	for _, to := range g {
		all += len(to)
	}
	order := improved(g, eades(g))
	for i, from := range order {
		for _, to := range order[:i] {
			if g[from][to] {
				back = append(back, from+" -> "+to)
			}
		}
	}
	return back, all
}

func eades(g graph) []string {
	left := map[string]bool{}
	for name := range g {
		left[name] = true
	}
	var first, last []string
	degrees := func(name string) (out, in int) {
		for other := range left {
			if g[name][other] {
				out++
			}
			if g[other][name] {
				in++
			}
		}
		return out, in
	}
	for len(left) > 0 {
		best, most, sink := "", 0, ""
		for _, name := range slices.Sorted(maps.Keys(left)) {
			out, in := degrees(name)
			if out == 0 {
				sink = name
				break
			}
			if best == "" || out-in > most {
				best, most = name, out-in
			}
		}
		if sink != "" {
			last = append(last, sink)
			delete(left, sink)
			continue
		}
		first = append(first, best)
		delete(left, best)
	}
	slices.Reverse(last)
	return append(first, last...)
}

func improved(g graph, order []string) []string {
	least := backIn(g, order)
	for better := true; better; {
		better = false
		for i := range order {
			for j := range order {
				tried := slices.Clone(order)
				name := tried[i]
				tried = slices.Insert(slices.Delete(tried, i, i+1), j, name)
				if n := backIn(g, tried); n < least {
					order, least, better = tried, n, true
				}
			}
		}
	}
	return order
}

// backIn returns how many arrows run backwards in an order that begins with the highest file.
func backIn(g graph, order []string) (n int) {
	for i, from := range order {
		for _, to := range order[:i] {
			if g[from][to] {
				n++
			}
		}
	}
	return n
}

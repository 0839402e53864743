package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestBackArrows(t *testing.T) {
	arrows := func(pairs ...string) graph {
		g := graph{}
		for _, pair := range pairs {
			from, to := pair[:1], pair[1:]
			for _, name := range []string{from, to} {
				if g[name] == nil {
					g[name] = map[string]bool{}
				}
			}
			g[from][to] = true
		}
		return g
	}
	for _, test := range []struct {
		name string
		g    graph
		back []string
		all  int
	}{
		{"empty", graph{}, nil, 0},
		{"layers", arrows("ab", "bc", "ac"), nil, 3},
		{"pair", arrows("ab", "ba", "ac", "bc", "ad", "bd"), []string{"b -> a"}, 6},
		{"circle of three with one way out", arrows("ab", "bc", "ca", "cd"), []string{"c -> a"}, 4},
	} {
		back, all := backArrows(test.g)
		if len(back) != len(test.back) || all != test.all {
			t.Errorf("%s: %v of %d run backwards, want %v of %d", test.name, back, all, test.back, test.all)
		}
	}
}

// References are those to functions, types, constants, variables and methods, also where imports are unknown.
func TestReferences(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte("package p\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	a := write("a.go", "import \"example.invalid/x\"\nfunc f() { var v t; v.method(); x.Call(c) }\n")
	b := write("b.go", "type t struct{}\n")
	c := write("c.go", "func (t) method() {}\n")
	d := write("d.go", "const c = 1\n")
	e := write("e.go", "func g(f, c int) int { return f + c }\n") // parameters, not the names of a.go and d.go
	g := references([]string{a, b, c, d, e})
	for from, want := range map[string][]string{a: {b, c, d}, b: nil, c: {b}, d: nil, e: nil} {
		var got []string
		for _, to := range []string{a, b, c, d, e} {
			if g[from][to] {
				got = append(got, to)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s refers to %v, want %v", filepath.Base(from), got, want)
		}
	}
}

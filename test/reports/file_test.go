package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFiles checks that every small file of the reports can be read and names what it prints.
func TestFiles(t *testing.T) {
	files, err := choose("../../config/reports", "")
	if err != nil {
		t.Fatal(err)
	}
	var reports []string
	for i := range files {
		f := &files[i]
		if !slices.Contains(reports, f.report) {
			reports = append(reports, f.report)
		}
		if f.about == "" || len(f.commands) == 0 {
			t.Errorf("%s: its comment has %d commands that print something after %q", f.name(), len(f.commands), f.about)
		}
	}
	if diff := cmp.Diff([]string{"r1", "r2", "r3", "r4", "r5"}, reports); diff != "" {
		t.Errorf("reports, -want +got:\n%s", diff)
	}
}

func TestReadComment(t *testing.T) {
	var f file
	f.readComment(strings.Join([]string{
		"# What it is",
		"# about.",
		"#",
		"#   kubectl apply -f a.yaml",
		"#   kubectl assay watch benchmark/a",
		"#   kubectl assay table benchmark/a --pivot x,y    # Table A",
		"#   kubectl assay report b -o requests > ../b.dat",
		"#",
		"# What follows.",
		"kind: A",
		"#   kubectl assay report c",
	}, "\n"))
	if f.about != "What it is\nabout." {
		t.Errorf("about: %q", f.about)
	}
	var got []string
	for _, c := range f.commands {
		got = append(got, c.String())
	}
	want := []string{"kubectl assay table benchmark/a --pivot x,y", "kubectl assay report b -o requests > b.dat"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("commands, -want +got:\n%s", diff)
	}
}

func TestChoose(t *testing.T) {
	chosen, err := choose("../../config/reports", "r3, r1/r1-small")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range chosen {
		names = append(names, chosen[i].name())
	}
	if diff := cmp.Diff([]string{"r1/r1-small", "r3/r3-lengths-small", "r3/r3-servers-small", "r3/r3-small"}, names); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := choose("../../config/reports", "r9"); err == nil {
		t.Error("an unknown report was chosen")
	}
}

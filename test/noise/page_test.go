package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "Write what follows from the kept runs to docs/statistics.md.")

// TestPage compares what docs/statistics.md says of the noise with the kept runs.
func TestPage(t *testing.T) {
	const page, begin, end = "../../docs/statistics.md", "<!-- Written by make bench-noise KEEP=1. -->\n", "<!-- End of that. -->\n"
	files, err := filepath.Glob("../../docs/design/data/noise-*.json")
	if err != nil {
		t.Fatal(err)
	}
	runs, err := read(files)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(content), begin)
	got, after, found := strings.Cut(rest, end)
	want := "\n" + tables(runs) + "\n"
	switch {
	case !found:
		t.Fatalf("%s lacks the place for the tables", page)
	case got != want && *update:
		if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	case got != want:
		t.Errorf("%s differs from the runs in docs/design/data: go test ./test/noise -run TestPage -update writes\n%s", page, want)
	}
}

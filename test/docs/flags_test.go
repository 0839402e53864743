package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestChartSetsEachFlag checks that the chart has each flag of the manager that the docs name; extraArgs is for the others.
func TestChartSetsEachFlag(t *testing.T) {
	read := func(path string) string {
		content, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	_, table, _ := strings.Cut(read("docs/install.md"), "\n## Manager flags\n")
	table, _, _ = strings.Cut(table, "\n## ")
	deployment := read("charts/assay/templates/deployment.yaml")
	// --version prints and ends; the defaults of the others are of the environment, which the chart sets.
	set := map[string]bool{"--version": true, "--namespace": true, "--pod-name": true}
	flags := 0
	for line := range strings.Lines(table) {
		cell, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		for _, match := range regexp.MustCompile("`(--[a-z0-9-]+)`").FindAllStringSubmatch(cell, -1) {
			flags++
			if name := match[1]; !set[name] && !regexp.MustCompile(name+`(=|\n)`).MatchString(deployment) {
				t.Errorf("no value of the chart sets %s", name)
			}
		}
	}
	if flags < 25 {
		t.Errorf("only %d flags found", flags)
	}
}

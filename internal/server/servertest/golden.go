// Package servertest has helpers for the tests of the adapters.
package servertest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/assay-dev/assay/test/golden"
)

// Golden compares got with a file in testdata.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	golden.Check(t, filepath.Join("testdata", name), got)
}

// GoldenJSON is Golden for a value.
func GoldenJSON(t *testing.T, name string, got any) {
	t.Helper()
	encoded, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	Golden(t, name, string(encoded)+"\n")
}

// Log returns the log of a real server from testdata, without the ending .log.
func Log(t *testing.T, name string) string {
	t.Helper()
	log, err := os.ReadFile(filepath.Join("testdata", name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(log)
}

// GoldenRendering compares a rendered target with a directory of testdata: the target
// without its files with pod.json, and each file with the file of its name. Files named
// in shared are the same for all directories and stand one level up.
func GoldenRendering(t *testing.T, directory string, target any, files map[string]string, shared ...string) {
	t.Helper()
	GoldenJSON(t, filepath.Join(directory, "pod.json"), target)
	for name, text := range files {
		path := filepath.Join(directory, name)
		if slices.Contains(shared, name) {
			path = filepath.Join(filepath.Dir(directory), name)
		}
		Golden(t, path, text)
	}
}

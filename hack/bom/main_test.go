package main

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"
)

const own = "github.com/assay-dev/assay/hack/bom"

// optionsFor returns options that describe this test itself, which is a Go program.
func optionsFor(t *testing.T) *options {
	t.Helper()
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return &options{
		image: "test", version: "1.2.3", output: t.TempDir(), cache: strings.TrimSpace(string(cache)), sources: []string{own + "=../.."},
	}
}

func write(t *testing.T, o *options) map[string]string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.write([]string{program, program}); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	if err := fs.WalkDir(os.DirFS(o.output), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(o.output, name))
		files[name] = string(text)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return files
}

func TestWriteListsEveryModuleOnce(t *testing.T) {
	files := write(t, optionsFor(t))
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader([]byte(files[billFile])), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	versions, licenses := map[string]string{}, map[string]string{}
	for _, c := range *bom.Components {
		if versions[c.Name] != "" {
			t.Errorf("%s is listed twice", c.Name)
		}
		versions[c.Name] = c.Version
		if c.Licenses != nil {
			licenses[c.Name] = (*c.Licenses)[0].License.ID
		}
	}
	for name, license := range map[string]string{
		own: "Apache-2.0", "github.com/spf13/cobra": "Apache-2.0", "github.com/google/licensecheck": "BSD-3-Clause",
		"github.com/CycloneDX/cyclonedx-go": "Apache-2.0", "golang.org/x/mod": "BSD-3-Clause", "std": "BSD-3-Clause",
	} {
		if versions[name] == "" || licenses[name] != license {
			t.Errorf("%s: version %q, license %q, want %s", name, versions[name], licenses[name], license)
		}
		text := func(file string) bool { return strings.HasPrefix(file, "licenses/"+name+"@"+versions[name]+"/LICENSE") }
		if name != "std" && !slices.ContainsFunc(slices.Collect(maps.Keys(files)), text) {
			t.Errorf("%s has no license text", name)
		}
	}
	if versions[own] != "1.2.3" || bom.Metadata.Component.Version != "1.2.3" || bom.Metadata.Timestamp != "" || bom.SerialNumber != "" {
		t.Errorf("own version %s, metadata %+v, serial number %s", versions[own], bom.Metadata, bom.SerialNumber)
	}
}

func TestWriteIsRepeatable(t *testing.T) {
	first, second := optionsFor(t), optionsFor(t)
	if diff := cmp.Diff(write(t, first), write(t, second)); diff != "" {
		t.Errorf("-first +second:\n%s", diff)
	}
	bill := filepath.Join(first.output, billFile)
	before, err := os.Stat(bill)
	if err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(first.output, "licenses", "gone@v1", "LICENSE")
	if err := update(stale, []byte("gone")); err != nil {
		t.Fatal(err)
	}
	if files := write(t, first); files["licenses/gone@v1/LICENSE"] != "" {
		t.Error("the license of a module that is gone is left")
	}
	if after, err := os.Stat(bill); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("an unchanged file was written again: %v", err)
	}
}

func TestWriteRefusesAModuleWithoutALicense(t *testing.T) {
	o := optionsFor(t)
	o.sources = []string{own + "=" + t.TempDir()}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.write([]string{program}); err == nil || !strings.Contains(err.Error(), own+" has no license text") {
		t.Errorf("%v", err)
	}
	o.unlicensed = []string{own}
	if err := o.write([]string{program}); err != nil {
		t.Errorf("known to have none: %v", err)
	}
}

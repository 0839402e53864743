package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// programs writes a file for each architecture and returns a layer with the one that fits.
func programs(t *testing.T) string {
	t.Helper()
	directory := t.TempDir()
	for _, architecture := range []string{"amd64", "arm64"} {
		if err := os.MkdirAll(filepath.Join(directory, architecture), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(directory, architecture, "a"), []byte("for "+architecture), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return directory + "/{arch}/a=/a:0111"
}

// execute runs the command and returns its output.
func execute(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := command()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	err := cmd.ExecuteContext(t.Context())
	return strings.TrimSpace(out.String()), err
}

func TestLayoutHasAnImageForEachPlatform(t *testing.T) {
	layer, directory := programs(t), filepath.Join(t.TempDir(), "images/a")
	for range 2 { // which replaces the first
		if _, err := execute(t, "--tag", "localhost/a:1", "--layout", directory, "--platform", "linux/amd64", "--platform", "linux/arm64",
			"--layer", layer, "--entrypoint", "/a", "--label", "org.opencontainers.image.title=a", "--user", "1:1"); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(registry.New())
	defer server.Close()
	repository := strings.TrimPrefix(server.URL, "http://") + "/team/a"
	pushed, err := execute(t, "push", directory, repository+":1", repository+":latest")
	if err != nil {
		t.Fatal(err)
	}
	local, err := layout.ImageIndexFromPath(directory)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := local.Digest()
	if err != nil || pushed != repository+"@"+digest.String() {
		t.Errorf("pushed %s, want %s; %v", pushed, digest, err)
	}
	for _, text := range []string{pushed, repository + ":1", repository + ":latest"} {
		reference, err := name.ParseReference(text)
		if err != nil {
			t.Fatal(err)
		}
		index, err := remote.Index(reference)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate.Index(index); err != nil {
			t.Error(err)
		}
		checkIndex(t, index)
	}
}

func checkIndex(t *testing.T, index v1.ImageIndex) {
	t.Helper()
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if manifest.Annotations["org.opencontainers.image.title"] != "a" || len(manifest.Manifests) != 2 {
		t.Errorf("%+v", manifest)
	}
	for n, architecture := range []string{"amd64", "arm64"} {
		descriptor := manifest.Manifests[n]
		if descriptor.Platform.String() != "linux/"+architecture {
			t.Errorf("platform %v", descriptor.Platform)
		}
		image, err := index.Image(descriptor.Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil || config.Architecture != architecture || config.Config.User != "1:1" {
			t.Errorf("%+v, %v", config, err)
		}
		layers, err := image.Layers()
		if err != nil || len(layers) != 1 {
			t.Fatal(layers, err)
		}
		content, err := layers[0].Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		defer content.Close()
		if diff := cmp.Diff([]string{"0 0111 a for " + architecture}, list(t, content)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestLayoutRefuses(t *testing.T) {
	layer := programs(t)
	for name, args := range map[string][]string{
		"no platform":           {"--layout", "a"},
		"a platform of a file":  {"--output", "a", "--platform", "linux/amd64"},
		"half a platform":       {"--layout", "a", "--platform", "linux"},
		"a missing program":     {"--layout", "a", "--platform", "linux/s390x"},
		"a file and a layout":   {"--output", "a", "--layout", "b", "--platform", "linux/amd64"},
		"neither of them":       {},
		"a bad tag of a layout": {"--tag", "localhost/A", "--layout", "a", "--platform", "linux/amd64"},
	} {
		t.Chdir(t.TempDir())
		if _, err := execute(t, append([]string{"--tag", "localhost/a:1", "--layer", layer}, args...)...); err == nil {
			t.Errorf("%s: no error", name)
		}
		if files, err := os.ReadDir("."); err != nil || len(files) > 0 {
			t.Errorf("%s: left %v, %v", name, files, err)
		}
	}
}

package archive

import (
	"archive/tar"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func writeTar(t *testing.T, files ...[2]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image.tar")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	archive := tar.NewWriter(file)
	for _, f := range files {
		if err := archive.WriteHeader(&tar.Header{Name: f[0], Mode: 0o644, Size: int64(len(f[1]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(f[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	const manifest = `[{"Config":"sha256:11aa","RepoTags":["localhost/a:dev","localhost/a:1"],"Layers":["22bb.tar"]},
		{"Config":"blobs/sha256/33cc","RepoTags":null,"Layers":[]}]`
	images, err := Read(writeTar(t, [2]string{"22bb.tar", strings.Repeat("x", 3000)}, [2]string{"manifest.json", manifest}))
	if err != nil {
		t.Fatal(err)
	}
	want := []Image{
		{Config: "sha256:11aa", RepoTags: []string{"localhost/a:dev", "localhost/a:1"}},
		{Config: "blobs/sha256/33cc"},
	}
	if diff := cmp.Diff(want, images); diff != "" {
		t.Error(diff)
	}
	if got := Tags(images); got != "localhost/a:dev, localhost/a:1" {
		t.Errorf("tags %q", got)
	}
}

func TestReadRefuses(t *testing.T) {
	text := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("no archive\n", 100)), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{
		"another tar":    writeTar(t, [2]string{"a", "b"}),
		"broken list":    writeTar(t, [2]string{"manifest.json", "[{"}),
		"no tar":         text,
		"a missing file": filepath.Join(t.TempDir(), "none.tar"),
	} {
		if images, err := Read(file); err == nil {
			t.Errorf("%s: read %v, want an error", name, images)
		} else if !strings.Contains(err.Error(), filepath.Base(file)) {
			t.Errorf("%s: %v, want the file named", name, err)
		}
	}
}

// All writers of archives name the config after its digest, in different forms.
func TestImageID(t *testing.T) {
	for _, config := range []string{"sha256:11aa", "11aa.json", "blobs/sha256/11aa", "sha256:11aa.json"} {
		if got := (Image{Config: config}).ID(); got != "sha256:11aa" {
			t.Errorf("%s is image %s, want sha256:11aa", config, got)
		}
	}
}

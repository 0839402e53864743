package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

func digestOf(content io.Reader) (string, int64, error) {
	digest := sha256.New()
	size, err := io.Copy(digest, content)
	return fmt.Sprintf("sha256:%x", digest.Sum(nil)), size, err
}

// program writes a file for an image.
func program(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func build(t *testing.T, i image, output string) []byte {
	t.Helper()
	if err := i.build(output); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestArchiveHoldsTheImage(t *testing.T) {
	output := filepath.Join(t.TempDir(), "images/a.tar")
	build(t, image{
		Tag: "localhost/a:dev", Layers: []string{program(t, "one") + "=/one", program(t, "two") + "=/opt/two"},
		Entrypoint: []string{"/one"}, Cmd: []string{"--flag", "x=y"}, Env: []string{"A=1", "B=2=3"},
		Ports: []string{"8080/tcp"}, Labels: []string{"a.b=c d=e"}, User: "65532:65532", WorkingDir: "/opt",
		StopSignal: "SIGQUIT",
	}, output)
	made, err := tarball.ImageFromPath(output, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(made); err != nil {
		t.Error(err)
	}
	config, err := made.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	want := v1.Config{
		Entrypoint: []string{"/one"}, Cmd: []string{"--flag", "x=y"}, Env: []string{"A=1", "B=2=3"},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}}, Labels: map[string]string{"a.b": "c d=e"}, User: "65532:65532", WorkingDir: "/opt",
		StopSignal: "SIGQUIT",
	}
	if diff := cmp.Diff(want, config.Config); diff != "" {
		t.Error(diff)
	}
	if config.OS != "linux" || config.Architecture != "amd64" {
		t.Errorf("platform %s/%s, want linux/amd64", config.OS, config.Architecture)
	}
	layers, err := made.Layers()
	if err != nil || len(layers) != 2 {
		t.Fatalf("layers %v, %v; want two", layers, err)
	}
	content, err := layers[1].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	if diff := cmp.Diff([]string{"5 0755 opt/", "0 0755 opt/two two"}, list(t, content)); diff != "" {
		t.Error(diff)
	}
}

func TestArchiveIsReproducible(t *testing.T) {
	build := func(content string) []byte {
		i := image{Tag: "localhost/a:dev", Layers: []string{program(t, content) + "=/a"}, Entrypoint: []string{"/a"}}
		return build(t, i, filepath.Join(t.TempDir(), "a.tar"))
	}
	if !bytes.Equal(build("one"), build("one")) {
		t.Error("equal files give unequal archives")
	}
	if bytes.Equal(build("one"), build("two")) {
		t.Error("unequal files give equal archives")
	}
}

// An archive is written again only if its inputs have changed.
func TestArchiveIsKept(t *testing.T) {
	source, output := program(t, "one"), filepath.Join(t.TempDir(), "a.tar")
	directory := tree(t)
	i := image{Tag: "localhost/a:dev", Layers: []string{source + "=/a", directory + "=/"}}
	past := time.Now().Add(-time.Hour).Truncate(time.Second)
	change := func(what string, wanted bool, do func() error) {
		t.Helper()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		// Marks the existing archive; a new one has the current time.
		if err := os.Chtimes(output, past, past); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		build(t, i, output)
		info, err := os.Stat(output)
		if err != nil {
			t.Fatal(err)
		}
		if written := !info.ModTime().Equal(past); written != wanted {
			t.Errorf("%s: written %v, want %v", what, written, wanted)
		}
	}
	nothing := func() error { return nil }
	change("the first time", true, nothing)
	change("nothing new", false, nothing)
	change("a program's time", false, func() error { return os.Chtimes(source, past, past) })
	change("a program's content", true, func() error { return os.WriteFile(source, []byte("two"), 0o644) })
	change("a file in a directory", true, func() error { return os.Chtimes(filepath.Join(directory, "usr/notes"), past, past) })
	change("a mode in a directory", true, func() error { return os.Chmod(filepath.Join(directory, "usr/notes"), 0o600) })
	change("an entrypoint", true, func() error { i.Entrypoint = []string{"/a"}; return nil })
	change("another name", true, func() error { i.Tag = "localhost/b:dev"; return nil })
	change("the archive is gone", true, func() error { return os.Remove(output) })
	change("nothing new at the end", false, nothing)
}

func TestBuildRefuses(t *testing.T) {
	source := program(t, "one")
	for name, i := range map[string]image{
		"a missing file":    {Tag: "localhost/a:dev", Layers: []string{source + ".none=/a"}},
		"no layer's syntax": {Tag: "localhost/a:dev", Layers: []string{source}},
		"a bad name":        {Tag: "localhost/A:dev", Layers: []string{source + "=/a"}},
	} {
		output := filepath.Join(t.TempDir(), "a.tar")
		if err := i.build(output); err == nil {
			t.Errorf("%s: no error", name)
		}
		for _, file := range []string{output, output + ".stamp"} {
			if _, err := os.Stat(file); !os.IsNotExist(err) {
				t.Errorf("%s: %s: %v, want no such file", name, filepath.Base(file), err)
			}
		}
	}
}

package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseLayer(t *testing.T) {
	tests := map[string]struct {
		text string
		want []piece
		bad  bool
	}{
		"a file":                  {text: "bin/manager=/manager", want: []piece{{"bin/manager", "/manager", 0o755}}},
		"several":                 {text: "a=/x/a,b=/b", want: []piece{{"a", "/x/a", 0o755}, {"b", "/b", 0o755}}},
		"the root":                {text: "rootfs=/", want: []piece{{"rootfs", "/", 0o755}}},
		"a mode":                  {text: "a=/a:0111,b=/b", want: []piece{{"a", "/a", 0o111}, {"b", "/b", 0o755}}},
		"a target to be cleaned":  {text: "a=/opt//x/../a/", want: []piece{{"a", "/opt/a", 0o755}}},
		"it can't leave the root": {text: "a=/../../a", want: []piece{{"a", "/a", 0o755}}},
		"no target":               {text: "a", bad: true},
		"no source":               {text: "=/a", bad: true},
		"a relative target":       {text: "a=opt/a", bad: true},
		"no mode":                 {text: "a=/a:", bad: true},
		"a mode that isn't octal": {text: "a=/a:0888", bad: true},
		"a trailing comma":        {text: "a=/a,", bad: true},
		"nothing":                 {bad: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseLayer(test.text)
			if (err != nil) != test.bad {
				t.Fatalf("error %v, want one: %v", err, test.bad)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(piece{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// tree creates a directory with all kinds of entries of a root filesystem.
func tree(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(dir, "usr/bin"), 0o755))
	must(os.Mkdir(filepath.Join(dir, "tmp"), 0o755))
	for name, mode := range map[string]fs.FileMode{"usr": 0o755, "usr/bin": 0o755, "tmp": 0o777 | fs.ModeSticky} {
		must(os.Chmod(filepath.Join(dir, name), mode))
	}
	for name, mode := range map[string]fs.FileMode{
		"usr/bin/tool": 0o755, "usr/bin/su": 0o755 | fs.ModeSetuid, "usr/notes": 0o640,
	} {
		must(os.WriteFile(filepath.Join(dir, name), []byte("content of "+name), 0o600))
		must(os.Chmod(filepath.Join(dir, name), mode))
	}
	must(os.Symlink("/usr/bin", filepath.Join(dir, "bin")))
	must(syscall.Mkfifo(filepath.Join(dir, "tmp/pipe"), 0o600))
	return dir
}

// list describes an archive, with one line per entry.
func list(t *testing.T, archive io.Reader) []string {
	t.Helper()
	var lines []string
	for entries := tar.NewReader(archive); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(entries)
		if err != nil {
			t.Fatal(err)
		}
		if header.Uid != 0 || header.Gid != 0 || header.Uname != "" || !header.ModTime.Equal(epoch) {
			t.Errorf("%s belongs to %d:%d %q, from %v", header.Name, header.Uid, header.Gid, header.Uname, header.ModTime)
		}
		text := string(content)
		if header.Typeflag == tar.TypeSymlink {
			text = "-> " + header.Linkname
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%c %04o %s %s", header.Typeflag, header.Mode, header.Name, text)))
	}
}

func layerOf(t *testing.T, pieces ...piece) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := writeLayer(&out, pieces); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestWriteLayer(t *testing.T) {
	dir := tree(t)
	notes := filepath.Join(dir, "usr/notes")
	private := t.TempDir()
	if err := errors.Join(os.Chmod(private, 0o700), os.WriteFile(filepath.Join(private, "notes"), []byte("content of notes"), 0o600),
		os.WriteFile(filepath.Join(private, "tool"), []byte("content of tool"), 0o700)); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		pieces []piece
		want   []string
	}{
		"a directory as the root": {
			pieces: []piece{{dir, "/", 0o755}},
			want: []string{
				"2 0777 bin -> /usr/bin",
				"5 1777 tmp/",
				"5 0755 usr/",
				"5 0755 usr/bin/",
				"0 4755 usr/bin/su content of usr/bin/su",
				"0 0755 usr/bin/tool content of usr/bin/tool",
				"0 0640 usr/notes content of usr/notes",
			},
		},
		"files, with each directory once": {
			pieces: []piece{{notes, "/opt/x/a", 0o755}, {notes, "/opt/x/b", 0o755}, {notes, "/c", 0o111}},
			want: []string{
				"5 0755 opt/",
				"5 0755 opt/x/",
				"0 0755 opt/x/a content of usr/notes",
				"0 0755 opt/x/b content of usr/notes",
				"0 0111 c content of usr/notes",
			},
		},
		"a directory below the root, made under any umask": {
			pieces: []piece{{private, "/usr/share/a", 0o755}},
			want: []string{
				"5 0755 usr/",
				"5 0755 usr/share/",
				"5 0755 usr/share/a/",
				"0 0644 usr/share/a/notes content of notes",
				"0 0755 usr/share/a/tool content of tool",
			},
		},
		"a directory below the root": {
			pieces: []piece{{filepath.Join(dir, "usr/bin"), "/opt/bin", 0o755}},
			want: []string{
				"5 0755 opt/",
				"5 0755 opt/bin/",
				"0 4755 opt/bin/su content of usr/bin/su",
				"0 0755 opt/bin/tool content of usr/bin/tool",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, list(t, bytes.NewReader(layerOf(t, test.pieces...)))); diff != "" {
				t.Error(diff)
			}
		})
	}
	if err := writeLayer(io.Discard, []piece{{filepath.Join(dir, "none"), "/none", 0o755}}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing source: %v, want %v", err, fs.ErrNotExist)
	}
}

// Equal files give equal layers, whatever their path and modification time.
func TestLayerIsReproducible(t *testing.T) {
	one, other := tree(t), tree(t)
	if err := os.Chtimes(filepath.Join(other, "usr/notes"), time.Now(), time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(layerOf(t, piece{one, "/", 0o755}), layerOf(t, piece{other, "/", 0o755})) {
		t.Error("equal trees give unequal layers")
	}
	if err := os.WriteFile(filepath.Join(other, "usr/notes"), []byte("CONTENT of usr/notes"), 0o640); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(layerOf(t, piece{one, "/", 0o755}), layerOf(t, piece{other, "/", 0o755})) {
		t.Error("unequal trees give equal layers")
	}
}

func TestLayerDigest(t *testing.T) {
	layer, err := newLayer([]piece{{tree(t), "/", 0o755}})
	if err != nil {
		t.Fatal(err)
	}
	// Read it twice, as a writer of archives does.
	for range 2 {
		reader, err := layer.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		digest, size, err := digestOf(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		wantDigest, _ := layer.DiffID()
		wantSize, _ := layer.Size()
		if digest != wantDigest.String() || size != wantSize {
			t.Errorf("layer of %d bytes with %s; it says %d and %s", size, digest, wantSize, wantDigest)
		}
	}
}

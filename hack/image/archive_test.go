package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// files creates a program and a directory with notes, with their times.
func files(t *testing.T, at time.Time) []piece {
	t.Helper()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"tool": 0o700, "notes/b.txt": 0o644, "notes/a.txt": 0o644} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("content of "+name), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return []piece{{filepath.Join(dir, "tool"), "/tool", 0o755}, {filepath.Join(dir, "notes"), "/notes", 0o755}}
}

func TestArchives(t *testing.T) {
	want := []string{"0755 tool content of tool", "0644 notes/a.txt content of notes/a.txt", "0644 notes/b.txt content of notes/b.txt"}
	readers := map[string]func(*testing.T, []byte) []string{
		"x.tar.gz": func(t *testing.T, content []byte) []string {
			t.Helper()
			reader, err := gzip.NewReader(bytes.NewReader(content))
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, line := range list(t, reader) {
				if line[0] == '0' {
					lines = append(lines, line[2:])
				}
			}
			return lines
		},
		"x.zip": func(t *testing.T, content []byte) []string {
			t.Helper()
			reader, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, entry := range reader.File {
				file, err := entry.Open()
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(file)
				if err != nil {
					t.Fatal(err)
				}
				lines = append(lines, fmt.Sprintf("%04o %s %s", entry.Mode().Perm(), entry.Name, text))
			}
			return lines
		},
	}
	for name, read := range readers {
		t.Run(name, func(t *testing.T) {
			var contents [2][]byte
			for n := range contents {
				output := filepath.Join(t.TempDir(), "out", name)
				if err := writeArchive(output, files(t, time.Unix(int64(n)*1e9, 0))); err != nil {
					t.Fatal(err)
				}
				var err error
				if contents[n], err = os.ReadFile(output); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want, read(t, contents[0])); diff != "" {
				t.Error(diff)
			}
			if !bytes.Equal(contents[0], contents[1]) {
				t.Error("equal files of another directory and time gave other bytes")
			}
		})
	}
	if err := writeArchive(filepath.Join(t.TempDir(), "x.rar"), nil); err == nil {
		t.Error("an unknown format was accepted")
	}
	if err := writeArchive(filepath.Join(t.TempDir(), "x.zip"), []piece{{"/no/such/file", "/x", 0}}); err == nil {
		t.Error("a missing file was accepted")
	}
}

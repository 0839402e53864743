package content

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrite(t *testing.T) {
	directory := t.TempDir()
	files := []File{
		{Path: "/index.html", SizeBytes: 5},
		{Path: "/js/a/app.js", SizeBytes: 100_000},
		{Path: "/empty", SizeBytes: 0},
		{Path: "/js/b", SizeBytes: 1<<20 + 1},
		{Path: "/text.html", SizeBytes: 1<<20 + 1, Text: true},
	}
	if err := Write(directory, files); err != nil {
		t.Fatal(err)
	}
	before := contents(t, directory)
	sizes := map[string]int64{}
	for name, text := range before {
		sizes["/"+name] = int64(len(text))
	}
	want := map[string]int64{}
	for _, f := range files {
		want[f.Path] = f.SizeBytes
	}
	if diff := cmp.Diff(want, sizes); diff != "" {
		t.Error(diff)
	}
	// Every run of every version serves the same.
	for name, want := range goldenSums {
		sum := sha256.Sum256([]byte(before[name]))
		if got := hex.EncodeToString(sum[:8]); got != want {
			t.Errorf("the content of %s has the sum %s, want %s", name, got, want)
		}
	}
	if before["js/b"][:1000] == before["js/a/app.js"][:1000] {
		t.Error("two files begin alike")
	}
	for name, percent := range map[string]struct{ least, most int }{"js/b": {100, 101}, "text.html": {30, 36}} {
		var compressed bytes.Buffer
		w, _ := flate.NewWriter(&compressed, flate.BestCompression)
		_, _ = w.Write([]byte(before[name]))
		_ = w.Close()
		if got := 100 * compressed.Len() / len(before[name]); got < percent.least || got > percent.most {
			t.Errorf("%s was compressed to %d%%, want %+v", name, got, percent)
		}
	}

	// Again, over the existing files.
	if err := os.WriteFile(filepath.Join(directory, "index.html"), []byte("something longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(directory, files); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, contents(t, directory)); diff != "" {
		t.Error("the second time: " + diff)
	}
}

var goldenSums = map[string]string{"js/a/app.js": "63229aaa573162f7", "text.html": "1ffb015310d2597e"}

// contents reads all files and checks their modes.
func contents(t *testing.T, directory string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(directory), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if want := map[bool]fs.FileMode{true: 0o755, false: 0o644}[entry.IsDir()]; info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", name, info.Mode().Perm(), want)
		}
		if entry.IsDir() {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(directory, name))
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestWriteContentStaysInTheFolder(t *testing.T) {
	outside := t.TempDir()
	tests := map[string]File{
		"up":             {Path: "/../x", SizeBytes: 1},
		"up later":       {Path: "/a/../../x", SizeBytes: 1},
		"by a link":      {Path: "/link/x", SizeBytes: 1},
		"the directory":  {Path: "/", SizeBytes: 1},
		"no name":        {Path: "", SizeBytes: 1},
		"a directory":    {Path: "/directory", SizeBytes: 1},
		"below a file":   {Path: "/file/x", SizeBytes: 1},
		"two slashes":    {Path: "//etc/x", SizeBytes: 1},
		"less than none": {Path: "/x", SizeBytes: -1},
	}
	for name, file := range tests {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			if err := os.Symlink(outside, filepath.Join(directory, "link")); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(directory, "directory"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(directory, "file"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := Write(directory, []File{file}); err == nil || !strings.Contains(err.Error(), file.Path) {
				t.Errorf("error %v, want one that names %q", err, file.Path)
			}
			if entries, _ := os.ReadDir(directory); len(entries) != 3 {
				t.Errorf("the directory has %v", entries)
			}
			if entries, _ := os.ReadDir(outside); len(entries) != 0 {
				t.Errorf("outside is %v", entries)
			}
		})
	}
}

func TestReadList(t *testing.T) {
	name := filepath.Join(t.TempDir(), "list.json")
	for text, want := range map[string][]File{
		`[{"path": "/a", "sizeBytes": 3}]`: {{Path: "/a", SizeBytes: 3}},
		`[]`:                               {},
		`null`:                             nil,
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := ReadList(name)
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	if err := os.WriteFile(name, []byte(`{`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadList(name); err == nil {
		t.Error("no error for what isn't JSON")
	}
	if _, err := ReadList(name + "x"); err == nil {
		t.Error("no error for a list that isn't there")
	}
}

func TestCopiedContent(t *testing.T) {
	source := filepath.Join(t.TempDir(), "page.jsp")
	if err := os.WriteFile(source, []byte("<%= 1 %>"), 0o600); err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	if err := Write(directory, []File{{Path: "/a/page.jsp", SizeBytes: 8, Source: source}}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(directory, "a", "page.jsp"))
	if err != nil || string(got) != "<%= 1 %>" {
		t.Errorf("%q, %v", got, err)
	}
	for name, file := range map[string]File{
		"another size": {Path: "/b", SizeBytes: 9, Source: source},
		"no source":    {Path: "/b", SizeBytes: 8, Source: source + "x"},
	} {
		if err := Write(directory, []File{file}); err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, err := os.Stat(filepath.Join(directory, "b")); err == nil {
			t.Errorf("%s: a file is there", name)
		}
	}
}

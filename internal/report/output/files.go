package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/result"
)

// WriteFiles writes the files that handleSummary() of a script returned into a directory, which it creates if there is
// none, and prints their paths. It replaces nothing: if a file is there with another content, none is written. Nothing is written outside of the
// directory, also if that contains symbolic links. The error is an AbsentError if there are none.
func WriteFiles(directory string, r *result.Result, out io.Writer) error {
	if r.Script == nil || r.Script.Summary == nil {
		return &AbsentError{errors.New("the run has no files of handleSummary(): its load is not a k6 script that defines it")}
	}
	s := r.Script.Summary
	if s.Error != "" {
		return &AbsentError{fmt.Errorf("handleSummary() of the script failed: %s", printable.Text(s.Error))}
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // only a handle of the directory
	for i := range s.Files {
		f := &s.Files[i]
		there, err := root.ReadFile(filepath.FromSlash(result.SummaryName(f.Name)))
		switch {
		case f.Omitted != "" || errors.Is(err, fs.ErrNotExist) || err == nil && bytes.Equal(there, f.Content):
		case err != nil:
			return err
		default:
			return fmt.Errorf("%s exists with another content, so that nothing was written: use another --directory, or delete the file",
				filepath.Join(directory, result.SummaryName(f.Name)))
		}
	}
	for i := range s.Files {
		f := &s.Files[i]
		name := result.SummaryName(f.Name) // the artifact may be another program's
		line := filepath.Join(directory, name)
		if f.Omitted != "" {
			line = fmt.Sprintf("%s (%d bytes) was not kept: %s", name, f.Size, printable.Text(f.Omitted))
		} else if err := writeInto(root, name, f.Content); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	if s.Omitted > 0 {
		_, err = fmt.Fprintf(out, "%d more files were not kept: at most %d are\n", s.Omitted, result.MaxSummaryFiles)
	}
	return err
}

// writeInto writes a file below a directory, with the directories of its path.
func writeInto(root *os.Root, name string, content []byte) error {
	if parent := path.Dir(name); parent != "." {
		if err := root.MkdirAll(filepath.FromSlash(parent), 0o755); err != nil {
			return err
		}
	}
	return root.WriteFile(filepath.FromSlash(name), content, 0o644)
}

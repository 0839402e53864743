package command

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/output"
	"github.com/assay-dev/assay/internal/result"
)

// Destination is where the report of a load goes: to the standard output or, a page or a picture, into a file of a directory.
type Destination struct {
	// Spec is what was run, as YAML, for pages; empty for none.
	Spec string

	format, directory string
	file              *os.File // nil for the standard output
	written           bool
}

// Open returns the destination of the report of a load with a name, before the load, whose result could otherwise be lost. With toFile a
// page or a picture goes into a file of the current directory even if the options name none. The caller must call Close.
func (o *RunOptions) Open(name string, toFile bool) (*Destination, error) {
	d := &Destination{format: o.Format, directory: o.Directory}
	if o.Directory != "" {
		if err := os.MkdirAll(o.Directory, 0o755); err != nil {
			return nil, fmt.Errorf("--directory: %w", err)
		}
	}
	extension := output.Extension(o.Format)
	if extension == "" || o.Directory == "" && !toFile {
		return d, nil
	}
	base := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:[]%`, r) || r <= ' ' {
			return '-'
		}
		return r
	}, name)
	path := filepath.Join(o.Directory, fmt.Sprintf("%s-%s%s", strings.Trim(base, "-."), time.Now().UTC().Format("20060102T150405Z"), extension))
	var err error
	if d.file, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err != nil {
		return nil, fmt.Errorf("create the report: %w", err)
	}
	return d, nil
}

// Write writes the report of a result, and the files of a script's handleSummary() into the directory, if there is one.
func (d *Destination) Write(r *result.Result) error {
	if d.format == output.Script {
		return output.WriteFiles(d.directory, r, os.Stdout)
	}
	to := os.Stdout
	if d.file != nil {
		to = d.file
	}
	if err := Print(to, func(w io.Writer) error { return output.Write(w, d.format, r, d.Spec) }); err != nil {
		return err
	}
	if d.file != nil {
		d.written = true
		if err := Print(os.Stdout, func(w io.Writer) error {
			err := doc.WriteText(w, report.Verdict(r))
			_, _ = fmt.Fprintln(w, "Report: "+d.file.Name()) // to a buffer
			return err
		}); err != nil {
			return err
		}
	}
	if d.directory == "" || r.Script == nil || r.Script.Summary == nil || r.Script.Summary.Error != "" { // a finding has the error
		return nil
	}
	return output.WriteFiles(d.directory, r, os.Stderr)
}

// Close removes the file of a report that wasn't written.
func (d *Destination) Close() {
	if d.file == nil {
		return
	}
	_ = d.file.Close() // a write has failed before, if any
	if !d.written {
		_ = os.Remove(d.file.Name())
	}
}

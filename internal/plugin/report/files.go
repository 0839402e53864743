package report

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/result"
)

// filesFormat is the format that can be several files.
const filesFormat = "gnuplot"

// checkDirectory returns an error if a directory is given for a report that is one file.
func checkDirectory(directory string, kind *cluster.Kind, format string) error {
	if directory != "" && (format != filesFormat || kind != cluster.BenchmarkRun) {
		return exit.Errorf(exit.Unknown, "--directory needs the report of a run with -o %s", filesFormat)
	}
	return nil
}

// writeFiles writes the files of a report into a directory, which it creates if there is none, and prints their paths.
// It replaces files of an earlier report.
func writeFiles(directory string, r *result.Result, out io.Writer) error {
	files, err := report.GnuplotFiles(r)
	if err != nil {
		return fmt.Errorf("write as %s: %w", filesFormat, err)
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(directory, f.Name)
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, path); err != nil {
			return err
		}
	}
	return nil
}

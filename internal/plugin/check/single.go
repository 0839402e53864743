package check

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/plugin/exit"
)

// ReadRun returns the fields of the only BenchmarkRun in a file, or in the standard input if name is "-". It is an error if something is
// wrong with the run.
func ReadRun(name string, stdin io.Reader) (map[string]any, error) {
	text, err := readFile(name, stdin)
	if err != nil {
		return nil, exit.Errorf(exit.Unknown, "%w", err)
	}
	all := objectsIn(name, text)
	configs := byName(all)
	runs := slices.DeleteFunc(all, func(o *Object) bool { return o.Kind != "BenchmarkRun" && len(o.Problems) == 0 })
	if len(runs) != 1 {
		return nil, exit.Errorf(exit.Unknown, "%s has %d BenchmarkRuns, must have one", name, len(runs))
	}
	run := runs[0]
	if len(run.Problems) == 0 {
		run.examine(configs)
	}
	return run.fields, run.err()
}

// Benchmark returns an error if something is wrong with a Benchmark or with the runs that it makes.
func Benchmark(fields map[string]any) error {
	o := &Object{Kind: "Benchmark", fields: fields}
	o.examine(nil)
	return o.err()
}

// err returns the first problem as an error, or nil if there is none.
func (o *Object) err() error {
	if len(o.Problems) == 0 {
		return nil
	}
	more := ""
	if n := len(o.Problems) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return exit.Errorf(exit.Unknown, "%s%s", strings.TrimPrefix(o.describe(o.Problems[0]), ": "), more)
}

package check

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/printable"
)

const long = `Check BenchmarkRuns and Benchmarks before they are applied, and say what to do.

The command needs no cluster. Each line that it prints has the file and the line, the
object, the field, what is wrong and what was probably meant; nothing is printed if
nothing is wrong. It finds

  unknown fields      with the field of the API that is meant: a misspelling, a word of
                      another tool, or a field in the wrong place
  the API's rules     its schema and its rules, by the API server's own code
  cells               the same of each run that a Benchmark makes of its axes' values
  settings without    fields beside a configuration of your own that replaces them, and
  effect              what else a run is refused for when it starts

A run's ConfigMaps are read from the same files. If they aren't there, what depends on
them isn't checked. Objects of other kinds are ignored.

With --render the files and command lines are printed that the operator makes of the
target, by the operator's own code, such as server.xml and nginx.conf.

With --dry-run the API server judges too, with the version that is installed, quotas
and admission policies. Nothing is created.

Exit codes:
  0  nothing is wrong
  1  something is wrong, or a file isn't YAML
  4  unknown: a file can't be read or has no object to check, the API server can't be
     reached, or the command line is invalid`

const example = `  # Before you apply it
  kubectl assay check -f run.yaml && kubectl apply -f run.yaml

  # All manifests below a directory, in a pipeline
  kubectl assay check -R -f benchmarks/

  # What a chart or kustomize makes: neither tells of unknown fields
  helm template ./shop | kubectl assay check -f -
  kubectl kustomize overlays/ci | kubectl assay check -f -

  # The configuration that Tomcat will get
  kubectl assay check -f run.yaml --render

  # By the API server too
  kubectl assay check -f run.yaml --dry-run

  # For a script: the lines of unknown fields
  kubectl assay check -f run.yaml -o json |
    jq -r '.objects[] | .file as $f | .problems[] | "\($f):\(.line) \(.path)"'`

type options struct {
	files     []string
	recursive bool
	render    bool
	dryRun    string
	format    string
}

// NewCommand returns the command.
func NewCommand(flags cluster.Flags, streams genericiooptions.IOStreams) *cobra.Command {
	formats := []string{"json", "text"}
	o := &options{format: "text"}
	cmd := &cobra.Command{
		Use:               "check -f FILE",
		Short:             "Check BenchmarkRuns and Benchmarks before they are applied",
		Long:              long,
		Example:           example,
		ValidArgsFunction: cobra.NoFileCompletions,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return exit.Errorf(exit.Unknown, "unexpected argument %q: name files with -f", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case len(o.files) == 0:
				return exit.Errorf(exit.Unknown, "-f is missing: name a file, a directory, or - for standard input")
			case !slices.Contains(formats, o.format):
				return exit.Errorf(exit.Unknown, "unknown output format %q: use one of %s", o.format, strings.Join(formats, ", "))
			case o.dryRun != "none" && o.dryRun != "server":
				return exit.Errorf(exit.Unknown, "--dry-run=%s: use server or none", o.dryRun)
			}
			all, err := o.read(streams.In)
			if err != nil {
				return err
			}
			if o.dryRun == "server" {
				if err := dryRun(cmd.Context(), flags, all); err != nil {
					return err
				}
			}
			if err := o.write(streams.Out, all); err != nil {
				return err
			}
			if slices.ContainsFunc(all, func(one *Object) bool { return len(one.Problems) > 0 }) {
				return exit.Coded(exit.Failed)
			}
			return nil
		},
	}
	cmd.Flags().StringArrayVarP(&o.files, "filename", "f", nil, "file or directory with manifests, or - for standard input; may be repeated")
	cmd.Flags().BoolVarP(&o.recursive, "recursive", "R", false, "read the directories below those of -f, too")
	cmd.Flags().BoolVar(&o.render, "render", false, "print the files and command lines that the operator makes of the target")
	cmd.Flags().StringVar(&o.dryRun, "dry-run", "none", "server: let the API server check the objects, too, without creating them")
	cmd.Flags().Lookup("dry-run").NoOptDefVal = "server"
	cluster.FlagCompletion(cmd, "dry-run", cobra.FixedCompletions([]string{"none", "server"}, cobra.ShellCompDirectiveNoFileComp))
	cluster.OutputFlag(cmd, &o.format, formats, strings.Join(formats, " or "))
	return cmd
}

// read returns the objects to check in all files, examined.
func (o *options) read(stdin io.Reader) ([]*Object, error) {
	var all []*Object
	for _, name := range o.files {
		paths, err := files(name, o.recursive)
		if err != nil {
			return nil, exit.Errorf(exit.Unknown, "%w", err)
		}
		for _, path := range paths {
			text, err := readFile(path, stdin)
			if err != nil {
				return nil, exit.Errorf(exit.Unknown, "%w", err)
			}
			all = append(all, objectsIn(path, text)...)
		}
	}
	configs := byName(all)
	all = slices.DeleteFunc(all, func(one *Object) bool { return !one.isAssays() && len(one.Problems) == 0 })
	if len(all) == 0 {
		return nil, exit.Errorf(exit.Unknown, "no %s in %s", strings.Join(kinds(), " or "), strings.Join(o.files, ", "))
	}
	for _, one := range all {
		if len(one.Problems) == 0 {
			one.examine(configs)
		}
		slices.SortStableFunc(one.Problems, func(a, b Problem) int { return a.Line - b.Line })
	}
	return all, nil
}

func (o *options) write(out io.Writer, all []*Object) error {
	if !o.render {
		for _, one := range all {
			one.Rendered = nil
		}
	}
	if o.format == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(map[string][]*Object{"objects": all})
	}
	var text strings.Builder
	for _, one := range all {
		for _, p := range one.Problems {
			fmt.Fprintln(&text, printable.Text(one.describe(p)))
		}
		one.write(&text)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// describe returns a problem as a line.
func (o *Object) describe(p Problem) string {
	line := o.File
	if p.Line > 0 {
		line += fmt.Sprintf(":%d", p.Line)
	}
	for _, part := range []string{strings.TrimSpace(o.Kind + " " + o.Name), p.Path, p.Message} {
		if part != "" {
			line += ": " + part
		}
	}
	if p.Hint != "" {
		line += "; " + p.Hint
	}
	return line
}

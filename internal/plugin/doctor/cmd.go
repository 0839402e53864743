// Package doctor implements the verb "doctor", which checks whether a cluster can make runs whose results can be
// trusted, and measures how small a difference it can decide.
package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/printable"
)

const long = `Check whether the cluster can make runs whose results can be trusted, and say what to do
if it can't.

Each line says ok, warn (runs work, with a limitation), fail (runs don't work) or unknown:
what your rights don't allow to read isn't guessed. Nothing is created or changed,
unless --fit is set.

Of the namespace it looks at what stops runs or disturbs them: quotas, limit ranges,
labels by which a mesh adds its proxy, and pull secrets that don't exist. It lets the API
server judge the pods and the Job of a sample run, by a dry run, and says which policy
refuses them, and what was changed of them.

With --fit it measures instead how small a difference this cluster can decide: two equal
variants of a run, of a sample or of -f, for 10 blocks, which takes about 15 minutes. For
throughput and the 99th percentile it prints which difference 10 blocks find in 4 of 5
rounds at 95% confidence, how many blocks find 1%, and what disturbed the runs. The
Benchmark assay-fit stays in the namespace; the next time it gets another round.

Exit codes:
  0  no check failed
  1  a check failed, or the round of --fit ended with an error
  4  unknown: the API server can't be reached, or the command line is invalid`

const example = `  # After the installation, or when a run waits
  kubectl assay doctor

  # Before the first run in a namespace
  kubectl assay doctor -n shop

  # How small a difference can this cluster decide, with your server and load?
  kubectl assay doctor --fit -f run.yaml

  # What isn't ok, for a script
  kubectl assay doctor -o json | jq -r '.checks[] | select(.status != "ok") | .name'`

// Status is the outcome of a check.
type Status string

// The values of Status.
const (
	OK      Status = "ok"
	Warn    Status = "warn"
	Fail    Status = "fail"
	Unknown Status = "unknown"
)

// Check is one line of the command's output.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Message says what was seen, or why it couldn't be. Remedy says what to do; it is empty if there is nothing.
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`
}

// NewCommand returns the command. version is that of the plugin.
func NewCommand(flags cluster.Flags, streams genericiooptions.IOStreams, version string) *cobra.Command {
	format, formats := "text", []string{"json", "text"}
	fit, file := false, ""
	cmd := &cobra.Command{
		Use:               "doctor",
		Short:             "Check whether the cluster can make runs whose results can be trusted",
		Long:              long,
		Example:           example,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(formats, format) {
				return exit.Errorf(exit.Unknown, "unknown output format %q: use one of %s", format, strings.Join(formats, ", "))
			}
			if file != "" && !fit {
				return exit.Errorf(exit.Unknown, "-f needs --fit: the other checks need no run")
			}
			var checks []Check
			var err error
			if fit {
				checks, err = measure(cmd.Context(), flags, file, streams)
			} else {
				checks, err = examine(cmd.Context(), flags, version)
			}
			if err != nil {
				return err
			}
			if err := write(streams.Out, format, checks); err != nil {
				return err
			}
			if slices.ContainsFunc(checks, func(c Check) bool { return c.Status == Fail }) {
				return exit.Coded(exit.Failed)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&fit, "fit", false, "measure how small a difference this cluster can decide; it creates the Benchmark "+fitName)
	cmd.Flags().StringVarP(&file, "filename", "f", "", "with --fit: file with a BenchmarkRun, or - for standard input; a sample if not set")
	cluster.OutputFlag(cmd, &format, formats, strings.Join(formats, " or "))
	return cmd
}

// examine checks the cluster.
func examine(ctx context.Context, flags cluster.Flags, version string) ([]Check, error) {
	e, err := newExamination(flags, version)
	if err != nil {
		return nil, err
	}
	return e.run(ctx)
}

func newExamination(flags cluster.Flags, version string) (*examination, error) {
	config, namespace, err := cluster.Config(flags)
	if err != nil {
		return nil, err
	}
	config.NegotiatedSerializer = codecs.WithoutConversion()
	if problems := validation.ValidateNamespaceName(namespace, false); len(problems) > 0 {
		return nil, exit.Errorf(exit.Unknown, "%q is not the name of a namespace: %s", namespace, strings.Join(problems, "; "))
	}
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("create API client: %w", err)
	}
	return &examination{client: client, namespace: namespace, version: version, now: time.Now}, nil
}

func write(out io.Writer, format string, checks []Check) error {
	if format == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(map[string][]Check{"checks": checks})
	}
	var text strings.Builder
	for _, c := range checks {
		fmt.Fprintf(&text, "%-8s%s: %s\n", c.Status, c.Name, printable.Text(c.Message))
		if c.Remedy != "" {
			fmt.Fprintf(&text, "        %s\n", printable.Text(c.Remedy))
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}

package ab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin/check"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/plugin/report"
	"github.com/assay-dev/assay/internal/plugin/terminal"
	"github.com/assay-dev/assay/internal/plugin/watch"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
)

const long = `Compare two variants of a server, A and B, and answer in one sentence.

The variants are of the run in a manifest, in one of three ways:

  IMAGE-A IMAGE-B -f run.yaml       two images of its target
  -f run.yaml --set PATH=A,B        two values of a field of its spec; again for
                                    a field that changes with it
  -f a.yaml -f b.yaml               two manifests, whatever differs in their specs

PATH is the field below spec, such as target.server.tomcat.connector.protocol or
load.requests[0].path. The values are those of a list in YAML: put quotes around a value
that has a comma, and around a number that is meant as text.

The command creates a Benchmark whose load alternates between A and B each second, so
that what changes on the machine is the same for both, and follows its round. The load
must be closed or open, with durationSeconds. What is asked is whether B isn't worse than
A by more than --tolerance or, with --by, whether it is better by at least that much. The
round ends at the first block from --min on that decides, and after --max in any case.

The Benchmark stays, with its runs and reports, unless --keep=false is set. If the command
is interrupted the round goes on.

Exit codes:
    0  confirmed; or --dry-run printed the Benchmark
    1  the round ended with an error
    2  contradicted: B is worse by more than --tolerance, or not better by --by
    4  unknown: the API server can't be reached or rejects the request, the Benchmark
       was deleted, the timeout expired, or the manifest or the command line is invalid
    5  undecided
  130  interrupted; the round goes on`

const example = `  # Is the new image slower?
  kubectl assay ab shop:1.4 shop:1.5 -f run.yaml

  # By more than 2%, in the 99th percentile, in up to 60 blocks
  kubectl assay ab shop:1.4 shop:1.5 -f run.yaml --metric LatencyP99 --tolerance 2 --max 60

  # Is it at least 10% faster?
  kubectl assay ab shop:1.4 shop:1.5 -f run.yaml --by 10

  # Two connectors of Tomcat
  kubectl assay ab -f run.yaml --set target.server.tomcat.connector.protocol=NIO,APR

  # Two manifests
  kubectl assay ab -f jetty.yaml -f tomcat.yaml

  # For a comment on a pull request: the answer, then the report
  kubectl assay ab shop:main shop:pr -f run.yaml -o markdown --keep=false > comment.md

  # What would be created
  kubectl assay ab shop:1.4 shop:1.5 -f run.yaml --dry-run`

// options holds the options of the command line.
type options struct {
	files, sets  []string
	metric, name string
	format       string
	keep, dryRun bool
	timeout      time.Duration
	question
}

// NewCommand returns the command.
func NewCommand(flags cluster.Flags, streams genericiooptions.IOStreams) *cobra.Command {
	formats := []string{"json", "markdown", "text"}
	o := &options{format: "text"}
	cmd := &cobra.Command{
		Use:               "ab (IMAGE-A IMAGE-B -f RUN | -f RUN --set PATH=A,B | -f RUN-A -f RUN-B)",
		Short:             "Compare two images, settings or manifests, and answer in one sentence",
		Long:              long,
		Example:           example,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(formats, o.format) {
				return exit.Errorf(exit.Unknown, "unknown output format %q: use one of %s", o.format, strings.Join(formats, ", "))
			}
			o.question.metric = v1alpha1.BenchmarkMetric(o.metric)
			o.better = cmd.Flags().Changed("by")
			run, of, err := o.variants(args, streams.In)
			if err != nil {
				return err
			}
			b, err := build(run, of, &o.question, o.name)
			if err != nil {
				return err
			}
			if o.dryRun {
				text, err := yaml.Marshal(b.Object)
				return errors.Join(err, write(streams.Out, string(text)))
			}
			out, err := terminal.For(cmd, streams.Out)
			if err != nil {
				return err
			}
			c, err := cluster.Connect(flags)
			if err != nil {
				return err
			}
			b.SetNamespace(c.Namespace)
			switch err := c.Create(cmd.Context(), b); {
			case apierrors.IsAlreadyExists(err):
				return exit.Errorf(exit.Unknown, "Benchmark %q exists already: use another --name, or delete it with \"kubectl delete benchmark %s --namespace %s\"", b.GetName(), b.GetName(), c.Namespace)
			case err != nil:
				return cluster.Explain(err)
			}
			return o.follow(cmd.Context(), c, b.GetName(), of, streams, out)
		},
	}
	cmd.Flags().StringArrayVarP(&o.files, "filename", "f", nil, "file with a BenchmarkRun, or - for standard input; twice for two manifests")
	cmd.Flags().StringArrayVar(&o.sets, "set", nil, "PATH=A,B: a field of the run's spec, and its two values; may be repeated")
	cmd.Flags().StringVar(&o.metric, "metric", "", "metric that decides, for example LatencyP99 or, of a request, LatencyP99:cart; if not set, RequestsPerSecond or, of an open load, LatencyP99")
	cmd.Flags().Int32Var(&o.tolerance, "tolerance", 5, "the difference in percent by which B may be worse")
	cmd.Flags().Int32Var(&o.by, "by", 0, "ask whether B is better by at least this difference in percent; 0 asks for any")
	cmd.MarkFlagsMutuallyExclusive("tolerance", "by")
	cmd.Flags().Int32Var(&o.min, "min", 10, "number of blocks after which the round may end")
	cmd.Flags().Int32Var(&o.max, "max", 30, "number of blocks after which the round ends in any case")
	cmd.Flags().StringVar(&o.name, "name", "", "name of the Benchmark; if not set, that of the run with a suffix that is new each time")
	cmd.Flags().BoolVar(&o.keep, "keep", true, "keep the Benchmark with its runs after the answer")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "print the Benchmark instead of creating it")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 0, "maximum time to wait, for example 1h; 0 means no limit")
	cluster.FlagCompletion(cmd, "metric", cobra.FixedCompletions(slices.Sorted(maps.Keys(result.Metrics)), cobra.ShellCompDirectiveNoFileComp))
	cluster.OutputFlag(cmd, &o.format, formats, "text, markdown (the answer and the report of the round) or json (the report)")
	return cmd
}

// variants returns the run of the manifest, and how its variants differ from it.
func (o *options) variants(images []string, stdin io.Reader) (run map[string]any, of [2]variant, err error) {
	ways := 0
	for _, is := range []bool{len(images) > 0, len(o.sets) > 0, len(o.files) > 1} {
		if is {
			ways++
		}
	}
	switch {
	case len(o.files) == 0:
		return nil, of, exit.Errorf(exit.Unknown, "-f is missing: name the manifest of a BenchmarkRun")
	case ways != 1 || len(images) != 0 && len(images) != 2 || len(o.files) > 2:
		return nil, of, exit.Errorf(exit.Unknown, "name two variants in one way: IMAGE-A IMAGE-B -f RUN, -f RUN --set PATH=A,B, or -f RUN-A -f RUN-B")
	}
	var specs []any
	for i, file := range o.files {
		read, err := check.ReadRun(file, stdin)
		if err == nil {
			err = checkLoad(read)
		}
		if err != nil {
			return nil, of, err
		}
		if i == 0 {
			run = read
		}
		specs = append(specs, read["spec"])
	}
	switch {
	case len(images) > 0:
		of, err = ofImages(images[0], images[1])
	case len(o.sets) > 0:
		of, err = ofFields(o.sets)
	default:
		of, err = ofSpecs(o.files, specs[0], specs[1])
	}
	return run, of, err
}

// follow waits for the end of the round and writes the answer. The error has the exit code.
func (o *options) follow(ctx context.Context, c *cluster.Cluster, name string, of [2]variant, streams genericiooptions.IOStreams, out *terminal.Writer) error {
	progress := streams
	if o.format != "text" {
		progress.Out = streams.ErrOut
	}
	var details bytes.Buffer
	remove := fmt.Sprintf("kubectl delete benchmark %s --namespace %s", name, c.Namespace)
	code := watch.Round(ctx, c, name, "", o.timeout, progress, terminal.Plain(&details))
	if coded := (&exit.Error{}); code != nil && (!errors.As(code, &coded) || coded.Err != nil) {
		return errors.Join(code, write(streams.ErrOut, fmt.Sprintf("The round goes on. To follow it: kubectl assay watch benchmark/%s --namespace %s\nTo delete it: %s\n", name, c.Namespace, remove)))
	}
	b, err := c.Benchmark(ctx, name)
	if err != nil {
		return err
	}
	sentence := answer(b, &o.question)
	switch o.format {
	case "text":
		if sentence != "" { // Flush reports errors
			_, _ = fmt.Fprintf(out, "%s\n  A: %s\n  B: %s\n", sentence, printable.Text(of[0].label), printable.Text(of[1].label))
		}
		_, _ = fmt.Fprint(out, details.String())
		if o.keep {
			_, _ = fmt.Fprintf(out, "To delete it with its runs: %s\n", remove)
		}
		err = out.Flush()
	case "markdown":
		if sentence != "" {
			err = write(streams.Out, fmt.Sprintf("**%s**\n\n- A: %s\n- B: %s\n\n", doc.EscapeMarkdown(sentence), doc.EscapeMarkdown(of[0].label), doc.EscapeMarkdown(of[1].label)))
		}
		fallthrough
	default:
		err = errors.Join(err, report.WriteRound(ctx, c, name, 0, o.format, streams.Out))
	}
	if err == nil && !o.keep {
		err = client.IgnoreNotFound(c.Delete(ctx, &v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.Namespace}}))
	}
	return errors.Join(err, code)
}

func write(out io.Writer, text string) error {
	_, err := io.WriteString(out, text)
	return err
}

// Package initialize implements the verb "init", which prints a sample of a BenchmarkRun or a Benchmark to start from.
package initialize

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/config/samples"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

const long = `Print a commented sample of a BenchmarkRun or a Benchmark to start from, with your
name and image.

The command sends nothing to the cluster. Check what you have made of the sample with
"kubectl assay check -f FILE". "kubectl explain benchmarkrun.spec" and
"kubectl explain benchmark.spec" have all fields.

Exit codes:
  0  the sample was printed
  4  there is no such sample, or a flag is wrong`

const example = `  # A server that listens on port 8080
  kubectl assay init --name shop --image registry.example.org/shop:1.4 > run.yaml

  # A regression gate, which compares each round with the last one that passed
  kubectl assay init benchmarks/image-gate --name shop --image registry.example.org/shop:1.4 > gate.yaml`

// defaultSample is that of a run of any image.
const defaultSample = "generic"

// NewCommand returns the command.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	var name, image string
	cmd := &cobra.Command{
		Use:               "init [SAMPLE]",
		Short:             "Print a sample of a BenchmarkRun or a Benchmark to start from",
		Long:              long + "\n\nSamples, generic unless you name one:\n  " + strings.Join(samples.Names(), "\n  "),
		Example:           example,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.FixedCompletions(samples.Names(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			manifest, err := Manifest(append(args, defaultSample)[0], name, image)
			if err != nil {
				return err
			}
			_, err = streams.Out.Write([]byte(manifest))
			return err
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the object; that of the sample if not set")
	cmd.Flags().StringVar(&image, "image", "", "container image of the server; that of the sample if not set")
	for _, flag := range []string{"name", "image"} {
		cluster.FlagCompletion(cmd, flag, cobra.NoFileCompletions)
	}
	return cmd
}

// nameLine and imageLine match where the first object of Assay in a sample has its name and the server's image.
var (
	nameLine  = regexp.MustCompile(`(?s)^(.*?\nkind: Benchmark(?:Run)?\nmetadata:\n  name: )([^ \n]+)(.*)$`)
	imageLine = regexp.MustCompile(`(?s)^(.*?\nkind: Benchmark(?:Run)?\n.*?\n +image: )([^ \n]+)(.*)$`)
)

// Manifest returns a sample with a name and an image, each that of the sample if it is empty. They become scalars of the YAML, whatever the image
// contains; whether it is valid is for the cluster to say.
func Manifest(sample, name, image string) (string, error) {
	text, _ := samples.Read(sample)
	if !slices.Contains(samples.Names(), sample) {
		return "", exit.Errorf(exit.Unknown, "unknown sample %q: use one of %s", sample, strings.Join(samples.Names(), ", "))
	}
	if problems := validation.NameIsDNSSubdomain(name, false); name != "" && len(problems) > 0 {
		return "", exit.Errorf(exit.Unknown, "--name %q: %s", name, strings.Join(problems, "; "))
	}
	for _, value := range []struct {
		at   *regexp.Regexp
		text string
	}{{nameLine, name}, {imageLine, image}} {
		if value.text != "" {
			at := value.at.FindStringSubmatch(text)
			text = at[1] + scalar(value.text) + at[3]
		}
	}
	return text, nil
}

// scalar returns a text as YAML: in quotes, with the escapes of Go, which YAML has too, unless it is read as itself without.
func scalar(text string) string {
	var read any
	if yaml.Unmarshal([]byte(text), &read) == nil && read == text && !strings.ContainsAny(text, " \t\r\n") {
		return text
	}
	return strconv.Quote(text)
}

// Package initialize implements the verb "init", which writes the manifest of a
// BenchmarkRun or a Benchmark to start from.
package initialize

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

const long = `Write the commented manifest of a BenchmarkRun or a Benchmark to start from.

The defaults apply to what isn't set by a flag. The command asks nothing and sends nothing
to the cluster. Check the manifest with "kubectl apply --dry-run=server -f FILE".

A Benchmark compares --image with the image --against in turn, or, without --against, each
round with the last one that passed.

Exit codes:
  0  the manifest was written
  4  a value is missing or wrong, the file exists, or can't be written`

const example = `  # A sample to edit
  kubectl assay init > run.yaml

  # A server that listens on port 8080
  kubectl assay init --server generic --image nginxinc/nginx-unprivileged:1.28 > run.yaml

  # 500 requests per second to a server that runs elsewhere
  kubectl assay init --server external --url http://shop.example.org --load open --rate 500

  # Which of two images is faster?
  kubectl assay init --kind Benchmark --server tomcat --image tomcat:11 --against tomcat:10.1 -f images.yaml`

var kinds = []string{cluster.BenchmarkRun.Name, cluster.Benchmark.Name}

// images are the default images of the servers.
var images = map[string]string{
	"tomcat": "tomcat:10.1", "httpd": "httpd:2.4", "nginx": "nginx:1.28", "jetty": "jetty:12.1", "generic": "nginxinc/nginx-unprivileged:1.28",
}

// NewCommand returns the command.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	o, file := &Options{}, ""
	cmd := &cobra.Command{
		Use:               "init",
		Short:             "Write the manifest of a BenchmarkRun or a Benchmark to start from",
		Long:              long,
		Example:           example,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := complete(cmd, o); err != nil {
				return exit.Errorf(exit.Unknown, "%w", err)
			}
			manifest, err := Manifest(o)
			if err != nil {
				return err
			}
			return write(manifest, file, streams)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Kind, "kind", kinds[0], "kind: "+strings.Join(kinds, " or "))
	f.StringVar(&o.Name, "name", "my-server", "name of the object")
	f.StringVar(&o.Server, "server", "generic", "server: "+strings.Join(Servers, ", "))
	f.StringVar(&o.Image, "image", "", "container image of the server (default: a public image of the server)")
	f.StringVar(&o.URL, "url", "", "URL of an external server, such as http://shop.example.org:8080")
	f.Int32Var(&o.Port, "port", 8080, "port of a generic server")
	f.StringVar(&o.Path, "path", "", "path of the requests (default: / of generic and external servers, /16k.bin of others)")
	f.StringVar(&o.Load, "load", "closed", "load: "+strings.Join(Loads, ", "))
	f.Int32Var(&o.Connections, "connections", 50, "connections of each client; with an open load, the maximum")
	f.Int32Var(&o.Rate, "rate", 100, "arrival rate of each client of an open load, in requests per second")
	f.Int32Var(&o.Seconds, "duration", 30, "duration of the measurement, or of each level of stages, in seconds")
	f.Int32Var(&o.Clients, "clients", 1, "number of clients")
	f.StringVar(&o.Against, "against", "", "of a Benchmark: the image to compare with")
	f.StringVarP(&file, "file", "f", "", "file to write, which must not exist; the standard output if not set")
	for flag, values := range map[string][]string{"kind": kinds, "server": Servers, "load": Loads} {
		cluster.FlagCompletion(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	for _, flag := range []string{"name", "image", "url", "port", "path", "connections", "rate", "duration", "clients", "against"} {
		cluster.FlagCompletion(cmd, flag, cobra.NoFileCompletions)
	}
	return cmd
}

// complete sets the defaults that depend on other flags, and checks that the flags fit together.
func complete(cmd *cobra.Command, o *Options) error {
	setDefault(cmd, "image", &o.Image, images[o.Server])
	setDefault(cmd, "path", &o.Path, map[bool]string{true: "/", false: "/16k.bin"}[o.external() || o.Server == "generic"])
	problems := []error{
		oneOf("kind", o.Kind, kinds), o.checkName(), oneOf("server", o.Server, Servers), oneOf("load", o.Load, Loads),
		positive("connections", o.Connections), positive("duration", o.Seconds), positive("clients", o.Clients),
	}
	if o.external() {
		problems = append(problems, o.checkURL())
	}
	if o.Load == "open" {
		problems = append(problems, positive("rate", o.Rate))
	}
	return errors.Join(append(problems, o.check(cmd.Flags().Changed))...)
}

func setDefault(cmd *cobra.Command, flag string, value *string, text string) {
	if !cmd.Flags().Changed(flag) {
		*value = text
	}
}

// check rejects flags that have no effect together.
func (o *Options) check(changed func(string) bool) error {
	var problems []error
	for flag, fits := range map[string]bool{
		"image": !o.external(), "url": o.external(), "port": o.Server == "generic", "rate": o.Load == "open",
		"against": o.Kind == cluster.Benchmark.Name && !o.external(),
	} {
		if changed(flag) && !fits {
			problems = append(problems, errors.New("--"+flag+" has no effect with these flags: omit it"))
		}
	}
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	if o.Against != "" && o.Against == o.Image {
		problems = append(problems, errors.New("--against must be another image than --image"))
	}
	return errors.Join(problems...)
}

func (o *Options) checkName() error {
	if problems := validation.NameIsDNSSubdomain(o.Name, false); len(problems) > 0 {
		return errors.New("name: " + strings.Join(problems, "; "))
	}
	return nil
}

func (o *Options) checkURL() error {
	if !strings.HasPrefix(o.URL, "http://") && !strings.HasPrefix(o.URL, "https://") {
		return errors.New("url must begin with http:// or https://")
	}
	return nil
}

func oneOf(name, value string, values []string) error {
	if !slices.Contains(values, value) {
		return errors.New(name + " must be one of " + strings.Join(values, ", "))
	}
	return nil
}

func positive(name string, value int32) error {
	if value < 1 {
		return errors.New(name + " must be at least 1")
	}
	return nil
}

// write writes the manifest to a new file, or to the standard output.
func write(manifest []byte, file string, streams genericiooptions.IOStreams) error {
	if file == "" {
		_, err := streams.Out.Write(manifest)
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // as other manifests
	if err != nil {
		return exit.Errorf(exit.Unknown, "create manifest: %w", err)
	}
	_, err = f.Write(manifest)
	if err = errors.Join(err, f.Close()); err != nil {
		return exit.Errorf(exit.Unknown, "write manifest: %w", err)
	}
	return nil
}

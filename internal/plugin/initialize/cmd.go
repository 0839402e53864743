// Package initialize implements the verb "init", which writes the manifest of a
// BenchmarkRun or a Benchmark to start from.
package initialize

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

const long = `Write the commented manifest of a BenchmarkRun or a Benchmark to start from.

On a terminal the command asks for what isn't set by a flag. Otherwise, for example in
a script, the defaults apply. It sends nothing to the cluster. Check the manifest with
"kubectl apply --dry-run=server -f FILE".

A Benchmark compares --image with the image --against in turn, or, without --against, each
round with the last one that passed.

Exit codes:
  0  the manifest was written
  4  a value is missing or wrong, the file exists, or can't be written`

const example = `  # Asks
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
	return newCommand(streams, &Options{})
}

func newCommand(streams genericiooptions.IOStreams, o *Options) *cobra.Command {
	file := ""
	cmd := &cobra.Command{
		Use:               "init",
		Short:             "Write the manifest of a BenchmarkRun or a Benchmark to start from",
		Long:              long,
		Example:           example,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, is := streams.In.(*os.File)
			var p *prompt
			if is && term.IsTerminal(int(in.Fd())) { //nolint:gosec // a file descriptor
				p = newPrompt(streams.In, streams.ErrOut)
			}
			if err := complete(cmd, o, p); err != nil {
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

// complete asks for what no flag sets, if there is a prompt, sets the defaults that depend on other answers, and checks
// that the answers fit together.
func complete(cmd *cobra.Command, o *Options, p *prompt) error {
	asked := func(flag string) bool { return p != nil && !cmd.Flags().Changed(flag) }
	ask := func(flag, question string, check func() error) error {
		if !asked(flag) {
			return check()
		}
		return p.ask(question, cmd.Flags().Lookup(flag).Value, check)
	}
	none := func() error { return nil }
	if err := errors.Join(
		ask("kind", "BenchmarkRun, or Benchmark to compare", oneOf("kind", &o.Kind, kinds)),
		ask("name", "Name", o.checkName),
		ask("server", "Server ("+strings.Join(Servers, ", ")+")", oneOf("server", &o.Server, Servers)),
	); err != nil {
		return err
	}
	setDefault(cmd, "image", &o.Image, images[o.Server])
	setDefault(cmd, "path", &o.Path, map[bool]string{true: "/", false: "/16k.bin"}[o.external() || o.Server == "generic"])
	var err error
	if o.external() {
		err = ask("url", "URL of the server", o.checkURL)
	} else {
		err = ask("image", "Image", none)
		if o.Server == "generic" {
			err = errors.Join(err, ask("port", "Port", none))
		}
	}
	err = errors.Join(err,
		ask("path", "Path of the requests", none),
		ask("load", "Load ("+strings.Join(Loads, ", ")+")", oneOf("load", &o.Load, Loads)),
	)
	if err != nil {
		return err
	}
	if o.Load == "open" {
		err = ask("rate", "Requests per second of each client", positive("rate", &o.Rate))
	}
	err = errors.Join(err,
		ask("connections", "Connections of each client", positive("connections", &o.Connections)),
		ask("duration", "Duration in seconds", positive("duration", &o.Seconds)),
		ask("clients", "Clients", positive("clients", &o.Clients)),
	)
	if o.Kind == cluster.Benchmark.Name && !o.external() {
		err = errors.Join(err, ask("against", "Image to compare with, or nothing for the last round that passed", none))
	}
	return errors.Join(err, o.check(cmd.Flags().Changed))
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

func oneOf(name string, value *string, values []string) func() error {
	return func() error {
		if !slices.Contains(values, *value) {
			return errors.New(name + " must be one of " + strings.Join(values, ", "))
		}
		return nil
	}
}

func positive(name string, value *int32) func() error {
	return func() error {
		if *value < 1 {
			return errors.New(name + " must be at least 1")
		}
		return nil
	}
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

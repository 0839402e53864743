package command

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/output"
)

// K6 is the name of the program that runs k6 for assay-load. It is in the same directory.
const K6 = "assay-k6"

// HandOver replaces this process by the program K6 with the same arguments. It returns only if that fails.
func HandOver() error {
	own, err := os.Executable()
	if err != nil {
		return err
	}
	program := filepath.Join(filepath.Dir(own), K6)
	err = syscall.Exec(program, append([]string{K6}, os.Args[1:]...), os.Environ())
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("k6 needs the program %s in the directory of assay-load, %s, where it isn't", K6, filepath.Dir(own))
	}
	return fmt.Errorf("run %s: %w", program, err)
}

// scriptExtensions are the file extensions of k6 scripts.
var scriptExtensions = []string{".js", ".mjs", ".ts"}

// IsScript reports whether the path is that of a k6 script.
func IsScript(path string) bool { return slices.Contains(scriptExtensions, filepath.Ext(path)) }

// RunOptions are the flags of the command run.
type RunOptions struct {
	// Format is the output format, one of output.Formats. Directory is where pages, pictures and the files of a script's
	// handleSummary() go.
	Format, Directory string
	// URL and Env only apply to scripts: the target's URL, and settings of the form NAME=VALUE.
	URL string
	Env []string
	// Engine is the engine of a plan: EngineNative or EngineK6.
	Engine string
}

// The engines of a plan.
const (
	EngineNative = "native"
	EngineK6     = "k6"
)

// AddFlags defines the flags.
func (o *RunOptions) AddFlags(command *cobra.Command) {
	flags := command.Flags()
	o.AddOutput(command)
	flags.StringVar(&o.URL, "url", "", "of a script: the target's URL, in the script's ASSAY_TARGET_URL and BASE_URL (default: the script has URLs of its own)")
	flags.StringArrayVarP(&o.Env, "env", "e", nil, "of a script: NAME=VALUE for its __ENV; k6 reads its options from it, too, such as K6_VUS=25")
	flags.StringVar(&o.Engine, "engine", EngineNative, "of a plan: what makes its requests, "+EngineNative+" or "+EngineK6+", as clients.tool K6 of a BenchmarkRun")
}

// AddOutput defines the flags of the report, and explains flags of other load generators.
func (o *RunOptions) AddOutput(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVarP(&o.Format, "output", "o", "text", "output format, as of \"kubectl assay report\": "+doc.Usage(output.Formats()))
	flags.StringVar(&o.Directory, "directory", "", "write a page or a picture, and the files of a script's handleSummary(), into this directory")
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &Error{ExitUsage, explainFlag(command.Name(), err)} })
}

// Check returns an error if the options are invalid or don't fit the file in path.
func (o *RunOptions) Check(path string) error {
	if err := doc.CheckFormat(o.Format, output.Formats()); err != nil {
		return err
	}
	if err := output.CheckDirectory(o.Format, o.Directory); err != nil {
		return err
	}
	if o.Engine != "" && o.Engine != EngineNative && o.Engine != EngineK6 {
		return fmt.Errorf("--engine: %q must be %s or %s", o.Engine, EngineNative, EngineK6)
	}
	if !IsScript(path) {
		if o.Format == output.Script || o.Directory != "" && output.Extension(o.Format) == "" {
			return fmt.Errorf("--directory is for -o html and -o svg=PICTURE, and for the files of a k6 script's handleSummary()")
		}
		if o.URL != "" || len(o.Env) > 0 {
			return fmt.Errorf("--url and --env are for k6 scripts, but %s isn't one: its name must end with %s", path, strings.Join(scriptExtensions, ", "))
		}
		return nil
	}
	if o.Engine != EngineNative {
		return errors.New("--engine is for plans: k6 runs every script")
	}
	if _, err := o.Target(); err != nil {
		return err
	}
	for _, setting := range o.Env {
		if name, _, ok := strings.Cut(setting, "="); !ok || name == "" {
			return fmt.Errorf("--env: %q must be of the form NAME=VALUE", setting)
		}
	}
	return o.CheckLevels(path, false)
}

// CheckLevels returns an error if the format needs a load with stages, and the load hasn't any.
func (o *RunOptions) CheckLevels(path string, stages bool) error {
	if report.NeedsLevels(o.Format) && !stages {
		return fmt.Errorf("%s: the output format %s is for loads with stages; use csv=series or csv=percentiles", path, o.Format)
	}
	return nil
}

// Target returns the target's URL, or nil if it isn't set.
func (o *RunOptions) Target() (*url.URL, error) {
	if o.URL == "" {
		return nil, nil
	}
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, fmt.Errorf("--url: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, fmt.Errorf("--url: %q must have a scheme (http or https), a host and nothing after the port, such as http://127.0.0.1:8080", o.URL)
	}
	return u, nil
}

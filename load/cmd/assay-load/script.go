package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/load/standalone"
)

// scriptExtensions are the file extensions of k6 scripts.
var scriptExtensions = []string{".js", ".mjs", ".ts"}

// isScript reports whether the path is that of a k6 script.
func isScript(path string) bool { return slices.Contains(scriptExtensions, filepath.Ext(path)) }

// scriptOptions are the flags that only apply to scripts.
type scriptOptions struct {
	url string
	env []string
}

func (o *scriptOptions) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&o.url, "url", "", "of a script: the target's URL, in the script's ASSAY_TARGET_URL and BASE_URL (default: the script has URLs of its own)")
	flags.StringArrayVarP(&o.env, "env", "e", nil, "of a script: NAME=VALUE for its __ENV; k6 reads its options from it, too, such as K6_VUS=25")
}

// check returns an error if the options don't fit the file in path.
func (o *scriptOptions) check(path string) error {
	if !isScript(path) {
		if o.url != "" || len(o.env) > 0 {
			return fmt.Errorf("--url and --env are for k6 scripts, but %s isn't one: its name must end with %s", path, strings.Join(scriptExtensions, ", "))
		}
		return nil
	}
	if _, err := o.target(); err != nil {
		return err
	}
	for _, setting := range o.env {
		if name, _, ok := strings.Cut(setting, "="); !ok || name == "" {
			return fmt.Errorf("--env: %q must be of the form NAME=VALUE", setting)
		}
	}
	return nil
}

// target returns the target's URL, or nil if it isn't set.
func (o *scriptOptions) target() (*url.URL, error) {
	if o.url == "" {
		return nil, nil
	}
	u, err := url.Parse(o.url)
	if err != nil {
		return nil, fmt.Errorf("--url: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, fmt.Errorf("--url: %q must have a scheme (http or https), a host and nothing after the port, such as http://127.0.0.1:8080", o.url)
	}
	return u, nil
}

// runScript runs a k6 script and prints the report. It returns only if the script is valid and its
// result meets the thresholds; otherwise it exits the process.
func runScript(path, format string, options scriptOptions) error {
	if report.NeedsLevels(format) {
		return &codedError{exitUsage, fmt.Errorf("%s: the output format %s is for loads with stages; use csv=series or csv=percentiles", path, format)}
	}
	if _, err := os.Stat(path); err != nil {
		return &codedError{exitUsage, fmt.Errorf("find script: %w", err)}
	}
	target, err := options.target()
	if err != nil {
		return &codedError{exitUsage, err}
	}
	s := &standalone.Script{Path: path, URL: target, Env: map[string]string{}, Version: version}
	for _, setting := range options.env {
		name, value, _ := strings.Cut(setting, "=")
		s.Env[name] = value
	}
	bar, log := standalone.NewBar(io.Discard), io.Writer(os.Stderr)
	if term.IsTerminal(int(os.Stderr.Fd())) {
		bar = standalone.NewBar(os.Stderr)
		log = bar
	}
	o := s.Run(slog.New(scriptLog{slog.NewTextHandler(log, nil)}), bar)
	bar.Clear()
	if code := finish(o, format); code != exitValid {
		os.Exit(code)
	}
	return nil
}

// scriptLog is a handler of log messages that drops what the client logs about its progress. It keeps
// what the script and k6 log, and warnings.
type scriptLog struct{ slog.Handler }

// Handle implements slog.Handler.
func (l scriptLog) Handle(ctx context.Context, r slog.Record) error {
	keep := r.Level >= slog.LevelWarn
	r.Attrs(func(a slog.Attr) bool {
		keep = keep || a.Key == "source" && a.Value.String() == "k6"
		return !keep
	})
	if !keep {
		return nil
	}
	return l.Handler.Handle(ctx, r)
}

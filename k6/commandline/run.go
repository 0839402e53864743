package commandline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/assay-dev/assay/internal/load/client"
	"github.com/assay-dev/assay/internal/load/command"
	"github.com/assay-dev/assay/internal/load/standalone"
	"github.com/assay-dev/assay/k6/script"
	"github.com/assay-dev/assay/k6/scriptfile"
)

func runCommand(version string) *cobra.Command {
	var options command.RunOptions
	run := &cobra.Command{
		Use:   "run SCRIPT|PLAN",
		Short: "Run a k6 script, or a plan with --engine k6, without a cluster and print a report, as \"assay-load run\" does",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !command.IsScript(args[0]) && options.Engine != command.EngineK6 {
				return &command.Error{Code: command.ExitUsage, Err: errors.New("specify one script, or one plan with --engine k6; see assay-load run --help")}
			}
			if err := options.Check(args[0]); err != nil {
				return &command.Error{Code: command.ExitUsage, Err: err}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if command.IsScript(args[0]) {
				return runScript(args[0], version, options)
			}
			return options.RunPlan(c.Context(), args[0], version, func(s client.Session, _ *slog.Logger) standalone.Client {
				return script.NewPlan(s, slog.New(scriptLog{slog.NewTextHandler(os.Stderr, nil)}))
			})
		},
	}
	options.AddFlags(run)
	return run
}

// runScript runs a k6 script and prints the report. It returns only if the script is valid and its
// result meets the thresholds; otherwise it exits the process.
func runScript(path, version string, options command.RunOptions) error {
	if _, err := os.Stat(path); err != nil {
		return &command.Error{Code: command.ExitUsage, Err: fmt.Errorf("find script: %w", err)}
	}
	target, err := options.Target()
	if err != nil {
		return &command.Error{Code: command.ExitUsage, Err: err}
	}
	s := &scriptfile.Script{Path: path, URL: target, Env: map[string]string{}, Version: version}
	for _, setting := range options.Env {
		name, value, _ := strings.Cut(setting, "=")
		s.Env[name] = value
	}
	to, err := options.Open(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), false)
	if err != nil {
		return &command.Error{Code: command.ExitUsage, Err: err}
	}
	bar, log := standalone.NewBar(io.Discard), io.Writer(os.Stderr)
	if term.IsTerminal(int(os.Stderr.Fd())) {
		bar = standalone.NewBar(os.Stderr)
		log = bar
	}
	o := s.Run(slog.New(scriptLog{slog.NewTextHandler(log, nil)}), bar)
	bar.Clear()
	if code := command.Finish(o, to); code != command.ExitValid {
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

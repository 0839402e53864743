package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/assay-dev/assay/internal/load/client"
	"github.com/assay-dev/assay/internal/load/k6script"
	"github.com/assay-dev/assay/internal/load/planfile"
	"github.com/assay-dev/assay/internal/load/standalone"
	"github.com/assay-dev/assay/internal/result"
)

// RunPlan runs the plan in a file, or in the standard input for "-", and prints the report. It returns only if there is no
// result; otherwise it exits the process. version is that of the program; newClient is as in standalone.Job.
func (o *RunOptions) RunPlan(ctx context.Context, path, version string, newClient func(client.Session, *slog.Logger) standalone.Client) error {
	job, err := ReadPlan(path)
	if path == "-" {
		path = stdinName
	}
	if err != nil {
		return &Error{Code: ExitUsage, Err: fmt.Errorf("%s: %w", path, err)}
	}
	if o.Engine == EngineK6 {
		job.Plan.Tool = result.ToolK6
		if err := k6script.Check(job.Plan); err != nil {
			return &Error{Code: ExitUsage, Err: fmt.Errorf("%s: %w", path, err)}
		}
	}
	if err := o.CheckLevels(path, job.Stages != nil); err != nil { // before there is a load whose result would be lost
		return &Error{Code: ExitUsage, Err: err}
	}
	job.Version, job.NewClient = version, newClient
	return o.RunJob(ctx, job, path, false)
}

// RunJob runs a load and writes its report. With toFile, a page or a picture goes to a file. Errors contain name. RunJob
// returns only if there is no result; otherwise it exits the process.
func (o *RunOptions) RunJob(ctx context.Context, job *standalone.Job, name string, toFile bool) error {
	to, err := o.Open(job.Name, toFile)
	if err != nil {
		return &Error{Code: ExitUsage, Err: err}
	}
	defer to.Close()
	to.Spec = job.Text
	defer job.Clean()
	preparing, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	err = job.Prepare(preparing)
	interrupted := preparing.Err() != nil
	stop()
	switch {
	case interrupted:
		return &Error{Code: standalone.ExitInterrupted, Err: errors.New("interrupted before the load began")}
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	}
	bar := standalone.NewBar(io.Discard)
	if term.IsTerminal(int(os.Stderr.Fd())) {
		bar = standalone.NewBar(os.Stderr)
	}
	return standalone.Drive(job, bar, nil, func(outcome standalone.Outcome) int {
		bar.Clear()
		return Finish(outcome, to)
	})
}

// stdinName is the name of a plan from the standard input.
const stdinName = "standard input"

// ReadPlan reads a plan from a file, or from the standard input for "-".
func ReadPlan(path string) (*standalone.Job, error) {
	if path == "-" {
		data, err := io.ReadAll(os.Stdin)
		if err != nil {
			return nil, err
		}
		return planfile.Read(data, stdinName, "")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	base := filepath.Base(path)
	return planfile.Read(data, strings.TrimSuffix(base, filepath.Ext(base)), filepath.Dir(path))
}

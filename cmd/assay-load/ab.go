package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/assay-dev/assay/internal/load/ab"
	"github.com/assay-dev/assay/internal/load/client"
	"github.com/assay-dev/assay/internal/load/command"
	"github.com/assay-dev/assay/internal/load/standalone"
	"github.com/assay-dev/assay/internal/result"
)

func abCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:                "ab [OPTIONS] URL",
		Short:              "Run a load without a cluster, with ab's options and report",
		DisableFlagParsing: true, // ab's options don't follow cobra's syntax
		RunE:               func(c *cobra.Command, args []string) error { return runAB(c.Context(), args) },
	}
	cmd.SetHelpFunc(func(*cobra.Command, []string) { fmt.Print(ab.Usage) })
	return cmd
}

// runAB runs `assay-load ab`. It returns only if the load can't be started or
// there is nothing to run.
func runAB(ctx context.Context, args []string) error {
	options, err := ab.Parse(args)
	if err != nil {
		return &command.Error{Code: command.ExitABUsage, Err: fmt.Errorf("ab: %w; see assay-load ab -h", err)}
	}
	switch {
	case options.Help:
		fmt.Print(ab.Usage)
		return nil
	case options.Version:
		fmt.Printf(ab.Banner, version)
		return nil
	}
	job, err := options.Job()
	if err != nil {
		return &command.Error{Code: command.ExitABUsage, Err: fmt.Errorf("ab: %w; see assay-load ab -h", err)}
	}
	defer job.Clean()
	job.Version = version
	watch := ab.NewWatch(options, os.Stderr)
	end := "..."
	if watch.Heartbeat() {
		end = "\n"
	}
	fmt.Printf(ab.Banner+"Benchmarking %s (be patient)%s", version, job.URL.Hostname(), end)
	if err := job.Prepare(ctx); err != nil {
		fmt.Println()
		return fmt.Errorf("ab: %w", err)
	}
	options.ExpectLength(job)
	return standalone.Drive(job, watch, watch.End, func(o standalone.Outcome) int {
		if err := reportAB(options, job, watch, o); err != nil {
			fmt.Fprintln(os.Stderr, "assay-load: ab:", err)
			return command.Code(o, command.ExitFailed)
		}
		if abortCode, aborted := watch.PrintAbort(); aborted {
			fmt.Printf("Total of %d requests completed\n", o.Result.Merged.Requests)
			return abortCode
		}
		return command.Code(o, command.ExitValid)
	})
}

// reportAB prints what ab prints after a load, and writes the file of -e.
func reportAB(options *ab.Options, job *standalone.Job, watch *ab.Watch, o standalone.Outcome) error {
	if errors.Is(o.Err, client.ErrNothingMeasured) {
		fmt.Println()
		return o.Err
	}
	if o.Err != nil {
		return o.Err
	}
	if watch.Aborted() {
		return nil // like ab, print no report
	}
	watch.Finish(o.Result.Merged.Requests)
	if !watch.Heartbeat() {
		fmt.Println("..done")
	}
	if err := command.Print(os.Stdout, func(w io.Writer) error { return options.Report(w, job, o.Result) }); err != nil {
		return err
	}
	if options.CSV != "" {
		file, err := os.Create(options.CSV)
		if err != nil {
			return fmt.Errorf("-e: %w", err)
		}
		if err := errors.Join(ab.WriteCSV(file, o.Result), file.Close()); err != nil {
			return fmt.Errorf("-e: %w", err)
		}
	}
	for _, f := range o.Result.Findings {
		if f.Severity == result.Invalidates || options.Verbosity >= 2 {
			fmt.Fprintf(os.Stderr, "%s %s: %s\n", f.Severity, f.Reason, f.Message)
		}
	}
	return nil
}

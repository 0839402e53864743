package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/load/client"
	"github.com/assay-dev/assay/load/runner"
	"github.com/assay-dev/assay/load/script"
	"github.com/assay-dev/assay/load/tool"
)

func k6Command() *cobra.Command {
	return &cobra.Command{
		Use:                "k6 ARGUMENTS",
		Short:              `Run k6's own command line, for example "assay-load k6 run script.js"`,
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := runner.StayOffline(); err != nil {
				return err
			}
			runner.K6(args...)
			return nil
		},
	}
}

// runClient runs the client of a pod until the manager releases it.
func runClient(runsScript, runsTool bool) error {
	manager := os.Getenv("ASSAY_MANAGER")
	if manager == "" {
		return errors.New("environment variable ASSAY_MANAGER isn't set: this command only works in pods that Assay starts")
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	joined := pod.New(pod.Mounted(manager, sessionpb.Role_ROLE_CLIENT, log))
	switch {
	case runsScript:
		return runScriptClient(joined, log)
	case runsTool:
		return runToolClient(joined, log)
	}
	return runLoadClient(joined, log)
}

// runScriptClient runs a client whose load is a k6 script. k6 runs in a process of its own.
func runScriptClient(s script.Session, log *slog.Logger) error {
	if err := client.ApplyLimits(); err != nil {
		return err
	}
	if err := script.New(s, log).Run(untilSignal()); err != nil {
		log.Error("Client failed", "reason", err)
		return err
	}
	return nil
}

// runToolClient runs a client whose load is made by another load generator.
func runToolClient(s client.Session, log *slog.Logger) error {
	if err := client.ApplyLimits(); err != nil {
		return err
	}
	if err := tool.New(s, os.Getenv("PATH"), log).Run(untilSignal()); err != nil {
		log.Error("Client failed", "reason", err)
		return err
	}
	return nil
}

// untilSignal returns a context that is canceled when the process receives SIGTERM or SIGINT.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		cancel(&session.FailureError{Kind: session.FailureStopped, Err: fmt.Errorf("the client was stopped by the signal %q", (<-signals).String())})
	}()
	return ctx
}

// runLoadClient runs a client whose load is a built-in one.
func runLoadClient(s client.Session, log *slog.Logger) error {
	if err := client.ApplyLimits(); err != nil {
		return err
	}
	if err := client.New(s, log).Run(untilSignal()); err != nil {
		log.Error("Client failed", "reason", err)
		return err
	}
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/load/carrier"
	"github.com/assay-dev/assay/load/client"
	"github.com/assay-dev/assay/load/script"
)

func k6Command() *cobra.Command {
	return &cobra.Command{
		Use:                "k6 ARGUMENTS",
		Short:              `k6's own command line, as in "assay-load k6 run x.js" and "assay-load k6 version"`,
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := carrier.KeepToItself(); err != nil {
				return err
			}
			carrier.K6(args...)
			return nil
		},
	}
}

// attend is the client in a pod. Unless the load is a script, it returns only
// when it can't begin.
func attend(runsScript bool) error {
	manager := os.Getenv("ASSAY_MANAGER")
	if manager == "" {
		return errors.New("the environment variable ASSAY_MANAGER isn't set: this command is for pods that Assay starts")
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	session := pod.New(pod.Mounted(manager, sessionpb.Role_ROLE_CLIENT, log))
	if runsScript {
		return attendScript(session, log)
	}
	return carry(session, log)
}

// attendScript attends a session with k6 in a process of its own.
func attendScript(s script.Session, log *slog.Logger) error {
	if err := client.KeepWithinLimits(); err != nil {
		return err
	}
	if err := script.New(s, log).Run(untilSignal()); err != nil {
		log.Error("failed", "reason", err)
		return err
	}
	return nil
}

// untilSignal returns a context that ends when the process is told to stop.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		cancel(fmt.Errorf("the client was stopped by the signal %q", (<-signals).String()))
	}()
	return ctx
}

// carry attends a session beside k6, which ends the process when the client is
// released.
func carry(s client.Session, log *slog.Logger) error {
	if err := client.KeepWithinLimits(); err != nil {
		return err
	}
	if err := carrier.KeepToItself(); err != nil {
		return err
	}
	ctx := untilSignal()

	users := runtime.GOMAXPROCS(0)
	c := client.New(s, users, log)
	go func() {
		if err := c.Run(ctx); err != nil {
			log.Error("failed", "reason", err)
			os.Exit(1)
		}
	}()
	return carrier.Run(c, users)
}

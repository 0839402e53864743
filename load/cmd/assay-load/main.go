// Command assay-load is Assay's client: k6 with Assay's extension.
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

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/load/carrier"
	"github.com/assay-dev/assay/load/client"
)

const help = `assay-load drives HTTP load: it is k6 with Assay's extension.

Usage:
  assay-load client          be a client in a benchmark run. Assay starts this in a
                             pod; it does nothing without Assay's manager.
  assay-load k6 ARGUMENTS    k6's own command line, as in "assay-load k6 run x.js"
                             and "assay-load k6 version".
  assay-load help            this text.

Environment of "assay-load client":
  ASSAY_MANAGER              host:port of the manager's sessions
  ASSAY_CPU_LIMIT_MILLIS     the container's CPU limit in thousandths of a CPU
  ASSAY_MEMORY_LIMIT_BYTES   the container's memory limit in bytes
Its token is in ` + session.TokenPath + `, the certificates by which it checks
the manager in ` + session.CAPath + `.
It exits 0 when the manager has stored its figures, else 1.
`

func main() {
	command := "help"
	if len(os.Args) > 1 {
		command = os.Args[1]
	}
	var err error
	switch command {
	case "client":
		err = attend()
	case "k6":
		err = carrier.KeepToItself()
		if err == nil {
			carrier.K6(os.Args[2:]...)
		}
	case "help", "-h", "-help", "--help":
		fmt.Print(help)
	default:
		err = fmt.Errorf("there is no command %q; see assay-load help", command)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "assay-load:", err)
		os.Exit(1)
	}
}

// attend is the client in a pod. It returns only when it can't begin.
func attend() error {
	manager := os.Getenv("ASSAY_MANAGER")
	if manager == "" {
		return errors.New("the environment variable ASSAY_MANAGER isn't set: this command is for pods that Assay starts")
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	return carry(pod.New(pod.Mounted(manager, sessionpb.Role_ROLE_CLIENT, log)), log)
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
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		cancel(fmt.Errorf("the client was stopped by the signal %q", (<-signals).String()))
	}()

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

package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/assay-dev/assay/internal/affinity"
	"github.com/assay-dev/assay/internal/load/client"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// Join returns the session of a client in a pod with the manager, and the client's log.
func Join() (*pod.Session, *slog.Logger, error) {
	manager := os.Getenv("ASSAY_MANAGER")
	if manager == "" {
		return nil, nil, errors.New("environment variable ASSAY_MANAGER isn't set: this command only works in pods that Assay starts")
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	return pod.New(pod.Mounted(manager, sessionpb.Role_ROLE_CLIENT, log)), log, nil
}

// Client is a client of a run.
type Client interface {
	// Run returns when the manager has released the client or ctx is done.
	Run(ctx context.Context) error
}

// RunClient runs a client until the manager releases it or the process receives SIGTERM or SIGINT.
func RunClient(c Client, log *slog.Logger) error {
	if err := leaveCPUs(); err != nil {
		return err
	}
	if err := client.ApplyLimits(); err != nil {
		return err
	}
	if err := c.Run(untilSignal()); err != nil {
		log.Error("Client failed", "reason", err)
		return err
	}
	return nil
}

// leaveVariable holds the number of CPUs that the client leaves to the target.
const leaveVariable = "ASSAY_LEAVE_CPUS"

// leaveCPUs begins the process again without the CPUs that it leaves to the target, if there are any.
func leaveCPUs() error {
	value, set := os.LookupEnv(leaveVariable)
	if !set {
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return fmt.Errorf("environment variable %s: %w", leaveVariable, err)
	}
	environment := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, leaveVariable+"=") })
	return affinity.LeaveHighest(n, environment)
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

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
)

// errRestart is the error of a manager that must start from scratch: it lost its Lease, or could not
// reach the API server for so long that its caches are behind.
var errRestart = errors.New("the manager must start from scratch")

const (
	// contactInterval is the time between two attempts to reach the API server, and contactTimeout
	// the limit of each.
	contactInterval = time.Second
	contactTimeout  = 2 * time.Second
)

// restart replaces the process by a new one of the same program. Unlike an exit this ends no
// container: a manager that lost its Lease in an outage of the API server would sit in
// CrashLoopBackOff when it is needed. It returns only if that fails.
func restart() error {
	path, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the program: %w", err)
	}
	return fmt.Errorf("execute %s: %w", path, syscall.Exec(path, os.Args, os.Environ()))
}

// awaitAPIServer waits until the API server is ready. Meanwhile the manager is healthy but not ready.
// Setting up the manager would fail without an API server, and its caches would wait for up to a
// minute after that is back.
func awaitAPIServer(ctx context.Context, config *rest.Config, healthAddr string, interval time.Duration) error {
	config = rest.CopyConfig(config)
	config.Timeout = contactTimeout
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("create a client for the API server's readiness: %w", err)
	}
	ask := func(ctx context.Context) (bool, error) {
		err := client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
		answered := err == nil || apierrors.IsForbidden(err) || apierrors.IsNotFound(err)
		if !answered {
			ctrl.Log.Info("Waiting for the API server", "error", err.Error())
		}
		return answered, nil
	}
	return await(ctx, healthAddr, interval, func() error { return errors.New("waiting for the API server") }, ask)
}

// await asks until the answer is yes. Meanwhile the manager is healthy but, for a reason, not ready.
func await(ctx context.Context, healthAddr string, interval time.Duration, reason func() error, ask wait.ConditionWithContextFunc) error {
	if ready, err := ask(ctx); ready || err != nil {
		return err
	}
	if healthAddr != disabled {
		server, err := healthServer(ctx, healthAddr, reason)
		if err != nil {
			return err
		}
		serving, stop := context.WithCancel(ctx)
		served := make(chan error, 1)
		go func() { served <- server.Start(serving) }()
		defer func() {
			stop()
			if err := <-served; err != nil {
				ctrl.Log.Error(err, "Failed to serve health probes")
			}
		}()
	}
	return wait.PollUntilContextCancel(ctx, interval, false, ask)
}

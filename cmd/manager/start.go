package main

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

const (
	// shutdownTimeout is the time that the parts of the manager get to stop.
	shutdownTimeout = 7 * time.Second
	// stopTimeout is the time after which the process ends in any case. It is longer than
	// shutdownTimeout, and shorter than the chart's terminationGracePeriodSeconds.
	stopTimeout = 9 * time.Second
)

// start runs a manager until it fails or ctx ends. A manager of controller-runtime that is stopped
// while its caches fill waits for them in a busy loop for ever: they will never be filled.
func start(ctx context.Context, mgr manager.Manager, timeout time.Duration) error {
	stopped := make(chan error, 1)
	go func() { stopped <- mgr.Start(ctx) }()
	select {
	case err := <-stopped:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-stopped:
		return err
	case <-time.After(timeout):
		return fmt.Errorf("the manager did not stop within %s: %w", timeout, context.Cause(ctx))
	}
}

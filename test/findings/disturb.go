package main

import (
	"context"
	"fmt"
	"strconv"
	"syscall"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/test/harness"
)

// stopClient returns a disturbance that stops the process of a client.
func stopClient(index int, after, d time.Duration) func(context.Context, *harness.Cluster, *v1alpha1.BenchmarkRun) error {
	return func(ctx context.Context, c *harness.Cluster, run *v1alpha1.BenchmarkRun) error {
		return stopProcess(ctx, c, run, clientLabels(index), "client", after, d)
	}
}

// clientLabels returns a function that returns the labels of a client's pod.
func clientLabels(index int) func(*v1alpha1.BenchmarkRun) client.MatchingLabels {
	return func(run *v1alpha1.BenchmarkRun) client.MatchingLabels { return harness.ClientLabels(run, index) }
}

// stopProcess stops the process of a container for d, as soon as a time has passed since the measurement was
// announced. labels select its pod.
func stopProcess(ctx context.Context, c *harness.Cluster, run *v1alpha1.BenchmarkRun, labels func(*v1alpha1.BenchmarkRun) client.MatchingLabels,
	container string, after, d time.Duration) error {
	pid, err := process(ctx, c, run, labels, container)
	if err != nil {
		return err
	}
	if err := awaitMeasurement(ctx, c, run); err != nil {
		return err
	}
	harness.Sleep(ctx, after)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	harness.Sleep(ctx, d)
	return syscall.Kill(pid, syscall.SIGCONT)
}

// process waits for a container of a run's pod and returns its process ID.
func process(ctx context.Context, c *harness.Cluster, run *v1alpha1.BenchmarkRun, labels func(*v1alpha1.BenchmarkRun) client.MatchingLabels,
	container string) (pid int, err error) {
	err = harness.Await(ctx, time.Minute, func(ctx context.Context) error {
		pod, err := c.Pod(ctx, run.Namespace, labels(run))
		if err == nil {
			pid, err = harness.Process(pod, container)
		}
		return err
	})
	return pid, err
}

// awaitMeasurement returns as soon as the status of a run announces the measurement, which is a tenth of a second
// before it starts.
func awaitMeasurement(ctx context.Context, c *harness.Cluster, run *v1alpha1.BenchmarkRun) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	changes, err := c.Watch(ctx, &v1alpha1.BenchmarkRunList{}, client.InNamespace(run.Namespace), client.MatchingFields{"metadata.name": run.Name})
	if err != nil {
		return err
	}
	defer changes.Stop()
	for change := range changes.ResultChan() {
		changed, ok := change.Object.(*v1alpha1.BenchmarkRun)
		if !ok {
			return fmt.Errorf("watch the run: %+v", change.Object)
		}
		if harness.Condition(changed, v1alpha1.ConditionSucceeded).Reason == v1alpha1.ReasonMeasuring {
			return nil
		}
	}
	return fmt.Errorf("the run was not measured within a minute")
}

// narrow returns a disturbance that limits what the target's interface sends to a rate, as tc writes it. It goes with
// the target's network namespace.
func narrow(rate string) func(context.Context, *harness.Cluster, *v1alpha1.BenchmarkRun) error {
	return func(ctx context.Context, c *harness.Cluster, run *v1alpha1.BenchmarkRun) error {
		pid, err := process(ctx, c, run, harness.TargetLabels, "server")
		if err != nil {
			return err
		}
		return harness.Command(ctx, "nsenter", "--target", strconv.Itoa(pid), "--net", "tc", "qdisc", "add", "dev", "eth0", "root",
			"tbf", "rate", rate, "burst", "64kb", "latency", "50ms")
	}
}

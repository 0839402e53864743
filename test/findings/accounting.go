package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/test/harness"
)

// cpuAccounting is the directory with the CPU time of control groups on each CPU, to the nanosecond
// (Documentation/admin-guide/cgroup-v1/cpuacct.rst). Version 2 of control groups has no such metric.
const cpuAccounting = "/sys/fs/cgroup/cpuacct"

// othersReader reads the CPU time, in microseconds, of everything but the server's container on its first CPU. It is the
// kernel's own accounting, of which the agent reads nothing.
type othersReader struct{ repeatedReader }

// disturb reads from the start of the target on.
func (r *othersReader) disturb(ctx context.Context, c *harness.Cluster, run *v1alpha1.BenchmarkRun) error {
	pid, err := process(ctx, c, run, harness.TargetLabels, "server")
	if err != nil {
		return err
	}
	cpu, err := firstCPU(pid)
	if err != nil {
		return err
	}
	group, err := accountedGroup(pid)
	if err != nil {
		return err
	}
	if _, err := usageOf(group, cpu); err != nil {
		return fmt.Errorf("the CPU time of others can't be read on this machine: %w", err)
	}
	r.begin(ctx, func() ([]float64, error) {
		all, err := usageOf("", cpu)
		own, gone := usageOf(group, cpu)
		return []float64{all - own}, errors.Join(err, gone)
	})
	return nil
}

// accountedGroup returns the control group by which a process's CPU time is accounted.
func accountedGroup(pid int) (string, error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return "", err
	}
	groups, err := process.Cgroups()
	if err != nil {
		return "", err
	}
	for _, g := range groups {
		if slices.Contains(g.Controllers, "cpuacct") {
			return g.Path, nil
		}
	}
	return "", fmt.Errorf("process %d has no control group of the controller cpuacct, which version 1 of control groups has", pid)
}

// usageOf returns the CPU time of a control group, and of those below it, on a CPU, in microseconds.
func usageOf(group string, cpu int) (float64, error) {
	file := filepath.Join(cpuAccounting, group, "cpuacct.usage_percpu")
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if cpu >= len(fields) {
		return 0, fmt.Errorf("%s has no CPU %d", file, cpu)
	}
	nanoseconds, err := strconv.ParseInt(fields[cpu], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", file, err)
	}
	return float64(nanoseconds) / 1000, nil
}

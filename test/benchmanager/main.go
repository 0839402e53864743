// Command benchmanager measures what the manager needs: CPU time, memory, API calls and time. It
// runs the manager's real binary as a process of its own, against a real API server, etcd and
// controller manager, in which this program plays the scheduler, the kubelet and the pods. No
// container runs.
//
// The pods are objects in the API server. Each has a session with the manager, which it opens with a
// token that the API server issued for it. CPU time and memory are those of the manager's process,
// as the kernel counts them. API calls are those in the API server's audit log.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/go-logr/logr"

	"github.com/assay-dev/assay/test/harness"
)

// settings holds the flags.
type settings struct {
	manager, assets, crds string
	verbose               bool
	profile               string

	clients, runs    int
	measurement      time.Duration
	finished, queued int
	turns            int
}

const usage = `Usage: benchmanager [flags] [sessions] [queue]

Measures the manager's CPU time, memory and API calls in two cases, and prints a Markdown table with
the bounds.

  sessions  -clients clients in -runs runs each send a sample second per second for -measurement.
  queue     -finished finished runs with artifacts and -queued waiting ones exist when the manager
            starts. Then -turns of the waiting runs get their lane (queue of runs) one after the other.

Both cases run if neither is named. There are no containers: pods are objects, and this program has
their sessions. It needs kube-apiserver, etcd and kube-controller-manager in -assets, which
"make cluster-tools" builds. Times depend on what else the machine does: the table has the load
average. CPU time and memory don't.

Examples:
  benchmanager                                        both, about 15 minutes on two cores
  benchmanager -clients 100 -measurement 20s sessions a short look
  benchmanager -profile /tmp/cpu.pprof sessions       with a CPU profile of the manager
`

func main() {
	cache := os.Getenv("ASSAY_CACHE")
	if home, err := os.UserHomeDir(); cache == "" && err == nil {
		cache = filepath.Join(home, ".cache", "assay")
	}
	var s settings
	flag.StringVar(&s.manager, "manager", filepath.Join("bin", "image", "manager"), "The manager's binary.")
	flag.StringVar(&s.assets, "assets", filepath.Join(cache, "bin"), "Directory with kube-apiserver, etcd and kube-controller-manager.")
	flag.StringVar(&s.crds, "crds", filepath.Join("config", "crd", "bases"), "Directory with the CustomResourceDefinition.")
	flag.BoolVar(&s.verbose, "v", false, "Print the manager's log.")
	flag.StringVar(&s.profile, "profile", "", "Write a CPU profile of the manager during the measurement to this file, and a heap profile next to it.")
	flag.IntVar(&s.clients, "clients", 1000, "Clients of the case sessions.")
	flag.IntVar(&s.runs, "runs", 1, "Runs that the clients belong to.")
	flag.DurationVar(&s.measurement, "measurement", 3*time.Minute, "Length of the measurement of the case sessions, in whole seconds.")
	flag.IntVar(&s.finished, "finished", 10_000, "Finished runs of the case queue.")
	flag.IntVar(&s.queued, "queued", 1000, "Waiting runs of the case queue.")
	flag.IntVar(&s.turns, "turns", 20, "Runs of the case queue that are run.")
	ctrllog.SetLogger(logr.Discard()) // of envtest
	(&harness.Program{Name: "benchmanager", Help: usage, Args: "cases", Run: func(ctx context.Context, names []string) error {
		return run(ctx, &s, names)
	}}).Main()
}

// measurement measures one case.
type measurement struct {
	name    string
	measure func(context.Context, *settings, *harness.Checks) error
}

var cases = []measurement{{"sessions", measureSessions}, {"queue", measureQueue}}

func run(ctx context.Context, s *settings, names []string) error {
	if s.clients < 1 || s.runs < 1 || s.clients%s.runs != 0 || s.queued < s.turns || s.turns < 1 || s.measurement < 5*time.Second {
		return errors.New("invalid flags: -clients must be a multiple of -runs, -queued at least -turns, and -measurement at least 5s")
	}
	chosen, err := harness.Choose(strings.Join(names, ","), cases, func(m *measurement, name string) bool { return m.name == name })
	if err != nil {
		return fmt.Errorf("%w (the cases are sessions and queue)", err)
	}
	before := harness.LoadAverage()
	var checks harness.Checks
	for _, c := range chosen {
		if err := c.measure(ctx, s, &checks); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	fmt.Printf("%s:\n\n%s", harness.Machine(before), checks.Table())
	return checks.Err()
}

// step tells the user what is being done.
func step(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s  %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}

func cores(n float64) string          { return fmt.Sprintf("%.2f cores", n) }
func mebibytes(n int64) string        { return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20)) }
func count(n float64) string          { return fmt.Sprintf("%.4g", n) }
func duration(d time.Duration) string { return d.Round(time.Millisecond).String() }

// quantile returns the smallest of the values that at least share of all do not exceed.
func quantile(values []time.Duration, share float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, int(float64(len(sorted))*share+0.999999)-1)]
}

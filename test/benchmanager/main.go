// Command benchmanager measures what the manager needs: CPU time, memory, API calls and time. It
// runs the manager's real binary as a process of its own, against a real API server, etcd and
// controller manager, in which this program plays the scheduler, the kubelet and the pods. No
// container runs.
//
//	benchmanager           both cases
//	benchmanager sessions  many clients, each of which sends a sample second per second
//	benchmanager queue     many finished runs with artifacts, and a long queue of runs
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
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/go-logr/logr"
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
the bounds. The exit code is 1 if a bound is missed.

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

Flags:
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
	flag.Usage = func() {
		_, _ = fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	ctrllog.SetLogger(logr.Discard()) // of envtest
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	missed, err := run(ctx, &s, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmanager:", err)
		os.Exit(1)
	}
	if missed {
		fmt.Fprintln(os.Stderr, "benchmanager: a bound is missed")
		os.Exit(1)
	}
}

// cases are the measurements by name.
var cases = map[string]func(context.Context, *settings) ([]row, error){"sessions": measureSessions, "queue": measureQueue}

func run(ctx context.Context, s *settings, names []string) (missed bool, err error) {
	if s.clients < 1 || s.runs < 1 || s.clients%s.runs != 0 || s.queued < s.turns || s.turns < 1 || s.measurement < 5*time.Second {
		return false, errors.New("invalid flags: -clients must be a multiple of -runs, -queued at least -turns, and -measurement at least 5s")
	}
	if len(names) == 0 {
		names = []string{"sessions", "queue"}
	}
	t := newTable()
	for _, name := range names {
		measure := cases[name]
		if measure == nil {
			return false, fmt.Errorf("unknown case %q: use sessions or queue", name)
		}
		rows, err := measure(ctx, s)
		if err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
		t.rows = append(t.rows, rows...)
	}
	return t.print(os.Stdout), nil
}

// step tells the user what is being done.
func step(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s  %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}

// Command benchmark shows on the local cluster that Benchmarks come to the right conclusions: about
// servers whose differences and capacities are known, when the manager is killed in the middle of a round, and
// by a schedule. It prints what it measured and which bound that must keep.
//
// It needs the native cluster of this machine (make cluster-up), on which Assay is installed, and
// root: it finds the process of the manager in /proc.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/assay-dev/assay/test/harness"
)

const help = `Usage: benchmark [flags]

Makes rounds of Benchmarks on the local cluster whose outcome is known, and prints what was
measured with its bound.

Examples:
  make test-benchmark ARGS='-list'                        the sections
  make test-benchmark ARGS='-noise FILE'                  all of them, with the metrics of identical runs in FILE
  make test-benchmark ARGS='-only slower,capacity'        two of them
  make test-benchmark ARGS='-only slower,identical -rounds 20 -hog 1'   beside a neighbor that uses a CPU
  make test-benchmark ARGS='-only killed -seed 7'         the manager is killed at the times of seed 7

It uses the cluster of $KUBECONFIG, whose nodes' processes must be visible on this machine.
Nothing else must use the cluster meanwhile.
`

type options struct {
	only   string
	rounds int
	kills  int
	seed   uint64
	noise  string
	list   bool
	hog    float64
}

// section is one thing that is shown.
type section struct {
	name, about string
	show        func(ctx context.Context, s *stage) error
}

var sections = []section{
	{"identical", "identical servers: never contradicted in rounds of 10 blocks with 5 claims", showIdentical},
	{"slower", "a server with 10% more service time: Contradicted, and the interval holds 10%", showSlower},
	{"widths", "alternating blocks: intervals at most half as wide as those of runs one after the other, in the same time", showWidths},
	{"fit", "what doctor --fit says is detectable, planted: found in 8 of 10 rounds, a third of it in at most 3", showFit},
	{"reversal", "the same two servers compared by a strong client, and by a starved one, whose runs are void", showReversal},
	{"capacity", "a server with a limited rate: its capacity is found within 5%", showCapacity},
	{"killed", "a manager that is killed at random times of a round: every run once, the same verdict", showKilled},
	{"scheduled", "a schedule: rounds begin by themselves, one at a time, and not while suspended", showScheduled},
}

func main() {
	var o options
	flag.StringVar(&o.only, "only", "", "Sections, separated by commas; all if empty.")
	flag.IntVar(&o.rounds, "rounds", 3, "Rounds of identical, slower and widths, and capacity searches.")
	flag.IntVar(&o.kills, "kills", 20, "Number of times that killed kills the manager.")
	flag.Uint64Var(&o.seed, "seed", 1, "Seed of the times at which the manager is killed.")
	flag.StringVar(&o.noise, "noise", "", "File for the metrics of the runs of identical, as internal/statistics/testdata/noise.json has them.")
	flag.Float64Var(&o.hog, "hog", 0, "Share of a CPU, 0 to 1, that a neighbor uses meanwhile, in bursts.")
	flag.BoolVar(&o.list, "list", false, "List the sections and exit.")
	(&harness.Program{Name: "benchmark", Help: help, Run: func(ctx context.Context, _ []string) error { return run(ctx, &o) }}).Main()
}

func run(ctx context.Context, o *options) error {
	chosen, err := choose(o.only)
	if err != nil {
		return err
	}
	if o.rounds < 1 || o.kills < 1 {
		return errors.New("-rounds and -kills must be at least 1")
	}
	if o.hog < 0 || o.hog > 1 {
		return errors.New("-hog must be within 0 and 1")
	}
	if o.list {
		for _, s := range chosen {
			fmt.Printf("%-10s %s\n", s.name, s.about)
		}
		return nil
	}
	c, err := harness.Connect(harness.RequestTimeout)
	if err != nil {
		return err
	}
	hogging, stop := context.WithCancel(ctx)
	defer stop()
	if o.hog > 0 {
		go harness.Hog(hogging, o.hog)
	}
	return showAll(ctx, c, o, chosen)
}

// choose returns the sections with these names.
func choose(names string) ([]section, error) {
	return harness.Choose(names, sections, func(s *section, name string) bool { return s.name == name })
}

// showAll shows the sections one after the other.
func showAll(ctx context.Context, c *harness.Cluster, o *options, chosen []section) error {
	began := time.Now()
	var checks harness.Checks
	var failed error
	for i := range chosen {
		fmt.Printf("%s: %s\n", chosen[i].name, chosen[i].about)
		at := time.Now()
		err := enter(ctx, c, o, &checks, &chosen[i])
		fmt.Printf("%s took %s\n\n", chosen[i].name, time.Since(at).Round(time.Second))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", chosen[i].name, err))
		}
	}
	fmt.Printf("%s\nin %s\n", checks.Table(), time.Since(began).Round(time.Second))
	if failed != nil {
		return failed
	}
	return checks.Err()
}

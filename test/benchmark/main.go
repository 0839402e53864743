// Command benchmark shows on the local cluster that Benchmarks come to the right conclusions: about
// servers whose differences and capacities are known, when the manager is killed in the middle of a round, and
// by a schedule. It prints what it measured and which bound that must keep.
//
// It needs the native cluster of this machine (make cluster-up), on which Assay is installed, and
// root: it finds the process of the manager in /proc.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/assay-dev/assay/test/local"
)

const help = `Usage: benchmark [flags]

Makes rounds of Benchmarks on the local cluster whose outcome is known, and prints what was
measured with its bound. The exit code is 1 if a bound is missed, and 2 if a section could not be
run.

Examples:
  make test-benchmark ARGS='-list'                        the sections
  make test-benchmark ARGS='-noise FILE'                  all of them, with the figures of identical runs in FILE
  make test-benchmark ARGS='-only slower,capacity'        two of them
  make test-benchmark ARGS='-only killed -seed 7'         the manager is killed at the times of seed 7

It uses the cluster of $KUBECONFIG, whose nodes' processes must be visible on this machine.
Nothing else must use the cluster meanwhile.

Flags:
`

type options struct {
	only   string
	rounds int
	kills  int
	seed   uint64
	noise  string
	list   bool
}

// section is one thing that is shown.
type section struct {
	name, about string
	show        func(ctx context.Context, s *stage) error
}

var sections = []section{
	{"identical", "identical servers: never better or worse in rounds of 10 blocks with 5 gate metrics", showIdentical},
	{"slower", "a server with 10% more service time: worse, and the interval holds 10%", showSlower},
	{"reversal", "the same two servers compared by a strong client, and by a starved one, whose runs are void", showReversal},
	{"capacity", "a server with a limited rate: its capacity is found within 5%", showCapacity},
	{"killed", "a manager that is killed at random times of a round: every run once, the same verdict", showKilled},
	{"scheduled", "a schedule: rounds begin by themselves, one at a time, and not while suspended", showScheduled},
}

func main() {
	os.Exit(run())
}

func run() int {
	var o options
	flag.Usage = func() {
		_, _ = fmt.Fprint(flag.CommandLine.Output(), help)
		flag.PrintDefaults()
	}
	flag.StringVar(&o.only, "only", "", "Sections, separated by commas; all if empty.")
	flag.IntVar(&o.rounds, "rounds", 3, "Rounds of identical and slower, and capacity searches.")
	flag.IntVar(&o.kills, "kills", 20, "Number of times that killed kills the manager.")
	flag.Uint64Var(&o.seed, "seed", 1, "Seed of the times at which the manager is killed.")
	flag.StringVar(&o.noise, "noise", "", "File for the figures of the runs of identical, as internal/statistics/testdata/noise.json has them.")
	flag.BoolVar(&o.list, "list", false, "List the sections and exit.")
	flag.Parse()
	if o.list {
		for _, s := range sections {
			fmt.Printf("%-10s %s\n", s.name, s.about)
		}
		return 0
	}
	chosen, err := choose(o.only)
	if err == nil && (flag.NArg() > 0 || o.rounds < 1 || o.kills < 1) {
		err = fmt.Errorf("-rounds and -kills must be at least 1, and there are no arguments: %v", flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		return 2
	}
	c, err := local.Connect()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return showAll(ctx, c, &o, chosen)
}

// choose returns the sections with these names.
func choose(names string) ([]section, error) {
	if names == "" {
		return sections, nil
	}
	var chosen []section
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(sections, func(s section) bool { return s.name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("unknown section %q: see -list", name)
		}
		chosen = append(chosen, sections[i])
	}
	return chosen, nil
}

// showAll shows the sections one after the other and returns the exit code.
func showAll(ctx context.Context, c *local.Cluster, o *options, chosen []section) int {
	began, code := time.Now(), 0
	var checks []check
	for i := range chosen {
		fmt.Printf("%s: %s\n", chosen[i].name, chosen[i].about)
		at := time.Now()
		s, err := enter(ctx, c, o, chosen[i].name)
		if err == nil {
			err = chosen[i].show(ctx, s)
			s.leave(ctx)
			checks = append(checks, s.checks...)
		}
		fmt.Printf("%s took %s\n\n", chosen[i].name, time.Since(at).Round(time.Second))
		if ctx.Err() != nil {
			return 130
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "benchmark: %s: %s\n", chosen[i].name, err)
			code = 2
		}
	}
	fmt.Print(table(checks))
	fmt.Printf("in %s\n", time.Since(began).Round(time.Second))
	if code == 0 && slices.ContainsFunc(checks, func(c check) bool { return !c.met }) {
		code = 1
	}
	return code
}

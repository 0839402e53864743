// Command findings provokes each finding on the local cluster, for real, and makes a run near it that must
// not have it. With -clean it makes runs with which nothing is wrong, of five kinds. With -truth it compares figures
// of results with what was imposed on the target, and with -calibrate it measures what an imposed disturbance costs.
//
// It needs the native cluster of this machine (make cluster-up), on which Assay is installed, and
// root: it finds the processes of pods in /proc.
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

const help = `Usage: findings [flags]

Makes runs whose findings are known: one that provokes each finding, and one near it. The exit code
is 1 if a finding was missed or was false, or a figure is wrong, and 2 if a run could not be made.

Examples:
  make test-findings ARGS='-list'                       the runs
  make test-findings                                    all of them
  make test-findings ARGS='-only NotSteady,overload'    those about a finding, or with a name
  make test-findings ARGS='-clean 30'                   30 runs of five kinds with which nothing is wrong
  make test-findings ARGS=-truth                        figures of results and what was imposed on the server
  make test-findings ARGS='-sampling 10'                what sampling changes, in 10 pairs of runs
  make test-findings ARGS='-calibrate nodebusy'         how the throughput follows what others use of the target's CPU

It uses the cluster of $KUBECONFIG, whose nodes' processes must be visible on this machine.
Nothing else must use the cluster meanwhile.

Flags:
`

func main() {
	os.Exit(run())
}

func run() int {
	flag.Usage = func() {
		_, _ = fmt.Fprint(flag.CommandLine.Output(), help)
		flag.PrintDefaults()
	}
	only := flag.String("only", "", "Findings, or names of runs, separated by commas; all if empty.")
	clean := flag.Int("clean", 0, "Number of runs with which nothing is wrong, instead of the others.")
	truth := flag.Bool("truth", false, "Compare figures with what was imposed, instead.")
	sampling := flag.Int("sampling", 0, "Number of pairs of runs with and without sampling of the target, instead.")
	calibrated := flag.String("calibrate", "", "Measure how figures of runs follow what is imposed, instead: nodebusy, nodebusy-spare, slower or memory.")
	list := flag.Bool("list", false, "List the runs and exit.")
	flag.Parse()
	chosen, err := choose(*only)
	if err == nil && (flag.NArg() > 0 || *clean < 0 || *sampling < 0) {
		err = fmt.Errorf("-clean and -sampling must not be negative, and there are no arguments: %v", flag.Args())
	}
	var levels *calibration
	if err == nil && *calibrated != "" {
		levels, err = calibrationOf(*calibrated)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "findings:", err)
		return 2
	}
	if *clean > 0 {
		chosen = cleanScenarios(*clean)
	}
	if *list {
		for i := range chosen {
			fmt.Println(chosen[i].describe())
		}
		return 0
	}
	c, err := local.Connect()
	if err != nil {
		fmt.Fprintln(os.Stderr, "findings:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	namespace, err := c.NewNamespace(ctx, "assay-findings-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "findings:", err)
		return 2
	}
	defer func() {
		if err := c.DeleteNamespace(ctx, namespace); err != nil {
			fmt.Fprintln(os.Stderr, "findings:", err)
		}
	}()
	switch {
	case *truth:
		return compareAll(ctx, c, namespace)
	case *sampling > 0:
		return compareSampling(ctx, c, namespace, *sampling)
	case levels != nil:
		return calibrate(ctx, c, namespace, levels)
	}
	return makeAll(ctx, c, namespace, chosen, *clean > 0)
}

// choose returns the scenarios with these names and those about these findings.
func choose(names string) ([]scenario, error) {
	if names == "" {
		return scenarios, nil
	}
	var chosen []scenario
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		known := false
		for i := range scenarios {
			s := &scenarios[i]
			if _, raised := s.raises[name]; !raised && s.name != name && !slices.Contains(s.near, name) {
				continue
			}
			known = true
			if !slices.ContainsFunc(chosen, func(c scenario) bool { return c.name == s.name }) {
				chosen = append(chosen, *s)
			}
		}
		if !known {
			return nil, fmt.Errorf("unknown finding or run %q: see -list", name)
		}
	}
	return chosen, nil
}

// makeAll makes the runs one after the other and returns the exit code. Of clean runs together, few may have a
// finding.
func makeAll(ctx context.Context, c *local.Cluster, namespace string, chosen []scenario, clean bool) int {
	began, wrong, warnings, invalid, broken := time.Now(), 0, 0, 0, 0
	for i := range chosen {
		s := &chosen[i]
		fmt.Println(s.describe())
		made, err := s.make(ctx, c, namespace, fmt.Sprintf("run-%d", i))
		if ctx.Err() != nil {
			return 130
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "findings: %s: %s\n", s.name, err)
			broken++
			continue
		}
		for _, line := range s.judge(made.Findings) {
			fmt.Println("  MISSED:", line)
			wrong++
		}
		for _, f := range made.Findings {
			fmt.Printf("  %s, %s: %s\n", f.Reason, strings.ToLower(string(f.Severity)), f.Message)
		}
		if clean {
			fmt.Println("  " + undisturbed(made))
		}
		w, inv := count(made.Findings)
		warnings, invalid = warnings+w, invalid+inv
	}
	fmt.Printf("\n%d runs, %d expectations missed, %d runs failed, %d findings that invalidate and %d that warn, in %s\n",
		len(chosen), wrong, broken, invalid, warnings, time.Since(began).Round(time.Second))
	switch {
	case broken > 0:
		return 2
	case wrong > 0, clean && (invalid > 0 || warnings > maxFalseWarnings):
		return 1
	}
	return 0
}

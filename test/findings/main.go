// Command findings provokes each finding on the local cluster, for real, and makes a run near it that must
// not have it. With -clean it makes runs with which nothing is wrong, of five kinds. With -truth it compares metrics
// of results with what was imposed on the target.
//
// It needs the native cluster of this machine (make cluster-up), on which Assay is installed, and
// root: it finds the processes of pods in /proc.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/assay-dev/assay/test/harness"
)

const help = `Usage: findings [flags]

Makes runs whose findings are known: one that provokes each finding, and one near it.

Examples:
  make test-findings ARGS='-list'                       the runs
  make test-findings                                    all of them
  make test-findings ARGS='-only NotSteady,overload'    those about a finding, or with a name
  make test-findings ARGS='-clean 30'                   30 runs of five kinds with which nothing is wrong
  make test-findings ARGS=-truth                        metrics of results and what was imposed on the server

It uses the cluster of $KUBECONFIG, whose nodes' processes must be visible on this machine.
Nothing else must use the cluster meanwhile.
`

type options struct {
	only        string
	clean       int
	truth, list bool
}

func main() {
	var o options
	flag.StringVar(&o.only, "only", "", "Findings, or names of runs, separated by commas; all if empty.")
	flag.IntVar(&o.clean, "clean", 0, "Number of runs with which nothing is wrong, instead of the others.")
	flag.BoolVar(&o.truth, "truth", false, "Compare metrics with what was imposed, instead.")
	flag.BoolVar(&o.list, "list", false, "List the runs and exit.")
	(&harness.Program{Name: "findings", Help: help, Run: func(ctx context.Context, _ []string) error { return run(ctx, &o) }}).Main()
}

func run(ctx context.Context, o *options) error {
	chosen, err := choose(o.only)
	if err != nil {
		return err
	}
	if o.clean < 0 {
		return errors.New("-clean must not be negative")
	}
	if o.clean > 0 {
		chosen = cleanScenarios(o.clean)
	}
	if o.list {
		for i := range chosen {
			fmt.Println(chosen[i].describe())
		}
		return nil
	}
	c, err := harness.Connect(harness.RequestTimeout)
	if err != nil {
		return err
	}
	return c.InNamespace(ctx, "assay-findings-", func(namespace string) error {
		if o.truth {
			return compareAll(ctx, c, namespace)
		}
		return makeAll(ctx, c, namespace, chosen, o.clean > 0)
	})
}

// choose returns the scenarios with these names and those about these findings.
func choose(names string) ([]scenario, error) {
	return harness.Choose(names, scenarios, func(s *scenario, name string) bool {
		_, raised := s.raises[name]
		return raised || s.name == name || slices.Contains(s.near, name)
	})
}

// makeAll makes the runs one after the other. Of clean runs together, few may have a finding.
func makeAll(ctx context.Context, c *harness.Cluster, namespace string, chosen []scenario, clean bool) error {
	began, wrong, warnings, invalid, broken := time.Now(), 0, 0, 0, 0
	for i := range chosen {
		s := &chosen[i]
		fmt.Println(s.describe())
		made, err := s.make(ctx, c, namespace, fmt.Sprintf("run-%d", i))
		if ctx.Err() != nil {
			return ctx.Err()
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
		return fmt.Errorf("%d runs could not be made", broken)
	case wrong > 0, clean && (invalid > 0 || warnings > maxFalseWarnings):
		return harness.ErrMissed
	}
	return nil
}

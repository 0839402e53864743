// Command chaos makes short runs on the local cluster and strikes each with a random fault at a
// random time: a manager that is killed, frozen or out of memory, a part of the control plane that is
// down, a pod that is deleted or evicted, a network or a disk that fails. After each fault it checks
// that the run has ended as it should, that no request was lost or counted twice, that nothing is
// left over, and that the next run works.
//
// It needs the native cluster of this machine (make cluster-up), on which Assay is installed, and
// root: it finds the processes of pods in /proc.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/assay-dev/assay/test/harness"
)

const help = `Usage: chaos [flags]

Makes short runs on the local cluster and strikes each with a random fault at a random time.
After each fault the run must have ended, with the right reason and the count of requests that
the server had; nothing may be left over, and the next run must work.

A seed determines the kinds of the faults, their times and their durations. So does the number
of a fault: -seed 7 -only 3 repeats the third fault of -seed 7.

Examples:
  make chaos ARGS='-list'                     the kinds of faults
  make chaos ARGS='-faults 200'               200 faults with a new seed
  make chaos ARGS='-seed 7 -only 3'           one fault again
  make chaos ARGS='-kinds manager-killed,etcd-stopped -faults 10'
  make test-chaos                             the short form, with a fixed seed

It uses the cluster of $KUBECONFIG, whose nodes' processes must be visible on this machine.
`

type options struct {
	seed    uint64
	faults  int
	only    int
	kinds   string
	list    bool
	maxHold time.Duration
	json    string
}

func main() {
	var o options
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().Unix()), "Seed of the faults. It is printed.")
	flag.IntVar(&o.faults, "faults", 20, "Number of faults.")
	flag.IntVar(&o.only, "only", 0, "Number of the only fault to make, from 1; 0 for all.")
	flag.StringVar(&o.kinds, "kinds", "", "Kinds of faults, separated by commas or spaces; all if empty. They determine the faults together with the seed.")
	flag.BoolVar(&o.list, "list", false, "List the kinds of faults and exit.")
	flag.DurationVar(&o.maxHold, "max-outage", 2*time.Minute, "Longest outage. It determines the faults together with the seed.")
	flag.StringVar(&o.json, "json", "", "File for the outcomes, as JSON.")
	(&harness.Program{Name: "chaos", Help: help, Run: func(ctx context.Context, _ []string) error { return run(ctx, &o) }}).Main()
}

func run(ctx context.Context, o *options) error {
	if o.list {
		for _, k := range kinds {
			fmt.Printf("%-26s %s\n", k.name, k.about)
		}
		return nil
	}
	chosen, err := choose(o.kinds)
	if err != nil {
		return err
	}
	connection, err := harness.Connect(harness.RequestTimeout)
	if err != nil {
		return err
	}
	return (&cluster{Cluster: connection}).chaos(ctx, o, draw(o.seed, o.faults, chosen, o.maxHold))
}

// chaos makes the faults.
func (c *cluster) chaos(ctx context.Context, o *options, faults []fault) error {
	fmt.Printf("seed %d, %d faults\n", o.seed, len(faults))
	if err := c.settle(ctx, nil); err != nil {
		return fmt.Errorf("the cluster is not ready: %w", err)
	}
	var outcomes []*outcome
	for i := range faults {
		if ctx.Err() != nil {
			break
		}
		if o.only == 0 || o.only == i+1 {
			outcome := c.try(ctx, i+1, &faults[i])
			if ctx.Err() != nil {
				break // the run was not waited for
			}
			fmt.Println(outcome.line())
			outcomes = append(outcomes, outcome)
		}
	}
	c.sweep.Wait()
	fmt.Print(table(outcomes))
	if o.json != "" {
		if err := write(o.json, o.seed, outcomes); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(outcomes, func(o *outcome) bool { return len(o.Problems) > 0 }) {
		return harness.ErrMissed
	}
	if slices.ContainsFunc(outcomes, func(o *outcome) bool { return o.Unmade != "" }) {
		return errors.New("not all faults could be made")
	}
	return nil
}

func write(file string, seed uint64, outcomes []*outcome) error {
	text, err := json.MarshalIndent(struct {
		Seed   uint64     `json:"seed"`
		Faults []*outcome `json:"faults"`
	}{seed, outcomes}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

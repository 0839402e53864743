// Command hostile attacks the manager of a cluster as tenants, as a pod without any right and as a client with a token, while the runs of
// another namespace go on.
package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/assay-dev/assay/test/harness"
)

const help = `Usage: hostile [flags]

Attacks the manager of the cluster of $KUBECONFIG as tenants with the role edit in a namespace each: each
attack alone, then four at a time, and all of that again until -duration is over, each at least once.
Beside them it makes runs and rounds in another namespace, whose counts must be exact. It prints the manager's
memory, its restarts and how long the others waited, with their bounds.

Examples:
  make test-hostile                                            all attacks, about ten minutes
  make test-hostile ARGS='-only totals,labels -duration 2m'
  make test-hostile ARGS='-list'                               the attacks

It needs the native cluster of this machine, on which Assay is installed, with the images of the tests, and root:
it finds the processes of pods in /proc. Nothing else must use the cluster meanwhile.
`

func main() {
	only := flag.String("only", "", "Attacks, separated by commas; all if empty.")
	duration := flag.Duration("duration", 10*time.Minute, "How long to attack in all. Each attack is made at least once.")
	length := flag.Duration("wave", 20*time.Second, "How long to make an attack, at least.")
	list := flag.Bool("list", false, "List the attacks and exit.")
	doors := flag.String("flood", "", "Hosts and ports to hold unfinished requests open at until interrupted, separated by commas. The program calls itself so in a pod's network.")
	(&harness.Program{Name: "hostile", Help: help, Run: func(ctx context.Context, _ []string) error {
		if *doors != "" {
			opened, closed := flood(ctx, strings.Split(*doors, ","), floodConnections)
			fmt.Printf(floodReport, opened, closed)
			return nil
		}
		chosen, err := harness.Choose(*only, tenantAttacks, func(a *tenantAttack, name string) bool { return a.name == name })
		if err != nil {
			return err
		}
		if *list {
			for i := range chosen {
				fmt.Printf("%-13s %s\n", chosen[i].name, chosen[i].about)
			}
			return nil
		}
		return attackAsTenants(ctx, chosen, *duration, *length)
	}}).Main()
}

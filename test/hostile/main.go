// Command hostile attacks a manager. With a pod's token it attacks the session server, as a pod could: it tries each kind of attack in
// turn, and prints how often each was tried and how it was refused. With -tenants it attacks the manager of a cluster as tenants and as
// a pod without any right, while the runs of another namespace go on.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/test/harness"
)

const help = `Usage: hostile [flags]

Attacks the session server of a manager as a pod could that has a run's token. It tries each kind of
attack in turn, and prints how often each was tried and how it was refused.

With -tenants it attacks the manager of the cluster of $KUBECONFIG as tenants with the role edit in a
namespace each, and as a pod without any right: each attack alone, then four at a time, and all of that
again until -duration is over. Beside them it makes runs and rounds in another namespace, whose counts must be
exact. It prints the manager's memory, its restarts and how long the others waited, with their bounds.

Examples:
  hostile -manager HOST:PORT -token FILE -ca FILE   attacks a manager
  hostile                                           attacks one in its own process
  hostile -tenants                                  attacks the manager of a cluster, about ten minutes
  hostile -tenants -only totals,labels -duration 2m
  hostile -tenants -list                            the attacks of tenants

With -tenants it needs the native cluster of this machine, on which Assay is installed, with the images of the
tests, and root: it finds the processes of pods in /proc.
`

type options struct {
	address, token, ca string
	duration, wave     time.Duration
	pid                int
	tenants, list      bool
	only, flood        string
}

func main() {
	var o options
	flag.StringVar(&o.address, "manager", "", "Host and port of the manager's session server. If empty, the program starts one in its own process.")
	flag.StringVar(&o.token, "token", session.TokenPath, "File with the token of a pod of a run.")
	flag.StringVar(&o.ca, "ca", session.CAPath, "File with the CA certificates of the manager.")
	flag.DurationVar(&o.duration, "duration", 0, "How long to attack: 5m if not set, and 10m with -tenants, which tries each attack at least once.")
	flag.IntVar(&o.pid, "pid", 0, "Process ID of the manager on this host, to read its memory.")
	flag.BoolVar(&o.tenants, "tenants", false, "Attack as tenants of the cluster.")
	flag.StringVar(&o.only, "only", "", "Attacks of tenants, separated by commas; all if empty.")
	flag.DurationVar(&o.wave, "wave", 20*time.Second, "How long tenants make an attack, at least.")
	flag.BoolVar(&o.list, "list", false, "List the attacks of tenants and exit.")
	flag.StringVar(&o.flood, "flood", "", "Hosts and ports to hold unfinished requests open at until interrupted, separated by commas. The program calls itself so in a pod's network.")
	(&harness.Program{Name: "hostile", Help: help, Run: func(ctx context.Context, _ []string) error { return run(ctx, &o) }}).Main()
}

func run(ctx context.Context, o *options) error {
	switch {
	case o.flood != "":
		opened, closed := flood(ctx, strings.Split(o.flood, ","), floodConnections)
		fmt.Printf(floodReport, opened, closed)
		return nil
	case !o.tenants && !o.list:
		if o.duration == 0 {
			o.duration = 5 * time.Minute
		}
		return attackSessions(ctx, o)
	}
	chosen, err := harness.Choose(o.only, tenantAttacks, func(a *tenantAttack, name string) bool { return a.name == name })
	if err != nil {
		return err
	}
	if o.list {
		for i := range chosen {
			fmt.Printf("%-13s %s\n", chosen[i].name, chosen[i].about)
		}
		return nil
	}
	if o.duration == 0 {
		o.duration = 10 * time.Minute
	}
	return attackAsTenants(ctx, chosen, o.duration, o.wave)
}

// attackSessions attacks a session server.
func attackSessions(ctx context.Context, o *options) error {
	ctx, cancel := context.WithTimeout(ctx, o.duration)
	defer cancel()
	var t *target
	var err error
	if o.address == "" {
		var local *local
		if local, err = startLocal(o.token); err != nil {
			return err
		}
		defer local.stop()
		t, o.pid = local.target, os.Getpid()
	} else if t, err = remote(o.address, o.token, o.ca); err != nil {
		return err
	}
	table := attackInTurn(ctx, t, 0, func() int64 { return resident(o.pid) })
	fmt.Print(table)
	return nil
}

// Command hostile attacks the session server of a manager, as a pod could that has a run's token: it
// tries each kind of attack in turn, and prints how often each was tried and how it was refused.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/test/harness"
)

const help = `Usage: hostile [flags]

Attacks the session server of a manager as a pod could that has a run's token. It tries each kind of
attack in turn, and prints how often each was tried and how it was refused.

Examples:
  hostile -manager HOST:PORT -token FILE -ca FILE   attacks a manager
  hostile                                           attacks one in its own process
`

func main() {
	var (
		address  = flag.String("manager", "", "Host and port of the manager's session server. If empty, the program starts one in its own process.")
		token    = flag.String("token", session.TokenPath, "File with the token of a pod of a run.")
		ca       = flag.String("ca", session.CAPath, "File with the CA certificates of the manager.")
		duration = flag.Duration("duration", 5*time.Minute, "How long to attack.")
		pid      = flag.Int("pid", 0, "Process ID of the manager on this host, to read its memory.")
	)
	(&harness.Program{Name: "hostile", Help: help, Run: func(ctx context.Context, _ []string) error {
		return run(ctx, *address, *token, *ca, *duration, *pid)
	}}).Main()
}

func run(ctx context.Context, address, token, ca string, duration time.Duration, pid int) error {
	ctx, cancel := context.WithTimeout(ctx, duration)
	defer cancel()
	var t *target
	var err error
	if address == "" {
		var local *local
		if local, err = startLocal(token); err != nil {
			return err
		}
		defer local.stop()
		t, pid = local.target, os.Getpid()
	} else if t, err = remote(address, token, ca); err != nil {
		return err
	}
	table := attackInTurn(ctx, t, 0, func() int64 { return resident(pid) })
	fmt.Print(table)
	return nil
}

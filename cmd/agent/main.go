// Command agent runs in the target's pod: before the server, to write what it
// serves, and beside it, to watch it.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/assay-dev/assay/internal/agent"
	"github.com/assay-dev/assay/internal/content"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// managerVariable is the environment variable with the manager's host and port.
const managerVariable = "ASSAY_MANAGER"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := &cobra.Command{
		Use:   "agent",
		Short: "Assay's part in the pod of a target",
		Long: `Assay's part in the pod of a target: an init container that writes the files
that the server serves, and a container beside the server's that asks it whether
it is ready and reads what it uses. Assay starts both; there is nothing to start by hand.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(contentCommand(), sampleCommand())
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1) //nolint:gocritic // stop only restores the signals of a process that is at its end
	}
}

func contentCommand() *cobra.Command {
	var list, folder string
	command := &cobra.Command{
		Use:   "content --list FILE --dir DIR",
		Short: "Write the files that the server serves",
		Long: `Writes each file of a list into a folder, in place of files that are there.
The bytes of a file depend on its path alone and can't be compressed: each run
serves the same; one with a source is a copy of that file. A path that leads out
of the folder is an error, and so is a source of another size.

The list is JSON: [{"path": "/js/app.js", "sizeBytes": 31819},
{"path": "/page.jsp", "sizeBytes": 512, "source": "/config/page.jsp"}, ...]`,
		Example: `  echo '[{"path": "/js/app.js", "sizeBytes": 31819}]' > list.json
  agent content --list list.json --dir /srv`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			files, err := content.ReadList(list)
			if err != nil {
				return err
			}
			return content.Write(folder, files)
		},
	}
	command.Flags().StringVar(&list, "list", "", "JSON file with the list of files")
	command.Flags().StringVar(&folder, "dir", "", "folder to write into; it must exist")
	for _, required := range []string{"list", "dir"} {
		cobra.CheckErr(command.MarkFlagRequired(required))
	}
	return command
}

func sampleCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "sample",
		Short: "Ask the server until it answers, then read what it uses each second",
		Long: `Attends a session with the manager. When told to, it asks the server for a path
until that is answered with success, and from the start of the load on reads
each second, from /proc, what the server's processes use: those of the pod that
aren't in the agent's own control group. The pod's containers must share their
process namespace (shareProcessNamespace: true). Open files and throttling can
be read only when the server runs as the same user.

It exits 0 when the manager has released it, and when it gets SIGTERM.

Environment:
  ` + managerVariable + `   host and port of the manager
Its token is in ` + session.TokenPath + `, the certificates by which it checks
the manager in ` + session.CAPath + `.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return sample(command.Context()) },
	}
}

func sample(ctx context.Context) error {
	manager := os.Getenv(managerVariable)
	if manager == "" {
		return errors.New("the environment variable " + managerVariable + " isn't set: this command is for pods that Assay starts")
	}
	sampler, err := agent.NewProcSampler("/proc")
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	attended := pod.New(pod.Mounted(manager, sessionpb.Role_ROLE_AGENT, log))
	if err := agent.Run(ctx, attended, sampler, log); err != nil {
		return fmt.Errorf("attend the session: %w", err)
	}
	return nil
}

// Command agent runs in the target's pod: before the server, to write what it
// serves, and beside it, to watch it.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/assay-dev/assay/internal/agent"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	root := &cobra.Command{
		Use:           "agent",
		Short:         "Assay's part in the pod of a target",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(contentCommand(), sampleCommand())
	err := root.ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func contentCommand() *cobra.Command {
	var list, folder string
	command := &cobra.Command{
		Use:   "content",
		Short: "Write the files that the server serves",
		Long: `Writes each file of a list into a folder. The bytes of a file depend on its
path alone and don't compress, so that every run serves the same.`,
		Example: `  echo '[{"path": "/js/app.js", "sizeBytes": 31819}]' > list.json
  agent content --list list.json --dir /srv`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			files, err := agent.ReadList(list)
			if err != nil {
				return err
			}
			return agent.WriteContent(folder, files)
		},
	}
	command.Flags().StringVar(&list, "list", "", "JSON file with the list: [{\"path\": ..., \"sizeBytes\": ...}]")
	command.Flags().StringVar(&folder, "dir", "", "folder to write into; it must exist")
	for _, required := range []string{"list", "dir"} {
		cobra.CheckErr(command.MarkFlagRequired(required))
	}
	return command
}

func sampleCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "sample",
		Short: "Watch the server: ask until it answers, then read what it uses each second",
		Long: `Attends a session with the manager, whose address is in $ASSAY_MANAGER, by the
token and the certificate that are mounted at ` + session.TokenPath + `
and ` + session.CAPath + `. Ends when the manager lets it.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			manager := os.Getenv("ASSAY_MANAGER")
			if manager == "" {
				return fmt.Errorf("$ASSAY_MANAGER must hold the manager's host and port")
			}
			sampler, err := agent.NewProcSampler("/proc")
			if err != nil {
				return err
			}
			log := slog.New(slog.NewTextHandler(os.Stderr, nil))
			attended := pod.New(pod.Config{
				Addresses: manager,
				Token: func() (string, error) {
					token, err := os.ReadFile(session.TokenPath)
					return string(token), err
				},
				CA:   func() ([]byte, error) { return os.ReadFile(session.CAPath) },
				Role: sessionpb.Role_ROLE_AGENT,
				Log:  log,
			})
			return agent.Run(command.Context(), attended, sampler, log)
		},
	}
}

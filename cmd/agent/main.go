// Command agent runs in the target's pod: as an init container that writes the content, and as a sidecar that probes and samples
// the server.
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
	"github.com/assay-dev/assay/internal/gclog"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// managerVariable is the environment variable with the manager's host and port.
const managerVariable = "ASSAY_MANAGER"

// version is set by the linker.
var version = "development"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := &cobra.Command{
		Use:   "agent",
		Short: "Init container and sidecar of a target's pod",
		Long: `Init container and sidecar of a target's pod. The init container writes the files
that the server serves. The sidecar probes whether the server is ready and samples
its resource usage. Assay starts both. Don't start them yourself.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version,
	}
	root.AddCommand(contentCommand(), sampleCommand())
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1) //nolint:gocritic // stop only restores the signal handlers of a process that exits
	}
}

func contentCommand() *cobra.Command {
	var list, directory string
	command := &cobra.Command{
		Use:   "content --list FILE --dir DIR",
		Short: "Write the files that the server serves",
		Long: `Writes each file of a list into a directory. Existing files are replaced. The
bytes of a file depend only on its path, so that each run serves the same, and can't
be compressed. A file with a source is a copy of it. A path outside the directory is
an error, and so is a source of another size.

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
			syscall.Umask(0o022) // the server may run as another user
			return content.Write(directory, files)
		},
	}
	command.Flags().StringVar(&list, "list", "", "JSON file with the list of files")
	command.Flags().StringVar(&directory, "dir", "", "existing directory to write into")
	for _, required := range []string{"list", "dir"} {
		cobra.CheckErr(command.MarkFlagRequired(required))
	}
	return command
}

func sampleCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "sample",
		Short: "Probe the server until it is ready, then sample its usage each second",
		Long: `Joins a session with the manager. When the manager orders it, the agent probes the
server until a probe succeeds. From the start of the load it samples each second,
from /proc, the usage of the server's processes: those of the pod that are not in
the agent's own control group; what happens around them on their CPUs, on the
node and in the pod's network; and the garbage collection logs in ` + gclog.Directory + `/CONTAINER. The pod's containers must share their process
namespace (shareProcessNamespace: true). Open files and throttling can be read only
if the server runs as the same user. The server can't read the agent's files and memory.

The exit code is 0 when the manager has released the agent, and on SIGTERM.

Environment:
  ` + managerVariable + `   host and port of the manager
Its token is in ` + session.TokenPath + `, the CA bundle for the manager's
certificate in ` + session.CAPath + `.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return sample(command.Context()) },
	}
}

func sample(ctx context.Context) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	switch late, err := agent.Protect(); {
	case err != nil:
		return err
	case late:
		log.Warn("Agent's program is readable, so that the server could look into the agent until now. Its mode must be 0111 in the image")
	}
	manager := os.Getenv(managerVariable)
	if manager == "" {
		return errors.New("the environment variable " + managerVariable + " is not set: this command is for pods that Assay starts")
	}
	sampler, err := agent.NewProcSampler("/proc", "/sys", gclog.Directory)
	if err != nil {
		return err
	}
	joined := pod.New(pod.Mounted(manager, sessionpb.Role_ROLE_AGENT, log))
	if err := agent.Run(ctx, joined, sampler, log); err != nil {
		return fmt.Errorf("run the session: %w", err)
	}
	return nil
}

package kind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"text/template"
	"time"

	"github.com/moby/sys/mount"

	"github.com/assay-dev/assay/hack/cluster/host"
	"github.com/assay-dev/assay/hack/cluster/process"
)

// Podman keeps everything of the cluster in directories of the cluster: its images, containers, volumes and
// networks. So this cluster and a user's containers don't see each other, and `down` can remove all of it.

// network is the network of the nodes.
const network = "assay-cluster-kind"

func (c Cluster) state(elem ...string) string {
	return filepath.Join(append([]string{c.State}, elem...)...)
}

// podmanUsed reports whether there is a cluster on podman, even an incomplete one.
func (c Cluster) podmanUsed() bool {
	_, err := os.Stat(c.State)
	return err == nil
}

// engine returns the program of the container engine.
func (c Cluster) engine() string {
	if c.podmanUsed() {
		return "podman"
	}
	return "docker"
}

// environment returns the environment of kind, podman and kubectl.
func (c Cluster) environment() []string {
	environment := append(os.Environ(), "KUBECACHEDIR="+filepath.Join(c.Run, "kubectl-cache"))
	if !c.podmanUsed() {
		return environment
	}
	return append(environment,
		"KIND_EXPERIMENTAL_PROVIDER=podman", "KIND_EXPERIMENTAL_PODMAN_NETWORK="+network,
		"CONTAINERS_CONF="+c.state("containers.conf"), "CONTAINERS_STORAGE_CONF="+c.state("storage.conf"), "TMPDIR="+c.state("tmp"))
}

// Without CAP_SYS_RESOURCE the limits of a container can't be above podman's own, as podman has them by
// default. Where it can't raise its own limit of open files to 1,048,576, it lowers that of processes to the same number. crun doesn't run on machines with both versions of cgroups. The engine manages cgroups itself, because a
// machine need not run systemd.
var containersConf = template.Must(template.New("").Parse(`[containers]
default_ulimits = ["nofile={{.Limit}}:{{.Limit}}", "nproc={{.Limit}}:{{.Limit}}"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
lock_type = "file"
tmp_dir = "{{.Run}}/libpod"
[network]
network_backend = "netavark"
network_config_dir = "{{.State}}/networks"
`))

var storageConf = template.Must(template.New("").Parse(`[storage]
driver = "overlay"
graphroot = "{{.State}}/storage"
runroot = "{{.Run}}/storage"
`))

// createdDirs lists the directories outside of the cluster's own that podman and its programs create. kind
// mounts the kernel's modules into its nodes.
var createdDirs = []string{"/lib/modules", "/run/netns", "/run/containers/networks", "/run/containers", "/run/runc", "/var/lib/containers/cache", "/var/lib/containers"}

// The limit of open files and of processes that podman gives to a container by default.
const defaultLimit = 1 << 20

func (c Cluster) upOnPodman(ctx context.Context, nodes int, report func(string, ...any)) error {
	if os.Geteuid() != 0 {
		return errors.New("no Docker engine is running, and podman runs kind's nodes as root: run this as root")
	}
	for _, program := range []string{"podman", "runc", "nft"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("no Docker engine is running, and %s is not installed (`make kind-deps` installs it): %w", program, err)
		}
	}
	if err := c.checkArchive(); err != nil {
		return err
	}
	lock, err := host.Lock(c.Run, report)
	if err != nil {
		return err
	}
	defer lock.Close()

	complete := c.state("complete")
	if _, err := os.Stat(complete); err == nil {
		return c.startOnPodman(ctx, nodes, report)
	}
	if c.podmanUsed() {
		report("kind cluster %s: removing what an interrupted `up` left", name)
		if err := errors.Join(c.killCommands(), c.removeContainers(ctx)); err != nil {
			return err
		}
	}
	if err := c.prepare(); err != nil {
		return err
	}
	if c.command(ctx, nil, "podman", "image", "exists", ownImage) != nil {
		report("image  %s: loading", ownImage)
		if err := c.command(ctx, nil, "podman", "load", "--quiet", "--input", c.archive()); err != nil {
			return err
		}
	}
	if c.command(ctx, nil, "podman", "network", "exists", network) != nil {
		if err := c.command(ctx, nil, "podman", "network", "create", "--subnet", nodeRange, network); err != nil {
			return err
		}
	}
	if err := c.create(ctx, nodes, ownImage, report); err != nil {
		return err
	}
	return os.WriteFile(complete, nil, 0o644)
}

// startOnPodman starts the containers of a complete cluster again, if the machine has been restarted.
func (c Cluster) startOnPodman(ctx context.Context, nodes int, report func(string, ...any)) error {
	if err := c.prepare(); err != nil {
		return err
	}
	if err := c.checkNodes(ctx, nodes); err != nil {
		return err
	}
	containers, err := c.nodes(ctx)
	if err != nil {
		return err
	}
	running, err := c.output(ctx, nil, "podman", append([]string{"inspect", "--format", "{{.State.Running}}"}, containers...)...)
	if err != nil {
		return err
	}
	var since time.Time
	if strings.Contains(running, "false") {
		since = time.Now()
		report("kind cluster %s: starting its nodes", name)
		if err := c.command(ctx, nil, "podman", append([]string{"start"}, containers...)...); err != nil {
			return err
		}
	}
	if err := c.kind(ctx, nil, "export", "kubeconfig", "--name", name, "--kubeconfig", c.Kubeconfig); err != nil {
		return err
	}
	return c.settle(ctx, since, report)
}

// prepare records the state of the machine and writes podman's configuration.
func (c Cluster) prepare() error {
	if err := host.Record(c.hostRecord(), createdDirs); err != nil {
		return err
	}
	if err := c.recordTraces(); err != nil {
		return err
	}
	for _, dir := range []string{"/lib/modules", c.state("tmp")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return err
	}
	values := map[string]any{"Limit": min(files.Max, defaultLimit), "State": c.State, "Run": c.Run}
	for file, content := range map[string]*template.Template{"containers.conf": containersConf, "storage.conf": storageConf} {
		var text strings.Builder
		if err := content.Execute(&text, values); err != nil {
			return err
		}
		if err := os.WriteFile(c.state(file), []byte(text.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// removeContainers removes all containers of the cluster and their volumes.
func (c Cluster) removeContainers(ctx context.Context) error {
	if _, err := os.Stat(c.state("containers.conf")); errors.Is(err, os.ErrNotExist) {
		return nil // podman has not been called yet
	}
	return errors.Join(
		c.command(ctx, nil, "podman", "rm", "--all", "--force", "--time", "0", "--volumes"),
		c.command(ctx, nil, "podman", "volume", "rm", "--all", "--force"))
}

// killCommands kills commands of kind and podman on this cluster, which continue when `up` has been killed.
func (c Cluster) killCommands() error {
	for _, name := range []string{"kind", "podman"} { // kind starts podman
		files, err := filepath.Glob("/proc/[0-9]*/comm")
		if err != nil {
			return err
		}
		for _, file := range files {
			dir := filepath.Dir(file)
			command, _ := os.ReadFile(file) // the process may have exited
			environment, _ := os.ReadFile(filepath.Join(dir, "environ"))
			if strings.TrimSpace(string(command)) != name || !strings.Contains(string(environment), "CONTAINERS_CONF="+c.state("containers.conf")) {
				continue
			}
			pid, err := strconv.Atoi(filepath.Base(dir))
			if err != nil {
				return err
			}
			if id, err := process.Find(pid); err == nil {
				if err := id.Stop(0); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// downOnPodman removes the cluster. It tries every step, whatever state an interrupted command has left, and
// returns the errors of all steps.
func (c Cluster) downOnPodman(ctx context.Context, report func(string, ...any)) error {
	if os.Geteuid() != 0 {
		return errors.New("podman runs kind's nodes as root: run this as root")
	}
	lock, err := host.Lock(c.Run, report)
	if err != nil {
		return err
	}
	defer lock.Close()
	report("kind cluster %s: deleting", name)

	var failed error
	step := func(what string, do func() error) {
		if err := do(); err != nil {
			report("%s: %v", what, err)
			failed = errors.Join(failed, fmt.Errorf("%s: %w", what, err))
		}
	}
	step("stop commands that are still running", c.killCommands)
	step("remove the nodes", func() error { return c.removeContainers(ctx) })
	if _, err := os.Stat(c.state("networks", network+".json")); err == nil {
		step("remove the network", func() error { return c.command(ctx, nil, "podman", "network", "rm", "--force", network) })
	}
	step("unmount", func() error { return errors.Join(mount.RecursiveUnmount(c.State), mount.RecursiveUnmount(c.Run)) })
	step("remove what podman leaves", func() error { return c.removeTraces(c.Shared != nil && c.Shared(), report) })
	if failed != nil {
		// Keep the records, so that the next `down` can finish.
		return failed
	}
	step("remove "+c.State, func() error { return os.RemoveAll(c.State) })
	step("remove "+c.Run, func() error { return os.RemoveAll(c.Run) })
	if failed == nil {
		report("cluster removed")
	}
	return failed
}

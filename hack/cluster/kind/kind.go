// Package kind runs the local cluster with kind, in containers of a Docker engine or of podman.
package kind

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	name = "assay"
	// publishedImage is the default node image of this version of kind.
	publishedImage = "kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5"
	// ownImage is the node image that hack/kind builds. Its archive is among the cluster's images.
	ownImage   = "localhost/assay-test/kind-node:dev"
	ownArchive = "kind-node.tar"
)

// Cluster is a cluster that kind manages.
type Cluster struct {
	// Bin holds the programs kind and kubectl, Images the archive of the node image.
	Bin, Images string
	// State holds podman's persistent files and Run the others. A Docker engine has its own.
	State, Run string
	// Kubeconfig is the file that Up writes.
	Kubeconfig string
	// Shared reports whether another cluster of this machine needs the kernel's settings.
	Shared func() bool
}

func (c Cluster) program(name string) string { return filepath.Join(c.Bin, name) }

// Available reports whether a Docker engine is running and has kind's node image or can pull it.
func (c Cluster) Available(ctx context.Context) bool {
	if _, err := os.Stat(c.program("kind")); err != nil {
		return false
	}
	return dockerRuns(ctx) && publishedImageHere(ctx)
}

func dockerRuns(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return exec.CommandContext(ctx, "docker", "info").Run() == nil
}

func publishedImageHere(ctx context.Context) bool {
	if exec.CommandContext(ctx, "docker", "image", "inspect", publishedImage).Run() == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	return exec.CommandContext(ctx, "docker", "pull", publishedImage).Run() == nil
}

// Exists reports whether there is a cluster, even an incomplete one.
func (c Cluster) Exists(ctx context.Context) bool {
	if c.podmanUsed() {
		return true
	}
	if _, err := exec.LookPath("docker"); err != nil {
		return false
	}
	out, err := exec.CommandContext(ctx, c.program("kind"), "get", "clusters").Output()
	return err == nil && slices.Contains(strings.Fields(string(out)), name)
}

// Up creates the cluster unless it exists, and writes its kubeconfig. It uses a Docker engine if one is running, and
// podman otherwise. It returns when the nodes are ready and CoreDNS is available.
//
// nodes is the number of nodes of a new cluster, or 0 for 1. If it isn't zero, an existing cluster must have as many.
func (c Cluster) Up(ctx context.Context, nodes int, report func(string, ...any)) error {
	if c.Kubeconfig == "" {
		return errors.New("--kubeconfig-copy must be set with kind")
	}
	if err := os.MkdirAll(filepath.Dir(c.Kubeconfig), 0o755); err != nil {
		return err
	}
	if c.podmanUsed() || !dockerRuns(ctx) {
		return c.upOnPodman(ctx, nodes, report)
	}
	if c.Exists(ctx) {
		if err := c.checkNodes(ctx, nodes); err != nil {
			return err
		}
		report("kind cluster %s exists", name)
		return c.kind(ctx, nil, "export", "kubeconfig", "--name", name, "--kubeconfig", c.Kubeconfig)
	}
	if publishedImageHere(ctx) {
		return c.create(ctx, nodes, publishedImage, report)
	}
	report("kind's published node image can't be pulled: using %s", ownImage)
	if exec.CommandContext(ctx, "docker", "image", "inspect", ownImage).Run() != nil {
		if err := c.checkArchive(); err != nil {
			return err
		}
		if err := c.command(ctx, nil, "docker", "load", "--quiet", "--input", c.archive()); err != nil {
			return err
		}
	}
	return c.create(ctx, nodes, ownImage, report)
}

func (c Cluster) archive() string { return filepath.Join(c.Images, ownArchive) }

func (c Cluster) checkArchive() error {
	if _, err := os.Stat(c.archive()); err != nil {
		return fmt.Errorf("the node image is not built (`make kind-node-image` builds it): %w", err)
	}
	return nil
}

// create creates a cluster whose nodes run an image. The own image needs a pod network and CoreDNS afterwards, and its
// nodes become ready with these; the published one brings them with it.
func (c Cluster) create(ctx context.Context, nodes int, image string, report func(string, ...any)) error {
	list, err := nodesOf(nodes)
	if err != nil {
		return err
	}
	config, err := configuration(list, image == ownImage)
	if err != nil {
		return err
	}
	report("kind cluster %s: creating", name)
	args := []string{"create", "cluster", "--name", name, "--image", image, "--config", "-", "--kubeconfig", c.Kubeconfig}
	if image != ownImage {
		args = append(args, "--wait", "120s")
	}
	if err := c.kind(ctx, strings.NewReader(config), args...); err != nil || image != ownImage {
		return err
	}
	return c.settle(ctx, time.Time{}, report)
}

// checkNodes returns an error unless the existing cluster has the wanted number of nodes.
func (c Cluster) checkNodes(ctx context.Context, want int) error {
	have, err := c.nodes(ctx)
	if err != nil || want == 0 || want == len(have) {
		return err
	}
	return fmt.Errorf("the cluster has been created with --nodes %d: run `make cluster-down` first", len(have))
}

// nodes returns the names of the nodes' containers, the control plane's first.
func (c Cluster) nodes(ctx context.Context) ([]string, error) {
	cmd := exec.CommandContext(ctx, c.program("kind"), "get", "nodes", "--name", name)
	cmd.Env = c.environment()
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("kind get nodes: %w", err)
	}
	names := strings.Fields(string(out))
	slices.Sort(names) // assay-control-plane, assay-worker
	return names, nil
}

// Down deletes the cluster.
func (c Cluster) Down(ctx context.Context, report func(string, ...any)) error {
	if c.podmanUsed() {
		return c.downOnPodman(ctx, report)
	}
	report("kind cluster %s: deleting", name)
	return c.kind(ctx, nil, "delete", "cluster", "--name", name, "--kubeconfig", c.Kubeconfig)
}

// Status prints the cluster's nodes.
func (c Cluster) Status(ctx context.Context, out io.Writer) error {
	if !c.Exists(ctx) {
		return errors.New("cluster not found; `up` creates one")
	}
	cmd := exec.CommandContext(ctx, c.program("kubectl"), "--kubeconfig", c.Kubeconfig, "get", "nodes", "-o", "wide")
	cmd.Stdout, cmd.Stderr = out, out
	return cmd.Run()
}

// kind runs a command of kind with the cluster's container engine.
func (c Cluster) kind(ctx context.Context, in io.Reader, args ...string) error {
	return c.command(ctx, in, c.program("kind"), args...)
}

// command runs a program with the environment of the cluster's container engine.
func (c Cluster) command(ctx context.Context, in io.Reader, program string, args ...string) error {
	_, err := c.output(ctx, in, program, args...)
	return err
}

// output is like command and returns what the program wrote to its standard output.
func (c Cluster) output(ctx context.Context, in io.Reader, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin, cmd.Env = in, c.environment()
	var out, errors bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errors
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(program), args[0], err, bytes.TrimSpace(errors.Bytes()))
	}
	return out.String(), nil
}

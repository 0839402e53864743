// Package kind runs the local cluster with kind, in a container of a Docker engine.
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

const name = "assay"

// nodeImage is the default node image of this version of kind. Available checks
// that the engine has it or can pull it.
const nodeImage = "kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5"

// config sets the static CPU manager policy, as on the native cluster.
const config = `kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
nodes:
- role: control-plane
kubeadmConfigPatches:
- |
  kind: KubeletConfiguration
  cpuManagerPolicy: static
  kubeReserved: {cpu: 100m}
  serializeImagePulls: false
  failCgroupV1: false
`

// Cluster is a cluster that kind manages. Program is the path of kind, Kubeconfig that of the file
// which Up writes.
type Cluster struct{ Program, Kubeconfig string }

// Available reports whether a Docker engine is running and has the node image or can pull it.
func (c Cluster) Available(ctx context.Context) bool {
	if _, err := os.Stat(c.Program); err != nil {
		return false
	}
	if _, err := exec.LookPath("docker"); err != nil {
		return false
	}
	checking, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if exec.CommandContext(checking, "docker", "info").Run() != nil {
		return false
	}
	if exec.CommandContext(ctx, "docker", "image", "inspect", nodeImage).Run() == nil {
		return true
	}
	pulling, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	return exec.CommandContext(pulling, "docker", "pull", nodeImage).Run() == nil
}

// Exists reports whether the cluster exists.
func (c Cluster) Exists(ctx context.Context) bool {
	if _, err := exec.LookPath("docker"); err != nil {
		return false
	}
	out, err := exec.CommandContext(ctx, c.Program, "get", "clusters").Output()
	return err == nil && slices.Contains(strings.Fields(string(out)), name)
}

// Up creates the cluster unless it exists, and writes its kubeconfig. It can't create a second node.
func (c Cluster) Up(ctx context.Context, nodes int, report func(string, ...any)) error {
	if nodes > 1 {
		return errors.New("only the native cluster can have a second node: set CLUSTER_ENGINE=native")
	}
	if c.Kubeconfig == "" {
		return errors.New("--kubeconfig-copy must be set with kind")
	}
	if err := os.MkdirAll(filepath.Dir(c.Kubeconfig), 0o755); err != nil {
		return err
	}
	if c.Exists(ctx) {
		report("kind cluster %s exists", name)
		return c.run(ctx, nil, "export", "kubeconfig", "--name", name, "--kubeconfig", c.Kubeconfig)
	}
	report("kind cluster %s: creating", name)
	return c.run(ctx, strings.NewReader(config), "create", "cluster", "--name", name, "--image", nodeImage,
		"--config", "-", "--kubeconfig", c.Kubeconfig, "--wait", "120s")
}

// Down deletes the cluster.
func (c Cluster) Down(ctx context.Context, report func(string, ...any)) error {
	report("kind cluster %s: deleting", name)
	return c.run(ctx, nil, "delete", "cluster", "--name", name)
}

// Load loads the images of an archive into the cluster's node.
func (c Cluster) Load(ctx context.Context, archive string, report func(string, ...any)) error {
	report("image  %s: loading into kind", filepath.Base(archive))
	return c.run(ctx, nil, "load", "image-archive", archive, "--name", name)
}

// Status prints the cluster's node.
func (c Cluster) Status(ctx context.Context, out io.Writer) error {
	if !c.Exists(ctx) {
		return errors.New("cluster not found; `up` creates one")
	}
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(c.Program), "kubectl"), "--kubeconfig", c.Kubeconfig, "get", "nodes", "-o", "wide")
	cmd.Stdout, cmd.Stderr = out, out
	return cmd.Run()
}

func (c Cluster) run(ctx context.Context, in io.Reader, args ...string) error {
	cmd := exec.CommandContext(ctx, c.Program, args...)
	cmd.Stdin = in
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kind %s: %w: %s", args[0], err, bytes.TrimSpace(out))
	}
	return nil
}

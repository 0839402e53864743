package native

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/assay-dev/assay/hack/cluster/archive"
)

// dialRuntime connects to the node's containerd.
func (l Layout) dialRuntime() (*grpc.ClientConn, error) {
	return grpc.NewClient("unix://"+l.containerdSocket(), grpc.WithTransportCredentials(insecure.NewCredentials()))
}

// waitRuntime waits until containerd serves the CRI: after it has created its socket, and has
// recovered the pods that it finds on the disk.
func (l Layout) waitRuntime(ctx context.Context) error {
	conn, err := l.dialRuntime()
	if err != nil {
		return err
	}
	defer conn.Close()
	waiting, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	_, err = waitFor(waiting, 30*time.Second, func() error {
		_, err := cri.NewRuntimeServiceClient(conn).Version(waiting, &cri.VersionRequest{}, grpc.WaitForReady(true))
		return err
	})
	return err
}

// removePods stops and removes all pods, so that the network plugins release their
// interfaces, namespaces and addresses.
func (l Layout) removePods(ctx context.Context) error {
	conn, err := l.dialRuntime()
	if err != nil {
		return err
	}
	defer conn.Close()
	runtime := cri.NewRuntimeServiceClient(conn)
	list, err := runtime.ListPodSandbox(ctx, &cri.ListPodSandboxRequest{})
	if err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	failures := make([]error, len(list.Items))
	var group sync.WaitGroup
	for i, pod := range list.Items {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
			defer cancel()
			if _, err := runtime.StopPodSandbox(ctx, &cri.StopPodSandboxRequest{PodSandboxId: pod.Id}); err != nil {
				failures[i] = fmt.Errorf("stop pod %s: %w", pod.Metadata.GetName(), err)
				return
			}
			if _, err := runtime.RemovePodSandbox(ctx, &cri.RemovePodSandboxRequest{PodSandboxId: pod.Id}); err != nil {
				failures[i] = fmt.Errorf("remove pod %s: %w", pod.Metadata.GetName(), err)
			}
		})
	}
	group.Wait()
	return errors.Join(failures...)
}

// Load imports an image archive on all nodes unless its images are already loaded. It calls
// report with what it did.
func (l Layout) Load(ctx context.Context, file string, report func(string, ...any)) error {
	if err := l.load(ctx, file, report); err != nil || !l.hasSecond() {
		return err
	}
	if l.held(secondNode.name) {
		report("image  node %s is stopped: load %s again after its start", secondNode.name, filepath.Base(file))
		return nil
	}
	return l.second().load(ctx, file, report)
}

// load imports an image archive on the node.
func (l Layout) load(ctx context.Context, file string, report func(string, ...any)) error {
	images, err := archive.Read(file)
	if err != nil {
		return err
	}
	conn, err := l.dialRuntime()
	if err != nil {
		return err
	}
	defer conn.Close()
	service := cri.NewImageServiceClient(conn)

	var replaced []string
	present := true
	for _, image := range images {
		for _, tag := range image.RepoTags {
			status, err := service.ImageStatus(ctx, &cri.ImageStatusRequest{Image: &cri.ImageSpec{Image: tag}})
			if err != nil {
				return fmt.Errorf("look for image %s: %w", tag, err)
			}
			if old := status.Image.GetId(); old != image.ID() {
				present = false
				if old != "" {
					replaced = append(replaced, old)
				}
			}
		}
	}
	if present {
		report("image  %s: already loaded on %s", archive.Tags(images), l.node().name)
		return nil
	}
	cmd := exec.CommandContext(ctx, "ctr", "--address", l.containerdSocket(), "--namespace", "k8s.io",
		"images", "import", file)
	// Kill ctr if this program is killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("import %s: %w: %s", file, err, bytes.TrimSpace(out))
	}
	report("image  %s: loaded on %s", archive.Tags(images), l.node().name)

	// Remove the replaced images that have no tag left.
	for _, id := range replaced {
		status, err := service.ImageStatus(ctx, &cri.ImageStatusRequest{Image: &cri.ImageSpec{Image: id}})
		if err == nil && status.Image != nil && len(status.Image.RepoTags) == 0 {
			_, _ = service.RemoveImage(ctx, &cri.RemoveImageRequest{Image: &cri.ImageSpec{Image: id}})
		}
	}
	return nil
}

package native

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// dialRuntime connects to the cluster's containerd.
func (l Layout) dialRuntime() (*grpc.ClientConn, error) {
	return grpc.NewClient("unix://"+l.containerdSocket(), grpc.WithTransportCredentials(insecure.NewCredentials()))
}

// waitRuntime waits until containerd serves the CRI, shortly after it has created its socket.
func (l Layout) waitRuntime(ctx context.Context) error {
	conn, err := l.dialRuntime()
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = cri.NewRuntimeServiceClient(conn).Version(ctx, &cri.VersionRequest{}, grpc.WaitForReady(true))
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

// Package harness holds what the programs in test/ share: command lines and exit codes (Program), measured values with
// their bounds (Checks), and the local cluster, whose nodes' processes are visible on this machine, with its namespaces
// and runs (Cluster).
package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
)

const (
	// ServerImage is the image of test/server.
	ServerImage = "localhost/assay-test/server:dev"
	// OperatorNamespace is the namespace of the manager.
	OperatorNamespace = "assay-system"
	// ManagerContainer is the container of the manager in its pod.
	ManagerContainer = "manager"

	// RequestTimeout is a timeout for programs that have to notice when the API server is away.
	RequestTimeout = 5 * time.Second

	pollInterval = 200 * time.Millisecond
)

// ManagerLabels select the manager's pods.
var ManagerLabels = client.MatchingLabels{"app.kubernetes.io/name": "assay", "app.kubernetes.io/component": "manager"}

// ClientLabels select the pod of one client of a run.
func ClientLabels(run *v1alpha1.BenchmarkRun, index int) client.MatchingLabels {
	return client.MatchingLabels{
		manifest.LabelRunUID: string(run.UID), manifest.LabelRole: manifest.RoleClient,
		"batch.kubernetes.io/job-completion-index": strconv.Itoa(index),
	}
}

// TargetLabels select the pod of a run's target.
func TargetLabels(run *v1alpha1.BenchmarkRun) client.MatchingLabels {
	return client.MatchingLabels{manifest.LabelRunUID: string(run.UID), manifest.LabelRole: manifest.RoleTarget}
}

// Cluster is the cluster of KUBECONFIG.
type Cluster struct {
	client.Client
	Kube *kubernetes.Clientset
	// Config is for further clients. It has no timeout.
	Config   *rest.Config
	watching client.WithWatch
}

// Watch implements client.WithWatch.
func (c *Cluster) Watch(ctx context.Context, list client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
	return c.watching.Watch(ctx, list, options...)
}

// Connect returns the cluster of KUBECONFIG. Requests but watches time out after a time, or never if it is 0.
func Connect(timeout time.Duration) (*Cluster, error) {
	ctrl.SetLogger(logr.Discard())
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("load kubeconfig (is KUBECONFIG set?): %w", err)
	}
	config.QPS, config.Burst = 100, 200
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	bounded := rest.CopyConfig(config)
	bounded.Timeout = timeout
	c, err := client.New(bounded, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	watching, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	kube, err := kubernetes.NewForConfig(bounded)
	return &Cluster{Client: c, Kube: kube, Config: config, watching: watching}, err
}

// Await polls until done returns no error. It returns the last error if that takes longer than limit.
func Await(ctx context.Context, limit time.Duration, done func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := done(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("after %s: %w", limit, err)
		case <-time.After(pollInterval):
		}
	}
}

// Retry repeats a call to an API server that may be away for a moment.
func Retry(ctx context.Context, call func(context.Context) error) error {
	return Await(ctx, time.Minute, call)
}

// Sleep waits for a time, or until ctx is done.
func Sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Parallel calls do with each number below n, by several workers at a time. A worker ends with its first error, or when ctx is done.
func Parallel(ctx context.Context, n int, do func(i int) error) error {
	const workers = 16
	failures := make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := w; i < n && failures[w] == nil; i += workers {
				failures[w] = errors.Join(ctx.Err(), do(i))
			}
		})
	}
	all.Wait()
	return errors.Join(failures...)
}

// Pods returns the pods of a namespace with these labels that aren't being deleted.
func (c *Cluster) Pods(ctx context.Context, namespace string, labels client.MatchingLabels) ([]corev1.Pod, error) {
	var list corev1.PodList
	if err := c.List(ctx, &list, client.InNamespace(namespace), labels); err != nil {
		return nil, err
	}
	var live []corev1.Pod
	for _, pod := range list.Items {
		if pod.DeletionTimestamp.IsZero() {
			live = append(live, pod)
		}
	}
	return live, nil
}

// Pod returns the only pod with these labels.
func (c *Cluster) Pod(ctx context.Context, namespace string, labels client.MatchingLabels) (*corev1.Pod, error) {
	pods, err := c.Pods(ctx, namespace, labels)
	if err != nil {
		return nil, err
	}
	if len(pods) != 1 {
		return nil, fmt.Errorf("%d pods with labels %v, want 1", len(pods), labels)
	}
	return &pods[0], nil
}

// Manager returns the manager's only pod.
func (c *Cluster) Manager(ctx context.Context) (*corev1.Pod, error) {
	return c.Pod(ctx, OperatorNamespace, ManagerLabels)
}

// ManagerProcess returns the process ID of the manager.
func (c *Cluster) ManagerProcess(ctx context.Context) (int, error) {
	pod, err := c.Manager(ctx)
	if err != nil {
		return 0, err
	}
	return Process(pod, ManagerContainer)
}

// Process returns the ID of the first process of a running container.
func Process(pod *corev1.Pod, container string) (int, error) {
	for _, status := range pod.Status.ContainerStatuses {
		_, id, _ := strings.Cut(status.ContainerID, "://")
		if status.Name != container || id == "" || status.State.Running == nil {
			continue
		}
		return FirstProcess(id)
	}
	return 0, fmt.Errorf("container %s of pod %s isn't running", container, pod.Name)
}

// FirstProcess returns the lowest process ID in the control groups of a container.
func FirstProcess(containerID string) (int, error) {
	files, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		return 0, err
	}
	lowest := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(text, []byte(containerID)) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && (lowest == 0 || pid < lowest) {
			lowest = pid
		}
	}
	if containerID == "" || lowest == 0 {
		return 0, fmt.Errorf("container %q has no process on this machine", containerID)
	}
	return lowest, nil
}

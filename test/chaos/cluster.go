package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
)

const (
	serverImage       = "localhost/assay-test/server:dev"
	operatorNamespace = "assay-system"
	managerContainer  = "manager"
	pollInterval      = 200 * time.Millisecond
)

// managerLabels select the manager's pods.
var managerLabels = client.MatchingLabels{"app.kubernetes.io/name": "assay", "app.kubernetes.io/component": "manager"}

// cluster is the cluster of KUBECONFIG.
type cluster struct {
	client.Client
	kube *kubernetes.Clientset
	// sweep counts the deletions that are still checked.
	sweep sync.WaitGroup
}

func connect() (*cluster, error) {
	ctrl.SetLogger(logr.Discard())
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("load kubeconfig (is KUBECONFIG set?): %w", err)
	}
	config.QPS, config.Burst, config.Timeout = 100, 200, 5*time.Second
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	kube, err := kubernetes.NewForConfig(config)
	return &cluster{Client: c, kube: kube}, err
}

// await polls until done returns no error. It returns the last error if that takes longer than limit.
func await(ctx context.Context, limit time.Duration, done func(context.Context) error) error {
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

// retry repeats a call to an API server that may be away for a moment.
func retry(ctx context.Context, call func(context.Context) error) error {
	return await(ctx, time.Minute, call)
}

// pods returns the pods of a namespace with these labels that aren't being deleted.
func (c *cluster) pods(ctx context.Context, namespace string, labels client.MatchingLabels) ([]corev1.Pod, error) {
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

// pod returns the only pod with these labels.
func (c *cluster) pod(ctx context.Context, namespace string, labels client.MatchingLabels) (*corev1.Pod, error) {
	pods, err := c.pods(ctx, namespace, labels)
	if err != nil {
		return nil, err
	}
	if len(pods) != 1 {
		return nil, fmt.Errorf("%d pods with labels %v, want 1", len(pods), labels)
	}
	return &pods[0], nil
}

func (c *cluster) manager(ctx context.Context) (*corev1.Pod, error) {
	return c.pod(ctx, operatorNamespace, managerLabels)
}

// clientLabels select a client of a run.
func clientLabels(run *v1alpha1.BenchmarkRun, index int) client.MatchingLabels {
	return client.MatchingLabels{
		manifest.LabelRunUID: string(run.UID), manifest.LabelRole: manifest.RoleClient,
		"batch.kubernetes.io/job-completion-index": strconv.Itoa(index),
	}
}

func targetLabels(run *v1alpha1.BenchmarkRun) client.MatchingLabels {
	return client.MatchingLabels{manifest.LabelRunUID: string(run.UID), manifest.LabelRole: manifest.RoleTarget}
}

// process returns the first process of a running container.
func process(pod *corev1.Pod, container string) (int, error) {
	for _, status := range pod.Status.ContainerStatuses {
		_, id, _ := strings.Cut(status.ContainerID, "://")
		if status.Name != container || id == "" || status.State.Running == nil {
			continue
		}
		files, err := filepath.Glob("/proc/[0-9]*/cgroup")
		if err != nil {
			return 0, err
		}
		lowest := 0
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil || !bytes.Contains(text, []byte(id)) {
				continue
			}
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if err == nil && (lowest == 0 || pid < lowest) {
				lowest = pid
			}
		}
		if lowest != 0 {
			return lowest, nil
		}
	}
	return 0, fmt.Errorf("container %s of pod %s has no process on this machine", container, pod.Name)
}

// settle waits until all parts of the cluster are healthy and exactly one manager works. A manager
// that was restarted is replaced, so that the kubelet's backoff starts from its beginning.
func (c *cluster) settle(ctx context.Context, o *outcome) error {
	var replaced string
	return await(ctx, 3*time.Minute, func(ctx context.Context) error {
		if out, err := exec.CommandContext(ctx, "assay-cluster", "status").CombinedOutput(); err != nil {
			return fmt.Errorf("assay-cluster status: %w\n%s", err, out)
		}
		pod, err := c.manager(ctx)
		if err != nil {
			return err
		}
		if len(pod.Status.ContainerStatuses) == 0 {
			return fmt.Errorf("manager %s has not started", pod.Name)
		}
		status := pod.Status.ContainerStatuses[0]
		if status.RestartCount > 0 && o != nil && pod.Name != replaced {
			replaced = pod.Name
			return errors.Join(errors.New("a new manager starts"), client.IgnoreNotFound(c.Delete(ctx, pod)))
		}
		if !status.Ready {
			return fmt.Errorf("manager %s is not ready", pod.Name)
		}
		return nil
	})
}

// command runs a program and returns its output as part of an error.
func command(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

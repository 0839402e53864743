package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// kubelet plays the scheduler and the kubelet of the only node: it binds pods, makes them Running and
// has their sessions with the manager, and removes those that are deleted.
type kubelet struct {
	*cluster
	manager  *process
	workload *workload

	mu       sync.Mutex
	pods     map[types.UID]*running
	cas      map[string][]byte // by the names of the runs
	vanished map[string]time.Time
	failures []error
	sessions sync.WaitGroup
}

// running is a pod.
type running struct {
	stop    context.CancelFunc
	removed bool
}

// startKubelet starts the kubelet, whose pods have sessions with a manager until the context ends.
func (c *cluster) startKubelet(ctx context.Context, manager *process, f *workload) (*kubelet, error) {
	k := &kubelet{
		cluster: c, manager: manager, workload: f, pods: map[types.UID]*running{}, cas: map[string][]byte{}, vanished: map[string]time.Time{},
	}
	factory := informers.NewSharedInformerFactoryWithOptions(c.clientset, 0, informers.WithNamespace(namespace))
	changed := func(obj any) { k.changed(ctx, obj.(*corev1.Pod)) }
	if _, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: changed, UpdateFunc: func(_, obj any) { changed(obj) },
	}); err != nil {
		return nil, err
	}
	factory.Start(ctx.Done())
	return k, nil
}

// changed starts what has to be done for a pod. It doesn't wait for it.
func (k *kubelet) changed(ctx context.Context, pod *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.pods[pod.UID]
	switch {
	case known == nil && pod.DeletionTimestamp == nil:
		life, stop := context.WithCancel(ctx)
		k.pods[pod.UID] = &running{stop: stop}
		k.sessions.Go(func() { k.note(k.run(life, pod)) })
	case known != nil && pod.DeletionTimestamp != nil && !known.removed:
		known.removed = true
		known.stop()
		k.sessions.Go(func() { k.note(k.remove(ctx, pod)) })
	}
}

// note keeps an error of a pod.
func (k *kubelet) note(err error) {
	if err == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failures = append(k.failures, err)
}

func (k *kubelet) failed() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.failures) == 0 {
		return nil
	}
	return fmt.Errorf("%d pods failed, the first: %w", len(k.failures), k.failures[0])
}

func (k *kubelet) run(ctx context.Context, pod *corev1.Pod) error {
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: nodeName}}
	if err := k.SubResource("binding").Create(ctx, pod.DeepCopy(), binding); err != nil {
		return k.unless(ctx, fmt.Errorf("bind pod %s: %w", pod.Name, err))
	}
	if err := k.phase(ctx, pod, corev1.PodRunning); err != nil {
		return k.unless(ctx, err)
	}
	for {
		s, err := k.newSession(ctx, pod)
		if err != nil {
			return k.unless(ctx, err)
		}
		err = s.join(ctx)
		// The manager forgets a run that has finished. Its agent connects again until the pod is deleted.
		if status.Code(err) == codes.Aborted && s.role == sessionpb.Role_ROLE_AGENT {
			continue
		}
		if err != nil {
			return k.unless(ctx, fmt.Errorf("session of pod %s: %w", pod.Name, err))
		}
		break
	}
	if pod.Labels[manifest.LabelRole] != manifest.RoleClient {
		return nil
	}
	err := k.phase(ctx, pod, corev1.PodSucceeded)
	k.gone(pod)
	return k.unless(ctx, err)
}

// unless returns an error unless the pod was stopped.
func (k *kubelet) unless(ctx context.Context, err error) error {
	if ctx.Err() != nil || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (k *kubelet) phase(ctx context.Context, pod *corev1.Pod, phase corev1.PodPhase) error {
	changed := pod.DeepCopy()
	ready := corev1.ConditionTrue
	state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	if phase != corev1.PodRunning {
		ready, state = corev1.ConditionFalse, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}}
	}
	changed.Status = corev1.PodStatus{
		Phase: phase, PodIP: "10.1.2.3", PodIPs: []corev1.PodIP{{IP: "10.1.2.3"}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}},
	}
	for _, container := range pod.Spec.Containers {
		changed.Status.ContainerStatuses = append(changed.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, ImageID: container.Image + "@sha256:0", Ready: phase == corev1.PodRunning, State: state,
		})
	}
	if err := k.Status().Patch(ctx, changed, client.MergeFrom(pod)); err != nil {
		return fmt.Errorf("make pod %s %s: %w", pod.Name, phase, err)
	}
	return nil
}

func (k *kubelet) remove(ctx context.Context, pod *corev1.Pod) error {
	err := k.Delete(ctx, pod.DeepCopy(), client.GracePeriodSeconds(0))
	k.gone(pod)
	return k.unless(ctx, err)
}

// gone notes that a pod holds its lane no longer.
func (k *kubelet) gone(pod *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.vanished[pod.Labels[manifest.LabelRun]] = time.Now()
}

// lastGone returns when the last pod of a run was gone.
func (k *kubelet) lastGone(run string) time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.vanished[run]
}

// ca returns the CA bundle that a run's pods get.
func (k *kubelet) ca(ctx context.Context, run string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cas[run] == nil {
		var config corev1.ConfigMap
		if err := k.Get(ctx, client.ObjectKey{Namespace: namespace, Name: run + "-config"}, &config); err != nil {
			return nil, fmt.Errorf("get the ConfigMap of run %s: %w", run, err)
		}
		k.cas[run] = []byte(config.Data["ca.crt"])
	}
	return k.cas[run], nil
}

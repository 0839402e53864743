package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/validity"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

const (
	// The load of a run: each client sends perClient requests over two connections, each of which
	// takes the server 4 ms.
	path      = "/fixed/4000/100"
	perClient = 2000
	requests  = clients * perClient

	// endLimit bounds the time from the end of the fault to that of the run: the timeout after which
	// a pod is lost, and some for managers that the kubelet lets wait.
	endLimit = 4 * time.Minute
	// sweepLimit bounds the time for which the objects of a deleted run remain. After an outage of the API
	// server the garbage collector needs half a minute, more with another outage in between.
	sweepLimit = 5 * time.Minute
	deleted    = "Deleted"
)

// trial is one run with one fault.
type trial struct {
	*cluster
	*fault
	run     *v1alpha1.BenchmarkRun
	outcome *outcome
}

// try makes a run and its fault, and checks what became of both.
func (c *cluster) try(ctx context.Context, number int, f *fault) *outcome {
	began := time.Now()
	o := &outcome{Number: number, Kind: f.kind.name, Fault: f.describe(), Requests: -1, Served: -1, Problems: []string{}}
	defer func() { o.Total = time.Since(began).Seconds() }()
	namespace, err := c.newNamespace(ctx)
	if err != nil {
		o.Unmade = err.Error()
		return o
	}
	run := wrapper.NewRun(namespace, "chaos", harness.ServerImage).Path(path).Lane("chaos").
		Clients(clients, "100m", "128Mi").Requests(2, perClient).Retain(v1alpha1.RetainAlways).Obj()
	t := &trial{cluster: c, fault: f, run: run, outcome: o}
	defer t.clear(ctx)
	if err := t.make(ctx); err != nil {
		o.Unmade = err.Error()
		return o
	}
	t.judge(ctx)
	if err := c.settle(ctx, o); err != nil {
		o.problem(nextFailed, "the cluster did not recover: %s", err)
		return o
	}
	t.next(ctx)
	return o
}

// make creates the run, lets the fault strike, and waits until the fault is over and the run has
// ended.
func (t *trial) make(ctx context.Context) (err error) {
	var undo []func() error
	defer func() {
		for _, u := range slices.Backward(undo) {
			err = errors.Join(err, u())
		}
	}()
	if t.kind.prepare != nil {
		u, err := t.kind.prepare(ctx, t)
		if u != nil {
			undo = append(undo, u)
		}
		if err != nil {
			return err
		}
	}
	if err := harness.Retry(ctx, func(ctx context.Context) error { return t.Create(ctx, t.run) }); err != nil {
		return err
	}
	created := time.Now()
	defer func() { t.outcome.Seconds = time.Since(created).Seconds() }()
	if !t.early {
		if err := harness.Await(ctx, time.Minute, t.measures); err != nil {
			return err
		}
	}
	harness.Sleep(ctx, t.delay)
	t.observe(ctx)
	u, err := t.kind.strike(ctx, t)
	if u != nil {
		undo = append(undo, u)
	}
	if err != nil {
		return err
	}
	harness.Sleep(ctx, t.hold)
	for len(undo) > 0 && !t.kind.lasting {
		u := undo[len(undo)-1]
		undo = undo[:len(undo)-1]
		if err := u(); err != nil {
			return err
		}
	}
	if err := harness.Await(ctx, endLimit, t.ended); err != nil {
		t.outcome.problem(hung, "%s", err)
	}
	return nil
}

func (t *trial) get(ctx context.Context) error {
	return t.Get(ctx, client.ObjectKeyFromObject(t.run), t.run)
}

func (t *trial) observe(ctx context.Context) {
	t.outcome.State = "unknown"
	if t.get(ctx) == nil {
		t.outcome.State = t.succeeded().Reason
	}
}

func (t *trial) succeeded() metav1.Condition {
	return harness.Condition(t.run, v1alpha1.ConditionSucceeded)
}

func (t *trial) measures(ctx context.Context) error {
	if err := t.get(ctx); err != nil {
		return err
	}
	if c := t.succeeded(); c.Status == metav1.ConditionUnknown && c.Reason != v1alpha1.ReasonMeasuring || c.Status == "" {
		return fmt.Errorf("the run does not measure: %s %s: %s", c.Status, c.Reason, c.Message)
	}
	return nil
}

// ended returns nil when the run has finished or is gone.
func (t *trial) ended(ctx context.Context) error {
	err := t.Finished(ctx, t.run)
	if apierrors.IsNotFound(err) {
		t.outcome.Reason = deleted
		return nil
	}
	t.outcome.Message = t.succeeded().Message
	if err == nil {
		t.outcome.Reason = t.succeeded().Reason
	}
	return err
}

// judge checks the run's end.
func (t *trial) judge(ctx context.Context) {
	o := t.outcome
	if o.Reason == "" || o.Reason == deleted {
		if o.Reason == deleted && !slices.Contains(t.kind.reasons, deleted) {
			o.problem(wrongReason, "the run is gone")
		}
		return
	}
	if o.Reason != v1alpha1.ReasonCompleted && !slices.Contains(t.kind.reasons, o.Reason) {
		o.problem(wrongReason, "%s, want Completed or one of %v", o.Reason, t.kind.reasons)
	} else if o.Reason != v1alpha1.ReasonCompleted {
		for _, text := range t.kind.says {
			if !strings.Contains(o.Message, text) {
				o.problem(wrongMessage, "it does not contain %q", text)
			}
		}
	}
	served, err := t.served(ctx)
	if err == nil {
		o.Served = served
	}
	if o.Reason != v1alpha1.ReasonCompleted {
		if r := t.run.Status.Result; served == requests && !t.kind.hurtsPods && (r == nil || *r.Requests != requests) {
			o.problem(lostResult, "the server had all %d requests, but the status doesn't", served)
		}
		return
	}
	o.Requests = *t.run.Status.Result.Requests
	failed := *t.run.Status.Result.Errors.Total
	switch {
	case err != nil && !t.kind.hurtsPods:
		o.problem(wrongCount, "the server's count is not known: %s", err)
	case o.Requests == requests && failed != 0 && t.kind.hurtsPods && t.foundExit(): // all had ended before the kubelet saw it
	case o.Requests != requests || failed != 0 || err == nil && served >= 0 && served != requests: // it may have gone with its count
		o.problem(wrongCount, "the result has %d requests with %d errors, the server had %d, want %d with none", o.Requests, failed, served, requests)
	}
	if t.run.Status.Artifact == nil {
		o.problem(lostResult, "the run has no artifact")
	}
}

// foundExit reports whether the result is invalid because the server had exited.
func (t *trial) foundExit() bool {
	c := harness.Condition(t.run, v1alpha1.ConditionValid)
	return c.Status == metav1.ConditionFalse && strings.Contains(c.Message, validity.ReasonServerExited)
}

// served returns the number of requests that the server counted. It logs them when it is stopped.
func (t *trial) served(ctx context.Context) (count int64, err error) {
	err = harness.Await(ctx, 45*time.Second, func(ctx context.Context) error {
		pod, err := t.Pod(ctx, t.run.Namespace, harness.TargetLabels(t.run))
		if err != nil {
			if t.kind.hurtsPods || t.outcome.Reason != v1alpha1.ReasonCompleted {
				count = -1
				return nil
			}
			return err
		}
		if pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded {
			return fmt.Errorf("the target is %s", pod.Status.Phase)
		}
		log, err := t.Kube.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{Container: "server"}).DoRaw(ctx)
		if err != nil {
			return err
		}
		lines := bytes.Split(bytes.TrimSpace(log), []byte("\n"))
		var report map[string]struct{ Requests int64 }
		if err := json.Unmarshal(lines[len(lines)-1], &report); err != nil {
			count = -1
			if t.kind.hurtsPods {
				return nil
			}
			return fmt.Errorf("the server's log: %w", err)
		}
		count = report[path].Requests
		return nil
	})
	return count, err
}

// next makes a run without a fault.
func (t *trial) next(ctx context.Context) {
	namespace, err := t.newNamespace(ctx)
	if err != nil {
		t.outcome.problem(nextFailed, "%s", err)
		return
	}
	next := &trial{cluster: t.cluster, fault: t.fault, outcome: &outcome{}}
	next.run = wrapper.NewRun(namespace, "next", harness.ServerImage).Path("/fixed/1000/10").Lane("chaos").Requests(1, 100).Obj()
	defer next.remove(ctx, t.outcome)
	err = harness.Retry(ctx, func(ctx context.Context) error { return t.Create(ctx, next.run) })
	if err == nil {
		err = harness.Await(ctx, 90*time.Second, next.ended)
	}
	if err != nil || next.outcome.Reason != v1alpha1.ReasonCompleted || *next.run.Status.Result.Requests != 100 {
		t.outcome.problem(nextFailed, "%v %s: %s", err, next.outcome.Reason, next.outcome.Message)
	}
}

// clear deletes the run and its namespace, and checks that nothing is left of it. It does so beside
// the next faults.
func (t *trial) clear(ctx context.Context) { t.remove(ctx, t.outcome) }

func (t *trial) remove(ctx context.Context, o *outcome) {
	run := t.run
	t.sweep.Go(func() {
		ctx := context.WithoutCancel(ctx)
		err := harness.Await(ctx, sweepLimit, func(ctx context.Context) error {
			if err := client.IgnoreNotFound(t.Delete(ctx, run)); err != nil {
				return err
			}
			left, err := t.Children(ctx, run)
			if err == nil && len(left) > 0 {
				err = errors.New("objects of the run: " + harness.Names(left))
			}
			return err
		})
		if err != nil {
			o.late(leftOver, "%s", err)
		}
		err = t.DeleteNamespace(ctx, run.Namespace)
		if err != nil {
			o.late(leftOver, "%s", err)
		}
	})
}

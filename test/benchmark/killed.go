package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

const (
	managerLease = "assay-manager"
	killedBlocks = 12
	killedLimit  = 15 * time.Minute
	// restartLimit bounds the time until the kubelet has started a manager's container.
	restartLimit = time.Minute
	// maxUntilKill is the longest time for which a manager leads before it is killed. A run takes about 8
	// seconds, so that kills strike all parts of runs and what is between them.
	maxUntilKill = 6 * time.Second
)

// showKilled makes a round while it kills the manager.
func showKilled(ctx context.Context, s *stage) error {
	b := killedBenchmark(s)
	if err := s.Create(ctx, b); err != nil {
		return err
	}
	if err := harness.Await(ctx, restartLimit, func(ctx context.Context) error {
		if err := s.get(ctx, b); err != nil {
			return err
		}
		if !lifecycle.IsActive(b) || ptr.Deref(b.Status.Round.FinishedRuns, 0) == 0 {
			return fmt.Errorf("no run has ended: %s", lifecycle.Succeeded(b).Message)
		}
		return nil
	}); err != nil {
		return err
	}
	kills, err := s.killManagers(ctx, b)
	if err != nil {
		return err
	}
	s.check("kills during the round", fmt.Sprint(kills), fmt.Sprint(s.kills), kills == s.kills)
	if err := harness.Await(ctx, killedLimit, func(ctx context.Context) error { return s.ended(ctx, b, 1) }); err != nil {
		return err
	}
	round, err := s.stored(ctx, b)
	if err != nil {
		return err
	}
	s.noteClaims(round)
	seen := s.seen.all()
	s.Note("between Finished and the next run's first pod, with killed managers: %s", describePauses(pauses(seen)))

	problems := append(incomplete(round, 2, killedBlocks), madeAgain(round, seen)...)
	measured := fmt.Sprintf("%d runs in the artifact, %d created", len(round.Runs), len(seen))
	if len(problems) > 0 {
		measured += ": " + strings.Join(problems, "; ")
	}
	s.check("runs", measured, fmt.Sprintf("%d, each once", 2*killedBlocks), len(problems) == 0)

	verdict, same := "as the recorded metrics give it", recomputed(round)
	if same != nil {
		verdict = same.Error()
	}
	s.check("verdict", verdict, "the same", same == nil)
	claim := claimOf(round, meanLatency)
	s.check("conclusion", fmt.Sprintf("%s, %s, %s", describe(&claim), claim.Verdict, b.Status.Verdict), "Contradicted, Failed",
		claim.Verdict == v1alpha1.ClaimContradicted && round.Verdict == v1alpha1.BenchmarkFailed && b.Status.Verdict == round.Verdict)
	return nil
}

// killedBenchmark compares a server with one that takes twice as long.
func killedBenchmark(s *stage) *v1alpha1.Benchmark {
	const fast, slow = "/fixed/10000/100", "/fixed/20000/100"
	b := s.newBenchmark("killed", wrapper.NewRun("", "", harness.ServerImage).TargetResources("300m", "128Mi").
		Clients(1, "500m", "128Mi").Path(fast).Seconds(4, 4).WarmupSeconds(2).KeepAlive(v1alpha1.Enabled))
	b.Spec.Axes = []v1alpha1.Axis{pathAxis(fast, slow)}
	b.Spec.Repetitions = &v1alpha1.Repetitions{Min: ptr.To(int32(killedBlocks))}
	b.Spec.Comparison = &v1alpha1.Comparison{
		Baseline: v1alpha1.Baseline{Cell: v1alpha1.CellSelector{"path": fast}},
		Metrics:  []v1alpha1.ComparedMetric{{Name: meanLatency}},
	}
	return b
}

// killManagers kills the manager at random times until it has done so as often as it should, or the round
// has ended. It returns how often the manager was killed during the round.
func (s *stage) killManagers(ctx context.Context, b *v1alpha1.Benchmark) (kills int, err error) {
	random := rand.New(rand.NewPCG(s.seed, 0))
	began := time.Now()
	for kills < s.kills {
		if err := harness.Await(ctx, restartLimit, s.leads); err != nil {
			return kills, err
		}
		harness.Sleep(ctx, time.Duration(random.Int64N(int64(maxUntilKill))))
		if err := harness.Retry(ctx, func(ctx context.Context) error { return s.get(ctx, b) }); err != nil {
			return kills, err
		}
		if !lifecycle.IsActive(b) {
			return kills, nil
		}
		during := s.runState(ctx, b)
		if err := s.killManager(ctx); err != nil {
			return kills, err
		}
		kills++
		s.Note("kill %d after %s, %s", kills, time.Since(began).Round(100*time.Millisecond), during)
	}
	return kills, nil
}

// leads returns nil when the manager holds the Lease by which managers elect a leader.
func (s *stage) leads(ctx context.Context) error {
	pod, err := s.Manager(ctx)
	if err != nil {
		return err
	}
	var lease coordinationv1.Lease
	if err := s.Get(ctx, client.ObjectKey{Namespace: harness.OperatorNamespace, Name: managerLease}, &lease); err != nil {
		return err
	}
	if holder := ptr.Deref(lease.Spec.HolderIdentity, ""); holder != pod.Name {
		return fmt.Errorf("manager %s does not lead, %q does", pod.Name, holder)
	}
	return nil
}

// killManager kills the manager, waits until the kubelet has started it again, and then replaces its pod: the kubelet
// lets a container that is killed a second time wait, longer each time.
func (s *stage) killManager(ctx context.Context) error {
	killed := 0
	if err := harness.Await(ctx, restartLimit, func(ctx context.Context) (err error) {
		killed, err = s.ManagerProcess(ctx)
		return err
	}); err != nil {
		return err
	}
	if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill the manager: %w", err)
	}
	var restarted client.Object
	if err := harness.Await(ctx, restartLimit, func(ctx context.Context) error {
		pod, err := s.Manager(ctx)
		if err != nil {
			return err
		}
		pid, err := harness.Process(pod, harness.ManagerContainer)
		if err == nil && pid == killed {
			err = errors.New("the manager was not restarted")
		}
		restarted = pod
		return err
	}); err != nil {
		return err
	}
	if err := harness.Retry(ctx, func(ctx context.Context) error { return client.IgnoreNotFound(s.Delete(ctx, restarted)) }); err != nil {
		return fmt.Errorf("replace the manager: %w", err)
	}
	return harness.Await(ctx, restartLimit, func(ctx context.Context) error {
		_, err := s.ManagerProcess(ctx)
		return err
	})
}

// runState says what the round does: the run under way with its state, or that there is none.
func (s *stage) runState(ctx context.Context, b *v1alpha1.Benchmark) string {
	current := b.Status.Round.CurrentRun
	if current == nil {
		return "between two runs"
	}
	run := &v1alpha1.BenchmarkRun{}
	if err := s.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: current.Name}, run); err != nil {
		return current.Name + " before its creation"
	}
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded); c != nil {
		return current.Name + " in " + c.Reason
	}
	return current.Name + " without a state"
}

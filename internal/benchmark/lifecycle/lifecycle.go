// Package lifecycle changes the status of a Benchmark: rounds begin, go on, end, are accepted as a baseline, and expire.
package lifecycle

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/plan"
	"github.com/assay-dev/assay/internal/benchmark/schedule"
	"github.com/assay-dev/assay/internal/benchmark/verdict"
)

// IsActive reports whether a round of the Benchmark is under way.
func IsActive(b *v1alpha1.Benchmark) bool {
	return b.Status.Round != nil && b.Status.Round.CompletionTime == nil
}

// IsSuspended reports whether spec.suspend is set.
func IsSuspended(b *v1alpha1.Benchmark) bool { return ptr.Deref(b.Spec.Suspend, false) }

// Changed reports whether the spec was changed since the last reconciliation. A release that brings defaults
// for new fields changes hashes, but no spec.
func Changed(b *v1alpha1.Benchmark) bool {
	return ptr.Deref(b.Status.ObservedGeneration, -1) != b.Generation
}

// Cancelled returns why the round under way must not go on, or "".
func Cancelled(b *v1alpha1.Benchmark, hash string) string {
	switch round := b.Status.Round; {
	case !IsActive(b):
		return ""
	case Changed(b) && round.Hash != hash:
		return "The spec was changed during the round."
	case b.Annotations[v1alpha1.AnnotationCancelRound] == strconv.FormatInt(round.Number, 10):
		return "The round was cancelled by the annotation " + v1alpha1.AnnotationCancelRound + "."
	}
	return ""
}

// Trigger returns the cause of a round that is to begin now, or "". due is what the schedule asks for.
func Trigger(b *v1alpha1.Benchmark, hash string, due schedule.Due) v1alpha1.RoundTrigger {
	request := requestOf(b)
	switch {
	case IsActive(b) || IsSuspended(b):
		return ""
	case b.Status.Hash == "":
		return v1alpha1.TriggerCreated
	case Changed(b) && b.Status.Hash != hash && b.Spec.Rerun != v1alpha1.RerunNever:
		return v1alpha1.TriggerChanged
	case request != "" && request != ptr.Deref(b.Status.LastRequest, ""):
		return v1alpha1.TriggerRequested
	case !due.Start.IsZero():
		return v1alpha1.TriggerScheduled
	}
	return ""
}

// requestOf returns the value of the annotation that asks for a round, as far as the status has it.
func requestOf(b *v1alpha1.Benchmark) string {
	return Bounded(b.Annotations[v1alpha1.AnnotationRunRound], maxRequest)
}

// Begin begins a round in a status.
func Begin(b *v1alpha1.Benchmark, trigger v1alpha1.RoundTrigger, hash string, cells int, seed int64, now time.Time) {
	s := &b.Status
	number := int64(1)
	if s.Round != nil {
		number = s.Round.Number + 1
	}
	s.Round = &v1alpha1.RoundStatus{
		Number: number, Trigger: trigger, Seed: ptr.To(seed), Hash: hash, StartTime: metav1.NewTime(now),
		Cells: ptr.To(int32(cells)), CompletedBlocks: ptr.To(int32(0)), FinishedRuns: ptr.To(int32(0)), InvalidRuns: ptr.To(int32(0)),
	}
	s.Hash = hash
	if request := requestOf(b); request != "" {
		s.LastRequest = ptr.To(request)
	}
	set := setter(b, now)
	set(v1alpha1.ConditionFinished, metav1.ConditionFalse, v1alpha1.ReasonActive, fmt.Sprintf("Round %d is under way.", number))
	set(v1alpha1.ConditionSucceeded, metav1.ConditionUnknown, v1alpha1.ReasonRunning, fmt.Sprintf("Round %d begins with %d cells.", number, cells))
	if trigger != v1alpha1.TriggerScheduled {
		set(v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonRunning, fmt.Sprintf("Round %d is under way.", number))
		set(v1alpha1.ConditionStalled, metav1.ConditionFalse, v1alpha1.ReasonActive, fmt.Sprintf("Round %d is under way.", number))
	}
}

// Complete ends the round under way.
func Complete(b *v1alpha1.Benchmark, end *verdict.End, now time.Time) {
	s, verdict, reason := &b.Status, end.Verdict, end.Reason
	if reason == benchmark.ReasonCompleted {
		reason = string(verdict)
	}
	s.Verdict = verdict
	s.Round.Verdict, s.Round.Reason = verdict, reason
	s.Round.CompletionTime = ptr.To(metav1.NewTime(now))
	s.Round.ExpectedCompletionTime, s.Round.CurrentRun = nil, nil
	reference := v1alpha1.RoundReference{Number: s.Round.Number, Verdict: verdict, CompletionTime: *s.Round.CompletionTime, Artifact: s.Round.Artifact}
	s.History = append([]v1alpha1.RoundReference{reference}, s.History...)
	if Good(verdict) {
		s.LastPassed = &reference
	}
	Expire(b) // else history could be longer than the API allows
	settle(b, verdict, reason, end.Message, now)
}

// Succeeded returns the condition Succeeded, or a zero condition.
func Succeeded(b *v1alpha1.Benchmark) metav1.Condition {
	return ptr.Deref(meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionSucceeded), metav1.Condition{})
}

// Track sets how far the round under way has come.
func Track(b *v1alpha1.Benchmark, p *plan.Planner, runs []benchmark.Run, step plan.Step, now time.Time) {
	progress, round := p.Progress(runs), b.Status.Round
	round.CompletedBlocks = ptr.To(int32(progress.Blocks))
	round.FinishedRuns, round.InvalidRuns = ptr.To(int32(progress.FinishedRuns)), ptr.To(int32(progress.InvalidRuns))
	if !progress.ExpectedEnd.IsZero() {
		round.ExpectedCompletionTime = ptr.To(metav1.NewTime(progress.ExpectedEnd))
	}
	round.CurrentRun = nil
	reason, message := v1alpha1.ReasonRunning, ""
	switch {
	case step.Waiting != nil:
		round.CurrentRun = currentRun(p, step.Waiting.Name, step.Waiting.RunKey, step.Waiting.Load)
		message = fmt.Sprintf("Run %s of cell %s is under way.", step.Waiting.Name, p.Cells[step.Waiting.Cell].Name)
	case step.Create == nil:
		return
	case step.Suspended:
		reason, message = v1alpha1.ReasonSuspended, "spec.suspend keeps the round from going on."
	case now.Before(step.NotBefore):
		reason, message = v1alpha1.ReasonPaused, fmt.Sprintf("The next run begins at %s.", step.NotBefore.UTC().Format(time.RFC3339))
	default:
		round.CurrentRun = currentRun(p, step.Create.Name, step.Create.RunKey, step.Create.Load)
		message = fmt.Sprintf("Run %s of cell %s is created.", step.Create.Name, p.Cells[step.Create.Cell].Name)
	}
	Report(b, reason, fmt.Sprintf("Round %d: %d whole blocks of %d cells, %d runs have ended. %s",
		round.Number, progress.Blocks, len(p.Cells), progress.FinishedRuns, message), now)
}

func currentRun(p *plan.Planner, name string, key benchmark.RunKey, load int64) *v1alpha1.CurrentRun {
	run := &v1alpha1.CurrentRun{Name: name, Cell: p.Cells[key.Cell].Name}
	if key.Trial {
		run.Trial = ptr.To(load)
	} else {
		run.Block = ptr.To(int32(key.Number))
	}
	return run
}

// Report sets the state of the round under way.
func Report(b *v1alpha1.Benchmark, reason, message string, now time.Time) {
	set := setter(b, now)
	set(v1alpha1.ConditionSucceeded, metav1.ConditionUnknown, reason, message)
	if meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionReconciling) {
		set(v1alpha1.ConditionReconciling, metav1.ConditionTrue, reason, message)
	}
}

// Expire removes from a status the rounds that history doesn't keep. The baseline of later rounds is kept in any case,
// and is one of those that history allows for, if it allows for any.
func Expire(b *v1alpha1.Benchmark) {
	keep := map[bool]int32{
		true:  ptr.Deref(b.Spec.History.Passed, 3),
		false: ptr.Deref(b.Spec.History.Failed, 3),
	}
	passed := func(r *v1alpha1.RoundReference) bool { return Good(r.Verdict) }
	if b.Status.LastPassed != nil {
		keep[passed(b.Status.LastPassed)]--
	}
	b.Status.History = slices.DeleteFunc(b.Status.History, func(r v1alpha1.RoundReference) bool {
		if IsBaseline(b, &r) {
			return false
		}
		keep[passed(&r)]--
		return keep[passed(&r)] < 0
	})
}

// IsBaseline reports whether a round is the one that later ones are compared with.
func IsBaseline(b *v1alpha1.Benchmark, round *v1alpha1.RoundReference) bool {
	return b.Status.LastPassed != nil && b.Status.LastPassed.Number == round.Number
}

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

const (
	// A round lasts for more than a minute, so that at least one time of the schedule comes meanwhile.
	scheduledSeconds = 60
	scheduledLimit   = 2 * time.Minute
	// maxUntilRound bounds the time from a time of the schedule to the begin of its round. Times in the status
	// are full seconds.
	maxUntilRound = 5 * time.Second
	// heldFor is the time after a time of the schedule in which a suspended Benchmark must not begin a round.
	heldFor = 2 * maxUntilRound
)

// showScheduled makes a Benchmark with a time of the schedule each minute.
func showScheduled(ctx context.Context, s *stage) error {
	b := scheduledBenchmark(s)
	if err := s.Create(ctx, b); err != nil {
		return err
	}
	first, err := s.awaitRound(ctx, b, 1)
	if err != nil {
		return err
	}
	s.checkNoOther(b, "times of the schedule during round 1", 1, minutesWithin(first.StartTime.Time, first.CompletionTime.Time))

	due := nextMinute(first.CompletionTime.Time)
	if err := s.awaitStart(ctx, b, 2); err != nil {
		return err
	}
	s.checkStart(b.Status.Round, "round 2 after its time", due)
	if err := s.change(ctx, b, func(b *v1alpha1.Benchmark) { b.Spec.Suspend = ptr.To(true) }); err != nil {
		return err
	}
	second, err := s.awaitRound(ctx, b, 2)
	if err != nil {
		return err
	}
	held := nextMinute(second.CompletionTime.Time)
	harness.Sleep(ctx, time.Until(held.Add(heldFor)))
	if err := s.get(ctx, b); err != nil {
		return err
	}
	s.checkNoOther(b, "times of the schedule during and after round 2, suspended", 2, minutesWithin(second.StartTime.Time, time.Now()))

	resumed := time.Now()
	if err := s.change(ctx, b, func(b *v1alpha1.Benchmark) { b.Spec.Suspend = ptr.To(false) }); err != nil {
		return err
	}
	if err := s.awaitStart(ctx, b, 3); err != nil {
		return err
	}
	s.checkStart(b.Status.Round, "round 3 after it was resumed, for the time that it missed", resumed.Truncate(time.Second))
	seen := s.seen.all()
	s.check("runs of 3 rounds", describeTurns(seen), "one of each round, one at a time", inTurn(seen, 3))
	return nil
}

func scheduledBenchmark(s *stage) *v1alpha1.Benchmark {
	b := s.newBenchmark("scheduled", wrapper.NewRun("", "", harness.ServerImage).Path("/fixed/10000/100").TargetResources("300m", "128Mi").
		Clients(1, "500m", "128Mi").Seconds(4, scheduledSeconds).KeepAlive(v1alpha1.Enabled))
	b.Spec.Repetitions = &v1alpha1.Repetitions{Min: ptr.To(int32(1))}
	b.Spec.Schedule = &v1alpha1.Schedule{Cron: "* * * * *"}
	return b
}

// awaitStart waits until a round has begun and its run was seen.
func (s *stage) awaitStart(ctx context.Context, b *v1alpha1.Benchmark, number int64) error {
	return harness.Await(ctx, scheduledLimit, func(ctx context.Context) error {
		if err := s.get(ctx, b); err != nil {
			return err
		}
		if r := b.Status.Round; r == nil || r.Number < number {
			return fmt.Errorf("round %d has not begun: %s", number, lifecycle.Succeeded(b).Message)
		}
		if n := len(s.seen.all()); n < int(number) {
			return fmt.Errorf("%d runs were seen, want one of each of %d rounds", n, number)
		}
		return nil
	})
}

// awaitRound waits until a round has ended and returns it.
func (s *stage) awaitRound(ctx context.Context, b *v1alpha1.Benchmark, number int64) (*v1alpha1.RoundStatus, error) {
	err := harness.Await(ctx, scheduledLimit, func(ctx context.Context) error { return s.ended(ctx, b, number) })
	return b.Status.Round, err
}

// checkNoOther checks that no other round has begun although times of the schedule came.
func (s *stage) checkNoOther(b *v1alpha1.Benchmark, about string, number int64, times int) {
	s.check(about, fmt.Sprintf("%d, round %d is the last", times, b.Status.Round.Number), fmt.Sprintf("at least 1, round %d", number),
		times > 0 && b.Status.Round.Number == number)
}

// checkStart checks when and why a round began.
func (s *stage) checkStart(round *v1alpha1.RoundStatus, about string, due time.Time) {
	late := round.StartTime.Sub(due)
	s.check(about, fmt.Sprintf("%s, %s", late, round.Trigger), fmt.Sprintf("≤ %s, Scheduled", maxUntilRound),
		late >= 0 && late <= maxUntilRound && round.Trigger == v1alpha1.TriggerScheduled)
}

// nextMinute returns the first time of the schedule after a time.
func nextMinute(after time.Time) time.Time {
	return after.Truncate(time.Minute).Add(time.Minute)
}

// minutesWithin returns the number of times of the schedule after one time and not after another.
func minutesWithin(after, until time.Time) int {
	return int(until.Truncate(time.Minute).Sub(after.Truncate(time.Minute)) / time.Minute)
}

// inTurn reports whether there is one run of each round, and none of them began before the one before it had
// ended.
func inTurn(runs []sighting, rounds int) bool {
	of := map[string]bool{}
	for i := range runs {
		if i > 0 && (runs[i-1].finished.IsZero() || runs[i].created.Before(runs[i-1].finished)) {
			return false
		}
		of[runs[i].round] = true
	}
	return len(runs) == rounds && len(of) == rounds
}

func describeTurns(runs []sighting) string {
	var texts []string
	for i := range runs {
		if i == 0 {
			texts = append(texts, runs[i].name)
			continue
		}
		texts = append(texts, fmt.Sprintf("%s %s after the end of the last", runs[i].name, runs[i].created.Sub(runs[i-1].finished).Round(time.Millisecond)))
	}
	return strings.Join(texts, ", ")
}

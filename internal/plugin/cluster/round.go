package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

// CompletedRound returns a round of a Benchmark that has ended: the last one if number is 0. The artifact of
// the reference is nil if the round has none.
func CompletedRound(b *v1alpha1.Benchmark, number int64) (v1alpha1.RoundReference, error) {
	var kept []v1alpha1.RoundReference
	if round := b.Status.Round; round != nil && round.CompletionTime != nil {
		kept = append(kept, v1alpha1.RoundReference{Number: round.Number, Verdict: round.Verdict, CompletionTime: *round.CompletionTime, Artifact: round.Artifact})
	}
	kept = append(kept, b.Status.History...)
	if last := b.Status.LastPassed; last != nil {
		kept = append(kept, *last)
	}
	at := slices.IndexFunc(kept, func(r v1alpha1.RoundReference) bool { return number == 0 || r.Number == number })
	switch {
	case at >= 0:
		return kept[at], nil
	case lifecycle.IsActive(b) && (number == 0 || number == b.Status.Round.Number):
		return v1alpha1.RoundReference{}, exit.Errorf(exit.Failed, "round %d of Benchmark %q is still under way (wait for it with \"kubectl assay watch benchmark/%s\"): %s",
			b.Status.Round.Number, b.Name, b.Name, lifecycle.Succeeded(b).Message)
	case number == 0:
		return v1alpha1.RoundReference{}, exit.Errorf(exit.Failed, "Benchmark %q has %s", b.Name, noRound(b))
	}
	var numbers []string
	for _, r := range kept {
		if text := fmt.Sprint(r.Number); !slices.Contains(numbers, text) {
			numbers = append(numbers, text)
		}
	}
	if len(numbers) == 0 {
		numbers = []string{"none"}
	}
	return v1alpha1.RoundReference{}, exit.Errorf(exit.Unknown, "round %d of Benchmark %q not found; its history has these rounds: %s", number, b.Name, strings.Join(numbers, ", "))
}

// noRound returns the reason why a Benchmark has had no round, as text that follows "has".
func noRound(b *v1alpha1.Benchmark) string {
	state := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionSucceeded)
	if state == nil {
		return "no round yet: the operator hasn't processed it; check that Assay is running"
	}
	return fmt.Sprintf("no round yet: %s: %s", state.Reason, state.Message)
}

// ReadRound returns all metrics of a Benchmark's round that has ended, of the last one if number is 0. The error is as of
// CompletedRound or Round.
func (c *Cluster) ReadRound(ctx context.Context, name string, number int64) (*benchmark.Round, error) {
	b, err := c.Benchmark(ctx, name)
	if err != nil {
		return nil, err
	}
	reference, err := CompletedRound(b, number)
	if err != nil {
		return nil, err
	}
	return c.Round(ctx, b, &reference)
}

// Round returns all metrics of a round from its artifact. The error is a LostError if the artifact is missing or
// isn't the round's.
func (c *Cluster) Round(ctx context.Context, b *v1alpha1.Benchmark, reference *v1alpha1.RoundReference) (*benchmark.Round, error) {
	if reference.Artifact == nil {
		var others []string
		for _, r := range b.Status.History {
			if r.Artifact != nil {
				others = append(others, fmt.Sprint(r.Number))
			}
		}
		if len(others) == 0 {
			others = []string{"none"}
		}
		return nil, lost("round %d (%s) of Benchmark %q has no artifact; these rounds have one: %s", reference.Number, reference.Verdict, b.Name, strings.Join(others, ", "))
	}
	data, err := c.stored(ctx, reference.Artifact, Benchmark, b.Name)
	if err != nil {
		return nil, err
	}
	r, err := benchmark.DecodeRound(data)
	if err != nil {
		return nil, lost("ConfigMap %q: %v", reference.Artifact.ConfigMap.Name, err)
	}
	if r.Namespace != b.Namespace || r.Benchmark != b.Name || r.Number != reference.Number {
		return nil, lost("ConfigMap %q holds round %d of Benchmark %s/%s, not round %d of %s/%s", reference.Artifact.ConfigMap.Name, r.Number, r.Namespace, r.Benchmark, reference.Number, b.Namespace, b.Name)
	}
	return r, nil
}

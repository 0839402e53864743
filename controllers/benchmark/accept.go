package benchmark

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
)

// accept answers the annotation that asks to accept a round as the baseline of later ones.
func (r *Reconciler) accept(ctx context.Context, b *v1alpha1.Benchmark, now time.Time) error {
	request := benchmark.AcceptanceRequest(b)
	if request == "" {
		return nil
	}
	candidate, refusal := benchmark.Acceptable(b)
	if refusal == "" {
		refusal = benchmark.RequestMismatch(candidate, request)
	}
	if refusal == "" {
		round, err := r.storedRound(ctx, b.Namespace, candidate)
		switch {
		case errors.Is(err, errUnreadable):
			refusal = fmt.Sprintf("The artifact of round %d can't be read: %s.", candidate.Number, err)
		case err != nil:
			return fmt.Errorf("accept round %d: %w", candidate.Number, err)
		case round == nil:
			refusal = fmt.Sprintf("The artifact of round %d was deleted.", candidate.Number)
		default:
			refusal = round.Unacceptable()
		}
	}
	if refusal != "" {
		benchmark.Refuse(b, request, refusal, now)
	} else {
		benchmark.Accept(b, request, candidate, now)
	}
	return nil
}

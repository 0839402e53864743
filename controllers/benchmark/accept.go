package benchmark

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
)

// accept answers the annotation that asks to accept a round as the baseline of later ones.
func (r *Reconciler) accept(ctx context.Context, b *v1alpha1.Benchmark, now time.Time) error {
	request := lifecycle.AcceptanceRequest(b)
	if request == "" {
		return nil
	}
	candidate, refusal := lifecycle.Acceptable(b)
	if refusal == "" {
		refusal = lifecycle.RequestMismatch(candidate, request)
	}
	if refusal == "" {
		round, err := r.storedRound(ctx, b, candidate)
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
		lifecycle.Refuse(b, request, refusal, now)
	} else {
		lifecycle.Accept(b, request, candidate, now)
	}
	return nil
}

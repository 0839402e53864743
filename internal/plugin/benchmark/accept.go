package benchmark

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

// answerInterval is the time between two looks for the operator's answer.
const answerInterval = 200 * time.Millisecond

// accept asks the operator to accept a round, and waits for its answer for at most the timeout.
func (o *options) accept(timeout time.Duration) verb {
	return func(ctx context.Context, b *v1alpha1.Benchmark) error {
		candidate, refusal := lifecycle.Acceptable(b)
		if refusal != "" {
			return exit.Errorf(exit.Failed, "no round of Benchmark %q can be accepted: %s", b.Name, refusal)
		}
		if lifecycle.IsBaseline(b, candidate) {
			return o.say(b, fmt.Sprintf("round %d is the baseline already", candidate.Number))
		}
		round, err := o.cluster.Round(ctx, b, candidate)
		if err != nil {
			return err
		}
		if refusal := round.Unacceptable(); refusal != "" {
			return exit.Errorf(exit.Failed, "no round of Benchmark %q can be accepted: %s", b.Name, refusal)
		}
		request := lifecycle.NewAcceptanceRequest(candidate.Number, time.Now())
		if err := o.annotate(ctx, b, v1alpha1.AnnotationAcceptRound, request); err != nil {
			return err
		}
		if !o.dryRun {
			if err := o.awaitAcceptance(ctx, b, request, timeout); err != nil {
				return err
			}
		}
		return o.say(b, fmt.Sprintf("round %d (%s) is accepted as the baseline of later rounds", candidate.Number, candidate.Verdict))
	}
}

// awaitAcceptance returns nil once the operator has accepted the round of a request, and an error if it refuses it.
func (o *options) awaitAcceptance(ctx context.Context, b *v1alpha1.Benchmark, request string, timeout time.Duration) error {
	var answer *v1alpha1.Acceptance
	err := wait.PollUntilContextTimeout(ctx, answerInterval, timeout, true, func(ctx context.Context) (bool, error) {
		read, err := o.cluster.Benchmark(ctx, b.Name)
		if err != nil {
			return false, err
		}
		answer = read.Status.Acceptance
		return answer != nil && answer.Request == request, nil
	})
	switch {
	case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return exit.Errorf(exit.Unknown, "the operator has not answered within %s, but may do so later: see status.acceptance with "+
			"\"kubectl get benchmark %s --namespace %s --output yaml\", and check that Assay is running", timeout, b.Name, b.Namespace)
	case err != nil:
		return err
	case answer.Outcome != v1alpha1.AcceptanceAccepted:
		return exit.Errorf(exit.Failed, "the operator refused the request for Benchmark %q: %s", b.Name, answer.Message)
	}
	return nil
}

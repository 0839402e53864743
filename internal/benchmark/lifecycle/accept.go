package lifecycle

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// NewAcceptanceRequest returns a value of the annotation that asks to accept a round: its number and the time, so that
// the same request made twice is answered twice.
func NewAcceptanceRequest(number int64, now time.Time) string {
	return strconv.FormatInt(number, 10) + " " + now.UTC().Format(time.RFC3339Nano)
}

// RequestedRound returns the number of the round that a value of the annotation asks to accept, as text: what precedes
// the first space.
func RequestedRound(request string) string {
	number, _, _ := strings.Cut(request, " ")
	return number
}

// AcceptanceRequest returns the value of the annotation that asks to accept a round, or "" if there is none, or the
// status has the answer. It removes the answer to a value that is no longer there: when the same value is set again, it
// is a new request.
func AcceptanceRequest(b *v1alpha1.Benchmark) string {
	request := Bounded(b.Annotations[v1alpha1.AnnotationAcceptRound], maxRequest)
	switch a := b.Status.Acceptance; {
	case request == "":
		b.Status.Acceptance = nil
	case a != nil && a.Request == request:
		return ""
	}
	return request
}

// Acceptable returns the round that can be accepted as the baseline, as far as the status says: the newest
// completed one that has an artifact. If none can, it returns nil and the reason.
func Acceptable(b *v1alpha1.Benchmark) (round *v1alpha1.RoundReference, refusal string) {
	if c := b.Spec.Comparison; c == nil || c.Baseline.LastPassed == nil {
		return nil, "spec.comparison.baseline.lastPassed is not set, so that no round is the baseline of later ones."
	}
	if IsActive(b) {
		return nil, fmt.Sprintf("Round %d is under way. Wait for its end, or cancel it.", b.Status.Round.Number)
	}
	if r := b.Status.Round; r != nil && r.Artifact != nil {
		return &v1alpha1.RoundReference{Number: r.Number, Verdict: r.Verdict, CompletionTime: *r.CompletionTime, Artifact: r.Artifact}, ""
	}
	for i := range b.Status.History {
		if r := &b.Status.History[i]; r.Artifact != nil {
			return r, ""
		}
	}
	return nil, "No completed round has an artifact."
}

// RequestMismatch returns why a round is not the one that a request asks to accept, or "" if it is.
func RequestMismatch(round *v1alpha1.RoundReference, request string) (refusal string) {
	number := RequestedRound(request)
	if number == strconv.FormatInt(round.Number, 10) {
		return ""
	}
	return fmt.Sprintf("%q is not the number of the newest completed round that has an artifact: that is round %d.", number, round.Number)
}

// Accept makes a round the baseline of later ones, and answers the request.
func Accept(b *v1alpha1.Benchmark, request string, round *v1alpha1.RoundReference, now time.Time) {
	message := fmt.Sprintf("Round %d is the baseline of later rounds. There was none before.", round.Number)
	switch last := b.Status.LastPassed; {
	case IsBaseline(b, round):
		message = fmt.Sprintf("Round %d was the baseline already.", round.Number)
	case last != nil:
		message = fmt.Sprintf("Round %d is the baseline of later rounds, instead of round %d.", round.Number, last.Number)
	}
	if !IsBaseline(b, round) {
		accepted := *round
		accepted.AcceptanceTime = ptr.To(metav1.NewTime(now))
		b.Status.LastPassed = &accepted
		for i := range b.Status.History {
			if b.Status.History[i].Number == round.Number {
				b.Status.History[i] = accepted
			}
		}
	}
	answer(b, request, v1alpha1.AcceptanceAccepted, message, now)
}

// Refuse answers a request to accept a round that can't be accepted.
func Refuse(b *v1alpha1.Benchmark, request, message string, now time.Time) {
	answer(b, request, v1alpha1.AcceptanceRefused, message, now)
}

func answer(b *v1alpha1.Benchmark, request string, outcome v1alpha1.AcceptanceOutcome, message string, now time.Time) {
	b.Status.Acceptance = &v1alpha1.Acceptance{Request: request, Outcome: outcome, Time: metav1.NewTime(now), Message: Bounded(message, maxError)}
}

package agent

import (
	"context"
	"fmt"

	"github.com/assay-dev/assay/internal/probe"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls"
)

// userAgent is what the agent calls itself when it asks the target.
const userAgent = "assay-agent"

// question is what an order has the agent ask the target. The files for TLS are
// in a folder.
func question(order *session.Watch, tlsFolder string) (*probe.Question, error) {
	q := &probe.Question{
		Address: order.Address, Path: order.Path, Host: order.Host, UserAgent: userAgent, Timeout: probe.Timeout, Streams: order.Streams,
	}
	if order.TLS == nil {
		return q, nil
	}
	var err error
	if q.TLS, err = targettls.Config(order.TLS, order.Address, tlsFolder); err != nil {
		return nil, fmt.Errorf("TLS with the target can't be set up: %w", err)
	}
	return q, nil
}

// watch asks the target until it answers with success, and tells what came of
// it.
func watch(ctx context.Context, s Session, q *probe.Question) {
	if evidence, err := probe.Until(ctx, q, s.ProbeFailed); err == nil {
		s.ProbeSucceeded(evidence)
	}
}

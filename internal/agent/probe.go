package agent

import (
	"context"
	"fmt"

	"github.com/assay-dev/assay/internal/probe"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls"
)

const userAgent = "assay-agent"

func probeRequest(order *session.Watch, tlsDirectory string) (*probe.Request, error) {
	r := &probe.Request{
		Address: order.Address, Path: order.Path, Host: order.Host, UserAgent: userAgent, Timeout: probe.Timeout, Streams: order.Streams,
	}
	if order.TLS == nil {
		return r, nil
	}
	var err error
	if r.TLS, err = targettls.Config(order.TLS, order.Address, tlsDirectory); err != nil {
		return nil, fmt.Errorf("configure TLS with the target: %w", err)
	}
	return r, nil
}

// probeTarget probes the target until a probe succeeds, and reports the results.
func probeTarget(ctx context.Context, s Session, request *probe.Request) {
	if result, err := probe.Until(ctx, request, s.ProbeFailed); err == nil {
		s.ProbeSucceeded(result)
	}
}

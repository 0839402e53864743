package client

import (
	"crypto/tls"
	"fmt"
	"time"

	"github.com/assay-dev/assay/internal/probe"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/targettls"
)

// userAgent is what the client calls itself when it asks whether the target
// answers, as it does in its load.
const userAgent = "assay-load"

// security is how TLS is spoken with the target; nil for not at all.
func (c *Client) security(order pod.Prepare) (*tls.Config, error) {
	if order.Plan.TLS == nil {
		return nil, nil
	}
	config, err := targettls.Config(order.Plan.TLS, order.Address, c.tlsFolder)
	if err != nil {
		return nil, fmt.Errorf("TLS with the target can't be set up: %w", err)
	}
	return config, nil
}

// question is what a target that has no agent is asked until it answers: at
// the address that the load will go to, with the patience that the load has, if
// that is more than usual.
func question(order pod.Prepare, address string, config *tls.Config) *probe.Question {
	return &probe.Question{
		Address: address, Path: order.Plan.Probe, UserAgent: userAgent, TLS: config,
		Host:    session.HostHeader(order.Plan.Host, order.Address, config != nil),
		Timeout: max(probe.Timeout, time.Duration(order.Plan.TimeoutMicroseconds)*time.Microsecond),
	}
}

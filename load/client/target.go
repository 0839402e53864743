package client

import (
	"crypto/tls"
	"fmt"
	"time"

	"github.com/assay-dev/assay/internal/probe"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/targettls"
	"github.com/assay-dev/assay/load/driver"
)

// userAgent is what the client calls itself when it asks whether the target
// answers, as it does in its load.
const userAgent = "assay-load"

// access is what the plan needs of the pod's files.
func (c *Client) access(order pod.Prepare) (access driver.Access, err error) {
	if order.Plan.TLS != nil {
		if access.TLS, err = targettls.Config(order.Plan.TLS, order.Address, c.tlsFolder); err != nil {
			return access, fmt.Errorf("TLS with the target can't be set up: %w", err)
		}
	}
	if scheme := order.Plan.Authentication; scheme != "" {
		if access.Credentials, err = driver.ReadCredentials(scheme, c.credentialsFolder); err != nil {
			return access, fmt.Errorf("load.authentication.secretName: %w", err)
		}
	}
	return access, nil
}

// question is what a target that has no agent is asked until it answers: at
// the address that the load will go to, with the patience that the load has, if
// that is more than usual.
func question(order pod.Prepare, address string, config *tls.Config) *probe.Question {
	return &probe.Question{
		Address: address, Path: order.Plan.Probe, UserAgent: userAgent, TLS: config, Streams: order.Plan.Streams,
		Host:    session.HostHeader(order.Plan.Host, order.Address, config != nil),
		Timeout: max(probe.Timeout, time.Duration(order.Plan.TimeoutMicroseconds)*time.Microsecond),
	}
}

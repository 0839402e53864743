package client

import (
	"crypto/tls"
	"fmt"
	"time"

	"github.com/assay-dev/assay/internal/load/driver"
	"github.com/assay-dev/assay/internal/load/driver/request"
	"github.com/assay-dev/assay/internal/probe"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/targettls"
)

// userAgent is the User-Agent header of probes. Requests of the load have the same.
const userAgent = "assay-load"

// TLSConfig returns the TLS configuration for a plan's target from the files in directory, or nil for
// a plan without TLS.
func TLSConfig(plan *session.Plan, address, directory string) (*tls.Config, error) {
	if plan.TLS == nil {
		return nil, nil
	}
	config, err := targettls.Config(plan.TLS, address, directory)
	if err != nil {
		return nil, fmt.Errorf("configure TLS for the target: %w", err)
	}
	return config, nil
}

// access reads the pod's files that the plan needs: certificates and credentials.
func (c *Client) access(order pod.Prepare) (access driver.Access, err error) {
	if access.TLS, err = TLSConfig(order.Plan, order.Address, c.tlsDirectory); err != nil {
		return access, err
	}
	if scheme := order.Plan.Authentication; scheme != "" {
		if access.Credentials, err = request.ReadCredentials(scheme, c.credentialsDirectory); err != nil {
			return access, fmt.Errorf("load.authentication.secretName: %w", err)
		}
	}
	return access, nil
}

// Probes returns the readiness probes of a target that has no agent, to the
// IP address and port that the load will use. Their timeout is the load's, but at least probe.Timeout.
func Probes(plan *session.Plan, target, address string, access driver.Access) []*probe.Request {
	r := probe.Request{
		Address: address, UserAgent: userAgent, TLS: access.TLS, Streams: plan.Streams, Credentials: access.Credentials,
		Host:    session.HostHeader(plan.Host, target, access.TLS != nil),
		Timeout: max(probe.Timeout, time.Duration(plan.TimeoutMicroseconds)*time.Microsecond),
	}
	return r.Each(plan.Probes)
}

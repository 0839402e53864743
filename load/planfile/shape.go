package planfile

import (
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/session"
)

// open is a load of requests at a rate.
type open struct {
	RequestsPerSecond *int64  `yaml:"requestsPerSecond"`
	Spacing           *string `yaml:"spacing"`
	MaxConnections    *int    `yaml:"maxConnections"`
	amount            `yaml:",inline"`
}

const (
	mostRequestsPerSecond = 100_000
	defaultMaxConnections = 1000

	uniform, poisson = "Uniform", "Poisson"
)

// shape writes the load's shape and the warm-up, which has the same, into the
// plan.
func (c *converter) shape(f *file, plan *session.Plan) {
	var steady profile.Profile
	least := 1 // requests
	switch load := &f.Load; {
	case load.Closed != nil && load.Open != nil:
		c.wrong("load", "it has closed and open: give one of them")
		return
	case load.Open != nil:
		steady = c.open(load.Open, plan)
	case load.Closed == nil:
		c.wrong("load.closed", "it's missing: give connections, and one of requests and durationSeconds; or give load.open")
		return
	default:
		if n := load.Closed.Connections; n == nil {
			c.wrong("load.closed.connections", "it's missing: give the number of connections")
		} else {
			plan.Connections = int(c.within("load.closed.connections", int64(*n), 1, mostConnections))
		}
		least = plan.Connections
		plan.Measurement = c.amount("load.closed", &load.Closed.amount, least)
	}
	if f.Warmup != nil {
		warmup := c.amount("warmup", f.Warmup, least)
		warmup.Profile = steady
		plan.Warmup = &warmup
	}
}

// open returns the profile of its rate.
func (c *converter) open(o *open, plan *session.Plan) profile.Profile {
	plan.Connections = defaultMaxConnections
	if n := o.MaxConnections; n != nil {
		plan.Connections = int(c.within("load.open.maxConnections", int64(*n), 1, mostConnections))
	}
	plan.Arrivals = &session.Arrivals{Shares: 1, Poisson: c.choice("load.open.spacing", o.Spacing, uniform, poisson) == poisson}
	plan.Measurement = c.amount("load.open", &o.amount, 1)
	if o.RequestsPerSecond == nil {
		c.wrong("load.open.requestsPerSecond", "it's missing: give the number of requests to start each second")
		return nil
	}
	rate := c.within("load.open.requestsPerSecond", *o.RequestsPerSecond, 1, mostRequestsPerSecond)
	plan.Measurement.Profile = profile.Profile{{From: rate, To: rate}}
	return plan.Measurement.Profile
}

// Package loadplan turns the load of a run into one plan per client. It is
// pure: the same spec always gives the same plans.
package loadplan

import (
	"hash/fnv"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/target"
)

const microsecondsPerSecond = 1_000_000

// Plans returns the plan of each client, by index. The run is one that the API
// server accepted, with its defaults; lengths are those of the files that the
// target serves, by path.
func Plans(run *v1alpha1.BenchmarkRun, lengths map[string]int64) []*session.Plan {
	spec := &run.Spec
	plans := make([]*session.Plan, Replicas(spec))
	for i := range plans {
		plans[i] = &session.Plan{
			KeepAlive:           spec.Load.Connection.KeepAlive != v1alpha1.KeepAliveDisabled,
			TimeoutMicroseconds: int64(orDefault(spec.Load.Connection.TimeoutSeconds, 30)) * microsecondsPerSecond,
			Host:                target.Host(run),
			TLS:                 target.SessionTLS(run),
			Requests:            requests(spec, lengths),
			Seed:                seed(i),
		}
		shape(plans[i], spec, sharing{scope: spec.Load.Scope, index: i, clients: len(plans)})
	}
	if spec.Target.Server.External != nil {
		plans[0].Probe = target.ReadinessPath(spec)
	}
	return plans
}

// Replicas is the number of clients.
func Replicas(spec *v1alpha1.BenchmarkRunSpec) int { return int(orDefault(spec.Clients.Replicas, 1)) }

// requests gives each request the length that its response must have, where
// the run's content tells it.
func requests(spec *v1alpha1.BenchmarkRunSpec, lengths map[string]int64) []session.PlannedRequest {
	planned := make([]session.PlannedRequest, 0, len(spec.Load.Requests))
	for _, r := range spec.Load.Requests {
		length, known := lengths[r.Path]
		if !known {
			length = -1
		}
		planned = append(planned, session.PlannedRequest{
			Path: r.Path, Weight: int(orDefault(r.Weight, 1)), Length: length,
		})
	}
	return planned
}

// seed differs from client to client, so that they don't make the same
// requests in step, and is the same in every run.
func seed(index int) uint64 {
	h := fnv.New64a()
	h.Write([]byte{byte(index), byte(index >> 8), byte(index >> 16)})
	return h.Sum64()
}

func orDefault[T any](p *T, value T) T {
	if p == nil {
		return value
	}
	return *p
}

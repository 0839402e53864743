package conclusion

import (
	"fmt"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/requestlist"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/validity"
)

// Merge returns the result from all clients' totals, with its findings and its thresholds'
// outcomes.
func (e *Evidence) Merge() (*result.Result, error) {
	at := e.measurementStart()
	described, declared, err := e.Describe(at)
	if err != nil {
		return nil, err
	}
	merged := &result.Result{SchemaVersion: result.SchemaVersion, Run: *described, Series: e.Observed.Series}
	var clients []result.Client
	for i := range loadplan.Replicas(&e.Run.Spec) {
		c := e.Observed.Sessions.Clients[i]
		client := result.Client{
			Index:                  i,
			Node:                   c.Node,
			CPUs:                   c.CPUs,
			Totals:                 *c.Totals,
			StartSkewMicroseconds:  c.Totals.StartedAt - at,
			ClockErrorMicroseconds: c.ClockError,
		}
		client.UseTool()
		clients = append(clients, client)
	}
	merged.AddClients(clients)
	merged.AddRequests(e.Plans[0].RequestNames())
	if merged.Warmup != nil {
		merged.Warmup.Steady = steadiness(e.Run)
	}
	merged.AddLevels(e.Observed.Levels, e.Observed.Steps)
	e.addBreakingPoints(merged)
	merged.Server, merged.Backends = e.Observed.Sessions.Agent.Measured()
	if agent := e.Observed.Sessions.Agent; agent != nil {
		merged.NodeUsage, merged.Waiting = agent.NodeUsage, agent.Waiting
	}
	for _, e := range server.ReadErrors(&e.Run.Spec.Target, e.Observed.LoadLogs) {
		merged.ServerErrors = append(merged.ServerErrors, result.ServerErrors(e))
	}
	merged.Environment = e.environment()
	if merged.Thresholds, err = validity.Thresholds(merged, bounds(e.Run)); err != nil {
		return nil, err
	}
	merged.AddScript()
	merged.SetAbort(aborted(e.Run, e.Observed))
	merged.SetSummary(summary(e.Run, e.Observed))
	merged.Findings = validity.Judge(merged, declared)
	validity.Accept(merged.Findings, accepted(e.Run))
	return merged, nil
}

// Describe returns what was run, and what else the run declares. at is the start time of the measurement.
func (e *Evidence) Describe(at int64) (*result.Run, validity.Declared, error) {
	var declared validity.Declared
	spec, plan := &e.Run.Spec, e.Plans[0] // where clients can't have the same, the first has most
	d := plan.Describe()
	d.Namespace, d.Name, d.UID = e.Run.Namespace, e.Run.Name, string(e.Run.UID)
	d.Image, d.Server = spec.Target.Image, server.Describe(&spec.Target, server.OwnIn(e.Started))
	d.MeasurementTime = e.Observed.Wall(at, e.Now).UTC()
	d.Load, d.TargetRatePerSecond = loadplan.Shape(spec), loadplan.TargetRatePerSecond(spec)
	for _, p := range e.Plans {
		d.AllConnections += int64(p.Connections)
	}
	if from := spec.Load.RequestsFrom; from != nil {
		d.RequestList = &result.RequestList{ConfigMap: from.ConfigMapKeyRef.Name, Key: from.ConfigMapKeyRef.Key}
		if plan.RequestList != nil { // else its ConfigMaps are gone by now
			entries, err := requestlist.Decode(plan.RequestList)
			if err != nil {
				return nil, declared, fmt.Errorf("read the list of requests: %w", err)
			}
			d.RequestList.Requests = int64(len(entries))
		}
	}
	declared.ThinkTime, declared.RampMicroseconds = plan.ThinkTime != nil, plan.Measurement.Profile.Duration().Microseconds()
	declared.TLSResumption = plan.TLS != nil && plan.TLS.Resume
	declared.Link = bandwidth(&spec.Target)
	limits := server.LimitsOf(&spec.Target, server.OwnIn(e.Started))
	limit := func(l server.Limit) validity.Limit { return validity.Limit{Setting: l.Setting, Value: int64(l.Value)} }
	declared.Concurrency, declared.Streams, declared.Connections = limit(limits.Concurrency), limit(limits.Streams), limit(limits.Connections)
	declared.KeepAlive, declared.Backlog = limit(limits.KeepAlive), limit(limits.Backlog)
	declared.Placement = string(spec.Clients.Placement)
	return &d, declared, nil
}

func accepted(run *v1alpha1.BenchmarkRun) []string {
	var reasons []string
	for _, reason := range run.Spec.AcceptedFindings {
		reasons = append(reasons, string(reason))
	}
	return reasons
}

func bounds(run *v1alpha1.BenchmarkRun) []validity.Bound {
	var bounds []validity.Bound
	for _, t := range run.Spec.Thresholds {
		if t.Above != "" {
			bounds = append(bounds, validity.Bound{Metric: string(t.Metric), Request: t.Request, Above: t.Above})
		}
		if t.Below != "" {
			bounds = append(bounds, validity.Bound{Metric: string(t.Metric), Request: t.Request, Below: t.Below})
		}
	}
	return bounds
}

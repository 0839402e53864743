package run

import (
	"fmt"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/requestlist"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/validity"
)

// collect plans to store the result as soon as the agent has sampled the server after the last
// client's end. Without an agent there is nothing to wait for.
func (p *planner) collect() {
	if unstored := p.observed.Unstored; unstored != nil { // the status says why
		p.commit(unstored)
		return
	}
	p.state(v1alpha1.ReasonCollecting, "Every client has sent its totals.", nil)
	summarizing := p.summarizing()
	if summarizing {
		p.state(v1alpha1.ReasonCollecting, "Every client has sent its totals. A client runs the script's handleSummary().", nil)
	}
	if observed.AwaitsSample(p.run, p.observed, p.now) {
		p.Read = true
		p.requeueIn(observed.LastSampleInterval)
		return
	}
	if summarizing {
		return
	}
	p.store()
}

// store plans the artifact with the merged and judged result. Once it exists, the measurement is
// complete, whatever happens. It is never replaced. The status announces its digest first, so that a
// later manager can tell it from what somebody else has put in its place.
func (p *planner) store() {
	merged, err := p.merge()
	if err != nil {
		p.fail(failure.Newf(v1alpha1.ReasonArtifactNotStored, "The result can't be merged: %s", err))
		return
	}
	if s := p.storage(merged, p.whole(merged)); s != nil {
		p.commit(s)
	}
}

// merge returns the result from all clients' totals, with its findings and its thresholds'
// outcomes.
func (p *planner) merge() (*result.Result, error) {
	at := p.measurementStart()
	described, declared, err := p.describe(at)
	if err != nil {
		return nil, err
	}
	merged := &result.Result{SchemaVersion: result.SchemaVersion, Run: *described, Series: p.observed.Series}
	var clients []result.Client
	for i := range loadplan.Replicas(&p.run.Spec) {
		c := p.observed.Sessions.Clients[i]
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
	if merged.Warmup != nil {
		merged.Warmup.Steady = steadiness(p.run)
	}
	merged.AddLevels(p.observed.Levels, p.observed.Steps)
	p.addBreakingPoints(merged)
	merged.Server, merged.Backends = p.observed.Sessions.Agent.Measured()
	if agent := p.observed.Sessions.Agent; agent != nil {
		merged.NodeUsage = agent.NodeUsage
	}
	for _, e := range server.ReadErrors(&p.run.Spec.Target, p.observed.LoadLogs) {
		merged.ServerErrors = append(merged.ServerErrors, result.ServerErrors(e))
	}
	merged.Environment = p.environment()
	if merged.Thresholds, err = validity.Thresholds(merged, bounds(p.run)); err != nil {
		return nil, err
	}
	merged.AddScript()
	merged.SetAbort(p.aborted())
	merged.SetSummary(p.summary())
	merged.Findings = validity.Judge(merged, declared)
	validity.Accept(merged.Findings, accepted(p.run))
	return merged, nil
}

// measurementStart returns the common start time of the measurement, as the clients had it.
func (p *planner) measurementStart() int64 {
	for _, c := range p.observed.Sessions.Clients {
		if at := c.Starts[sessionpb.Stage_STAGE_MEASUREMENT]; at != 0 {
			return at
		}
	}
	return p.observed.Sessions.Starts[sessionpb.Stage_STAGE_MEASUREMENT]
}

// describe returns what was run, and what else the run declares. at is the start time of the measurement.
func (p *planner) describe(at int64) (*result.Run, validity.Declared, error) {
	var declared validity.Declared
	plans, err := p.loadPlans()
	if err != nil {
		return nil, declared, err
	}
	spec, plan := &p.run.Spec, plans[0] // where clients can't have the same, the first has most
	d := plan.Describe()
	d.Namespace, d.Name, d.UID = p.run.Namespace, p.run.Name, string(p.run.UID)
	d.Image, d.Server = spec.Target.Image, server.Describe(&spec.Target)
	d.MeasurementTime = p.observed.Wall(at, p.now).UTC()
	d.Load, d.TargetRatePerSecond = loadplan.Shape(spec), loadplan.TargetRatePerSecond(spec)
	for _, p := range plans {
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
	limits := server.LimitsOf(&spec.Target)
	declared.Concurrency = validity.Limit{Setting: limits.Concurrency.Setting, Value: int64(limits.Concurrency.Value)}
	declared.KeepAlive = validity.Limit{Setting: limits.KeepAlive.Setting, Value: int64(limits.KeepAlive.Value)}
	declared.Backlog = validity.Limit{Setting: limits.Backlog.Setting, Value: int64(limits.Backlog.Value)}
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
			bounds = append(bounds, validity.Bound{Metric: string(t.Metric), Above: t.Above})
		}
		if t.Below != "" {
			bounds = append(bounds, validity.Bound{Metric: string(t.Metric), Below: t.Below})
		}
	}
	return bounds
}

// environment returns the conditions of the measurement, as far as they can still be observed.
func (p *planner) environment() result.Environment {
	spec, o, started := &p.run.Spec, p.observed, &p.started
	e := result.Environment{
		TargetNode:     started.Node,
		TargetAddress:  started.Address,
		TargetImageID:  started.ImageID,
		ServerSoftware: started.ServerSoftware,
		ServerVersion:  started.ServerVersion,
		Connector:      started.Connector,
		Libraries:      started.Libraries,
		Unverified:     server.Verifiable(&spec.Target) && started.Connector == "",
		DocumentLength: -1,
		TargetCPULimit: manifest.ServerCPUMillis(&spec.Target, 0),
		SharedCPULimit: sharedCPUMillis(&spec.Target),
		ClientCPULimit: manifest.CPUMillis(spec.Clients.Resources),
		TargetCPUs:     started.CPUs,
		CPUExclusivity: string(started.CPUExclusivity),
		Kernel:         started.Kernel,
		Assay:          o.Settings.Version,

		ClockStepMicroseconds: o.Sessions.ClockStep.Microseconds(),
	}
	if answer := observed.Probed(p.run, o); answer != nil {
		e.DocumentLength, e.HTTP, e.TLS = answer.DocumentLength, answer.HTTP, answer.TLS
	}
	if o.Sessions.Agent != nil {
		e.Governor = o.Sessions.Agent.Governor
		if latest := o.Sessions.Agent.Latest; latest != nil {
			e.TargetCores = latest.Cores
		}
	}
	if o.Node != nil {
		info := o.Node.Status.NodeInfo
		e.Kernel, e.ContainerRuntime, e.Kubelet = info.KernelVersion, info.ContainerRuntimeVersion, info.KubeletVersion
	}
	for i := range spec.Target.Backends {
		e.Backends = append(e.Backends, p.backendEnvironment(&spec.Target.Backends[i], manifest.ServerCPUMillis(&spec.Target, i+1)))
	}
	return e
}

func (p *planner) backendEnvironment(b *v1alpha1.Backend, cpuLimit int64) result.BackendEnvironment {
	e := result.BackendEnvironment{Name: b.Name, Image: b.Image, CPULimit: cpuLimit}
	for _, started := range p.started.Backends {
		if started.Name == b.Name {
			e.ImageID = started.ImageID
		}
	}
	cpus, cores, exclusivity := observed.BackendCPUs(b, p.observed.Sessions.Agent)
	e.CPUs, e.Cores, e.CPUExclusivity = cpus, cores, string(exclusivity)
	return e
}

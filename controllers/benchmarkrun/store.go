package benchmarkrun

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/validity"
)

// store merges what the pods sent, judges it, and stores it. From then on the
// measurement is complete, whatever happens. What was stored once stands.
func (r *Reconciler) store(ctx context.Context, run *v1alpha1.BenchmarkRun, o *observed) (*failure, error) {
	merged, err := r.merge(ctx, run, o)
	if err != nil {
		return nil, err
	}
	encoded, err := artifact.Encode(merged, artifact.ConfigMapLimit)
	if err != nil {
		return failuref(v1alpha1.ReasonArtifactNotStored, "the result can't be encoded: %s", err), nil
	}
	failed, err := r.createChild(ctx, run, manifest.Artifact(run, encoded))
	if failed != nil && failed.reason == v1alpha1.ReasonInvalidSpec {
		failed.reason = v1alpha1.ReasonArtifactNotStored
	}
	return failed, err
}

// merge makes the result of a run whose clients have all sent their figures.
func (r *Reconciler) merge(ctx context.Context, run *v1alpha1.BenchmarkRun, o *observed) (*result.Result, error) {
	at := startInstant(o)
	lengths, err := contentLengths(run, o)
	if err != nil {
		return nil, err
	}
	merged := &result.Result{
		SchemaVersion: result.SchemaVersion,
		Run:           describe(run, lengths, at),
		Series:        r.Sessions.Series(string(run.UID)),
	}
	merged.Run.RequestList = describeList(run, o)
	var clients []result.Client
	for i := range loadplan.Replicas(&run.Spec) {
		seen := o.sessions.Clients[i]
		clients = append(clients, result.Client{
			Index:                  i,
			Node:                   seen.Node,
			Totals:                 *seen.Totals,
			StartSkewMicroseconds:  seen.Totals.StartedAt - at,
			ClockErrorMicroseconds: seen.ClockError,
		})
	}
	merged.AddClients(clients)
	if merged.Warmup != nil {
		merged.Warmup.Steady = steadiness(run)
	}
	merged.AddLevels(r.levels(run))
	merged.Server, merged.Backends = o.sessions.Agent.Measured()
	if merged.Environment, err = r.environment(ctx, run, o); err != nil {
		return nil, err
	}
	if merged.Thresholds, err = validity.Thresholds(merged, bounds(run)); err != nil {
		return nil, err
	}
	merged.AddScript()
	merged.Findings = validity.Judge(merged)
	return merged, nil
}

// levels are the levels of a run's load, with what the server used in each.
func (r *Reconciler) levels(run *v1alpha1.BenchmarkRun) []result.Level {
	levels := loadplan.Levels(&run.Spec)
	for i := range levels {
		levels[i].ServerCPU = r.Sessions.ServerCPU(string(run.UID), levels[i].Start, levels[i].End)
	}
	return levels
}

// startInstant is the common start instant of the measurement, as the clients
// had it.
func startInstant(o *observed) int64 {
	for _, c := range o.sessions.Clients {
		if at := c.Starts[sessionpb.Stage_STAGE_MEASUREMENT]; at != 0 {
			return at
		}
	}
	return o.sessions.Starts[sessionpb.Stage_STAGE_MEASUREMENT]
}

func describe(run *v1alpha1.BenchmarkRun, lengths map[string]int64, at int64) result.Run {
	d := result.Run{
		Namespace:       run.Namespace,
		Name:            run.Name,
		UID:             string(run.UID),
		Image:           run.Spec.Target.Image,
		Server:          server.Describe(&run.Spec.Target),
		MeasurementTime: time.UnixMicro(at).UTC(),
	}
	plans := loadplan.Plans(run, lengths)
	plan := plans[0] // where clients can't have the same, the first has most
	d.Load, d.Connections, d.KeepAlive = loadplan.Shape(&run.Spec), int64(plan.Connections), plan.KeepAlive
	d.Streams = int64(plan.Streams)
	for _, p := range plans {
		d.AllConnections += int64(p.Connections)
	}
	d.Requests = []result.Request{}
	for _, request := range plan.Requests {
		d.Requests = append(d.Requests, result.Request{Method: request.Method, Path: request.Path, Weight: int64(request.Weight), Length: request.Length})
	}
	d.Sequential, d.Cookies, d.Authentication = plan.Sequential, plan.Cookies, plan.Authentication
	d.AskedPerSecond = loadplan.AskedPerSecond(&run.Spec)
	return d
}

// environment is the conditions of a run. What can't be read any more is left
// out.
func (r *Reconciler) environment(ctx context.Context, run *v1alpha1.BenchmarkRun, o *observed) (result.Environment, error) {
	status := ptr.Deref(run.Status.Target, v1alpha1.TargetStatus{})
	e := result.Environment{
		TargetNode:     status.Node,
		TargetAddress:  status.Address,
		TargetImageID:  status.ImageID,
		ServerSoftware: status.ServerSoftware,
		ServerVersion:  status.ServerVersion,
		Connector:      status.Connector,
		Libraries:      status.Libraries,
		Unproven:       server.Verifiable(&run.Spec.Target) && status.Connector == "",
		DocumentLength: -1,
		TargetCPULimit: manifest.CPUMillis(run.Spec.Target.Resources),
		ClientCPULimit: manifest.CPUMillis(run.Spec.Clients.Resources),
		TargetCPUs:     status.CPUs,
		CPUExclusivity: string(status.CPUExclusivity),
		Assay:          r.Settings.Version,
	}
	if seen := evidence(run, o); seen != nil {
		e.DocumentLength, e.HTTP, e.TLS = seen.DocumentLength, seen.HTTP, seen.TLS
	}
	if isExternal(run) {
		return e, nil
	}
	e.Backends = backendEnvironments(run, o)
	var node corev1.Node
	err := r.Live.Get(ctx, types.NamespacedName{Name: status.Node}, &node)
	if client.IgnoreNotFound(err) != nil {
		return e, fmt.Errorf("get node %s: %w", status.Node, err)
	}
	info := node.Status.NodeInfo
	e.Kernel, e.ContainerRuntime, e.Kubelet = info.KernelVersion, info.ContainerRuntimeVersion, info.KubeletVersion
	return e, nil
}

// backendEnvironments is the conditions of the containers behind the server.
func backendEnvironments(run *v1alpha1.BenchmarkRun, o *observed) []result.BackendEnvironment {
	var all []result.BackendEnvironment
	for _, b := range run.Spec.Target.Backends {
		limit := manifest.CPUMillis(b.Resources)
		e := result.BackendEnvironment{Name: b.Name, Image: b.Image, CPULimit: limit, CPUExclusivity: string(v1alpha1.CPUsUnknown)}
		for _, started := range run.Status.Target.Backends {
			if started.Name == b.Name {
				e.ImageID = started.ImageID
			}
		}
		if agent := o.sessions.Agent; agent != nil {
			for _, read := range agent.Backends {
				if read.Name == b.Name {
					e.CPUs = read.Latest.CPUs
					e.CPUExclusivity = string(exclusivity(read.Latest.CPUs, agent.Latest.AgentCPUs, limit))
				}
			}
		}
		all = append(all, e)
	}
	return all
}

func bounds(run *v1alpha1.BenchmarkRun) []validity.Bound {
	var bounds []validity.Bound
	for _, t := range run.Spec.Thresholds {
		bounds = append(bounds, validity.Bound{Metric: string(t.Metric), Below: t.Below, Above: t.Above})
	}
	return bounds
}

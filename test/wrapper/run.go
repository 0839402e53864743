// Package wrapper makes BenchmarkRuns for tests, a word at a time.
package wrapper

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// Run is a BenchmarkRun in the making.
type Run struct{ v1alpha1.BenchmarkRun }

// NewRun starts with one small client that makes 100 requests for / over one
// connection, of a small target started from the image as it is.
func NewRun(namespace, name, image string) *Run {
	return &Run{v1alpha1.BenchmarkRun{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.BenchmarkRunSpec{
			Target: v1alpha1.Target{
				Image:     image,
				Resources: Resources("100m", "128Mi"),
				Server:    v1alpha1.Server{Generic: &v1alpha1.GenericServer{}},
			},
			Clients: v1alpha1.Clients{Replicas: ptr.To(int32(1)), Resources: Resources("100m", "128Mi")},
			Load: v1alpha1.Load{
				Requests: []v1alpha1.Request{{Path: "/"}},
				Closed:   &v1alpha1.ClosedLoad{Connections: 1, RequestCount: ptr.To(int64(100))},
			},
		},
	}}
}

// Resources returns CPU and memory.
func Resources(cpu, memory string) v1alpha1.Resources {
	return v1alpha1.Resources{CPU: ptr.To(resource.MustParse(cpu)), Memory: ptr.To(resource.MustParse(memory))}
}

// Obj returns the run.
func (r *Run) Obj() *v1alpha1.BenchmarkRun { return &r.BenchmarkRun }

// Args gives the server arguments.
func (r *Run) Args(args ...string) *Run {
	r.Spec.Target.Server.Generic.Args = args
	return r
}

// Content makes the target serve a file, and the clients request it.
func (r *Run) Content(path string, sizeBytes int64) *Run {
	r.Spec.Target.Content = append(r.Spec.Target.Content, v1alpha1.ContentFile{Path: path, SizeBytes: sizeBytes})
	return r.Path(path)
}

// Path makes the clients request one path.
func (r *Run) Path(path string) *Run {
	r.Spec.Load.Requests = []v1alpha1.Request{{Path: path}}
	return r
}

// Script makes k6 run the script of a ConfigMap. Readiness probes use /ready.
func (r *Run) Script(configMap string) *Run {
	r.Spec.Load, r.Spec.Script = v1alpha1.Load{}, &v1alpha1.Script{ConfigMapName: configMap}
	r.Spec.Target.Readiness.Path = "/ready"
	return r
}

// TargetResources gives the target CPU and memory.
func (r *Run) TargetResources(cpu, memory string) *Run {
	r.Spec.Target.Resources = Resources(cpu, memory)
	return r
}

// Clients gives the number of clients and the CPU and memory of each.
func (r *Run) Clients(replicas int32, cpu, memory string) *Run {
	r.Spec.Clients = v1alpha1.Clients{Replicas: ptr.To(replicas), Resources: Resources(cpu, memory)}
	return r
}

// Placement says on which nodes clients run, relative to the target's.
func (r *Run) Placement(placement v1alpha1.ClientPlacement) *Run {
	r.Spec.Clients.Placement = placement
	return r
}

// Requests makes each client send the given number of requests over the given number of connections.
func (r *Run) Requests(connections int32, requests int64) *Run {
	r.Spec.Load.Closed = &v1alpha1.ClosedLoad{Connections: connections, RequestCount: ptr.To(requests)}
	return r
}

// Seconds makes each client send requests for the given time over the given number of connections.
func (r *Run) Seconds(connections, seconds int32) *Run {
	r.Spec.Load.Closed = &v1alpha1.ClosedLoad{Connections: connections, DurationSeconds: ptr.To(seconds)}
	return r
}

// WarmupUntilSteady makes clients warm the target up until it is steady.
func (r *Run) WarmupUntilSteady(steady v1alpha1.SteadyState) *Run {
	r.Spec.Load.Warmup = &v1alpha1.Warmup{Steady: &steady}
	return r
}

// Warmup makes each client send the given number of requests before the measurement.
func (r *Run) Warmup(requests int64) *Run {
	r.Spec.Load.Warmup = &v1alpha1.Warmup{RequestCount: ptr.To(requests)}
	return r
}

// WarmupSeconds makes each client send requests for the given time before the measurement.
func (r *Run) WarmupSeconds(seconds int32) *Run {
	r.Spec.Load.Warmup = &v1alpha1.Warmup{DurationSeconds: ptr.To(seconds)}
	return r
}

// Rate makes each client start the given number of requests per second for the given time.
func (r *Run) Rate(requestsPerSecond, seconds int32) *Run {
	r.Spec.Load.Closed, r.Spec.Load.Open = nil, &v1alpha1.OpenLoad{RequestsPerSecond: v1alpha1.WholeRate(int64(requestsPerSecond)), DurationSeconds: ptr.To(seconds)}
	return r
}

// KeepAlive says whether connections are reused.
func (r *Run) KeepAlive(keepAlive v1alpha1.Switch) *Run {
	r.Spec.Load.Client.KeepAlive = keepAlive
	return r
}

// Lane puts the run into a lane.
func (r *Run) Lane(lane string) *Run {
	r.Spec.Lane = lane
	return r
}

// Deadline bounds the run, in seconds.
func (r *Run) Deadline(seconds int32) *Run {
	r.Spec.ActiveDeadlineSeconds = ptr.To(seconds)
	return r
}

// ReadyWithin bounds the time that the target may take to be ready, in seconds.
func (r *Run) ReadyWithin(seconds int32) *Run {
	r.Spec.Target.Readiness.TimeoutSeconds = ptr.To(seconds)
	return r
}

// Retain says when pods are kept.
func (r *Run) Retain(retention v1alpha1.PodRetention) *Run {
	r.Spec.PodRetention = retention
	return r
}

// TTL sets how many seconds after its end the run is deleted.
func (r *Run) TTL(seconds int32) *Run {
	r.Spec.TTLSecondsAfterFinished = ptr.To(seconds)
	return r
}

// Suspended keeps the run from starting.
func (r *Run) Suspended() *Run {
	r.Spec.Suspend = ptr.To(true)
	return r
}

// Threshold bounds a metric from above.
func (r *Run) Threshold(metric v1alpha1.ThresholdMetric, below string) *Run {
	r.Spec.Thresholds = append(r.Spec.Thresholds, v1alpha1.Threshold{Metric: metric, Below: below})
	return r
}

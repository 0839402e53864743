package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// truthBound is by how much a metric may differ from what was imposed.
const truthBound = 0.02

// truth imposes something on a target, in a run of its own, and compares it with the metric of the result.
type truth struct {
	name, about string
	compare     func(ctx context.Context, c *harness.Cluster, namespace string) ([]comparison, error)
}

// comparison holds a metric of a result and what was imposed.
type comparison struct {
	about             string
	imposed, measured float64
}

func (c comparison) difference() float64 { return c.measured/c.imposed - 1 }

func (c comparison) met() bool { return math.Abs(c.difference()) <= truthBound }

var truths = []truth{
	{"cpu", "something else uses the target's CPU for a third of the time", compareCPU},
	{"bytes", "responses of 1 MB", compareBytes},
	{"overflows", "an accept queue of 50 that overflows", compareOverflows},
	{"collections", "a page that collects garbage", compareCollections},
}

// compareAll imposes everything.
func compareAll(ctx context.Context, c *harness.Cluster, namespace string) error {
	var checks harness.Checks
	var failed error
	for _, t := range truths {
		fmt.Printf("%s: %s\n", t.name, t.about)
		comparisons, err := t.compare(ctx, c, namespace)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", t.name, err))
		}
		for _, found := range comparisons {
			checks.Add(found.about, fmt.Sprintf("imposed %.6g, measured %.6g: %+.2f%%", found.imposed, found.measured, 100*found.difference()),
				fmt.Sprintf("± %.0f%%", 100*truthBound), found.met())
		}
	}
	if failed != nil {
		return failed
	}
	return checks.Err()
}

// compareCPU compares what the kernel has accounted for everything but the target on the target's CPU with what the run says
// that others used.
func compareCPU(ctx context.Context, c *harness.Cluster, namespace string) ([]comparison, error) {
	spinning, reading := &spinner{length: spinInterval / 3}, &othersReader{}
	defer spinning.stop()
	defer reading.stop()
	s := scenario{
		run: func() *wrapper.Run { return open("/fixed/2000/100", 100, 20, 50) },
		disturb: func(ctx context.Context, c *harness.Cluster, run *v1alpha1.BenchmarkRun) error {
			if err := reading.disturb(ctx, c, run); err != nil {
				return err
			}
			return spinning.disturb(ctx, c, run)
		},
	}
	made, err := s.make(ctx, c, namespace, "cpu")
	if err != nil {
		return nil, err
	}
	spinning.stop()
	reading.stop()
	if made.NodeUsage == nil || made.Server == nil {
		return nil, fmt.Errorf("the node's metrics are unknown")
	}
	begin, end := made.Server.Begin.At, made.Server.End.At
	percent := 100 / float64(end-begin)
	others := percent * (reading.at(end)[0] - reading.at(begin)[0])
	fmt.Printf("  of them, the process that uses a third of the time: %.2f%%\n", percent*(spinning.usedAt(end)-spinning.usedAt(begin)))
	return []comparison{{"CPU time of others, percent", others, made.NodeUsage.CPUPercent(made.NodeUsage.OtherCPU)}}, nil
}

// compareBytes compares what the server sent, but for headers of packets, with what its interface did.
func compareBytes(ctx context.Context, c *harness.Cluster, namespace string) ([]comparison, error) {
	const length = 1_000_000
	s := scenario{run: func() *wrapper.Run { return open(fmt.Sprintf("/fixed/0/%d", length), 40, 10, 50) }}
	made, err := s.make(ctx, c, namespace, "bytes")
	if err != nil {
		return nil, err
	}
	if made.Server == nil {
		return nil, fmt.Errorf("the target's metrics are unknown")
	}
	bodies := float64(made.Merged.Requests * length)
	return []comparison{
		{"bytes received by the client", bodies, float64(made.Merged.BytesReceived)},
		{"bytes sent by the target's interface", bodies, float64(made.Server.End.BytesSent - made.Server.Begin.BytesSent)},
	}, nil
}

// compareOverflows compares with the kernel's counters, which are read during the run.
func compareOverflows(ctx context.Context, c *harness.Cluster, namespace string) ([]comparison, error) {
	reading := &counterReader{names: []string{"ListenOverflows", "ListenDrops"}}
	defer reading.stop()
	s := scenario{disturb: reading.disturb, run: overflowing}
	made, err := s.make(ctx, c, namespace, "overflows")
	if err != nil {
		return nil, err
	}
	reading.stop()
	if made.NodeUsage == nil || made.Server == nil {
		return nil, fmt.Errorf("the node's metrics are unknown")
	}
	begin, end := made.Server.Begin.At, made.Server.End.At
	return []comparison{
		{"overflows of the accept queue", reading.at(end)[0] - reading.at(begin)[0], float64(made.NodeUsage.ListenOverflows)},
		{"connections dropped by the listening socket", reading.at(end)[1] - reading.at(begin)[1], float64(made.NodeUsage.ListenDrops)},
	}, nil
}

// overflowing returns a run of a server with one thread and an accept queue of 50, which opens a
// connection for each request.
func overflowing() *wrapper.Run {
	r := wrapper.NewRun("", "", "localhost/assay-test/blocking:dev").Content("/file", 1000).TargetResources("1", "512Mi").
		Clients(1, "700m", "256Mi").Seconds(200, 10).WarmupSeconds(2).KeepAlive(v1alpha1.Disabled)
	r.Spec.Target.Server.Generic.ContentPath = "/www"
	r.Spec.Target.Env = []v1alpha1.EnvironmentVariable{{Name: "BACKLOG", Value: ptr.To("50")}}
	return r
}

// Package agent runs next to the server in the target's pod: it probes whether the server is ready,
// and samples what its processes use. It reads only /proc and needs no privilege.
package agent

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"github.com/assay-dev/assay/internal/load/driver/request"
	"github.com/assay-dev/assay/internal/probe"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/targettls"
)

// Session is the part of pod.Session that the agent uses. The methods are documented there.
type Session interface {
	Run(ctx context.Context) error
	Orders() <-chan pod.Order
	ProbeSucceeded(result *session.ProbeResult)
	ProbeFailed(reason string)
	SendServerSample(sample *result.ServerSample)
	Fail(reason string)
	At(local time.Time) int64
	Local(at int64) time.Time
}

// Sampler samples the usage of the target's containers.
type Sampler interface {
	// SetContainers sets which containers are sampled separately, as session.Watch.Containers does.
	SetContainers(containers map[string]string)
	// Sample samples all of them. now returns the time in microseconds since the Unix epoch.
	Sample(now func() int64) (*result.ServerSample, error)
}

// Run runs the agent's side of the session. It probes the target until a probe succeeds, and sends
// a usage sample every second from the start of each stage, until it is released or ctx is done.
func Run(ctx context.Context, s Session, sampler Sampler, log *slog.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	a := &agent{session: s, sampler: sampler, log: log, timer: time.NewTimer(0), stopProbing: func() {}}
	a.timer.Stop()
	defer a.timer.Stop()
	for {
		select {
		case order, open := <-s.Orders():
			if !open {
				if err := <-done; err != nil && ctx.Err() == nil {
					return err
				}
				return nil
			}
			if err := a.handle(ctx, order); err != nil {
				s.Fail(err.Error())
				cancel() // Run delivers the failure first
				<-done
				return err
			}
		case <-a.timer.C:
			a.sample()
			a.next = a.next.Add(max(time.Since(a.next).Truncate(time.Second), 0) + time.Second)
			a.timer.Reset(time.Until(a.next))
		}
	}
}

type agent struct {
	session     Session
	sampler     Sampler
	log         *slog.Logger
	timer       *time.Timer   // fires when the next sample is due
	next        time.Time     // when that is
	probed      session.Watch // the current probe, without containers
	stopProbing func()
	missing     bool // whether metrics that this node doesn't have were logged
}

func (a *agent) handle(ctx context.Context, order pod.Order) error {
	switch order := order.(type) {
	case pod.Watch:
		a.sampler.SetContainers(order.Containers)
		return a.startProbing(ctx, order.Watch)
	case pod.Start:
		a.next = a.session.Local(order.At)
		a.timer.Reset(time.Until(a.next))
	case pod.Sample:
		a.sample()
	case pod.Release:
		a.timer.Stop()
		a.stopProbing()
	default:
		return fmt.Errorf("the manager sent the agent an order for clients: %T", order)
	}
	return nil
}

// startProbing starts to probe the target, unless the order repeats the current probe: a target
// under load must not be probed again.
func (a *agent) startProbing(ctx context.Context, order session.Watch) error {
	order.Containers = nil
	if reflect.DeepEqual(order, a.probed) {
		return nil
	}
	requests, err := probeRequests(&order, session.TLSDirectory, session.CredentialsDirectory)
	if err != nil {
		return err
	}
	a.stopProbing()
	a.probed = order
	probing, stop := context.WithCancel(ctx)
	a.stopProbing = stop
	go probeTarget(probing, a.session, requests)
	return nil
}

func (a *agent) sample() {
	sample, err := a.sampler.Sample(func() int64 { return a.session.At(time.Now()) })
	if err != nil {
		a.log.Error("Failed to sample the server's usage", "error", err)
		a.session.Fail("sample the server's usage: " + err.Error())
		return
	}
	a.logMissing(sample.Node)
	a.session.SendServerSample(sample)
}

// logMissing logs once what can't be read on this node.
func (a *agent) logMissing(node *result.NodeUsage) {
	if node == nil || a.missing {
		return
	}
	if missing := node.Missing(); len(missing) > 0 {
		a.missing = true
		a.log.Info("This node does not have all metrics", "missing", missing)
	}
}

const userAgent = "assay-agent"

func probeRequests(order *session.Watch, tlsDirectory, credentialsDirectory string) ([]*probe.Request, error) {
	r := probe.Request{Address: order.Address, Host: order.Host, UserAgent: userAgent, Timeout: probe.Timeout, Streams: order.Streams}
	var err error
	if order.TLS != nil {
		if r.TLS, err = targettls.Config(order.TLS, order.Address, tlsDirectory); err != nil {
			return nil, fmt.Errorf("configure TLS with the target: %w", err)
		}
	}
	if scheme := order.Probes[0].Authentication; scheme != "" {
		if r.Credentials, err = request.ReadCredentials(scheme, credentialsDirectory); err != nil {
			return nil, fmt.Errorf("load.authentication.secretName: %w", err)
		}
	}
	return r.Each(order.Probes), nil
}

// probeTarget probes the target until a probe succeeds, and reports the results.
func probeTarget(ctx context.Context, s Session, requests []*probe.Request) {
	if result, err := probe.Until(ctx, requests, s.ProbeFailed); err == nil {
		s.ProbeSucceeded(result)
	}
}

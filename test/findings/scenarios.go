package main

import (
	"context"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

const (
	tomcatImage = "localhost/assay-test/tomcat:9.0"
	nginxImage  = "localhost/assay-test/nginx:1"
)

type findings = map[string]result.Severity

// calm returns a run of 10 s that has nothing wrong with it but, perhaps, what its path does: paths of
// test/server. The server has an exclusive CPU.
func calm(path string) *wrapper.Run {
	return wrapper.NewRun("", "", harness.ServerImage).Path(path).TargetResources("1", "256Mi").Clients(1, "700m", "128Mi").
		WarmupSeconds(1).Seconds(25, 10)
}

// open returns a run with an arrival rate.
func open(path string, perSecond, seconds, maxConnections int32) *wrapper.Run {
	r := calm(path).Rate(perSecond, seconds)
	r.Spec.Load.Open.MaxConnections = ptr.To(maxConnections)
	return r
}

// tomcat returns a run of a Tomcat with a number of threads.
func tomcat(threads, connections int32) *wrapper.Run {
	r := wrapper.NewRun("", "", tomcatImage).Tomcat().Content("/page.html", 8132).TargetResources("1", "1Gi").
		Clients(1, "700m", "256Mi").WarmupSeconds(3).Seconds(connections, 8)
	r.Spec.Target.Server.Tomcat.Connector.MaxThreads = ptr.To(threads)
	return r
}

// limitedTo limits the number of requests on a connection of a Tomcat; -1 for no limit.
func limitedTo(requests int32, r *wrapper.Run) *wrapper.Run {
	r.Spec.Target.Server.Tomcat.Connector.KeepAlive = &v1alpha1.TomcatKeepAlive{MaxRequests: ptr.To(requests)}
	return r
}

// secureNginx limits the number of requests on a TLS connection of an nginx.
func secureNginx(requests int32) *wrapper.Run {
	r := served(nginxImage).Nginx().TLS(v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}})
	r.Spec.Target.Server.Nginx.KeepAlive = &v1alpha1.NginxKeepAlive{MaxRequests: ptr.To(requests)}
	return r
}

// serving limits the number of connections that a Tomcat serves at a time.
func serving(connections int32, r *wrapper.Run) *wrapper.Run {
	r.Spec.Target.Server.Tomcat.Connector.MaxConnections = ptr.To(connections)
	return r
}

// streaming returns the run by HTTP/2 with streams on each connection.
func streaming(streams int32, r *wrapper.Run) *wrapper.Run {
	r.Spec.Target.Server.Tomcat.Connector.HTTP2 = v1alpha1.Enabled
	r.Spec.Load.Client.Protocol, r.Spec.Load.Client.Streams = v1alpha1.HTTP2, ptr.To(streams)
	return r
}

var steady = v1alpha1.SteadyState{WindowSeconds: ptr.To(int32(2)), Windows: ptr.To(int32(2)), ThroughputPercent: ptr.To(int32(20)), P99Percent: ptr.To(int32(100))}

// untilSteady returns a run with a warm-up that has a time limit.
func untilSteady(path string, timeoutSeconds int32) *wrapper.Run {
	limited := steady
	limited.TimeoutSeconds = ptr.To(timeoutSeconds)
	return calm(path).WarmupUntilSteady(limited)
}

// scenarios begin with those of loads, then come clients, targets and scripts.
var scenarios = []scenario{
	{
		name: "calm", about: "25 connections to a server that takes 2 ms and has an exclusive CPU",
		near: []string{
			validity.ReasonNothingSucceeded, validity.ReasonClientSaturated, validity.ReasonClientThrottled, validity.ReasonClientStalls,
			validity.ReasonClockUncertain, validity.ReasonClockStepped, validity.ReasonTooShort, validity.ReasonTooFewSamples, validity.ReasonNoWarmup,
			validity.ReasonLatencyClamped, validity.ReasonServerExited, validity.ReasonTargetUsageUnknown, validity.ReasonTargetCPUShared,
			validity.ReasonTargetThrottled, validity.ReasonTargetNotBusy, validity.ReasonNodeBusy, validity.ReasonAcceptQueueOverflow,
		},
		run: func() *wrapper.Run { return calm("/fixed/2000/100") },
	},
	{
		name: "one-node", about: "a client that may only run on the target's node",
		raises: findings{validity.ReasonSharedNode: result.Warns},
		run: func() *wrapper.Run {
			r := calm("/fixed/2000/100").Seconds(25, 3)
			first := map[string]string{corev1.LabelHostname: harness.FirstNode}
			r.Spec.Target.NodeSelector, r.Spec.Clients.NodeSelector = first, first
			return r
		},
	},
	{
		name: "overload", about: "600 requests/s asked of a server that can do 500",
		raises: findings{validity.ReasonNotKeepingUp: result.Invalidates},
		run:    func() *wrapper.Run { return open("/queue/1/2000/100", 600, 12, 4000) },
	},
	{
		name: "below-capacity", about: "350 requests/s asked of a server that can do 500",
		near: []string{validity.ReasonNotKeepingUp, validity.ReasonRateNotAchieved, validity.ReasonStartsLate},
		run:  func() *wrapper.Run { return open("/queue/1/2000/100", 350, 12, 4000) },
	},
	{
		name: "few-connections", about: "2,000 requests/s asked of 2 connections that can do 1,000",
		raises: findings{validity.ReasonRateNotAchieved: result.Invalidates, validity.ReasonStartsLate: result.Warns},
		run: func() *wrapper.Run {
			r := open("/fixed/2000/100", 2000, 8, 2)
			r.Spec.Load.Client.TimeoutSeconds = ptr.To(int32(1))
			return r
		},
	},
	{
		name: "slowing", about: "a server that becomes ten times slower within the measurement",
		raises: findings{validity.ReasonNotSteady: result.Warns},
		run:    func() *wrapper.Run { return calm("/slowing/2000/24/100").Seconds(10, 24) },
	},
	{
		name: "stalling", about: "a server that stalls for 0.4 s every 2 s, asked for 300 requests/s over 20 connections",
		raises: findings{validity.ReasonStartsLate: result.Warns},
		near:   []string{validity.ReasonNotSteady, validity.ReasonNotKeepingUp, validity.ReasonRateNotAchieved},
		run:    func() *wrapper.Run { return open("/stalling/1000/100", 300, 24, 20) },
	},
	{
		name: "few-requests", about: "5,000 requests",
		raises: findings{validity.ReasonTooFewSamples: result.Warns},
		run:    func() *wrapper.Run { return calm("/fixed/2000/100").Requests(5, 5000) },
	},
	{
		name: "short", about: "500 requests without a warm-up",
		raises: findings{validity.ReasonTooShort: result.Warns, validity.ReasonNoWarmup: result.Warns},
		run: func() *wrapper.Run {
			r := calm("/fixed/2000/100").Requests(5, 500)
			r.Spec.Load.Warmup = nil
			return r
		},
	},
	{
		name: "never-steady", about: "a warm-up of a server that becomes slower",
		raises: findings{validity.ReasonWarmupNotSteady: result.Warns},
		run:    func() *wrapper.Run { return untilSteady("/slowing/1000/20/100", 6) },
	},
	{
		name: "steady", about: "a warm-up of a server that is steady",
		near: []string{validity.ReasonWarmupNotSteady},
		run:  func() *wrapper.Run { return untilSteady("/fixed/2000/100", 30) },
	},
	{
		name: "all-fail", about: "every request fails",
		raises: findings{validity.ReasonNothingSucceeded: result.Invalidates},
		run:    func() *wrapper.Run { return calm("/nowhere").Seconds(5, 3) },
	},
	{
		name: "many-fail", about: "15% of the requests fail",
		raises: findings{validity.ReasonErrorsDominate: result.Invalidates},
		near:   []string{validity.ReasonNothingSucceeded},
		run:    func() *wrapper.Run { return calm("/failing/150/100").Seconds(2, 3) },
	},
	{
		name: "few-fail", about: "0.5% of the requests fail",
		near: []string{validity.ReasonErrorsDominate},
		run:  func() *wrapper.Run { return calm("/failing/5/100").Seconds(2, 3) },
	},
	{
		name: "small-client", about: "a client with a fifth of a CPU",
		raises: findings{validity.ReasonClientSaturated: result.Invalidates, validity.ReasonClientThrottled: result.Invalidates},
		run:    func() *wrapper.Run { return calm("/fixed/0/100").Clients(1, "200m", "128Mi") },
	},
	{
		name: "busy-client", about: "a k6 client that waits for its CPU",
		raises: findings{validity.ReasonClientStalls: result.Warns},
		script: `import http from 'k6/http';
export const options = { vus: 200, duration: '10s' };
export default function () { for (let i = 0, n = 0; i < 20000; i++) n += i; http.get(__ENV.ASSAY_TARGET_URL + '/fixed/2000/100'); }
`,
		run: func() *wrapper.Run { return calm("/").Clients(1, "700m", "512Mi").Script("") },
	},
	{
		name: "two-clients", about: "two clients that measure at the same time",
		near: []string{validity.ReasonStartSkew, validity.ReasonClientsUneven},
		run:  func() *wrapper.Run { return calm("/fixed/2000/100").Clients(2, "350m", "128Mi").Seconds(10, 8) },
	},
	{
		name: "late-client", about: "one of two clients is stopped for half a second at the start",
		raises:  findings{validity.ReasonStartSkew: result.Invalidates},
		run:     func() *wrapper.Run { return calm("/fixed/2000/100").Clients(2, "350m", "128Mi").Seconds(10, 8) },
		disturb: stopClient(1, 0, 500*time.Millisecond),
	},
	{
		name: "stopped-client", about: "one of two clients is stopped for 6 s",
		raises:  findings{validity.ReasonClientsUneven: result.Invalidates},
		run:     func() *wrapper.Run { return calm("/fixed/2000/100").Clients(2, "350m", "128Mi").Requests(10, 12_000) },
		disturb: stopClient(1, time.Second, 6*time.Second),
	},
	{
		name: "shared-cpus", about: "a server with half of a CPU",
		raises: findings{validity.ReasonTargetCPUShared: result.Warns},
		run:    func() *wrapper.Run { return calm("/fixed/2000/100").TargetResources("500m", "256Mi").Seconds(5, 4) },
	},
	{
		name: "throttled", about: "a server with a tenth of a CPU",
		raises: findings{validity.ReasonTargetThrottled: result.Warns},
		run:    func() *wrapper.Run { return calm("/fixed/0/100").TargetResources("100m", "256Mi") },
	},
	{
		name: "waiting-busy", about: "a server that uses half of a CPU also while another one is loaded",
		raises: findings{validity.ReasonWaitingVariantBusy: result.Warns},
		run:    func() *wrapper.Run { return calm("/fixed/2000/100").Args("-spin", "50") },
		beside: func() *wrapper.Run { return calm("/fixed/2000/100") },
	},
	{
		name: "waiting", about: "a server that waits while the one that uses half of a CPU is loaded",
		near:   []string{validity.ReasonWaitingVariantBusy},
		run:    func() *wrapper.Run { return calm("/fixed/2000/100") },
		beside: func() *wrapper.Run { return calm("/fixed/2000/100").Args("-spin", "50") },
	},
	{
		name: "queue", about: "100 connections to a server of 4 threads that takes 2 ms",
		raises: findings{validity.ReasonTargetNotBusy: result.Warns},
		run:    func() *wrapper.Run { return calm("/queue/4/2000/100").Seconds(100, 10) },
	},
	{
		name: "few-threads", about: "100 connections to a Tomcat of 4 threads",
		raises: findings{validity.ReasonConcurrencyLimited: result.Warns},
		run:    func() *wrapper.Run { return tomcat(4, 100) },
	},
	{
		name: "threads", about: "149 connections to a Tomcat of 150 threads",
		near: []string{validity.ReasonConcurrencyLimited},
		run:  func() *wrapper.Run { return tomcat(150, 149) },
	},
	{
		name: "max-connections-exceeded", about: "60 connections to a Tomcat that serves 50 at a time",
		raises: findings{validity.ReasonConcurrencyLimited: result.Warns},
		run:    func() *wrapper.Run { return serving(50, tomcat(150, 60)) },
	},
	{
		name: "max-connections", about: "60 connections to a Tomcat that serves 60 at a time",
		near: []string{validity.ReasonConcurrencyLimited},
		run:  func() *wrapper.Run { return serving(60, tomcat(150, 60)) },
	},
	{
		name: "many-streams", about: "two connections of 40 streams to a Tomcat that works on 20 of a connection at a time",
		raises: findings{validity.ReasonConcurrencyLimited: result.Warns},
		run:    func() *wrapper.Run { return streaming(40, tomcat(150, 2)) },
	},
	{
		name: "streams", about: "two connections of 19 streams to the same",
		near: []string{validity.ReasonConcurrencyLimited},
		run:  func() *wrapper.Run { return streaming(19, tomcat(150, 2)) },
	},
	{
		name: "keep-alive-limit", about: "a Tomcat that closes each connection after 100 requests",
		raises: findings{validity.ReasonKeepAliveLimitReached: result.Warns},
		near:   []string{validity.ReasonSettingsNotInEffect},
		run:    func() *wrapper.Run { return limitedTo(100, tomcat(150, 25)) },
	},
	{
		name: "keep-alive-unlimited", about: "a Tomcat that keeps connections",
		near: []string{validity.ReasonKeepAliveLimitReached, validity.ReasonServerLogErrors},
		run:  func() *wrapper.Run { return limitedTo(-1, tomcat(150, 25)) },
	},
	{
		name: "keep-alive-limit-tls", about: "an nginx that speaks TLS and closes each connection after 1,000 requests, as it does by default",
		raises: findings{validity.ReasonKeepAliveLimitReached: result.Warns},
		near:   []string{validity.ReasonConcurrencyLimited},
		run:    func() *wrapper.Run { return secureNginx(1000) },
	},
	{
		name: "keep-alive-tls", about: "an nginx that speaks TLS and closes each connection after 100,000 requests",
		near: []string{validity.ReasonKeepAliveLimitReached},
		run:  func() *wrapper.Run { return secureNginx(100_000) },
	},
	{
		name: "worker-connections", about: "100 connections to an nginx that has room for 64",
		raises: findings{validity.ReasonConcurrencyLimited: result.Warns, validity.ReasonServerLogErrors: result.Warns},
		run: func() *wrapper.Run {
			r := served(nginxImage).Nginx().Seconds(100, 8)
			r.Spec.Target.Server.Nginx.WorkerConnections = ptr.To(int32(64))
			return r
		},
	},
	{
		name: "few-workers", about: "50 connections to an httpd of the MPM Worker with 25 threads",
		raises: findings{validity.ReasonConcurrencyLimited: result.Warns},
		run: func() *wrapper.Run {
			r := served("localhost/assay-test/httpd:2.4").HTTPD().Seconds(50, 8)
			h := r.Spec.Target.Server.HTTPD
			h.MPM, h.ThreadsPerChild, h.MaxRequestWorkers = v1alpha1.HTTPDWorker, ptr.To(int32(25)), ptr.To(int32(25))
			return r
		},
	},
	{
		name: "backlog", about: "an accept queue that is longer than the kernel allows",
		raises: findings{validity.ReasonSettingsNotInEffect: result.Warns},
		run: func() *wrapper.Run {
			r := tomcat(150, 25)
			r.Spec.Target.Server.Tomcat.Connector.AcceptCount = ptr.To(int32(100_000))
			return r
		},
	},
	{
		name: "accept-queue", about: "200 connections that are opened for each request to a server of one thread with an accept queue of 50",
		raises: findings{validity.ReasonAcceptQueueOverflow: result.Warns},
		run:    overflowing,
	},
	{
		name: "others", about: "something else wants all of the target's CPU, which has no time left",
		raises: findings{validity.ReasonNodeBusy: result.Invalidates},
		run:    func() *wrapper.Run { return calm("/fixed/0/100") },
		disturb: func(ctx context.Context, c *harness.Cluster, run *v1alpha1.BenchmarkRun) error {
			return (&spinner{length: spinInterval}).disturb(ctx, c, run)
		},
	},
	{
		name: "busy", about: "a target whose CPU has no time left, and nothing else on it",
		near: []string{validity.ReasonNodeBusy, validity.ReasonNetworkLimited},
		run:  func() *wrapper.Run { return calm("/fixed/0/100") },
	},
	{
		name: "narrow", about: "responses of 100 kB over an interface that is limited to 100 Mbit/s",
		raises:  findings{validity.ReasonNetworkLimited: result.Warns},
		run:     func() *wrapper.Run { return calm("/fixed/0/100000") },
		disturb: narrow("100mbit"),
	},
	{
		name: "wide", about: "responses of 100 kB over an interface without a limit",
		near: []string{validity.ReasonNetworkLimited},
		run:  func() *wrapper.Run { return calm("/fixed/0/100000") },
	},
	{
		name: "throwing", about: "a page of Tomcat that throws an exception",
		raises: findings{validity.ReasonServerLogErrors: result.Warns},
		page:   `<%@ page session="false" %><% if (true) throw new IllegalStateException("by the page"); %>`,
		run: func() *wrapper.Run {
			r := tomcat(150, 2).Path("/"+pageFile).Requests(2, 100).Warmup(10)
			r.Spec.Target.Readiness.Path = "/page.html"
			return r
		},
	},
	{
		name: "few-collections", about: "1,000 requests to a Tomcat whose heap has room for the garbage of all",
		raises: findings{validity.ReasonFewRequestsForGC: result.Warns},
		run: func() *wrapper.Run {
			r := tomcat(150, 5).Requests(5, 1000).Warmup(500)
			// Room for code, too, which is otherwise collected while the server starts to be used.
			r.Spec.Target.Server.Tomcat.JVMOptions = []string{"-Xms640m", "-Xmx640m", "-Xmn512m", "-XX:MetaspaceSize=128m"}
			return r
		},
	},
	{
		name: "collections", about: "a page that collects garbage for each request",
		near: []string{validity.ReasonFewRequestsForGC},
		page: collectingPage,
		run:  collecting,
	},
	{
		name: "script", about: "a script with which nothing is wrong",
		near: []string{
			validity.ReasonNoRequests, validity.ReasonScriptMarkedFailed, validity.ReasonIterationsDropped,
			validity.ReasonTeardownFailed, validity.ReasonSummaryFailed, validity.ReasonMetricsOmitted,
		},
		script: rateScript(20, ``),
		run:    scripted,
	},
	{
		name: "script-dropping", about: "a script whose virtual users can do a tenth of its arrival rate",
		raises: findings{validity.ReasonIterationsDropped: result.Invalidates},
		script: rateScript(1, `sleep(0.2);`),
		run:    scripted,
	},
	{
		name: "script-failing", about: "a script that calls test.fail(), with a teardown() and a handleSummary() that throw",
		raises: findings{validity.ReasonScriptMarkedFailed: result.Invalidates, validity.ReasonTeardownFailed: result.Warns, validity.ReasonSummaryFailed: result.Warns},
		script: rateScript(20, `if (exec.scenario.iterationInTest === 10) exec.test.fail('by the script');`) +
			`export function teardown() { throw new Error('by the script'); }
export function handleSummary() { throw new Error('by the script'); }`,
		run: scripted,
	},
	{
		name: "script-metrics", about: "a script with more metrics than a result has room for, and without requests",
		raises: findings{validity.ReasonMetricsOmitted: result.Warns, validity.ReasonNoRequests: result.Warns},
		script: `import { Counter } from 'k6/metrics';
import { sleep } from 'k6';
const counters = Array.from({ length: 150 }, (_, i) => new Counter('metric_' + i));
export const options = { vus: 1, duration: '3s' };
export default function () { counters.forEach((c) => c.add(1)); sleep(0.1); }
`,
		run: scripted,
	},
}

func scripted() *wrapper.Run { return calm("/").Clients(1, "700m", "256Mi").Script("") }

// rateScript returns a script that starts 50 iterations per second.
func rateScript(virtualUsers int, also string) string {
	return `import http from 'k6/http';
import exec from 'k6/execution';
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'constant-arrival-rate', rate: 50, timeUnit: '1s', duration: '6s', preAllocatedVUs: ` +
		strconv.Itoa(virtualUsers) + ` } } };
export default function () { http.get(__ENV.ASSAY_TARGET_URL + '/fixed/2000/100'); ` + also + ` }
`
}

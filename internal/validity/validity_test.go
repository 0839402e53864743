package validity_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

const (
	second = int64(1_000_000)
	start  = 1_000 * second
	length = 10 * second
)

// sound returns a result of two clients over ten seconds without findings.
func sound() *result.Result {
	r := &result.Result{
		Environment: result.Environment{TargetCPULimit: 1500, ClientCPULimit: 2000, CPUExclusivity: "Exclusive", TargetCPUs: "1", TargetNode: "node-1"},
		Server:      &result.Server{End: result.ServerUsage{At: length, GCPauses: result.Unknown}}, // it isn't Java
		Warmup:      &result.Warmup{Counts: result.Counts{Requests: 100}},
	}
	for i := range 2 {
		c := result.Client{Index: i, Node: "node-2"}
		c.Requests, c.StartedAt, c.EndedAt = 10_000, start, start+length
		c.Latencies.Of(result.Total).Record(1000)
		r.Clients = append(r.Clients, c)
	}
	r.Merged, _, r.DurationMicroseconds = result.MergeClients(r.Clients)
	return r
}

// merged merges the clients again after a change to them.
func merged(r *result.Result) {
	r.Merged, _, r.DurationMicroseconds = result.MergeClients(r.Clients)
}

// arrived changes a result to that of an open load whose last request started at the
// given time.
func arrived(startedMicroseconds, dropped int64, levels int) func(*result.Result) {
	return func(r *result.Result) {
		r.Arrivals = &result.Arrivals{Due: 20_000, PlannedMicroseconds: 30_000_000, StartedMicroseconds: startedMicroseconds}
		r.Merged.Dropped = dropped
		r.Levels = make([]result.Level, levels)
	}
}

// late adds a request with the given start delay.
func late(microseconds int64) func(*result.Result) {
	return func(r *result.Result) { r.Merged.Latencies.Of(result.Delay).Record(microseconds) }
}

// settled adds a warm-up that lasts until the target is steady.
func settled(reached bool) func(*result.Result) {
	return func(r *result.Result) {
		r.Warmup.DurationMicroseconds = 20 * second
		r.Warmup.Steady = &result.Steadiness{Reached: reached, ThroughputPercent: 5, P99Percent: 25, Windows: []result.WarmupWindow{
			{Second: 10, Seconds: 5, Succeeded: 1000, P99: 1000}, {Second: 15, Seconds: 5, Succeeded: 1500, P99: 1000},
		}}
	}
}

// stalled sets the scheduling latency and GC pauses of client 1, in microseconds.
func stalled(lag, collecting int64) func(*result.Result) {
	return func(r *result.Result) {
		r.Clients[1].Usage.SchedulingLatencyP99, r.Clients[1].Usage.GCPause, r.Clients[1].Usage.GCPauseMax = lag, collecting, 7000
	}
}

func TestSoundResultHasNoFindings(t *testing.T) {
	if findings := validity.Judge(sound(), validity.Declared{}); len(findings) != 0 || !validity.Valid(findings) {
		t.Errorf("findings %v", findings)
	}
}

func TestRules(t *testing.T) {
	type change func(*result.Result)
	cpu := func(client int, percentOfLimit float64) change {
		return func(r *result.Result) {
			// Of two CPUs over ten seconds, one percent is 200 ms.
			used := int64(percentOfLimit * 200_000)
			r.Clients[client].Usage.UserCPU, r.Clients[client].Usage.SystemCPU = used/4, used-used/4
		}
	}
	// part has both clients use a share of their limits from one second to another, and little in the others.
	part := func(of, from, to int64, share float64) change {
		return func(r *result.Result) {
			for i := range r.Clients {
				r.Clients[i].EndedAt = start + of*second
			}
			merged(r)
			for n := range of {
				s := result.Second{Second: n, Seconds: 1, ClientCPU: 400_000}
				if n >= from && n < to {
					s.ClientCPU = int64(share * 4_000_000)
				}
				r.Series = append(r.Series, s)
			}
		}
	}
	throttled := func(microseconds int64) change {
		return func(r *result.Result) { r.Clients[1].Usage.Throttled = microseconds }
	}
	skew := func(least, most int64) change {
		return func(r *result.Result) {
			r.Clients[0].StartSkewMicroseconds, r.Clients[1].StartSkewMicroseconds = most, least
		}
	}
	over := func(duration int64, skew change) change {
		return func(r *result.Result) {
			skew(r)
			for i := range r.Clients {
				r.Clients[i].EndedAt = start + duration
			}
			merged(r)
		}
	}
	together := func(microseconds int64) change {
		return func(r *result.Result) {
			r.Clients[1].EndedAt = start + microseconds
			merged(r)
		}
	}
	failed := func(errors, requests int64) change {
		return func(r *result.Result) {
			r.Merged.Requests, r.Merged.Errors[result.ErrorTimeout], r.Merged.Errors[result.ErrorConnect] = requests, errors, 0
		}
	}
	// causes has a cause with each number, alternately of two kinds. A negative number are successful requests.
	causes := func(numbers ...int64) change {
		return func(r *result.Result) {
			r.Merged.Requests = 0
			for i, n := range numbers {
				if n < 0 {
					r.Merged.Requests -= n
					continue
				}
				kind := []result.ErrorKind{result.ErrorTimeout, result.ErrorConnect}[i%2]
				r.Merged.Requests += n
				r.Merged.Errors[kind] += n
				r.Causes.Count(kind, result.Cause{Text: fmt.Sprintf("cause %d", i), Count: n})
			}
		}
	}
	short := func(microseconds, requests int64) change {
		return func(r *result.Result) { r.DurationMicroseconds, r.Merged.Requests = microseconds, requests }
	}
	samples := func(n int64, threshold string) change {
		return func(r *result.Result) {
			r.Merged.Requests, r.Thresholds = n, []result.ThresholdOutcome{{Metric: threshold}}
		}
	}
	samplesOf := func(n, failed int64) change {
		return func(r *result.Result) {
			r.Merged.Requests, r.Thresholds = 20_000, []result.ThresholdOutcome{{Metric: "LatencyP99", Request: "pay"}}
			r.ByRequest = []result.RequestMetrics{{Name: "cart", Requests: 20_000 - n - failed}, {Name: "pay", Requests: n + failed}}
			r.ByRequest[1].Errors[result.ErrorReceive] = failed
		}
	}
	limited := func(text string, n int64) change {
		return func(r *result.Result) {
			r.Merged.Errors[result.ErrorConnect] = n
			r.Causes[result.ErrorConnect] = []result.Cause{{Text: text, Count: n}}
		}
	}
	unanswered := func(n, oldest int64) change {
		return func(r *result.Result) {
			r.Merged.Unanswered, r.Merged.OldestUnanswered = n, oldest
			r.Merged.Latencies.Of(result.Total).Record(200_000)
		}
	}
	clockError := func(microseconds int64) change {
		return func(r *result.Result) { r.Clients[1].ClockErrorMicroseconds = microseconds }
	}
	server := func(throttledBefore, throttledAfter int64) change {
		return func(r *result.Result) {
			r.Server.Begin.Throttled, r.Server.End.Throttled = throttledBefore, throttledAfter
		}
	}
	// containers has two containers behind the server.
	containers := func(change func(*result.Result)) change {
		return func(r *result.Result) {
			for _, name := range []string{"cache", "tomcat"} {
				r.Environment.Backends = append(r.Environment.Backends, result.BackendEnvironment{Name: name, CPULimit: 500, CPUs: "2-3", CPUExclusivity: "Exclusive"})
				r.Backends = append(r.Backends, result.Backend{Name: name, Server: result.Server{End: result.ServerUsage{At: length}}})
			}
			change(r)
		}
	}
	latency := func(microseconds int64) change {
		return func(r *result.Result) { r.Merged.Latencies.Of(result.Waiting).Record(microseconds) }
	}
	for _, tc := range []struct {
		rule     string
		name     string
		change   change
		severity result.Severity // empty when nothing is to be found
		metrics  string
	}{
		{"NothingSucceeded", "one of many", failed(19_999, 20_000), "", ""},
		{"NothingSucceeded", "none of many", failed(20_000, 20_000), result.Invalidates, "None of 20000 requests succeeded: mostly timeout."},
		{"NothingSucceeded", "with a cause", causes(3, 1), result.Invalidates, "None of 4 requests succeeded: 3 timeout (cause 0), 1 connect (cause 1). Check"},
		{"NothingSucceeded", "no requests", failed(0, 0), result.Invalidates, "None of 0 requests succeeded: no errors."},

		{"ErrorsDominate", "0.99 %", failed(99, 10_000), "", ""},
		{"ErrorsDominate", "1 %", failed(100, 10_000), result.Warns, "1% of the requests failed (100 of 10000): mostly timeout."},
		{"ErrorsDominate", "with more causes than a message names", causes(10, 40, 20, 30, 50, -9850), result.Warns,
			"1.5% of the requests failed (150 of 10000): 50 timeout (cause 4), 40 connect (cause 1), 30 connect (cause 3), and 2 more causes."},
		{"ErrorsDominate", "9.99 %", failed(999, 10_000), result.Warns, "9.99%"},
		{"ErrorsDominate", "10 %", failed(1000, 10_000), result.Invalidates, "10% of the requests failed (1000 of 10000"},
		{"ErrorsDominate", "all, which NothingSucceeded says", failed(1000, 1000), "", ""},

		{"RequestsUnanswered", "as old as others", unanswered(5000, 200_000), "", ""},
		{"RequestsUnanswered", "older", unanswered(2222, 200_001), result.Warns, "2222 requests were unanswered when the load was stopped, the oldest for 0.200s"},
		{"RequestsUnanswered", "older, 10 % of all", unanswered(2223, 200_001), result.Invalidates, "not among the 20000 requests"},
		{"RequestsUnanswered", "older, for less than 1 % of the measurement", func(r *result.Result) {
			unanswered(5000, 250_000)(r)
			r.DurationMicroseconds = 25_000_001
		}, "", ""},
		{"RequestsUnanswered", "nothing else", func(r *result.Result) {
			unanswered(8, 2_000_000)(r)
			r.Merged.Requests, r.Merged.Latencies = 0, result.Latencies{}
		}, result.Invalidates, "8 requests were unanswered when the load was stopped, the oldest for 2.000s"},

		{"ClientLimited", "another cause", limited("ECONNREFUSED", 500), "", ""},
		{"ClientLimited", "descriptors, 1 %", limited("EMFILE", 200), result.Invalidates, "200 of 20000 requests failed for a limit of the client's own machine (EMFILE: too many open files). The target did not see them. Increase the limit of open files"},
		{"ClientLimited", "descriptors, less", limited("EMFILE", 199), result.Warns, "EMFILE"},
		{"ClientLimited", "ports", limited("EADDRNOTAVAIL", 5000), result.Invalidates, "widen net.ipv4.ip_local_port_range"},
		{"ClientLimited", "ports by k6", limited("dial: connect: cannot assign requested address", 5000), result.Invalidates, "EADDRNOTAVAIL"},
		{"ErrorsDominate", "for the client's own limit", limited("EADDRNOTAVAIL", 5000), result.Invalidates, "see ClientLimited"},
		{"ErrorsDominate", "for the target's", limited("ECONNRESET", 5000), result.Invalidates, "lower the load until the target can serve it"},

		{"ClientSaturated", "79.9 %", cpu(0, 79.9), "", ""},
		{"ClientSaturated", "80 %", cpu(0, 80), result.Warns, "1 of 2 clients used at least 80% of their CPU limit (worst: client 0, 80.0%)."},
		{"ClientSaturated", "80 % of one", func(r *result.Result) { cpu(0, 80)(r); r.Clients = r.Clients[:1] }, result.Warns, "1 of 1 client used at least 80%"},
		{"ClientSaturated", "89.9 %", cpu(1, 89.9), result.Warns, "(worst: client 1, 89.9%)"},
		{"ClientSaturated", "90 %", cpu(1, 90), result.Invalidates, "(worst: client 1, 90.0%)"},
		{"ClientSaturated", "alone", func(r *result.Result) { cpu(1, 90)(r); r.Run.Standalone = true }, result.Invalidates, "were the bottleneck. Run it with more CPUs, or lower the load."},
		{"ClientSaturated", "both", func(r *result.Result) { cpu(0, 97)(r); cpu(1, 95)(r) }, result.Invalidates, "2 of 2 clients used at least 90% of their CPU limit (worst: client 0, 97.0%)."},
		{"ClientSaturated", "in less than 1 s", func(r *result.Result) { short(second-1, 2)(r); cpu(0, 440)(r) }, "", ""},
		{"ClientSaturated", "in 1 s", func(r *result.Result) { short(second, 2)(r); cpu(0, 440)(r) }, result.Invalidates, "1 of 2 clients used at least 90%"},
		{"ClientSaturated", "no limit known", func(r *result.Result) { cpu(0, 97)(r); r.Environment.ClientCPULimit = 0 }, "", ""},

		{"ClientSaturated", "for half", part(10, 5, 10, 0.95), result.Invalidates, "For 5s of 10.000s, from second 5 on, the clients used 95.0% of their CPU limit."},
		{"ClientSaturated", "for three seconds of 30", part(30, 10, 13, 1), result.Invalidates, "For 3s of 30.000s, from second 10 on"},
		{"ClientSaturated", "for three seconds of 31", part(31, 10, 13, 1), result.Warns, "For 3s of 31.000s"},
		{"ClientSaturated", "for three seconds of 30 in stages", func(r *result.Result) {
			part(30, 10, 13, 1)(r)
			r.Levels = make([]result.Level, 2)
		}, result.Warns, "For 3s of 30.000s"},
		{"ClientSaturated", "for two seconds", part(10, 0, 2, 1), "", ""},
		{"ClientSaturated", "nearly, for half", part(10, 5, 10, 0.89), "", ""},
		{"ClientSaturated", "every other second", func(r *result.Result) {
			part(10, 0, 10, 1)(r)
			for i := 0; i < 10; i += 2 {
				r.Series[i].ClientCPU = 0
			}
		}, "", ""},
		{"ClientSaturated", "in seconds without load", func(r *result.Result) {
			part(20, 10, 20, 1)(r)
			r.Clients[0].EndedAt = start + length
			merged(r)
		}, "", ""},
		{"ClientSaturated", "warned of on average, for half", func(r *result.Result) {
			part(10, 5, 10, 0.95)(r)
			cpu(0, 85)(r)
		}, result.Invalidates, "For 5s of 10.000s"},
		{"ClientSaturated", "invalid on average, for a part", func(r *result.Result) {
			part(31, 10, 13, 1)(r)
			cpu(0, 310)(r)
		}, result.Invalidates, "1 of 2 clients used at least 90%"},

		{"ClientThrottled", "unknown", throttled(-1), "", ""},
		{"ClientThrottled", "1 %", throttled(100_000), "", ""},
		{"ClientThrottled", "more than 1 %", throttled(100_001), result.Invalidates, "1 of 2 clients spent more than 1% of the measurement throttled by their CPU limit (worst: client 1, 0.100s of 10.000s)."},

		{"StartSkew", "5 ms", skew(100, 5_100), "", ""},
		{"StartSkew", "more than 5 ms", skew(100, 5_101), result.Warns, "started 5.001ms apart"},
		{"StartSkew", "100 ms and 1 % of 10 s", skew(0, 100_000), result.Warns, "100ms"},
		{"StartSkew", "more than 1 % of 10 s", skew(0, 100_001), result.Invalidates, "100.001ms"},
		{"StartSkew", "100 ms of a minute", over(60*second, skew(0, 100_000)), result.Warns, "100ms"},
		{"StartSkew", "more than 100 ms of a minute", over(60*second, skew(0, 100_001)), result.Invalidates, "in a measurement of 60.000s."},
		{"StartSkew", "1 % of 100 ms", over(second/10, skew(0, 1000)), "", ""},
		{"StartSkew", "more than 1 % of 100 ms", over(second/10, skew(0, 1001)), result.Invalidates, "1.001ms"},
		{"StartSkew", "before the start time", skew(-3_000, 3_000), result.Warns, "6ms"},

		{"ClientsUneven", "90 %", together(9 * second), "", ""},
		{"ClientsUneven", "less than 90 %", together(9*second - 1), result.Warns, "for only 9.000s of 10.000s (90.0%)"},
		{"ClientsUneven", "50 %", together(5 * second), result.Warns, "(50.0%)"},
		{"ClientsUneven", "less than 50 %", together(5*second - 1), result.Invalidates, "(50.0%)"},
		{"ClientsUneven", "one began when the other had ended", func(r *result.Result) {
			r.Clients[1].StartedAt, r.Clients[1].EndedAt = start+2*length, start+3*length
		}, result.Invalidates, "for only 0.000s of 30.000s"},
		{"ClientsUneven", "one never began", func(r *result.Result) { r.Clients[1].StartedAt, r.Clients[1].EndedAt = 0, 0 }, result.Invalidates, "for only 0.000s"},
		{"ClientsUneven", "a single client", func(r *result.Result) { r.Clients = r.Clients[:1] }, "", ""},

		{"ClockUncertain", "5 ms", clockError(5_000), "", ""},
		{"ClockUncertain", "more than 5 ms", clockError(5_001), result.Warns, "1 of 2 clients are uncertain by more than 5ms (worst: client 1, ±5.001ms)"},

		{"ClockStepped", "no", func(r *result.Result) { r.Environment.ClockStepMicroseconds = 0 }, "", ""},
		{"ClockStepped", "an hour", func(r *result.Result) { r.Environment.ClockStepMicroseconds = 3_600_000_000 }, result.Warns, "advanced by 3600.000s more"},

		{"RateNotAchieved", "all on time", arrived(30_000_000, 0, 0), "", ""},
		{"RateNotAchieved", "0.9 % slower", arrived(30_270_000, 0, 0), "", ""},
		{"RateNotAchieved", "1.1 % slower", arrived(30_333_000, 0, 0), result.Warns, "659.35 requests/s, 1.1% less than the target rate of 666.67."},
		{"RateNotAchieved", "one dropped", arrived(30_000_000, 1, 0), result.Warns, "1 of 20000 requests were dropped"},
		{"RateNotAchieved", "5.1 % dropped", arrived(30_000_000, 1020, 0), result.Invalidates, "5.1% less than the target rate of 666.67. 1020 of 20000"},
		{"RateNotAchieved", "5.1 % dropped in stages", arrived(30_000_000, 1020, 1), result.Warns, "1020 of 20000"},
		{"StartsLate", "10 ms", late(10_000), "", ""},
		{"StartsLate", "11 ms", late(11_000), result.Warns, "started 11ms or more after"},

		{"TooShort", "1 s and 1000 requests", short(second, 1000), "", ""},
		{"TooShort", "less than 1 s", short(second-1, 1000), result.Warns, "What the clients used in so short a time isn't judged. Make more requests"},
		{"TooShort", "999 requests", short(second, 999), result.Warns, "999 successful requests"},

		{"TooFewSamples", "9,999 requests", samples(9_999, ""), result.Warns, "Only 9 of 9999 successful requests are above the 99.9th percentile, so that it rests on them. Make at least 10000 requests"},
		{"TooFewSamples", "10,000 requests", samples(10_000, ""), "", ""},
		{"TooFewSamples", "5,000 requests and a threshold of p99", samples(5_000, "LatencyP99"), result.Warns, "Only 5 of 5000 successful requests are above the 99.9th percentile, so"},
		{"TooFewSamples", "99,999 requests and a threshold of p99.99", samples(99_999, "LatencyP9999"), result.Warns, "Only 9 of 99999 successful requests are above the 99.99th percentile, which the threshold LatencyP9999 uses, so that it rests on them. Make at least 100000"},
		{"TooFewSamples", "100,000 requests and a threshold of p99.99", samples(100_000, "LatencyP9999"), "", ""},
		{"TooFewSamples", "999 of 20,000 requests have a threshold of p99", samplesOf(999, 1), result.Warns, "Only 9 of 999 successful requests with the name pay are above the 99th percentile, which the threshold LatencyP99 of pay uses, so that it rests on them. Make at least 1000 of them"},
		{"TooFewSamples", "1,000 of 20,000 requests have a threshold of p99", samplesOf(1_000, 1), "", ""},
		{"TooFewSamples", "the request with a threshold always failed", samplesOf(0, 1000), "", ""},
		{"TooFewSamples", "what TooShort finds", samples(999, "LatencyP9999"), "", ""},

		{"NoWarmup", "none", func(r *result.Result) { r.Warmup = nil }, result.Warns, "measured cold"},
		{"WarmupNotSteady", "steady", settled(true), "", ""},
		{"WarmupNotSteady", "not steady", settled(false), result.Warns, "after 20.000s: requests/s of the last 2 windows of 5s: 200.0, 300.0 (spread 40.0%, bound 5%)"},
		{"WarmupNotSteady", "not configured", func(*result.Result) {}, "", ""},
		{"ClientStalls", "a lag of a quarter of p99", stalled(250, 0), "", ""},
		{"ClientStalls", "a lag of more", stalled(251, 0), result.Warns, "The scheduling latency of client 1 (p99: 0.251ms) is 25% of its p99 of 1ms"},
		{"ClientStalls", "collections of a hundredth", stalled(0, length/100), "", ""},
		{"ClientStalls", "collections of more", stalled(0, length/50), result.Warns, "Client 1 was in GC pauses for 0.200s of 10.000s (2.0%; the longest: 7ms)"},
		{"ClientStalls", "no request", func(r *result.Result) {
			stalled(9, 0)(r)
			r.Clients[1].Latencies = result.Latencies{}
		}, "", ""},
		{"NoWarmup", "one success", func(r *result.Result) { r.Warmup = &result.Warmup{Counts: result.Counts{Requests: 1}} }, "", ""},
		{"NoWarmup", "all failed", func(r *result.Result) {
			r.Warmup = &result.Warmup{Counts: result.Counts{Requests: 7, Errors: result.ErrorCounts{result.ErrorConnect: 7}}}
		}, result.Warns, "None of the 7 requests of the warm-up succeeded"},

		{"TargetUnverified", "proven", func(r *result.Result) { r.Environment.Connector = "http-nio-8080" }, "", ""},
		{"TargetUnverified", "unverified", func(r *result.Result) { r.Run.Server, r.Environment.Unverified = "Tomcat NIO", true },
			result.Invalidates, "as declared (Tomcat NIO)"},
		{"ServerExited", "running", containers(func(*result.Result) {}), "", ""},
		{"ServerExited", "unknown before", func(r *result.Result) { r.Server.Begin.Resident, r.Server.End.Resident = 0, 0 }, "", ""},
		{"ServerExited", "one of several", containers(func(r *result.Result) {
			r.Backends[1].Begin.Resident, r.Backends[1].End.Resident = 1<<20, 0
			r.Merged.Errors[0] = 61
		}), result.Invalidates, "had no process left when the measurement had ended (tomcat), and 61 requests failed."},

		{"TargetUsageUnknown", "external", func(r *result.Result) { r.Server, r.Environment.TargetNode = nil, "" }, result.Warns, "Assay did not start the target"},
		{"TargetUsageUnknown", "unseen", func(r *result.Result) { r.Server = nil }, result.Warns, "is not available"},

		{"TargetUsageUnknown", "all seen", containers(func(*result.Result) {}), "", ""},
		{"TargetUsageUnknown", "one behind the server", containers(func(r *result.Result) { r.Backends = r.Backends[:1] }), result.Warns, "The usage of the target's containers tomcat is not available"},
		{"TargetUsageUnknown", "all containers", containers(func(r *result.Result) { r.Server, r.Backends = nil, nil }), result.Warns, "The usage of the target is"},

		{"TargetCPUShared", "shared", func(r *result.Result) { r.Environment.CPUExclusivity = "Shared" }, result.Warns, "The target shared its CPUs (1) with other processes on node node-1."},
		{"TargetCPUShared", "unknown", func(r *result.Result) { r.Environment.CPUExclusivity = "Unknown" }, "", ""},

		{"TargetCPUShared", "none of several", containers(func(*result.Result) {}), "", ""},
		{"TargetCPUShared", "one of several", containers(func(r *result.Result) { r.Environment.Backends[1].CPUExclusivity = "Shared" }),
			result.Warns, "Of the target's 3 containers tomcat (2-3) shared CPUs with other processes on node node-1."},
		{"TargetCPUShared", "the server and another", containers(func(r *result.Result) {
			r.Environment.CPUExclusivity, r.Environment.Backends[0].CPUExclusivity = "Shared", "Shared"
		}), result.Warns, "containers server (1), cache (2-3) shared"},

		{"TargetThrottled", "unknown before", server(-1, 5*second), "", ""},
		{"TargetThrottled", "unknown after", server(0, -1), "", ""},
		{"TargetThrottled", "1 %", server(second, second+100_000), "", ""},
		{"TargetThrottled", "more than 1 %", server(second, second+150_000), result.Warns, "The target was throttled by its CPU limit of 1.5 for 0.150s of 10.000s (1.5%)."},

		{"TargetThrottled", "1 % of one of several", containers(func(r *result.Result) { r.Backends[1].End.Throttled = 100_000 }), "", ""},
		{"TargetThrottled", "one of several", containers(func(r *result.Result) { r.Backends[1].End.Throttled = 150_000 }),
			result.Warns, "The target's container tomcat was throttled by its CPU limit of 0.5 for 0.150s of 10.000s (1.5%). Latencies"},
		{"TargetThrottled", "the server and another", containers(func(r *result.Result) { r.Server.End.Throttled, r.Backends[0].End.Throttled = second, 2*second }),
			result.Warns, "container server was throttled by its CPU limit of 1.5 for 1.000s of 10.000s (10.0%). The target's container cache was throttled by its CPU limit of 0.5 for 2.000s"},
		{"TargetThrottled", "one that can't be seen", containers(func(r *result.Result) { r.Server = nil }), "", ""},

		{"LatencyClamped", "2 h", latency(result.HighestMicroseconds), "", ""},
		{"LatencyClamped", "more than 2 h", latency(result.HighestMicroseconds + 1_000_000), result.Warns, "1 of 1 durations (waiting) were outside the range of histograms, 1 µs to 7200.000s; the longest was 7201.000s."},
	} {
		t.Run(tc.rule+"/"+tc.name, func(t *testing.T) {
			r := sound()
			tc.change(r)
			var found result.Finding
			for _, f := range validity.Judge(r, validity.Declared{}) {
				if f.Reason == tc.rule {
					found = f
				}
			}
			if found.Severity != tc.severity || !strings.Contains(found.Message, tc.metrics) {
				t.Errorf("found %s %q, want %s with %q", found.Severity, found.Message, tc.severity, tc.metrics)
			}
			checkSeconds(t, found)
			if strings.Contains(found.Message, "%!") {
				t.Errorf("the message's format is wrong: %q", found.Message)
			}
		})
	}
}

func TestInvalidatingFindingsComeFirst(t *testing.T) {
	r := sound()
	r.Warmup, r.Server = nil, nil
	r.Merged.Errors[result.ErrorConnect] = 300
	r.Clients[0].Usage.Throttled = second
	var got []string
	findings := validity.Judge(r, validity.Declared{})
	for _, f := range findings {
		got = append(got, fmt.Sprint(f.Severity, " ", f.Reason))
	}
	want := []string{"Invalidates ClientThrottled", "Warns ErrorsDominate", "Warns NoWarmup", "Warns TargetUsageUnknown"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if validity.Valid(findings) {
		t.Error("valid, although a finding invalidates it")
	}
	if !validity.Valid(findings[1:]) {
		t.Error("not valid, although all findings only warn")
	}
}

func TestAcceptedFindings(t *testing.T) {
	r := sound()
	r.Warmup, r.Server = nil, nil
	r.Clients[0].Usage.Throttled = second
	findings := validity.Judge(r, validity.Declared{})
	validity.Accept(findings, []string{"ClientThrottled", "NoWarmup", "NotKeepingUp"})
	var got []string
	for _, f := range findings {
		got = append(got, fmt.Sprint(f.Severity, " ", f.Reason, " ", f.Message != ""))
	}
	want := []string{"Warns TargetUsageUnknown true", "Accepted ClientThrottled true", "Accepted NoWarmup true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !validity.Valid(findings) {
		t.Error("not valid, although what would invalidate it is accepted")
	}
}

func TestAnEmptyResultIsJudged(t *testing.T) {
	if validity.Valid(validity.Judge(&result.Result{}, validity.Declared{})) {
		t.Error("a result without a request is valid")
	}
}

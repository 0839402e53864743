package validity_test

import (
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// link is a target whose interfaces carry a rate, and varies it.
type link struct {
	megabits float64
	// best is by how much the second with most exceeds the others, slow the share of the seconds with half.
	best, slow float64
	// receiving is the part of the requests' time between the first and the last byte of the response.
	receiving float64
	cpu       float64 // share of the target's limit
	received  bool    // what is carried is requests
	idle      bool    // most connections have no request in flight
}

func (l link) run() *result.Result {
	r := sound()
	r.Environment.TargetCPULimit = 1000
	r.Run.Load, r.Run.AllConnections = result.LoadClosed, 20
	r.Merged.Latencies = result.Latencies{}
	inFlight := int64(20)
	if l.idle {
		inFlight = 5
	}
	for range 1000 {
		r.Merged.Latencies.Of(result.Total).Record(length * inFlight / 1000)
	}
	for n := range int64(10) {
		rate := l.megabits
		switch {
		case n == 5:
			rate *= 1 + l.best
		case float64(n) < 10*l.slow:
			rate /= 2
		}
		used := &result.Used{BytesSent: int64(rate * 1e6 / 8), BytesReceived: 1000}
		if l.received {
			used.BytesSent, used.BytesReceived = used.BytesReceived, used.BytesSent
		}
		phases := &result.PhaseTimes{}
		phases[result.Processing] = result.PhaseTime{Count: 100, Sum: 20 * second}
		phases[result.Receiving] = result.PhaseTime{Count: 100, Sum: int64(l.receiving * 20e6)}
		r.Series = append(r.Series, result.Second{
			Second: n, Seconds: 1, Requests: 100, Server: used, Phases: phases, ServerCPU: int64(l.cpu * 1e6),
		})
	}
	return r
}

// TestLinkFull has the metrics of links that were limited with tc, and of a server with four threads.
func TestLinkFull(t *testing.T) {
	fast := link{megabits: 95.4, best: 0.007, receiving: 0.25, cpu: 0.2}
	with := func(change func(*link)) link {
		l := fast
		change(&l)
		return l
	}
	unchanged := func(*result.Result) {}
	levels := func(r *result.Result) {
		r.Levels = []result.Level{{TargetConnections: 5, End: 5}, {TargetConnections: 20, Start: 5, End: 10}}
	}
	for name, tc := range map[string]struct {
		of       link
		change   func(*result.Result)
		declared validity.Declared
		metrics  string // empty when nothing is to be found
	}{
		"100 Mbit/s":          {fast, unchanged, validity.Declared{}, "From second 0 on, the target's interfaces sent 95.4 Mbit/s: no second had 1% more, and 25% of the time of requests was that between the first and the last byte of the response. The target had CPU time left (20.0% of the limit used)."},
		"a third slow":        {with(func(l *link) { l.slow = 0.3 }), unchanged, validity.Declared{}, "sent 95.4 Mbit/s"},
		"any speed":           {with(func(l *link) { l.megabits = 70 }), unchanged, validity.Declared{}, "sent 70 Mbit/s"},
		"small responses":     {with(func(l *link) { l.receiving = 0 }), unchanged, validity.Declared{}, "and that is what a link of 100 Mbit/s carries"},
		"small, of any speed": {with(func(l *link) { l.receiving, l.megabits = 0, 70 }), unchanged, validity.Declared{}, ""},
		"uploads":             {with(func(l *link) { l.receiving, l.received = 0, true }), unchanged, validity.Declared{}, "received 95.4 Mbit/s"},
		"declared, in bursts": {with(func(l *link) { l.receiving = 0 }), func(r *result.Result) {
			for i := range r.Series {
				r.Series[i].Server.BytesSent = []int64{500_000_000, 5_500_000, 5_500_000, 6_500_000, 5_500_000, 6_500_000, 5_500_000, 6_500_000, 5_500_000, 6_500_000}[i]
			}
		}, validity.Declared{Link: validity.Link{Sent: 50_000_000}}, "sent 48 Mbit/s: 96.0% of the 50 Mbit/s that its bandwidth annotation allows"},
		"declared, after stalls": {with(func(l *link) { l.receiving = 0 }), func(r *result.Result) {
			for i := range r.Series {
				r.Series[i].Server.BytesSent = []int64{1_000_000, 500_000_000, 0, 0, 18_000_000, 0, 12_000_000, 6_000_000, 0, 12_000_000}[i]
			}
		}, validity.Declared{Link: validity.Link{Sent: 50_000_000}}, "sent 48 Mbit/s: 96.0% of the 50 Mbit/s that its bandwidth annotation allows"},
		"declared, without effect": {with(func(l *link) { l.receiving, l.best = 0, 0.04 }), unchanged, validity.Declared{Link: validity.Link{Sent: 50_000_000}}, ""},
		"declared":                 {with(func(l *link) { l.receiving, l.megabits, l.best = 0, 46, 0.04 }), unchanged, validity.Declared{Link: validity.Link{Sent: 50_000_000}}, "92.4% of the 50 Mbit/s that its bandwidth annotation allows"},
		"declared, not reached":    {with(func(l *link) { l.receiving, l.megabits, l.best = 0, 42, 0.04 }), unchanged, validity.Declared{Link: validity.Link{Sent: 50_000_000}}, ""},
		"declared otherwise":       {with(func(l *link) { l.receiving, l.megabits, l.best = 0, 46, 0.04 }), unchanged, validity.Declared{Link: validity.Link{Received: 50_000_000}}, ""},
		"four threads":             {with(func(l *link) { l.receiving, l.megabits, l.best = 0, 94, 0.028 }), unchanged, validity.Declared{}, ""},
		"a varying server":         {with(func(l *link) { l.best = 0.05 }), unchanged, validity.Declared{}, ""},
		"a busy target":            {with(func(l *link) { l.cpu = 0.92 }), unchanged, validity.Declared{}, ""},
		"idle connections":         {with(func(l *link) { l.idle = true }), unchanged, validity.Declared{}, ""},
		"four seconds":             {fast, func(r *result.Result) { r.Series = r.Series[:4] }, validity.Declared{}, ""},
		"an unknown target":        {fast, func(r *result.Result) { r.Environment.TargetCPULimit = 0 }, validity.Declared{}, ""},
		"a rate that is kept": {fast, func(r *result.Result) {
			r.Run.Load, r.Arrivals = result.LoadOpen, &result.Arrivals{Due: 20_000, PlannedMicroseconds: length, StartedMicroseconds: length}
		}, validity.Declared{}, ""},
		"a rate that isn't": {fast, func(r *result.Result) {
			r.Run.Load, r.Arrivals = result.LoadOpen, &result.Arrivals{Due: 20_000, PlannedMicroseconds: length, StartedMicroseconds: 2 * length}
		}, validity.Declared{}, "sent 95.4 Mbit/s"},
		"the second of two levels": {fast, func(r *result.Result) {
			levels(r)
			for i := range 5 {
				r.Series[i].Server.BytesSent = 5_000_000 + int64(i)*100_000
			}
		}, validity.Declared{}, "From second 5 on"},
		"a script": {fast, func(r *result.Result) { r.Run.Load = result.LoadScript }, validity.Declared{}, ""},
	} {
		r := tc.of.run()
		tc.change(r)
		got := find(r, "NetworkLimited", tc.declared)
		if (got.Severity == result.Warns) != (tc.metrics != "") || !strings.Contains(got.Message, tc.metrics) {
			t.Errorf("%s: found %s %q, want %q", name, got.Severity, got.Message, tc.metrics)
		}
	}
}

func TestPacketsLost(t *testing.T) {
	for name, tc := range map[string]struct {
		requests, segments, again, arrived, clientsAgain, packets, dropped, refused int64
		metrics                                                                     string // empty when nothing is to be found
	}{
		"none":                         {100_000, 3_000_000, 0, 0, 0, 100_000, 0, 0, ""},
		"late acknowledgments":         {26_579, 862_542, 3594, 3594, 0, 100_000, 0, 0, ""},
		"a little loss":                {100_000, 2_900_000, 2800, 0, 50, 100_000, 0, 0, ""},
		"a lossy network":              {100_000, 2_900_000, 14_000, 1000, 500, 100_000, 0, 0, "Target and clients had to send 13500 of 2900000 TCP segments again (0.47%)."},
		"of few requests":              {100, 10_000, 10, 0, 0, 10_000, 0, 0, "send 10 of 10000"},
		"less than a request":          {100_000, 10_000, 50, 0, 0, 10_000, 0, 0, ""},
		"a full accept queue":          {1000, 10_000, 50, 0, 50, 10_000, 0, 50, ""},
		"drops":                        {1000, 10_000, 0, 0, 0, 10_000, 50, 0, "Their interfaces dropped 50 of 10000 packets."},
		"both":                         {1000, 10_000, 50, 0, 0, 10_000, 50, 0, "again (0.50%), and their interfaces dropped 50 of 10000 packets."},
		"unknown whether they arrived": {1000, 10_000, 50, result.Unknown, 0, 10_000, 0, 0, ""},
		"unknown":                      {1000, result.Unknown, result.Unknown, 0, result.Unknown, result.Unknown, result.Unknown, result.Unknown, ""},
	} {
		r := sound()
		r.Merged.Requests = tc.requests
		target, client := result.UnknownNode(), result.UnknownNode()
		target.SegmentsSent, target.SegmentsRetransmitted, target.SpuriousRetransmits = tc.segments, tc.again, tc.arrived
		client.SegmentsRetransmitted, client.SpuriousRetransmits = tc.clientsAgain, 0
		target.PacketsSent, target.SendDrops, target.ListenDrops = tc.packets, tc.dropped, tc.refused
		r.NodeUsage, r.Clients[1].NodeUsage = target, client
		got := find(r, "NetworkLimited", validity.Declared{})
		if (got.Severity == result.Warns) != (tc.metrics != "") || !strings.Contains(got.Message, tc.metrics) {
			t.Errorf("%s: found %s %q, want %q", name, got.Severity, got.Message, tc.metrics)
		}
	}
}

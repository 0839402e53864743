package chart

import (
	"slices"

	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// openFor are the reasons of findings for which a folded panel is open.
var openFor = map[string][]string{
	"network":   {validity.ReasonNetworkLimited},
	"throttled": {validity.ReasonClientThrottled, validity.ReasonTargetThrottled},
	"pauses":    {validity.ReasonClientStalls, validity.ReasonFewRequestsForGC},
	"delays":    {validity.ReasonClientStalls},
	"node":      {validity.ReasonNodeBusy, validity.ReasonSharedCore, validity.ReasonSharedNode},
	"tcp":       {validity.ReasonNetworkLimited, validity.ReasonAcceptQueueOverflow},
}

// foldedPanels are the panels that few readers need. Those without any value are omitted, and those that a finding is
// about aren't folded.
func foldedPanels(r *result.Result) []Panel {
	var received []Line
	if r.Merged.BytesReceived > 0 {
		received = known(r, "received", plot.Stroke{Color: plot.Throughput, Width: 1.5}, func(s *result.Second) float64 { return perSecond(s, float64(s.BytesReceived)/1e6) })
	}
	all := []Panel{
		phasesPanel(r),
		{ID: "memory", Short: "memory", Name: "memory (RSS), MiB", Unit: "MiB", Lines: perContainer(r, func(_ *result.Second, u *result.Used) float64 {
			return scaled(u.Resident, 1<<20)
		})},
		{ID: "network", Name: "responses received, MB/s", Unit: "MB/s", Lines: received},
		{ID: "pauses", Short: "GC pause", Name: "longest GC pause, ms", Unit: "ms", Lines: append(
			perContainer(r, func(_ *result.Second, u *result.Used) float64 { return scaled(u.GCPauseMax, 1000) }),
			known(r, "clients", clientStroke, func(s *result.Second) float64 { return scaled(s.ClientGCPauseMax, 1000) })...,
		)},
		{ID: "compiler", Short: "Java compiler", Name: "Java compiler, % of a CPU", Unit: "%", Lines: perContainer(r, func(s *result.Second, u *result.Used) float64 {
			return perSecond(s, scaled(u.CompilerCPU, 10_000))
		})},
		{ID: "throttled", Short: "throttled", Name: "CPU throttled, ms/s", Unit: "ms/s", Lines: append(
			perContainer(r, func(s *result.Second, u *result.Used) float64 { return perSecond(s, scaled(u.Throttled, 1000)) }),
			known(r, "clients", clientStroke, func(s *result.Second) float64 { return perSecond(s, scaled(s.ClientThrottled, 1000)) })...,
		)},
		{ID: "delays", Short: "of the scheduling latency", Name: "scheduling latency of the worst client, p99, ms", Unit: "ms", Lines: known(
			r, "p99", clientStroke, func(s *result.Second) float64 { return scaled(s.ClientSchedulingLatencyP99, 1000) },
		)},
		nodePanel(r), tcpPanel(r),
	}
	all = slices.DeleteFunc(all, func(l Panel) bool { return !l.known() })
	for i := range all {
		all[i].Folded = !slices.ContainsFunc(r.Findings, func(f result.Finding) bool { return slices.Contains(openFor[all[i].ID], f.Reason) })
	}
	return all
}

// used returns the usage of a container in a point; nil if that is unknown.
func used(s *result.Second, container string) *result.Used {
	if container == result.ServerContainer {
		return s.Server
	}
	return s.Backends[container]
}

// perContainer returns a line for each container of which a value is known.
func perContainer(r *result.Result, of func(*result.Second, *result.Used) float64) (lines []Line) {
	for i, c := range r.Containers() {
		lines = append(lines, known(r, c.Name, targetStroke(i), func(s *result.Second) float64 {
			if u := used(s, c.Name); u != nil {
				return of(s, u)
			}
			return unknown
		})...)
	}
	return lines
}

// known returns a line; none if no value of it is known.
func known(r *result.Result, name string, stroke plot.Stroke, of func(*result.Second) float64) []Line {
	one := Panel{Lines: []Line{{Name: name, Stroke: stroke, Values: values(r, of)}}}
	if !one.known() {
		return nil
	}
	return one.Lines
}

// ofNode returns a metric of the target's node, which is unknown where the node's usage is.
func ofNode(of func(*result.Second, *result.NodeUsage) float64) func(*result.Second) float64 {
	return func(s *result.Second) float64 {
		if s.Node == nil {
			return unknown
		}
		return of(s, s.Node)
	}
}

// scaled returns a value divided by size, or unknown.
func scaled(x int64, size float64) float64 {
	if x == result.Unknown {
		return unknown
	}
	return float64(x) / size
}

// maxPhasePoints is the largest number of points whose phases are drawn: of more, the page would be too large.
const maxPhasePoints = 1200

// phasesPanel has the mean of each phase that occurred, on top of each other: they add up to the mean of a request.
func phasesPanel(r *result.Result) Panel {
	l := Panel{ID: "phasetimes", Name: "mean time of each phase of a request, ms", Unit: "ms", Stacked: true}
	if len(r.Series) > maxPhasePoints {
		return l
	}
	for _, part := range phases {
		of := values(r, func(s *result.Second) float64 {
			if s.Phases == nil || s.Phases[result.Total].Count == 0 {
				return unknown
			}
			var means [result.Phases]float64
			for p := range means {
				means[p] = float64(s.Phases[p].Sum) / float64(s.Phases[result.Total].Count)
			}
			return part.of(&means) / 1000
		})
		if slices.ContainsFunc(of, func(ms float64) bool { return ms > 0 }) {
			l.Lines = append(l.Lines, Line{Name: part.name, Stroke: plot.Stroke{Color: part.color}, Step: true, Values: of})
		}
	}
	return l
}

func nodePanel(r *result.Result) Panel {
	share := func(of func(*result.NodeUsage) int64) func(*result.Second) float64 {
		return ofNode(func(_ *result.Second, u *result.NodeUsage) float64 {
			if percent := u.CPUPercent(of(u)); percent != result.Unknown {
				return percent
			}
			return unknown
		})
	}
	return Panel{ID: "node", Name: "target's CPUs used by others and interrupts, or stolen, %", Unit: "%", Lines: append(
		known(r, "others", plot.Stroke{Color: plot.Muted, Width: 1.5}, share(func(u *result.NodeUsage) int64 { return u.OtherCPU })),
		known(r, "stolen", plot.Stroke{Color: plot.Muted, Width: 1.5, Dash: "5 3"}, share(func(u *result.NodeUsage) int64 { return u.Steal }))...,
	)}
}

func tcpPanel(r *result.Result) Panel {
	count := func(of func(*result.NodeUsage) int64) func(*result.Second) float64 {
		return ofNode(func(s *result.Second, u *result.NodeUsage) float64 { return perSecond(s, scaled(of(u), 1)) })
	}
	return Panel{ID: "tcp", Name: "retransmitted segments and queue overflows of the target, per second", Unit: "/s", Lines: append(
		known(r, "retransmitted", plot.Stroke{Color: plot.TargetColor(0), Width: 1.5}, count(func(u *result.NodeUsage) int64 { return u.SegmentsRetransmitted })),
		known(r, "overflows", plot.Stroke{Color: plot.TargetColor(1), Width: 1.5, Dash: "5 3"}, count(func(u *result.NodeUsage) int64 { return u.ListenOverflows }))...,
	)}
}

package run

import (
	"math"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
)

// resultStatus returns the summary of a result for the status.
func resultStatus(r *result.Result) *v1alpha1.ResultStatus {
	m := &r.Merged
	s := &v1alpha1.ResultStatus{
		Requests:             ptr.To(m.Requests),
		Errors:               errorCounts(m.Errors),
		RequestsPerSecond:    rate(r.RequestsPerSecond()),
		DurationMicroseconds: ptr.To(r.DurationMicroseconds),
		BytesReceived:        ptr.To(m.BytesReceived),
		BodyBytesReceived:    ptr.To(m.BodyBytes),
		BytesSent:            ptr.To(m.BytesSent),
		KeepAliveRequests:    ptr.To(m.KeepAlive),
		Latency: &v1alpha1.PhaseLatencies{
			Connect:   latency(m.Latencies.Get(result.Connect)),
			TLS:       latency(m.Latencies.Get(result.TLS)),
			Waiting:   latency(m.Latencies.Get(result.Waiting)),
			Receiving: latency(m.Latencies.Get(result.Receiving)),
			Total:     latency(m.Latencies.Get(result.Total)),
			Delay:     latency(m.Latencies.Get(result.Delay)),
			Service:   latency(m.Latencies.Get(result.Service)),
		},
	}
	if m.Latencies.Get(result.TLS).Count() > 0 {
		s.TLSResumedConnections = ptr.To(m.TLSResumed)
	}
	if a := r.Arrivals; a != nil {
		s.Arrivals = &v1alpha1.ArrivalsStatus{
			AskedPerSecond: rate(a.AskedPerSecond()), AchievedPerSecond: rate(a.AchievedPerSecond(m.Dropped)), Dropped: ptr.To(m.Dropped),
		}
	}
	if r.Script != nil { // k6 counts whole responses alone
		s.BodyBytesReceived = nil
	}
	s.Target = usage(r.Server, r.Environment.TargetCPULimit)
	return s
}

// usage returns what a container of the target used during the measurement, or nil
// if that is unknown.
func usage(s *result.Server, limitMillis int64) *v1alpha1.TargetUsage {
	if s == nil {
		return nil
	}
	return &v1alpha1.TargetUsage{
		CPUPercent:            ptr.To(percent(s.CPUPercentOf(limitMillis))),
		UserCPUMicroseconds:   ptr.To(s.End.UserCPU - s.Begin.UserCPU),
		SystemCPUMicroseconds: ptr.To(s.End.SystemCPU - s.Begin.SystemCPU),
		MaxResidentBytes:      ptr.To(s.End.MaxResident),
	}
}

// addBackendUsage adds to each backend what it used.
func addBackendUsage(t *v1alpha1.TargetStatus, r *result.Result) {
	if t == nil {
		return
	}
	for _, container := range r.Containers() {
		for i := range t.Backends {
			if t.Backends[i].Name == container.Name {
				t.Backends[i].Usage = usage(container.Usage, container.CPULimit)
			}
		}
	}
}

// clientStatuses returns the figures of each client.
func clientStatuses(r *result.Result) []v1alpha1.ClientStatus {
	statuses := make([]v1alpha1.ClientStatus, 0, len(r.Clients))
	for i := range r.Clients {
		c := &r.Clients[i]
		statuses = append(statuses, v1alpha1.ClientStatus{
			Index:                 ptr.To(int32(c.Index)),
			Node:                  c.Node,
			Requests:              ptr.To(c.Requests),
			Errors:                ptr.To(c.Errors.Total()),
			RequestsPerSecond:     rate(c.RequestsPerSecond()),
			CPUPercent:            ptr.To(percent(c.CPUPercentOf(r.Environment.ClientCPULimit))),
			StartSkewMicroseconds: ptr.To(c.StartSkewMicroseconds),
		})
	}
	return statuses
}

func errorCounts(e result.ErrorCounts) *v1alpha1.ErrorCounts {
	return &v1alpha1.ErrorCounts{
		Total:     ptr.To(e.Total()),
		Connect:   ptr.To(e[result.ErrorConnect]),
		TLS:       ptr.To(e[result.ErrorTLS]),
		Timeout:   ptr.To(e[result.ErrorTimeout]),
		Receive:   ptr.To(e[result.ErrorReceive]),
		Length:    ptr.To(e[result.ErrorLength]),
		Status:    ptr.To(e[result.ErrorStatus]),
		Exception: ptr.To(e[result.ErrorException]),
	}
}

// latency returns the summary of a histogram, or nil for a phase that didn't occur.
func latency(h *result.Histogram) *v1alpha1.Latency {
	if h.Count() == 0 {
		return nil
	}
	return &v1alpha1.Latency{
		Count:            ptr.To(h.Count()),
		MinMicroseconds:  ptr.To(h.Min()),
		MeanMicroseconds: ptr.To(int64(math.Round(h.Mean()))),
		P50Microseconds:  ptr.To(h.Percentile(50)),
		P90Microseconds:  ptr.To(h.Percentile(90)),
		P95Microseconds:  ptr.To(h.Percentile(95)),
		P99Microseconds:  ptr.To(h.Percentile(99)),
		P999Microseconds: ptr.To(h.Percentile(99.9)),
		MaxMicroseconds:  ptr.To(h.Max()),
	}
}

// rate returns a number per second with two decimals.
func rate(perSecond float64) string { return strconv.FormatFloat(perSecond, 'f', 2, 64) }

// percent rounds a percentage to a whole number.
func percent(share float64) int32 { return int32(math.Round(share)) }

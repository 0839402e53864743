package benchmarkrun

import (
	"math"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
)

// resultStatus is the summary of a result that stands in the status.
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
			Waiting:   latency(m.Latencies.Get(result.Waiting)),
			Receiving: latency(m.Latencies.Get(result.Receiving)),
			Total:     latency(m.Latencies.Get(result.Total)),
		},
	}
	if server := r.Server; server != nil {
		s.Target = &v1alpha1.TargetUsage{
			CPUPercent:            ptr.To(percent(server.CPUPercentOf(r.Environment.TargetCPULimit))),
			UserCPUMicroseconds:   ptr.To(server.End.UserCPU - server.Begin.UserCPU),
			SystemCPUMicroseconds: ptr.To(server.End.SystemCPU - server.Begin.SystemCPU),
			MaxResidentBytes:      ptr.To(server.End.MaxResident),
		}
	}
	return s
}

// clientStatuses are the figures of each client.
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
		Timeout:   ptr.To(e[result.ErrorTimeout]),
		Receive:   ptr.To(e[result.ErrorReceive]),
		Length:    ptr.To(e[result.ErrorLength]),
		Status:    ptr.To(e[result.ErrorStatus]),
		Exception: ptr.To(e[result.ErrorException]),
	}
}

// latency is nil for a phase that didn't occur.
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

// rate is a number per second with two decimals.
func rate(perSecond float64) string { return strconv.FormatFloat(perSecond, 'f', 2, 64) }

// percent is a share in whole percent.
func percent(share float64) int32 { return int32(math.Round(share)) }

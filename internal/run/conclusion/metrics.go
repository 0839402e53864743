package conclusion

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
)

// ResultStatus returns the summary of a result that the status has.
func ResultStatus(r *result.Result) *v1alpha1.ResultStatus {
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
		Latency:              latencies(&m.Latencies),
	}
	if m.Latencies.Get(result.TLS).Count() > 0 {
		s.TLSResumedConnections = ptr.To(m.TLSResumed)
	}
	if a := r.Arrivals; a != nil {
		s.Arrivals = &v1alpha1.ArrivalsStatus{
			TargetRatePerSecond: rate(a.TargetRatePerSecond()), AchievedPerSecond: rate(a.AchievedPerSecond(m.Dropped)), Dropped: ptr.To(m.Dropped),
		}
	}
	if result.Prints(r.Run.Tool) { // which prints neither
		s.BytesSent = nil
		if r.Run.Tool == result.ToolSiege {
			s.BodyBytesReceived, s.KeepAliveRequests = nil, nil
		}
	}
	if r.Script != nil || r.Run.Tool == result.ToolK6 { // k6 counts full responses alone
		s.BodyBytesReceived = nil
	}
	s.Target = usage(r.Server, r.Environment.TargetCPULimit)
	s.CPUPerRequest = cpuPerRequest(r)
	s.BreakingPoints = breakingPointStatuses(r)
	return s
}

// cpuPerRequest returns the CPU time per request, or nil if it is unknown.
func cpuPerRequest(r *result.Result) *v1alpha1.CPUPerRequest {
	of := func(metric string) string {
		value, exists := result.Metrics[metric](r)
		if !exists {
			return ""
		}
		return rate(value)
	}
	c := v1alpha1.CPUPerRequest{TargetMicroseconds: of("TargetCPUPerRequest"), ClientsMicroseconds: of("ClientCPUPerRequest")}
	if c == (v1alpha1.CPUPerRequest{}) {
		return nil
	}
	return &c
}

// usage returns what a container of the target used during the measurement, or nil if unknown.
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

// maxClientStatuses limits the clients whose metrics the status has.
const maxClientStatuses = 32

// clientStatuses returns the metrics of the first clients.
func clientStatuses(r *result.Result) []v1alpha1.ClientStatus {
	statuses := make([]v1alpha1.ClientStatus, 0, min(len(r.Clients), maxClientStatuses))
	for i := range cap(statuses) {
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
	byName := map[string]int64{"total": e.Total()}
	for k, n := range e {
		byName[result.ErrorKind(k).String()] = n
	}
	return byFieldNames[v1alpha1.ErrorCounts](byName)
}

// latencies returns the summaries of the phases that occurred.
func latencies(l *result.Latencies) *v1alpha1.PhaseLatencies {
	byName := map[string]*v1alpha1.Latency{}
	for phase := range result.Phases {
		if h := l.Get(phase); h.Count() > 0 {
			byName[phase.String()] = latency(h)
		}
	}
	return byFieldNames[v1alpha1.PhaseLatencies](byName)
}

func latency(h *result.Histogram) *v1alpha1.Latency {
	byName := map[string]int64{
		"count": h.Count(), "minMicroseconds": h.Min(), "meanMicroseconds": int64(math.Round(h.Mean())), "maxMicroseconds": h.Max(),
	}
	for _, p := range percentile.Common {
		byName[strings.ToLower(p.Name())+"Microseconds"] = h.Percentile(p.Percent())
	}
	return byFieldNames[v1alpha1.Latency](byName)
}

// byFieldNames returns a T whose fields have the values of their names in JSON. It omits values
// without a field, which have no place in the status.
func byFieldNames[T, V any](values map[string]V) *T {
	var t T
	encoded, err := json.Marshal(values)
	if err == nil {
		err = json.Unmarshal(encoded, &t)
	}
	if err != nil {
		panic(err) // a field of T has another type than V
	}
	return &t
}

// rate returns a number per second with two decimals.
func rate(perSecond float64) string { return strconv.FormatFloat(perSecond, 'f', 2, 64) }

func percent(share float64) int32 { return int32(math.Round(share)) }

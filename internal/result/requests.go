package result

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/assay-dev/assay/internal/percentile"
)

const (
	// MaxNamedRequests is the largest number of requests that have metrics of their own.
	MaxNamedRequests = 128
	// OtherRequests is the name of all further requests of a load together.
	OtherRequests = "other requests"
	// LowestStatus is the lowest status that is counted: the first of three digits.
	LowestStatus = 100
	// HighestStatus is the highest status that is counted.
	HighestStatus = 999
)

// Statuses counts complete responses by their status, whether they are a success or not. Of a request that follows redirects or
// answers a challenge, the last complete response counts.
type Statuses map[int]int64

// All yields the statuses in ascending order, with their counts.
func (s Statuses) All() iter.Seq2[int, int64] {
	return func(yield func(int, int64) bool) {
		for _, status := range slices.Sorted(maps.Keys(s)) {
			if !yield(status, s[status]) {
				return
			}
		}
	}
}

// Check returns an error for counts that contradict c. No counts don't.
func (s Statuses) Check(c *Counts) error {
	var all, non2xx int64
	for status, n := range s {
		if status < LowestStatus || status > HighestStatus || n <= 0 || n > c.Requests {
			return fmt.Errorf("statuses: %d responses with the status %d to %d requests", n, status, c.Requests)
		}
		all += n
		if status < 200 || status > 299 {
			non2xx += n
		}
	}
	if len(s) > 0 && (all > c.Requests || non2xx != c.Non2xx) {
		return fmt.Errorf("statuses: %d responses to %d requests, %d of %d outside of 200 to 299", all, c.Requests, non2xx, c.Non2xx)
	}
	return nil
}

// RequestMetrics are those of one request of a load, over the full measurement. Their sums are the metrics of all requests.
type RequestMetrics struct {
	// Name is the request's: see Request.DisplayName. It is empty in what a client sends.
	Name     string      `json:"name,omitempty"`
	Requests int64       `json:"requests"`
	Errors   ErrorCounts `json:"errors"`
	// BytesSent, BytesReceived and BodyBytes are 0 in all requests of a load by k6, which counts those of all together.
	BytesSent     int64 `json:"bytesSent"`
	BytesReceived int64 `json:"bytesReceived"`
	BodyBytes     int64 `json:"bodyBytes"`
	// Latency has the total times of successful requests; nil if there are none, or if Summary replaces it.
	Latency *Histogram `json:"latency,omitempty"`
	// Summary replaces Latency if that was dropped to keep the stored result small; nil otherwise.
	Summary *Summary `json:"summary,omitempty"`
}

// Merge adds the metrics of the same request.
func (m *RequestMetrics) Merge(other *RequestMetrics) {
	m.Requests = Plus(m.Requests, other.Requests)
	for k, n := range other.Errors {
		m.Errors[k] = Plus(m.Errors[k], n)
	}
	m.BytesSent, m.BytesReceived = Plus(m.BytesSent, other.BytesSent), Plus(m.BytesReceived, other.BytesReceived)
	m.BodyBytes = Plus(m.BodyBytes, other.BodyBytes)
	if other.Latency != nil && other.Latency.Count() > 0 {
		if m.Latency == nil {
			m.Latency = NewHistogram()
		}
		m.Latency.Merge(other.Latency)
	}
}

// Total returns the total times of successful requests.
func (m *RequestMetrics) Total() Summary {
	switch {
	case m.Summary != nil:
		return *m.Summary
	case m.Latency != nil:
		return m.Latency.Summarize(0)
	}
	return Summary{}
}

// Summarize replaces the histogram by its summary.
func (m *RequestMetrics) Summarize() {
	if m.Latency != nil {
		summary := m.Latency.Summarize(0)
		m.Latency, m.Summary = nil, &summary
	}
}

// ErrorPercent returns the failed requests divided by all, in percent; 0 if there are none.
func (m *RequestMetrics) ErrorPercent() float64 { return ratio(m.Errors.Total(), m.Requests, 100) }

// maxRequestTime bounds the sum of a request's durations in microseconds, so that those of all requests don't overflow.
const maxRequestTime = 1 << 53

// CheckRequests returns an error for metrics of requests that aren't the parts of those of all. Those of no request are.
func CheckRequests(requests []RequestMetrics, all *Measure) error {
	if len(requests) == 0 {
		return nil
	}
	if len(requests) > MaxNamedRequests+1 {
		return fmt.Errorf("metrics of %d requests", len(requests))
	}
	var sum Counts
	var times int64
	for i := range requests {
		m := &requests[i]
		counts := Counts{Requests: m.Requests, Errors: m.Errors, BytesSent: m.BytesSent, BytesReceived: m.BytesReceived, BodyBytes: m.BodyBytes}
		var errs ErrorCounts
		if err := cmp.Or(Counters.Check(&counts), errs.Set(m.Errors[:])); err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
		timed := int64(0)
		if m.Latency != nil {
			timed = m.Latency.Count()
			if n := m.Latency.Sum(); n > maxRequestTime || n < -maxRequestTime {
				return fmt.Errorf("request %d: durations with the sum %d", i, n)
			}
			times += m.Latency.Sum()
		}
		if timed != counts.Succeeded() || m.Summary != nil {
			return fmt.Errorf("request %d: %d requests succeeded, %d were timed", i, counts.Succeeded(), timed)
		}
		sum.Add(counts)
	}
	if c := &all.Counts; sum.Requests != c.Requests || sum.Errors != c.Errors ||
		times != all.Latencies.Get(Total).Sum() || sum.hasBytes() && (sum.BytesSent != c.BytesSent || sum.BytesReceived != c.BytesReceived || sum.BodyBytes != c.BodyBytes) {
		return fmt.Errorf("the metrics of %d requests aren't parts of those of all", len(requests))
	}
	return nil
}

func (c *Counts) hasBytes() bool { return c.BytesSent != 0 || c.BytesReceived != 0 || c.BodyBytes != 0 }

// AddRequests merges the clients' statuses, content encodings and, if names are those of several requests, their metrics by request, and removes them from
// the clients. Metrics by request are omitted unless all clients have them. It must be called after AddClients.
func (r *Result) AddRequests(names []string) {
	known := len(names) > 1
	for i := range r.Clients {
		c := &r.Clients[i]
		for status, n := range c.Statuses {
			if r.Statuses == nil {
				r.Statuses = Statuses{}
			}
			r.Statuses[status] = Plus(r.Statuses[status], n)
		}
		for coding, n := range c.ContentEncodings {
			if r.ContentEncodings == nil {
				r.ContentEncodings = Encodings{}
			}
			r.ContentEncodings[coding] = Plus(r.ContentEncodings[coding], n)
		}
		known = known && len(c.ByRequest) == len(names)
	}
	for request := 0; known && len(r.Clients) > 0 && request < len(names); request++ {
		merged := RequestMetrics{Name: names[request]}
		for i := range r.Clients {
			merged.Merge(&r.Clients[i].ByRequest[request])
		}
		if merged.Latency != nil {
			merged.Latency.Pack() // otherwise more than a hundred of them would take 100 kB each at once
		}
		r.ByRequest = append(r.ByRequest, merged)
	}
	for i := range r.Clients {
		r.Clients[i].Statuses, r.Clients[i].ContentEncodings, r.Clients[i].ByRequest = nil, nil, nil
	}
}

// Request returns the metrics of the request with a name, or nil if they are unknown. That of a load with one request has those of all.
func (r *Result) Request(name string) *RequestMetrics {
	if i := slices.IndexFunc(r.ByRequest, func(m RequestMetrics) bool { return m.Name == name }); i >= 0 {
		return &r.ByRequest[i]
	}
	if requests := r.Run.Requests; len(requests) != 1 || requests[0].Elements > 0 || requests[0].DisplayName() != name {
		return nil
	}
	c := &r.Merged.Counts
	return &RequestMetrics{
		Name: name, Requests: c.Requests, Errors: c.Errors, BytesSent: c.BytesSent, BytesReceived: c.BytesReceived, BodyBytes: c.BodyBytes,
		Latency: r.Merged.Latencies.Get(Total),
	}
}

// Metric returns one of Metrics of the full run or, if request isn't empty, one of RequestMetricNames of the request with that
// name, and whether there is one.
func (r *Result) Metric(name, request string) (value float64, exists bool) {
	if request == "" {
		of := Metrics[name]
		if of == nil {
			return 0, false
		}
		return of(r)
	}
	of, m := requestMetrics[name], r.Request(request)
	if of == nil || m == nil {
		return 0, false
	}
	return of(m, r.DurationMicroseconds)
}

// RequestMetricNames has those of Metrics that a single request has too, sorted.
var RequestMetricNames = slices.Sorted(maps.Keys(requestMetrics))

// requestMetrics are in the units of Metrics. microseconds is the length of the measurement.
var requestMetrics = func() map[string]func(m *RequestMetrics, microseconds int64) (float64, bool) {
	latency := func(of func(*Summary) float64) func(*RequestMetrics, int64) (float64, bool) {
		return func(m *RequestMetrics, _ int64) (float64, bool) {
			s := m.Total()
			return of(&s), s.Count > 0
		}
	}
	all := map[string]func(*RequestMetrics, int64) (float64, bool){
		"LatencyMean": latency((*Summary).Mean),
		"LatencyMax":  latency(func(s *Summary) float64 { return float64(s.Max) }),
		"ErrorRate":   func(m *RequestMetrics, _ int64) (float64, bool) { return m.ErrorPercent(), m.Requests > 0 },
		"RequestsPerSecond": func(m *RequestMetrics, microseconds int64) (float64, bool) {
			return perSecond(m.Requests-m.Errors.Total(), microseconds), true
		},
		"BytesPerSecond": func(m *RequestMetrics, microseconds int64) (float64, bool) {
			return perSecond(m.BytesReceived, microseconds), m.BytesReceived > 0
		},
	}
	for _, p := range percentile.Common {
		all["Latency"+p.Name()] = latency(func(s *Summary) float64 { return float64(s.Percentiles[p]) })
	}
	return all
}()

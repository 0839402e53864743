package manager

import (
	"slices"

	"github.com/assay-dev/assay/internal/result"
)

// seriesLength bounds the entries of a series: past it neighbours are joined.
const seriesLength = 600

// series are the seconds of a measurement, over all clients.
type series struct {
	open   map[int64]*openSecond
	closed []result.Second
	server []serverSecond
	last   *result.ServerUsage
	width  int64 // seconds of an entry
}

type openSecond struct {
	measure   result.Measure
	clientCPU int64
}

type serverSecond struct {
	second, cpu, resident int64
}

// addClient adds a client's second.
func (s *series) addClient(second int64, m *result.Measure, usage result.ClientUsage) {
	o := s.open[second]
	if o == nil {
		o = &openSecond{}
		s.open[second] = o
	}
	o.measure.Merge(m)
	o.clientCPU += usage.UserCPU + usage.SystemCPU
}

// addServer adds a reading of the server.
func (s *series) addServer(u result.ServerUsage, start int64) {
	last := s.last
	s.last = &u
	if start == 0 || last == nil || u.At <= start || u.At-last.At < 500_000 {
		return
	}
	second := (last.At - start + 500_000) / 1_000_000
	s.server = append(s.server, serverSecond{
		second: second, cpu: u.UserCPU + u.SystemCPU - last.UserCPU - last.SystemCPU, resident: u.Resident,
	})
}

// close closes the seconds below one.
func (s *series) close(below int64) {
	var ready []int64
	for second := range s.open {
		if second < below {
			ready = append(ready, second)
		}
	}
	slices.Sort(ready)
	for _, second := range ready {
		s.closed = append(s.closed, s.summary(second, s.open[second]))
		delete(s.open, second)
	}
	if len(s.closed) > 2*seriesLength {
		s.closed = join(s.closed)
	}
}

func (s *series) summary(second int64, o *openSecond) result.Second {
	total := o.measure.Latencies.Get(result.Total)
	return result.Second{
		Second: second, Seconds: 1, Requests: o.measure.Requests, Errors: o.measure.Errors.Total(),
		P50: total.Percentile(50), P90: total.Percentile(90), P99: total.Percentile(99), Max: total.Max(),
		BytesReceived: o.measure.BytesReceived, ClientCPU: o.clientCPU, ServerCPU: -1, ServerResident: -1,
	}
}

// join makes each pair of neighbours one entry.
func join(entries []result.Second) []result.Second {
	joined := make([]result.Second, 0, len(entries)/2+1)
	for pair := range slices.Chunk(entries, 2) {
		e := pair[0]
		if len(pair) == 2 {
			n := pair[1]
			e.Seconds = n.Second + n.Seconds - e.Second
			e.Requests, e.Errors = e.Requests+n.Requests, e.Errors+n.Errors
			e.P50, e.P90, e.P99, e.Max = -1, -1, -1, max(e.Max, n.Max)
			e.BytesReceived, e.ClientCPU = e.BytesReceived+n.BytesReceived, e.ClientCPU+n.ClientCPU
		}
		joined = append(joined, e)
	}
	return joined
}

func (r *run) seriesSoFar() []result.Second {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.series.close(r.passedByAll())
	entries := slices.Clone(r.series.closed)
	for i := range entries {
		e := &entries[i]
		for _, server := range r.series.server {
			if server.second < e.Second || server.second >= e.Second+e.Seconds {
				continue
			}
			e.ServerCPU = max(e.ServerCPU, 0) + server.cpu
			e.ServerResident = max(e.ServerResident, server.resident)
		}
	}
	return entries
}

package recorder

import "github.com/assay-dev/assay/internal/result"

// parts counts the requests of a shard by their statuses and by what was requested. It has no seconds: a stage has them once.
type parts struct {
	statuses  [result.HighestStatus - result.LowestStatus + 1]int64
	encodings [result.EncodingKinds]int64 // that of none isn't counted
	// requests is nil if all requests are the same one. Then their metrics are those of all.
	requests []result.RequestMetrics
}

// KeepRequests makes the recorder keep the metrics of a number of requests apart, which is the bound of Outcome.Named. It keeps
// none of less than 2. It must be called before Record.
func (r *Recorder) KeepRequests(number int) {
	for i := range r.shards {
		if number > 1 {
			r.shards[i].parts.requests = make([]result.RequestMetrics, number)
		}
	}
}

func (p *parts) add(o *Outcome) {
	if i := o.Status - result.LowestStatus; i >= 0 && i < len(p.statuses) {
		p.statuses[i]++
	}
	if o.Encoding != result.EncodingNone {
		p.encodings[o.Encoding]++
	}
	if p.requests == nil {
		return
	}
	m := &p.requests[o.Named]
	m.Requests++
	m.BytesSent += o.Sent
	m.BytesReceived += o.Received
	m.BodyBytes += o.Body
	if o.Error != NoError {
		m.Errors[o.Error]++
		return
	}
	if m.Latency == nil {
		m.Latency = result.NewHistogram()
	}
	m.Latency.Record(microseconds(o.Total))
}

// Encodings returns how many responses had each content coding, or nil if none had any.
func (r *Recorder) Encodings() result.Encodings {
	var all result.Encodings
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		for coding, n := range s.parts.encodings {
			if n == 0 {
				continue
			}
			if all == nil {
				all = result.Encodings{}
			}
			all[result.EncodingNames[coding]] += n
		}
		s.mu.Unlock()
	}
	return all
}

// Parts returns how many responses had each status, and the metrics of each request, or nil if all requests are the same one. It
// empties the recorder of the latter. Nothing may be recorded after that.
func (r *Recorder) Parts() (result.Statuses, []result.RequestMetrics) {
	statuses, requests := result.Statuses{}, r.shards[0].parts.requests
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		for status, n := range s.parts.statuses {
			if n > 0 {
				statuses[result.LowestStatus+status] += n
			}
		}
		for request := range s.parts.requests {
			if i > 0 {
				requests[request].Merge(&s.parts.requests[request])
			}
		}
		s.parts.requests = nil
		s.mu.Unlock()
	}
	return statuses, requests
}

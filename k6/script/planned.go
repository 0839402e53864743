package script

import (
	"time"

	"go.k6.io/k6/v2/lib/netext/httpext"
	"go.k6.io/k6/v2/metrics"

	"github.com/assay-dev/assay/internal/load/k6script"
	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/result"
)

// planned is what the output keeps of a declared load in addition to a script's.
type planned struct {
	http2 bool
	named []int // as plannedLoad's
	// held holds, by virtual user, the outcomes of requests whose responses must have a certain length. The script checks it, and
	// each check follows its request.
	held map[string]recorder.Outcome
	// lastStart is the time from the load's start at which the last request started.
	lastStart time.Duration
}

func newPlanned(declared *plannedLoad) *planned {
	return &planned{http2: declared.HTTP2, named: declared.Named, held: map[string]recorder.Outcome{}}
}

// hold completes the outcome of a request. It reports whether the outcome must not be recorded yet.
func (p *planned) hold(trail *httpext.Trail, o *recorder.Outcome) bool {
	p.lastStart = max(p.lastStart, o.Ended-o.Total)
	if i := number(trail, k6script.RequestTag); i < len(p.named) {
		o.Named = p.named[i]
	}
	if proto, _ := trail.Tags.Get("proto"); p.http2 && o.Status != 0 && proto != "HTTP/2.0" {
		o.Error = result.ErrorTLS // as the driver's: TLS has negotiated another protocol
	}
	if text, _ := trail.Tags.Get("error"); o.Error == result.ErrorReceive && text == "unexpected EOF" {
		o.Error = result.ErrorLength // as the driver's: the body ended early
	}
	if _, expects := trail.Tags.Get(k6script.LengthTag); !expects || o.Error != recorder.NoError {
		return false
	}
	p.held[trail.Metadata["vu"]] = *o
	return true
}

// check records the outcome that a check of a length is about.
func (p *planned) check(l *load, s *metrics.Sample) {
	vu := s.Metadata["vu"]
	o, held := p.held[vu]
	if !held {
		return // the request had failed
	}
	delete(p.held, vu)
	if s.Value == 0 {
		o.Error = result.ErrorLength
	}
	l.recorder.Record(0, &o)
}

// release records the outcomes whose checks k6 has interrupted: their responses were complete.
func (p *planned) release(l *load) {
	for _, o := range p.held {
		l.recorder.Record(0, &o)
	}
	clear(p.held)
}

// totals returns the metrics of a declared load.
func (p *planned) totals(l *load) *result.Totals {
	statuses, byRequest := l.recorder.Parts()
	t := &result.Totals{Measure: *l.recorder.Total(), Statuses: statuses, ByRequest: byRequest, StartedAt: l.from.UnixMicro(), EndedAt: l.last.UnixMicro(), Usage: l.used, NodeUsage: l.node}
	t.Levels, t.Steps = l.sampler.LevelTotals()
	t.Arrivals = &result.Arrivals{StartedMicroseconds: p.lastStart.Microseconds()}
	return t
}

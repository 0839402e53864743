package validity

import (
	"math"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/statistics"
)

// edgeMicroseconds of an entry of the series may be outside of the load. The first requests
// begin some milliseconds late, and under a low rate the last one ends some milliseconds early.
const edgeMicroseconds = 50_000

// span is a part of a measurement in which the declared load doesn't change.
type span struct {
	// level is nil for a whole measurement.
	level *result.Level
	// seconds are the entries of the series during which all clients kept up the load from beginning to
	// end, without gaps: an entry in which nothing completed is there. All are equally long.
	seconds []result.Second
}

// spans returns the levels of a load that goes through stages, else the whole measurement after its ramp. A
// script may change its load at any time, and has none.
func spans(r *result.Result, d Declared) []span {
	if r.Run.Load == result.LoadScript {
		return nil
	}
	started, ended := underLoad(r)
	if len(r.Levels) == 0 {
		return []span{{seconds: within(r.Series, max(started, d.RampMicroseconds), ended)}}
	}
	all := make([]span, len(r.Levels))
	for i := range r.Levels {
		l := &r.Levels[i]
		all[i] = span{level: l, seconds: within(r.Series, max(started, l.Start*1_000_000), min(ended, l.End*1_000_000))}
	}
	return all
}

// underLoad returns the time in which all clients kept up the load, in microseconds from the common start.
func underLoad(r *result.Result) (started, ended int64) {
	if len(r.Clients) == 0 {
		return 0, 0
	}
	started, ended = r.Clients[0].StartSkewMicroseconds, math.MaxInt64
	for i := range r.Clients {
		c := &r.Clients[i]
		started = max(started, c.StartSkewMicroseconds)
		ended = min(ended, c.StartSkewMicroseconds+c.DurationMicroseconds())
	}
	if a := r.Arrivals; a != nil { // what comes later only completes
		ended = min(ended, a.PlannedMicroseconds)
	}
	return started, ended
}

// within returns the entries from started to ended, in microseconds.
func within(series []result.Second, started, ended int64) []result.Second {
	width := int64(0)
	for i := range series {
		width = max(width, series[i].Seconds)
	}
	var seconds []result.Second
	for i := range series {
		s := series[i]
		if s.Second*1_000_000 < started-edgeMicroseconds || (s.Second+s.Seconds)*1_000_000 > ended+edgeMicroseconds || s.Seconds != width {
			continue
		}
		for n := len(seconds); n > 0 && seconds[n-1].Second+width < s.Second; n++ {
			seconds = append(seconds, result.Second{Second: seconds[n-1].Second + width, Seconds: width, P50: result.Unknown, P90: result.Unknown, P99: result.Unknown})
		}
		seconds = append(seconds, s)
	}
	return seconds
}

// longest returns the longest sequence of seconds under load in which a metric is positive: its first second, its length in seconds, and
// the sum of the metric. The length is 0 if there is none.
func longest(r *result.Result, metric func(*result.Second) float64) (from, length int64, sum float64) {
	started, ended := underLoad(r)
	all := within(r.Series, started, ended)
	var begin int64
	var current float64
	for i := range all {
		s := &all[i]
		value := metric(s)
		if value <= 0 {
			current = 0
			continue
		}
		if current == 0 {
			begin = s.Second
		}
		if current += value; s.Second+s.Seconds-begin > length {
			from, length, sum = begin, s.Second+s.Seconds-begin, current
		}
	}
	return from, length, sum
}

// medians returns the 50th percentiles of those seconds that have one, in microseconds.
func medians(seconds []result.Second) []float64 {
	var all []float64
	for i := range seconds {
		if s := &seconds[i]; s.Requests > s.Errors && s.P50 >= 0 {
			all = append(all, float64(s.P50))
		}
	}
	return all
}

// thirds returns the medians of the first and of the last third of values.
func thirds(values []float64) (first, last float64) {
	n := (len(values) + 2) / 3
	return statistics.MedianOf(values[:n]), statistics.MedianOf(values[len(values)-n:])
}

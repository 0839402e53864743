package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
)

// maxSampledRequests is the number of lines of a list of requests.
const maxSampledRequests = 1000

// sampledRequestsHeader says what the list is. gnuplot, for which "ab -g" writes its list, skips lines that begin with #.
const sampledRequestsHeader = `# Sampled, not recorded: %d lines for %d successful requests. A line is not a request.
# ctime, dtime, ttime and wait (ms) are each sampled at the same rank of its own merged distribution (connect
# without the TLS handshake, processing, total, waiting): they don't add up. starttime is a second of the series;
# seconds with longer times have the lines with longer times. As in the file of "ab -g", lines are in the order of ttime.
`

// writeSampledRequests writes a list of requests as "ab -g" does (output_results in support/ab.c of Apache httpd 2.4), sampled
// from the histograms and the series: Assay doesn't record single requests.
func writeSampledRequests(w io.Writer, r *result.Result) error {
	l := &r.Merged.Latencies
	total := l.Get(result.Total)
	if total.Count() == 0 {
		return errNoLatencies
	}
	connect := quantiles(l.Get(result.Connect), max(total.Count()-l.Get(result.Connect).Count(), 0))
	processing, waiting, all := quantiles(l.Get(result.Processing), 0), quantiles(l.Get(result.Waiting), 0), quantiles(total, 0)
	begin := r.Run.MeasurementTime
	if begin.IsZero() {
		begin = time.Unix(0, 0)
	}
	lines := int(min(total.Count(), maxSampledRequests))
	var b bytes.Buffer
	fmt.Fprintf(&b, sampledRequestsHeader, lines, total.Count())
	fmt.Fprint(&b, "starttime\tseconds\tctime\tdtime\tttime\twait\n")
	for i, second := range sampledSeconds(r, lines) {
		at := begin.Add(time.Duration(second) * time.Second).UTC()
		share := (float64(i) + 0.5) / float64(lines) // at evenly spaced ranks of the distributions
		fmt.Fprintf(&b, "%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\n", at.Format("Mon Jan 02 15:04:05 2006"), at.Unix(), ms(connect(share)), ms(processing(share)), ms(all(share)), ms(waiting(share)))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// quantiles returns a function for the value, in microseconds, that a share from 0 to 1 of the durations of a
// histogram, with a number of zeros added, don't exceed.
func quantiles(h *result.Histogram, zeros int64) func(share float64) int64 {
	bars := h.Bars()
	return func(share float64) int64 {
		rank := percentile.Rank(100*share, h.Count()+zeros) - zeros
		if rank <= 0 {
			return 0
		}
		for _, bar := range bars {
			if rank -= bar.Count; rank <= 0 {
				return min(bar.To, h.Max())
			}
		}
		return h.Max()
	}
}

// sampledSeconds returns a number of seconds of the series, each as often as it has successful requests, in the order
// of the times that its percentiles expect at evenly spaced ranks. Without a series all are 0.
func sampledSeconds(r *result.Result, number int) []int64 {
	type sample struct {
		second   int64
		expected float64
	}
	var succeeded int64
	points := r.Points()
	for i := range points {
		succeeded += max(0, points[i].Requests-points[i].Errors) // a stored result may say anything
	}
	var samples []sample
	var before int64
	for i := range points {
		s := &points[i]
		after := before + max(0, s.Requests-s.Errors)
		// The bounds of all seconds are rounded alike, so that their numbers add up.
		first, last := rounded(before, succeeded, number), rounded(after, succeeded, number)
		for n := first; n < last; n++ {
			share := (float64(n-first) + 0.5) / float64(last-first)
			second := s.Second + int64(s.Length()*float64((n-first)*7919%(last-first))/float64(last-first))
			samples = append(samples, sample{second, expectedTime(s, share)})
		}
		before = after
	}
	slices.SortStableFunc(samples, func(a, b sample) int { return cmp.Compare(a.expected, b.expected) })
	seconds := make([]int64, number)
	for i := range samples {
		seconds[i] = samples[i].second
	}
	return seconds
}

func rounded(part, whole int64, number int) int {
	if whole <= 0 {
		return 0
	}
	return int(math.Round(float64(part) / float64(whole) * float64(number)))
}

// expectedTime returns a time in microseconds that a share of the requests of a second don't exceed, by straight lines
// between its percentiles, or its mean time if it has none.
func expectedTime(s *result.Second, share float64) float64 {
	if s.P50 == result.Unknown {
		if s.Phases == nil {
			return 0
		}
		return s.Phases[result.Total].Mean()
	}
	known := []struct{ share, value float64 }{{0, 0}, {0.5, float64(s.P50)}, {0.9, float64(s.P90)}, {0.99, float64(s.P99)}, {1, float64(s.Max)}}
	for i := 1; i < len(known); i++ {
		if a, b := known[i-1], known[i]; share <= b.share {
			return a.value + (b.value-a.value)*(share-a.share)/(b.share-a.share)
		}
	}
	return float64(s.Max)
}

package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/result"
)

const (
	// binsPerDecade is the number of bars of a histogram for each factor of 10, all of them equally wide on a log scale.
	binsPerDecade = 16
	// leastOfMode is the share of requests that the bar of a mode has at least, and deepestOfMode that of a lower mode's bar down to
	// which the bars between it and the higher one fall.
	leastOfMode, deepestOfMode = 0.01, 0.7
)

// bin returns the number of the bar of a latency in microseconds, and edge the latency in microseconds at which a bar begins.
func bin(us float64) int { return int(math.Floor(binsPerDecade*math.Log10(us) + 1e-9)) }

func edge(bin int) float64 { return math.Pow(10, float64(bin)/binsPerDecade) }

// bins returns the share of the durations in each bar, and the number of the first bar. A bucket of the histogram that several bars
// share is divided by their parts of its width.
func bins(h *result.Histogram) (shares []float64, first int) {
	bars := h.Bars()
	first = bin(float64(max(1, bars[0].From)))
	shares = make([]float64, bin(float64(max(1, h.Max())+1))-first+1)
	for _, bar := range bars {
		from := float64(max(1, bar.From))
		to := max(from, float64(min(bar.To, h.Max()))) + 1
		for b := bin(from); edge(b) < to && b-first < len(shares); b++ {
			part := (min(to, edge(b+1)) - max(from, edge(b))) / (to - from)
			shares[b-first] += part * float64(bar.Count) / float64(h.Count())
		}
	}
	if last := len(shares) - 1; shares[last] == 0 { // the longest duration ends with a bar
		shares = shares[:last]
	}
	return shares, first
}

// modes returns the bars that are higher than those around them, in ascending order.
func modes(shares []float64) (all []int) {
	for i, share := range shares {
		if share < leastOfMode || i > 0 && shares[i-1] > share || i+1 < len(shares) && shares[i+1] >= share {
			continue
		}
		if last := len(all) - 1; last >= 0 && slices.Min(shares[all[last]:i]) > deepestOfMode*min(shares[all[last]], share) {
			if share > shares[all[last]] { // one mode with a dent
				all[last] = i
			}
			continue
		}
		all = append(all, i)
	}
	return all
}

func percentOf(share float64, of *result.Histogram) string {
	return number.Share(int64(math.Round(share*float64(of.Count()))), of.Count())
}

// Histogram draws how many of all requests took how long, in bars that are equally wide on a log scale, and names the modes. It has
// nothing if no request succeeded.
func Histogram(r *result.Result) doc.Plot {
	h := r.Merged.Latencies.Get(result.Total)
	if h.Count() == 0 {
		return doc.Plot{}
	}
	shares, first := bins(h)
	ms := func(bin int) float64 { return edge(first+bin) / 1000 }
	text := func(bin int) string {
		return number.Significant(ms(bin)) + " to " + milliseconds(ms(bin+1))
	}
	name := report.LatencyName(&r.Run)
	p := plot.Plot{
		Axis: "% of the successful requests in each bar", Height: 140, X: plot.LogarithmicExact(ms(0), ms(len(shares))), XName: "latency (" + name + "), ms, log scale",
		Y: plot.Linear(0, 100*slices.Max(shares)), Invalid: invalid(r),
	}
	for i, share := range shares {
		if share > 0 {
			p.Marks = append(p.Marks, plot.Rect{From: plot.Point{X: ms(i)}, To: plot.Point{X: ms(i + 1), Y: 100 * share}, Color: plot.P50, Apart: true,
				Tip: fmt.Sprintf("%s: %s of the requests", text(i), percentOf(share, h))})
		}
	}
	var texts []string
	for _, mode := range modes(shares) {
		middle := math.Sqrt(ms(mode) * ms(mode+1))
		p.Marks = append(p.Marks, plot.Text{At: plot.Point{X: middle, Y: 100 * shares[mode]}, DY: -4, Text: milliseconds(middle), Anchor: plot.Center, Bold: true})
		texts = append(texts, text(mode))
	}
	most := slices.Index(shares, slices.Max(shares))
	caption := fmt.Sprintf("The highest bar is from %s, with %s of the requests.", text(most), percentOf(shares[most], h))
	if len(texts) > 1 {
		caption += fmt.Sprintf(" There are %d modes: %s. Different requests, a cache, a queue or a timer may be behind each.", len(texts), strings.Join(texts, ", and "))
	}
	return doc.Plot{Drawing: plot.Of("Histogram of the latency ("+name+")", caption, p), Caption: caption}
}

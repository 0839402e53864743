package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
)

// lengths are those of the windows in the tables, in shortest windows.
var lengths = [...]int{1, 5, 10, 50}

// figures are those of the cells of one kind of server and hog. Deviations are standard deviations of log throughput; what wasn't
// measured is NaN.
type figures struct {
	*kind
	hog             float64
	rate, clientCPU float64
	// runs is the deviation between runs, processes that between processes of a run, within that between windows of a process.
	runs, processes float64
	within          [len(lengths)]float64
	// lag1 is the autocorrelation of windows, r their correlation with the client's CPU time per request.
	lag1, r [len(lengths)]float64
	// pairs is the number of pairs. ratios are the deviations of their log ratio, by orders. Of the first order there are also the
	// variance of processes without that of time, which may be negative as an estimate, the correlation of neighboring slices'
	// ratios with those of the covariate, which is the client's CPU time per request, the deviation that it leaves, the mean
	// effect, and the bias by the covariate with its standard error.
	pairs                                               int
	ratios                                              [3]float64
	apart, covariate, adjusted, effect, bias, biasError float64
}

// summarize returns the figures of all cells, in the order of kinds.
func summarize(runs []*run) (all []*figures) {
	for i := range kinds {
		cells := map[float64][]*cell{}
		var hogs []float64
		for _, r := range runs {
			for _, c := range r.Cells {
				if c.Server != kinds[i].name {
					continue
				}
				if cells[c.Hog] == nil {
					hogs = append(hogs, c.Hog)
				}
				cells[c.Hog] = append(cells[c.Hog], c)
			}
		}
		for _, hog := range hogs {
			f := &figures{kind: &kinds[i], hog: hog}
			if !f.planted {
				f.addWindows(cells[hog])
			}
			f.addPairs(cells[hog])
			all = append(all, f)
		}
	}
	return all
}

func (f *figures) addWindows(cells []*cell) {
	var total sample
	means := make([][]float64, len(cells))
	for i, c := range cells {
		for _, windows := range c.Processes {
			all := joined(windows, len(windows))
			means[i] = append(means[i], logs(all, sample.rate)...)
			total = joined(append(all, total), 2)[0]
		}
	}
	f.rate, f.clientCPU = total.rate(), float64(total[2])/float64(total[1])
	_, between := components(means)
	f.runs = root(between)
	for i, length := range lengths {
		var within, between, lag float64
		var x, y [][]float64
		for _, c := range cells {
			first := len(y)
			for _, windows := range c.Processes {
				joint := joined(windows, length)
				x, y = append(x, logs(joint, sample.cost)), append(y, logs(joint, sample.rate))
			}
			w, b := components(y[first:])
			within, between, lag = within+w, between+b, lag+lag1(y[first:])
		}
		n := float64(len(cells))
		f.within[i], f.lag1[i], f.r[i] = root(within/n), lag/n, regress(x, y).r
		if processes := root(between / n); i == 0 || !math.IsNaN(processes) {
			f.processes = processes // that of the longest windows
		}
	}
}

func (f *figures) addPairs(cells []*cell) {
	var x, y [][]float64
	var ratios [len(orders)][]float64
	var covariate, adjusted []float64
	for _, c := range cells {
		for _, pair := range c.Pairs {
			for i, s := range pair {
				ratios[i] = append(ratios[i], mean(s.ratios(sample.rate)))
			}
			x, y = append(x, pair[0].ratios(sample.cost)), append(y, pair[0].ratios(sample.rate))
			covariate = append(covariate, mean(x[len(x)-1]))
		}
	}
	for i := range ratios {
		f.ratios[i] = deviation(ratios[i])
	}
	_, between := components(y)
	line := regress(x, y)
	for i, ratio := range ratios[0] {
		adjusted = append(adjusted, ratio-line.slope*covariate[i])
	}
	f.pairs, f.apart, f.covariate, f.adjusted, f.effect = len(y), between/2, line.r, deviation(adjusted), mean(ratios[0])
	f.bias = mean(adjusted) - f.effect
	f.biasError = math.Abs(line.slope) * deviation(covariate) / math.Sqrt(float64(f.pairs))
}

// ratios returns the logarithms of B/A.
func (s slices) ratios(of func(sample) float64) (values []float64) {
	a, b := logs(s[0], of), logs(s[1], of)
	for i := range a {
		values = append(values, b[i]-a[i])
	}
	return values
}

// joined joins each number of neighboring windows to one.
func joined(windows []sample, number int) (joint []sample) {
	for ; len(windows) >= number; windows = windows[number:] {
		var sum sample
		for _, w := range windows[:number] {
			for i := range sum {
				sum[i] += w[i]
			}
		}
		joint = append(joint, sum)
	}
	return joint
}

func logs(samples []sample, of func(sample) float64) (values []float64) {
	for _, s := range samples {
		values = append(values, math.Log(of(s)))
	}
	return values
}

func root(variance float64) float64 { return math.Sqrt(max(0, variance)) }

// conclude returns what follows from the pairs beside a hog: roots of the mean squares over servers, what repetition pays, and
// whether the covariate does.
func conclude(all []*figures, hog float64) string {
	beside := "Beside nothing"
	if hog > 0 {
		beside = fmt.Sprintf("Beside a hog of %g CPUs", hog)
	}
	var ratios [len(orders)]float64
	var runs, processes, apart, adjusted, servers float64
	beyond, within := false, true // the tolerated bias
	var truths []string
	for _, f := range all {
		switch {
		case f.hog != hog:
		case f.planted:
			truths = append(truths, fmt.Sprintf("%s ± %s to the effect of %s", percent(f.bias), percent(f.biasError), f.title))
			beyond = beyond || math.Abs(f.bias)-2*f.biasError > tolerated
			within = within && math.Abs(f.bias)+2*f.biasError <= tolerated
		default:
			for i := range ratios {
				ratios[i] += square(f.ratios[i])
			}
			runs, processes = runs+square(f.runs), processes+square(f.processes)
			apart, adjusted, servers = apart+2*f.apart, adjusted+square(f.adjusted), servers+1
		}
	}
	if !(ratios[0] > 0) {
		return "" // of two pairs of each server something follows
	}
	pays := "measured time pays more than further processes"
	if apart > ratios[0]/2 {
		pays = "further processes pay more than measured time"
	}
	advice := "more pairs would say whether it may be used"
	switch {
	case !(adjusted < 0.64*ratios[0]):
		advice = "it doesn't pay"
	case beyond:
		advice = "it must not be used"
	case within && len(truths) > 0:
		advice = "it may be used"
	}
	of := func(sum float64) string { return percent(math.Sqrt(sum / servers)) }
	return fmt.Sprintf(`- %s the ratio of two equal servers spreads by %s in alternating slices of 0.5s, by %s in those of 1s, and by %s
  if each has its 2s in turn. Differences between processes are %s of the first one's variance: %s.
  The client's CPU time per request as a covariate leaves %s of %s and adds %s: %s.
  Throughput itself differs by %s between runs, and by %s between processes of a run.
`, beside, of(ratios[0]), of(ratios[1]), of(ratios[2]), percent(max(0, min(1, apart/ratios[0]))), pays,
		of(adjusted), of(ratios[0]), strings.Join(truths, " and "), advice, of(runs), of(processes))
}

// tolerated is the bias at which a covariate may be used: a tenth of what was planted.
const tolerated = 0.005

// tables returns the tables of runs, as Markdown, and what follows from them.
func tables(runs []*run) string {
	if len(runs) == 0 {
		return "No run has been kept yet.\n"
	}
	var b strings.Builder
	for _, r := range runs {
		fmt.Fprintf(&b, "- %s UTC, commit %s: %s, load average %.2f before, %.1fs of steal\n",
			r.Date.Format("2006-01-02 15:04"), r.Commit, r.Machine, r.Load, r.Steal)
	}
	line := func(cells ...string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	heading := func(cells ...string) {
		b.WriteString("\n")
		line(cells...)
		b.WriteString(strings.Repeat("| --- ", len(cells)) + "|\n")
	}
	all := summarize(runs)
	b.WriteString("\n")
	for _, c := range runs[0].Cells {
		if c.Server == runs[0].Cells[0].Server {
			b.WriteString(conclude(all, c.Hog))
		}
	}
	heading("server", "hog", "requests/s", "client's CPU", "between runs", "between processes", "windows of 0.1s", "0.5s", "1s", "5s")
	for _, f := range all {
		if !f.planted {
			cells := []string{f.title, fmt.Sprint(f.hog), fmt.Sprintf("%.0f", f.rate), percent(f.clientCPU), percent(f.runs), percent(f.processes)}
			for i := range lengths {
				cells = append(cells, fmt.Sprintf("%s, %s, %s", percent(f.within[i]), decimal(f.lag1[i]), decimal(f.r[i])))
			}
			line(cells...)
		}
	}
	heading("pairs of", "hog", "pairs", "ABBA in 0.5s", "ABBA in 1s", "in turn", "processes",
		"r of client's CPU", "0.5s with it", "effect", "effect with it")
	for _, f := range all {
		line(f.title, fmt.Sprint(f.hog), fmt.Sprint(f.pairs), percent(f.ratios[0]), percent(f.ratios[1]), percent(f.ratios[2]),
			percent(root(f.apart)), decimal(f.covariate), percent(f.adjusted), percent(f.effect),
			percent(f.effect+f.bias)+" ± "+percent(f.biasError))
	}
	return b.String()
}

func percent(x float64) string { return known("%.1f%%", 100*x) }
func decimal(x float64) string { return known("%.2f", x) }

func known(format string, x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	return fmt.Sprintf(format, x)
}

// read reads what earlier runs measured.
func read(files []string) ([]*run, error) {
	runs := make([]*run, len(files))
	for i, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(content, &runs[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return runs, nil
}

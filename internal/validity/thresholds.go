package validity

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
)

// Bound is what a metric of a result has to stay under, or to exceed; exactly
// one of Below and Above is set. The forms are those of the API's thresholds:
// "50ms", "250us" or "1.5s" for the metrics that begin with Latency, "1%" for
// ErrorRate, "1500" for RequestsPerSecond.
type Bound struct {
	Metric string
	Below  string
	Above  string
}

// Thresholds compares the result with the bounds, in their order. A bound isn't
// met by a value equal to it. Without a request that succeeded no bound of a
// latency is met, nor without any request one of ErrorRate. It returns an error
// for a bound that can't be understood.
//
// Latencies are total times over all clients; ErrorRate is failed requests by
// all requests; RequestsPerSecond is requests that succeeded by the time from
// the first client's start to the last one's end.
func Thresholds(r *result.Result, bounds []Bound) ([]result.ThresholdOutcome, error) {
	outcomes := make([]result.ThresholdOutcome, 0, len(bounds))
	for _, b := range bounds {
		outcome, err := b.compare(r)
		if err != nil {
			return nil, fmt.Errorf("threshold %s: %w", b.Metric, err)
		}
		outcomes = append(outcomes, outcome)
	}
	return outcomes, nil
}

// Check returns an error that says what can't be understood in the bound.
func (b Bound) Check() error {
	_, err := Thresholds(&result.Result{}, []Bound{b})
	return err
}

func (b Bound) compare(r *result.Result) (result.ThresholdOutcome, error) {
	if (b.Below == "") == (b.Above == "") {
		return result.ThresholdOutcome{}, errors.New("needs exactly one of below and above")
	}
	bound, sense := b.Below, "below"
	if b.Above != "" {
		bound, sense = b.Above, "above"
	}
	m, known := metrics[b.Metric]
	if !known {
		return result.ThresholdOutcome{}, errors.New("no such metric")
	}
	limit, unit, err := split(bound, m.units)
	if err != nil {
		return result.ThresholdOutcome{}, err
	}
	outcome := result.ThresholdOutcome{Metric: b.Metric, Bound: sense + " " + bound}
	actual, exists := m.of(r)
	if !exists {
		outcome.Actual = m.absent
		return outcome, nil
	}
	actual /= unit.size
	outcome.Actual = decimal(actual, unit.decimals) + unit.suffix
	if sense == "below" {
		outcome.Met = actual < limit
	} else {
		outcome.Met = actual > limit
	}
	return outcome, nil
}

// decimal writes a number with at most as many decimals.
func decimal(x float64, decimals int) string {
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(x, 'f', decimals, 64), "0"), ".")
}

// unit is one in which a bound is given: size is its value in the metric's own
// unit, decimals how many are written at most: to a tenth of a microsecond, since
// a mean isn't whole.
type unit struct {
	suffix   string
	size     float64
	decimals int
}

var (
	durationUnits = []unit{{"us", 1, 1}, {"ms", 1e3, 4}, {"s", 1e6, 7}}
	percentUnits  = []unit{{"%", 1, 4}}
	rateUnits     = []unit{{"", 1, 2}}
)

// split takes a bound apart: a decimal number and, as suffix, one of the units.
func split(bound string, units []unit) (float64, unit, error) {
	for _, u := range units {
		digits, has := strings.CutSuffix(bound, u.suffix)
		if !has || !isDecimal(digits) {
			continue
		}
		value, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			return 0, unit{}, fmt.Errorf("bound %q: %w", bound, err)
		}
		return value, u, nil
	}
	var forms []string
	for _, u := range units {
		forms = append(forms, strconv.Quote("1.5"+u.suffix))
	}
	return 0, unit{}, fmt.Errorf("bound %q isn't of the form %s", bound, strings.Join(forms, " or "))
}

// isDecimal is whether s is digits with at most one point between them.
func isDecimal(s string) bool {
	whole, fraction, hasPoint := strings.Cut(s, ".")
	return isDigits(whole) && (!hasPoint || isDigits(fraction))
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// metric is a figure that a bound can be given for.
type metric struct {
	units []unit
	// of is the figure, in units of size 1, and whether there is one.
	of func(*result.Result) (float64, bool)
	// absent says why there is none.
	absent string
}

// metrics are the figures by their names in the API: LatencyP999 is the 99.9th
// percentile.
var metrics = func() map[string]metric {
	all := map[string]metric{
		"LatencyMean": latency((*result.Histogram).Mean),
		"LatencyMax":  latency(func(h *result.Histogram) float64 { return float64(h.Max()) }),
		"ErrorRate": {units: percentUnits, absent: "no requests", of: func(r *result.Result) (float64, bool) {
			return r.Merged.ErrorPercent(), r.Merged.Requests > 0
		}},
		"RequestsPerSecond": {units: rateUnits, of: func(r *result.Result) (float64, bool) {
			return r.RequestsPerSecond(), true
		}},
	}
	for p := range percentile.Common() {
		all["Latency"+p.Name()] = latency(func(h *result.Histogram) float64 { return float64(h.Percentile(p.Percent())) })
	}
	return all
}()

func latency(figure func(*result.Histogram) float64) metric {
	return metric{units: durationUnits, absent: "no request succeeded", of: func(r *result.Result) (float64, bool) {
		total := r.Merged.Latencies.Get(result.Total)
		return figure(total), total.Count() > 0
	}}
}

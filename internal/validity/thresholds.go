package validity

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
)

// Bound is a value that a metric of a result must stay below, or exceed; exactly one of Below and
// Above is set. The formats are those of the API's thresholds: "50ms", "250us" or "1.5s" for
// metrics that start with Latency, "1%" for ErrorRate, "1500" for RequestsPerSecond. Request is the
// name of the request that the metric is of; empty for all.
type Bound struct {
	Metric  string
	Request string
	Below   string
	Above   string
}

// Thresholds compares the result with the bounds, in their order. A value that equals its bound
// does not meet it. Bounds of latencies are not met without a successful request, nor is one of
// ErrorRate without a request. Thresholds returns an error for an invalid bound.
//
// Latencies are total times over all clients. ErrorRate is the number of failed requests divided by
// that of all requests. RequestsPerSecond is the number of successful requests divided by the time
// from the first client's start to the last one's end.
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

func (b Bound) compare(r *result.Result) (result.ThresholdOutcome, error) {
	if (b.Below == "") == (b.Above == "") {
		return result.ThresholdOutcome{}, errors.New("exactly one of below and above must be set")
	}
	bound, sense := b.Below, "below"
	if b.Above != "" {
		bound, sense = b.Above, "above"
	}
	m, known := metrics[b.Metric]
	if !known {
		return result.ThresholdOutcome{}, errors.New("unknown metric")
	}
	limit, unit, err := split(bound, m.units)
	if err != nil {
		return result.ThresholdOutcome{}, err
	}
	outcome := result.ThresholdOutcome{Metric: b.Metric, Request: b.Request, Bound: sense + " " + bound, Limit: limit, Unit: unit.suffix, Above: b.Above != ""}
	actual, exists := r.Metric(b.Metric, b.Request)
	if !exists {
		outcome.Actual = m.absent
		if b.Request != "" && r.Request(b.Request) == nil {
			outcome.Actual = "no metrics of this request"
		}
		return outcome, nil
	}
	actual /= unit.size
	text := decimal(actual, unit.decimals)
	outcome.Actual = text + unit.suffix
	measured, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return result.ThresholdOutcome{}, err
	}
	outcome.Measured = &measured
	if outcome.Above {
		outcome.Met = actual > limit
	} else {
		outcome.Met = actual < limit
	}
	return outcome, nil
}

// decimal formats a number with at most the given number of decimals.
func decimal(x float64, decimals int) string {
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(x, 'f', decimals, 64), "0"), ".")
}

// unit is a unit of a bound. size is its value in the metric's own unit. decimals is the largest
// number of decimals that are written: to a tenth of a microsecond, since a mean is not whole.
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

// boundForm is a decimal number with a suffix.
var boundForm = regexp.MustCompile(`^([0-9]+(?:[.][0-9]+)?)([a-z%]*)$`)

// split splits a bound into a decimal number and one of the units, its suffix.
func split(bound string, units []unit) (float64, unit, error) {
	if parts := boundForm.FindStringSubmatch(bound); parts != nil {
		if i := slices.IndexFunc(units, func(u unit) bool { return u.suffix == parts[2] }); i >= 0 {
			value, err := strconv.ParseFloat(parts[1], 64)
			return value, units[i], err
		}
	}
	var forms []string
	for _, u := range units {
		forms = append(forms, strconv.Quote("1.5"+u.suffix))
	}
	return 0, unit{}, fmt.Errorf("bound %q must be of the form %s", bound, strings.Join(forms, " or "))
}

// metric is one of result.Metrics, which can have a bound.
type metric struct {
	units []unit
	// absent says why there is none.
	absent string
}

// metrics are all of them by their names in the API: LatencyP999 is the 99.9th percentile.
var metrics = func() map[string]metric {
	all := map[string]metric{
		"ErrorRate":         {units: percentUnits, absent: "no requests"},
		"RequestsPerSecond": {units: rateUnits},
	}
	for _, name := range []string{"LatencyMean", "LatencyMax"} {
		all[name] = metric{units: durationUnits, absent: "no successful request"}
	}
	for _, p := range percentile.Common {
		all["Latency"+p.Name()] = metric{units: durationUnits, absent: "no successful request"}
	}
	return all
}()

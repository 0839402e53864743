package k6metric

import (
	"crypto/md5" //nolint:gosec // k6 identifies groups and checks by it
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// DefaultTrendStatistics are k6's default of the option summaryTrendStats.
var DefaultTrendStatistics = []string{"avg", "min", "med", "max", "p(90)", "p(95)"}

// SummaryData is what k6 calls handleSummary() with:
// https://grafana.com/docs/k6/latest/results-output/end-of-test/custom-summary/#data-format-returned-to-handlesummary.
type SummaryData struct {
	// Metrics are those of all clients, merged. Thresholds are those of the script, and Met reports for each whether
	// it is met.
	Metrics    []Metric
	Thresholds []Threshold
	Met        []bool
	// Checks are those of all clients.
	Checks []Check
	// Elapsed is how long the load ran. VirtualUsers is the number of virtual users.
	Elapsed      time.Duration
	VirtualUsers int64
	// TrendStatistics and TimeUnit are the script's options summaryTrendStats and summaryTimeUnit.
	TrendStatistics []string
	TimeUnit        string
	// SetupData is what setup() returned, as JSON, or nil.
	SetupData []byte
}

// contains maps units to k6's names of what a metric contains.
var contains = map[Unit]string{None: "default", Milliseconds: "time", Bytes: "data"}

// summaryMetric is a metric in the data.
type summaryMetric struct {
	Type       Kind                        `json:"type"`
	Contains   string                      `json:"contains"`
	Values     map[string]float64          `json:"values"`
	Thresholds map[string]summaryThreshold `json:"thresholds,omitempty"`
}

type summaryThreshold struct {
	OK bool `json:"ok"`
}

// summaryGroup is a group in the data.
type summaryGroup struct {
	Name   string          `json:"name"`
	Path   string          `json:"path"`
	ID     string          `json:"id"`
	Groups []*summaryGroup `json:"groups"`
	Checks []summaryCheck  `json:"checks"`
}

type summaryCheck struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	ID     string `json:"id"`
	Passes int64  `json:"passes"`
	Fails  int64  `json:"fails"`
}

// MarshalJSON returns the data in k6's form.
func (d *SummaryData) MarshalJSON() ([]byte, error) {
	statistics := d.TrendStatistics
	if len(statistics) == 0 {
		statistics = DefaultTrendStatistics
	}
	metrics := map[string]*summaryMetric{
		"vus_max": {Type: Gauge, Contains: contains[None], Values: map[string]float64{
			"value": float64(d.VirtualUsers), "min": float64(d.VirtualUsers), "max": float64(d.VirtualUsers),
		}},
	}
	for i := range d.Metrics {
		m := &d.Metrics[i]
		values, err := m.values(statistics, d.Elapsed)
		if err != nil {
			return nil, err
		}
		metrics[m.Name] = &summaryMetric{Type: m.Kind, Contains: contains[m.Unit], Values: values}
	}
	for i, t := range d.Thresholds {
		m := metrics[t.Metric]
		if m == nil { // as in k6, a metric with a threshold is there even without samples
			without := Metric{Kind: t.kind()}
			values, err := without.values(statistics, d.Elapsed)
			if err != nil {
				return nil, err
			}
			m = &summaryMetric{Type: without.Kind, Contains: contains[None], Values: values}
			metrics[t.Metric] = m
		}
		if m.Thresholds == nil {
			m.Thresholds = map[string]summaryThreshold{}
		}
		m.Thresholds[t.Source] = summaryThreshold{OK: d.Met[i]}
	}
	data := map[string]any{
		"metrics": metrics, "root_group": group(d.Checks),
		"options": map[string]any{"summaryTrendStats": statistics, "summaryTimeUnit": d.TimeUnit, "noColor": true},
		"state": map[string]any{
			"isStdOutTTY": false, "isStdErrTTY": false, "testRunDurationMs": float64(d.Elapsed) / float64(time.Millisecond),
		},
	}
	if len(d.SetupData) > 0 {
		data["setup_data"] = json.RawMessage(d.SetupData)
	}
	return json.Marshal(data)
}

// values returns a metric's values by the names that k6 gives them.
func (m *Metric) values(statistics []string, elapsed time.Duration) (map[string]float64, error) {
	perSample := 0.0
	if m.Samples > 0 {
		perSample = m.Sum / float64(m.Samples)
	}
	switch m.Kind {
	case Counter:
		rate := 0.0
		if elapsed > 0 {
			rate = m.Sum / elapsed.Seconds()
		}
		return map[string]float64{"count": m.Sum, "rate": rate}, nil
	case Gauge:
		return map[string]float64{"value": m.Last, "min": m.Min, "max": m.Max}, nil
	case Rate:
		return map[string]float64{"rate": perSample, "passes": m.Sum, "fails": float64(m.Samples) - m.Sum}, nil
	}
	values := make(map[string]float64, len(statistics))
	for _, name := range statistics {
		switch name {
		case "avg":
			values[name] = perSample
		case "min":
			values[name] = m.Min
		case "max":
			values[name] = m.Max
		case "med":
			values[name] = m.percentile(50)
		case "count":
			values[name] = float64(m.Samples)
		default:
			p, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimPrefix(name, "p("), ")"), 64)
			if err != nil || !(p >= 0 && p <= 100) {
				return nil, fmt.Errorf("summaryTrendStats: %.64q is not a statistic of a trend", name)
			}
			values[name] = m.percentile(p)
		}
	}
	return values, nil
}

// groupSeparator separates the names in the path of a group or a check.
const groupSeparator = "::"

// group returns the root group with the groups of the checks.
func group(checks []Check) *summaryGroup {
	root := newGroup("", "")
	for _, c := range checks {
		at := root
		for _, name := range strings.Split(strings.TrimPrefix(c.Group, groupSeparator), groupSeparator) {
			if name != "" {
				at = at.child(name)
			}
		}
		path := at.Path + groupSeparator + c.Name
		at.Checks = append(at.Checks, summaryCheck{Name: c.Name, Path: path, ID: identify(path), Passes: c.Passes, Fails: c.Fails})
	}
	return root
}

func newGroup(name, path string) *summaryGroup {
	return &summaryGroup{Name: name, Path: path, ID: identify(path), Groups: []*summaryGroup{}, Checks: []summaryCheck{}}
}

// child returns the group of that name in a group. It creates the group on first use.
func (g *summaryGroup) child(name string) *summaryGroup {
	for _, c := range g.Groups {
		if c.Name == name {
			return c
		}
	}
	c := newGroup(name, g.Path+groupSeparator+name)
	g.Groups = append(g.Groups, c)
	return c
}

// identify returns k6's ID of a group or a check: the MD5 of its path.
func identify(path string) string {
	sum := md5.Sum([]byte(path)) //nolint:gosec // no secret
	return hex.EncodeToString(sum[:])
}

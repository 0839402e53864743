// Package promql tests the dashboard and the alerts of the chart with Prometheus' own parser and engine. It is a Go
// module of its own: Prometheus would raise the versions of the operator's dependencies.
package promql

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

const chart = "../../charts/assay/"

// targetLabels are those that Prometheus adds to each series of a ServiceMonitor.
var targetLabels = []string{"container", "endpoint", "instance", "job", "namespace", "pod", "service"}

// metric is a documented metric: the page is held to the code by a test of controllers/metrics.
type metric struct {
	kind   string
	labels []string
}

func metrics(t *testing.T) map[string]metric {
	t.Helper()
	page, err := os.ReadFile("../../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]metric{"up": {"gauge", targetLabels}}
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (counter|gauge|histogram) \\| ([^|]*)\\|").FindAllStringSubmatch(string(page), -1) {
		m := metric{row[2], slices.Clone(targetLabels)}
		for _, label := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(row[3], -1) {
			m.labels = append(m.labels, label[1])
		}
		all[row[1]] = m
		if m.kind == "histogram" {
			all[row[1]+"_bucket"] = metric{"counter", append(slices.Clone(m.labels), "le")}
			all[row[1]+"_sum"], all[row[1]+"_count"] = metric{"counter", m.labels}, metric{"counter", m.labels}
			delete(all, row[1])
		}
	}
	if len(all) < 20 {
		t.Fatalf("only %d metrics are documented", len(all))
	}
	return all
}

// checker checks expressions, and collects the metrics that they use.
type checker struct {
	metrics map[string]metric
	used    map[string]bool
}

// parse parses an expression and checks it. It returns the labels that its result may have.
func (c *checker) parse(query string) ([]string, error) {
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		return nil, err
	}
	return c.check(expr)
}

func (c *checker) check(node parser.Node) ([]string, error) {
	switch n := node.(type) {
	case *parser.VectorSelector:
		return c.selector(n)
	case *parser.MatrixSelector:
		name := n.VectorSelector.(*parser.VectorSelector).Name
		if kind := c.metrics[name].kind; kind != "counter" {
			return nil, fmt.Errorf("a rate or an increase of %s, which is a %s", name, kind)
		}
		return c.check(n.VectorSelector)
	case *parser.AggregateExpr:
		return c.aggregation(n)
	case *parser.BinaryExpr:
		return c.binary(n)
	case *parser.Call:
		var all []string
		for _, arg := range n.Args {
			found, err := c.check(arg)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
		if n.Func.Name == "histogram_quantile" {
			if !slices.Contains(all, "le") {
				return nil, fmt.Errorf("%s: there is no le", n)
			}
			all = slices.DeleteFunc(all, func(label string) bool { return label == "le" })
		}
		return all, nil
	case *parser.ParenExpr:
		return c.check(n.Expr)
	case *parser.NumberLiteral:
		return nil, nil
	}
	return nil, fmt.Errorf("%s: %T isn't checked", node, node)
}

func (c *checker) selector(n *parser.VectorSelector) ([]string, error) {
	m, ok := c.metrics[n.Name]
	if !ok {
		return nil, fmt.Errorf("there is no metric %s", n.Name)
	}
	c.used[n.Name] = true
	for _, matcher := range n.LabelMatchers {
		if matcher.Name != labels.MetricName && !slices.Contains(m.labels, matcher.Name) {
			return nil, fmt.Errorf("%s has no label %s", n.Name, matcher.Name)
		}
	}
	for _, required := range []string{"job", "namespace"} {
		if !slices.ContainsFunc(n.LabelMatchers, func(m *labels.Matcher) bool { return m.Name == required }) {
			return nil, fmt.Errorf("%s isn't selected by %s", n, required)
		}
	}
	return slices.Clone(m.labels), nil
}

func (c *checker) aggregation(n *parser.AggregateExpr) ([]string, error) {
	inner, err := c.check(n.Expr)
	if err != nil {
		return nil, err
	}
	for _, label := range n.Grouping {
		if !slices.Contains(inner, label) {
			return nil, fmt.Errorf("%s: there is no label %s", n, label)
		}
	}
	if n.Without {
		return nil, fmt.Errorf("%s: without isn't checked", n)
	}
	return n.Grouping, nil
}

func (c *checker) binary(n *parser.BinaryExpr) ([]string, error) {
	left, err := c.check(n.LHS)
	if err != nil {
		return nil, err
	}
	right, err := c.check(n.RHS)
	if err != nil {
		return nil, err
	}
	if m := n.VectorMatching; m != nil && m.On {
		for _, label := range m.MatchingLabels {
			if !slices.Contains(left, label) || !slices.Contains(right, label) {
				return nil, fmt.Errorf("%s: there is no label %s", n, label)
			}
		}
	}
	if _, scalar := n.LHS.(*parser.NumberLiteral); scalar || n.LHS.Type() == parser.ValueTypeScalar {
		return right, nil
	}
	return left, nil
}

// TestChecker holds that the tests below can fail.
func TestChecker(t *testing.T) {
	const release = `job="a",namespace="b"`
	for query, want := range map[string]string{
		`sum by (lane) (assay_lane_benchmarkruns{` + release + `}`:                                        "unclosed left parenthesis",
		`assay_lane_runs{` + release + `}`:                                                                "no metric assay_lane_runs",
		`assay_lane_benchmarkruns{` + release + `,reason="x"}`:                                            "has no label reason",
		`sum by (reason) (assay_lane_benchmarkruns{` + release + `})`:                                     "no label reason",
		`assay_lane_benchmarkruns{job="a"}`:                                                               "isn't selected by namespace",
		`rate(assay_lane_benchmarkruns{` + release + `}[5m])`:                                             "which is a gauge",
		`assay_benchmarkrun_wait_seconds{` + release + `}`:                                                "no metric assay_benchmarkrun_wait_seconds",
		`histogram_quantile(0.5, sum(rate(assay_benchmarkrun_wait_seconds_bucket{` + release + `}[5m])))`: "there is no le",
		`up{` + release + `} and on (lane) up{` + release + `}`:                                           "no label lane",
		`sum by (lane) (assay_lane_benchmarkruns{` + release + `})`:                                       "",
	} {
		c := &checker{metrics(t), map[string]bool{}}
		_, err := c.parse(query)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", query, err, want)
		}
	}
}

// dashboard has the checked parts of a Grafana dashboard.
type dashboard struct {
	UID        string
	Templating struct {
		List []struct{ Name, Definition, Type string }
	}
	Panels []struct {
		ID                 int
		Title, Description string
		Type               string
		GridPos            struct{ X, Y, W, H int }
		Targets            []struct{ RefID, Expr, LegendFormat string }
	}
}

// TestDashboard parses each query of the dashboard, and checks the labels of its legend.
func TestDashboard(t *testing.T) {
	encoded, err := os.ReadFile(chart + "dashboards/assay.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(encoded, &d); err != nil {
		t.Fatal(err)
	}
	c := &checker{metrics(t), map[string]bool{}}
	variables := []string{"__rate_interval", "__range"}
	for _, v := range d.Templating.List {
		for _, used := range regexp.MustCompile(`\$(\w+)`).FindAllStringSubmatch(v.Definition, -1) {
			if !slices.Contains(variables, used[1]) {
				t.Errorf("variable %s uses %s before it", v.Name, used[1])
			}
		}
		variables = append(variables, v.Name)
		if v.Type != "query" {
			continue
		}
		match := regexp.MustCompile(`^label_values\((\w+)[^,]*(?:,[^,]+})?, (\w+)\)$`).FindStringSubmatch(v.Definition)
		if match == nil || !slices.Contains(c.metrics[match[1]].labels, match[2]) {
			t.Errorf("variable %s: %s", v.Name, v.Definition)
		}
	}
	ids, places := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" || p.Type != "row" && (p.Description == "" || len(p.Targets) == 0) {
			t.Errorf("panel %d %q lacks something, or has the ID of another", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				place := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if places[place] != "" || place[0] >= 24 {
					t.Errorf("panel %q is over panel %q", p.Title, places[place])
				}
				places[place] = p.Title
			}
		}
		for _, target := range p.Targets {
			for _, used := range regexp.MustCompile(`\$(\w+)`).FindAllStringSubmatch(target.Expr, -1) {
				if !slices.Contains(variables, used[1]) {
					t.Errorf("panel %q: there is no variable %s", p.Title, used[1])
				}
			}
			found, err := c.parse(strings.NewReplacer("$__rate_interval", "5m", "$__range", "1h").Replace(target.Expr))
			if err != nil {
				t.Errorf("panel %q: %v", p.Title, err)
			}
			for _, label := range regexp.MustCompile(`{{(\w+)}}`).FindAllStringSubmatch(target.LegendFormat, -1) {
				if !slices.Contains(found, label[1]) {
					t.Errorf("panel %q: its result has no label %s", p.Title, label[1])
				}
			}
		}
	}
	for name := range c.metrics {
		if strings.HasPrefix(name, "assay_") && !c.used[name] && !strings.HasSuffix(name, "_sum") && !strings.HasSuffix(name, "_count") {
			t.Errorf("no panel shows %s", name)
		}
	}
}

// alert is a rule of the file of alerts.
type alert struct {
	Alert       string
	Expr        string
	For         string
	Labels      map[string]string
	Annotations map[string]string
}

func alerts(t *testing.T) []alert {
	t.Helper()
	encoded, err := os.ReadFile(chart + "alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []alert
		}
	}
	if err := yaml.Unmarshal(encoded, &file); err != nil {
		t.Fatal(err)
	}
	var all []alert
	for _, group := range file.Groups {
		all = append(all, group.Rules...)
	}
	return all
}

// TestAlerts parses each alert, and checks the labels of its texts and its runbook.
func TestAlerts(t *testing.T) {
	page, err := os.ReadFile("../../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	c := &checker{metrics(t), map[string]bool{}}
	headings := regexp.MustCompile(`(?m)^### (\w+)$`).FindAllStringSubmatch(string(page), -1)
	all := alerts(t)
	if len(headings) != len(all) {
		t.Errorf("%d alerts, but %d of them are documented", len(all), len(headings))
	}
	for i, a := range all {
		found, err := c.parse(a.Expr)
		if err != nil {
			t.Errorf("%s: %v", a.Alert, err)
		}
		if i < len(headings) && headings[i][1] != a.Alert {
			t.Errorf("the docs have %s in the place of %s", headings[i][1], a.Alert)
		}
		severity := a.Labels["severity"]
		if text := fmt.Sprintf("### %s\n\n*%s.*", a.Alert, strings.ToUpper(severity[:1])+severity[1:]); !strings.Contains(string(page), text) {
			t.Errorf("the docs don't have %q", text)
		}
		if a.Annotations["summary"] == "" || a.Annotations["description"] == "" {
			t.Errorf("%s has no summary or no description", a.Alert)
		}
		for _, text := range a.Annotations {
			for _, label := range regexp.MustCompile(`\$labels\.(\w+)`).FindAllStringSubmatch(text, -1) {
				if !slices.Contains(found, label[1]) {
					t.Errorf("%s: its result has no label %s", a.Alert, label[1])
				}
			}
		}
	}
}

package compare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/html/roundpage"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/result"
)

// The defaults of a comparison, in percent.
const (
	defaultTolerance  = 5
	defaultConfidence = 95
)

// options holds the options of the command line.
type options struct {
	names, selectors, metrics []string
	tolerance, confidence     int32
	format                    string
}

// source reads the runs of a side.
type source struct {
	text string
	// selector selects runs; nil for a source that is named.
	selector labels.Selector
	kind     *cluster.Kind
	name     string
	// round is the number of a Benchmark's round; 0 for the last.
	round int64
}

// check validates the options without contacting the cluster, and returns the two sources.
func (o *options) check() ([]source, error) {
	if err := doc.CheckFormat(o.format, roundpage.ComparisonFormats.Names()); err != nil {
		return nil, exit.Errorf(exit.Unknown, "%w", err)
	}
	for _, m := range o.metrics {
		if name, _ := benchmark.SplitMetric(v1alpha1.BenchmarkMetric(m)); !slices.Contains(metricNames(), string(name)) {
			return nil, exit.Errorf(exit.Unknown, "unknown metric %q: use one of %s, with :NAME behind for a single request", m, strings.Join(metricNames(), ", "))
		}
	}
	if o.tolerance < 0 || o.tolerance > 99 {
		return nil, exit.Errorf(exit.Unknown, "--tolerance %d must be 0 to 99", o.tolerance)
	}
	if o.confidence < 50 || o.confidence > 99 {
		return nil, exit.Errorf(exit.Unknown, "--confidence %d must be 50 to 99", o.confidence)
	}
	var sources []source
	for _, name := range o.names {
		s, err := named(name)
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	for _, text := range o.selectors {
		selector, err := labels.Parse(text)
		if err != nil {
			return nil, exit.Errorf(exit.Unknown, "--selector %q: %w", text, err)
		}
		sources = append(sources, source{text: "runs with " + text, selector: selector})
	}
	if len(sources) != 2 {
		return nil, exit.Errorf(exit.Unknown, "compare needs 2 sides, not %d: names of runs, benchmark/NAME, benchmark/NAME#ROUND, or --selector", len(sources))
	}
	return sources, nil
}

func named(text string) (source, error) {
	argument, number, numbered := strings.Cut(text, "#")
	kind, name, err := cluster.Parse(argument, cluster.BenchmarkRun)
	if err != nil {
		return source{}, err
	}
	s := source{text: text, kind: kind, name: name}
	if !numbered {
		return s, nil
	}
	s.round, err = strconv.ParseInt(number, 10, 64)
	if err != nil || s.round < 1 || kind != cluster.Benchmark {
		return source{}, exit.Errorf(exit.Unknown, "%q must be benchmark/NAME#ROUND with the number of a round", text)
	}
	return s, nil
}

func (o *options) write(ctx context.Context, c *cluster.Cluster, sources []source, out io.Writer) error {
	compared := round.CompareOptions{TolerancePercent: o.tolerance, ConfidencePercent: o.confidence}
	for _, m := range o.metrics {
		compared.Metrics = append(compared.Metrics, v1alpha1.BenchmarkMetric(m))
	}
	comparison, err := compareSources(ctx, [2]*cluster.Cluster{c, c}, [2]source(sources), compared)
	switch {
	case errors.Is(err, round.ErrNoRuns) && o.format == "html": // the page says so
	case errors.Is(err, round.ErrNoRuns):
		return exit.Errorf(exit.Failed, "%w", err)
	case err != nil:
		return err
	}
	switch err := roundpage.ComparisonFormats.Write(out, o.format, comparison); {
	case errors.Is(err, html.ErrNoPicture):
		return exit.Errorf(exit.Failed, "%w", err)
	case err != nil:
		return err
	}
	if comparison.Refusal != "" {
		return exit.Errorf(exit.Failed, "not compared: %s", comparison.Refusal)
	}
	return nil
}

// WritePage writes the comparison of two runs as a page, as the verb does without flags. Each run is in the namespace of its
// Cluster, the first one is the baseline. Runs that can't be compared are a page too, which says why.
func WritePage(ctx context.Context, clusters [2]*cluster.Cluster, names [2]string, out io.Writer) error {
	var sources [2]source
	for i, c := range clusters {
		sources[i] = source{text: c.Namespace + "/" + names[i], kind: cluster.BenchmarkRun, name: names[i]}
	}
	comparison, err := compareSources(ctx, clusters, sources, round.CompareOptions{TolerancePercent: defaultTolerance, ConfidencePercent: defaultConfidence})
	if err != nil && !errors.Is(err, round.ErrNoRuns) {
		return err
	}
	return roundpage.WriteComparison(out, comparison)
}

// compareSources reads two sides and compares them. If there is nothing to compare, the error wraps round.ErrNoRuns, and
// the comparison says so.
func compareSources(ctx context.Context, clusters [2]*cluster.Cluster, sources [2]source, o round.CompareOptions) (*round.Comparison, error) {
	var sides [2]round.Side
	var results [2]*result.Result
	metrics := slices.Clone(o.Metrics)
	order := []int{0, 1}
	if sources[1].kind == cluster.Benchmark { // it may name metrics of single requests
		slices.Reverse(order)
	}
	for _, i := range order {
		var err error
		if sides[i], results[i], err = read(ctx, clusters[i], &sources[i], metrics); err != nil {
			return nil, err
		}
		for m := range sides[i].Compared {
			metrics = append(metrics, benchmark.KeyOf(&sides[i].Compared[m]))
		}
	}
	if sources[0].selector == nil && sources[1].selector == nil && sides[0].Name == sides[1].Name {
		return nil, exit.Errorf(exit.Failed, "nothing to compare: both sides are %s", sides[0].Name)
	}
	c, err := round.Compare(sides[0], sides[1], o)
	switch {
	case errors.Is(err, round.ErrNoRuns):
		return round.NotCompared(sides[0], sides[1], err.Error()), err
	case err != nil:
		return nil, fmt.Errorf("compare: %w", err)
	}
	c.Results = results
	return c, nil
}

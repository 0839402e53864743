package compare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	defaultConfidence = 95
)

// options holds the options of the command line.
type options struct {
	names, selectors, metrics []string
	// by is the label by whose values the runs of the only selector are sides; empty for none.
	by         string
	confidence int32
	format     string
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

// check validates the options without contacting the cluster, and returns the sources.
func (o *options) check() ([]source, error) {
	if err := doc.CheckFormat(o.format, roundpage.ComparisonFormats.Names()); err != nil {
		return nil, exit.Errorf(exit.Unknown, "%w", err)
	}
	for _, m := range o.metrics {
		if name, _ := benchmark.SplitMetric(v1alpha1.BenchmarkMetric(m)); !slices.Contains(metricNames(), string(name)) {
			return nil, exit.Errorf(exit.Unknown, "unknown metric %q: use one of %s, with :NAME behind for a single request", m, strings.Join(metricNames(), ", "))
		}
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
	switch {
	case o.by != "" && (len(o.names) > 0 || len(o.selectors) > 1):
		return nil, exit.Errorf(exit.Unknown, "--by %s groups the runs of one --selector: name no other side", o.by)
	case o.by != "":
		if len(sources) == 0 {
			sources = []source{{selector: labels.Everything()}}
		}
		exists, err := labels.NewRequirement(o.by, selection.Exists, nil)
		if err != nil {
			return nil, exit.Errorf(exit.Unknown, "--by %q: %w", o.by, err)
		}
		sources[0].selector = sources[0].selector.Add(*exists)
	case len(sources) < 2 || len(sources) > round.MaxSides:
		return nil, exit.Errorf(exit.Unknown, "compare needs 2 to %d sides, not %d: names of runs, benchmark/NAME, benchmark/NAME#ROUND, --selector, or --by LABEL", round.MaxSides, len(sources))
	}
	return sources, nil
}

// grouped returns a source for each value that the runs of a selector have of a label, in the order of the values.
func grouped(ctx context.Context, c *cluster.Cluster, by string, selector labels.Selector) ([]source, error) {
	var list v1alpha1.BenchmarkRunList
	if err := c.List(ctx, &list, client.InNamespace(c.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, cluster.Explain(err)
	}
	values := map[string]bool{}
	for i := range list.Items {
		values[list.Items[i].Labels[by]] = true
	}
	names := slices.Sorted(maps.Keys(values))
	if len(names) < 2 || len(names) > round.MaxSides {
		return nil, exit.Errorf(exit.Failed, "nothing to compare: the runs have %d values of the label %s, and 2 to %d can be compared: %s", len(names), by, round.MaxSides, strings.Join(names, ", "))
	}
	sources := make([]source, len(names))
	for i, name := range names {
		equals, err := labels.NewRequirement(by, selection.Equals, []string{name})
		if err != nil {
			return nil, err // not reached: a run has it
		}
		sources[i] = source{text: by + "=" + name, selector: selector.Add(*equals)}
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
	compared := round.CompareOptions{ConfidencePercent: o.confidence}
	for _, m := range o.metrics {
		compared.Metrics = append(compared.Metrics, v1alpha1.BenchmarkMetric(m))
	}
	if o.by != "" {
		var err error
		if sources, err = grouped(ctx, c, o.by, sources[0].selector); err != nil {
			return err
		}
	}
	comparison, err := compareSources(ctx, slices.Repeat([]*cluster.Cluster{c}, len(sources)), sources, compared)
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
	if comparison.Refusal != "" && len(comparison.Others) == 0 {
		return exit.Errorf(exit.Failed, "not compared: %s", comparison.Refusal)
	}
	return nil
}

// Page returns the page with the comparison of up to round.MaxSides runs, as the verb does without flags. Each run is in the namespace of
// its Cluster, the first one is the baseline. Runs that can't be compared are a page too, which says why.
func Page(ctx context.Context, clusters []*cluster.Cluster, names []string) (*doc.Document, error) {
	sources := make([]source, len(clusters))
	for i, c := range clusters {
		sources[i] = source{text: c.Namespace + "/" + names[i], kind: cluster.BenchmarkRun, name: names[i]}
	}
	comparison, err := compareSources(ctx, clusters, sources, round.CompareOptions{ConfidencePercent: defaultConfidence})
	if err != nil && !errors.Is(err, round.ErrNoRuns) {
		return nil, err
	}
	return roundpage.ComparisonDocument(comparison)
}

// compareSources reads sides and compares them with the first. If there is nothing to compare with the only other one, the error wraps
// round.ErrNoRuns, and the comparison says so.
func compareSources(ctx context.Context, clusters []*cluster.Cluster, sources []source, o round.CompareOptions) (*round.Comparison, error) {
	sides, results := make([]round.Side, len(sources)), make([]*result.Result, len(sources))
	metrics := slices.Clone(o.Metrics)
	var order []int // Benchmarks first: they may name metrics of single requests
	for i := range sources {
		if sources[i].kind == cluster.Benchmark {
			order = slices.Insert(order, 0, i)
		} else {
			order = append(order, i)
		}
	}
	for _, i := range order {
		var err error
		if sides[i], results[i], err = read(ctx, clusters[i], &sources[i], metrics); err != nil {
			return nil, err
		}
		metrics = append(metrics, sides[i].Compared...)
	}
	for i := range sides {
		for j := range i {
			if sources[i].selector == nil && sources[j].selector == nil && sides[i].Name == sides[j].Name {
				return nil, exit.Errorf(exit.Failed, "nothing to compare: both sides are %s", sides[i].Name)
			}
		}
	}
	c, err := round.CompareAll(sides, results, o)
	if err != nil && !errors.Is(err, round.ErrNoRuns) {
		return nil, fmt.Errorf("compare: %w", err)
	}
	return c, err
}

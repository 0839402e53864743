package table

import (
	"context"
	"io"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/round"
)

// pivotOptions holds the options that only a Benchmark's table has.
type pivotOptions struct {
	axes              []string
	metric, percentOf string
	round             int64
}

func (o *pivotOptions) set() bool {
	return len(o.axes) > 0 || o.metric != "" || o.percentOf != "" || o.round != 0
}

// benchmark returns the name of the Benchmark that the arguments name, or "" if they name runs or nothing. It
// replaces the names by those without a kind.
func (o *options) benchmark() (string, error) {
	for i, argument := range o.names {
		kind, name, err := cluster.Parse(argument, cluster.BenchmarkRun)
		if err != nil {
			return "", err
		}
		if kind == cluster.Benchmark {
			if len(o.names) > 1 || o.selector != "" {
				return "", exit.Errorf(exit.Unknown, "%q must be the only name: the table has the cells of one Benchmark; use \"kubectl assay compare\" for several", argument)
			}
			return name, nil
		}
		o.names[i] = name
	}
	if o.pivot.set() {
		return "", exit.Errorf(exit.Unknown, "--pivot, --metric, --percent-of and --round need benchmark/NAME")
	}
	return "", nil
}

// writePivot prints the table of a Benchmark's cells, from the artifact of a round that has ended.
func (o *options) writePivot(ctx context.Context, c *cluster.Cluster, name string, out io.Writer) error {
	if err := doc.CheckFormat(o.format, round.PivotFormats.Names()); err != nil {
		return exit.Errorf(exit.Unknown, "%w", err)
	}
	if o.pivot.round < 0 {
		return exit.Errorf(exit.Unknown, "--round %d must be a number from 1 on", o.pivot.round)
	}
	r, err := c.ReadRound(ctx, name, o.pivot.round)
	if err != nil {
		return err
	}
	if len(r.Estimates) == 0 {
		return exit.Errorf(exit.Failed, "round %d of Benchmark %q has no metrics of cells: %s: %s", r.Number, name, r.Reason, r.Message)
	}
	p, err := round.NewPivot(r, round.PivotOptions{
		Axes: o.pivot.axes, Metric: v1alpha1.BenchmarkMetric(o.pivot.metric), PercentOf: o.pivot.percentOf,
	})
	if err != nil {
		return exit.Errorf(exit.Unknown, "%w", err)
	}
	return round.PivotFormats.Write(out, o.format, p)
}

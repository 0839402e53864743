package table

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/server"
)

// request is what was asked for.
type request struct {
	names    []string
	selector string
	format   string
}

// check refuses what needs no cluster to be refused.
func (q *request) check() error {
	if !slices.Contains(report.TableNames(), q.format) {
		return exit.Errorf(exit.Unknown, "there is no output format %q: use one of %s", q.format, strings.Join(report.TableNames(), ", "))
	}
	if len(q.names) > 0 && q.selector != "" {
		return exit.Errorf(exit.Unknown, "names and --selector exclude each other: give one of them")
	}
	if _, err := labels.Parse(q.selector); err != nil {
		return exit.Errorf(exit.Unknown, "--selector %q: %w", q.selector, err)
	}
	return nil
}

// write prints the table. One result at a time is in memory.
func (q *request) write(ctx context.Context, c *cluster.Cluster, out io.Writer) error {
	runs, err := q.runs(ctx, c)
	if err != nil {
		return err
	}
	rows := make([]report.Row, 0, len(runs))
	code := exit.Success
	for i := range runs {
		row, rowCode, err := rowOf(ctx, c, &runs[i])
		if err != nil {
			return err
		}
		rows = append(rows, row)
		code = max(code, rowCode)
	}
	if err := report.WriteTable(out, q.format, rows); err != nil {
		return err
	}
	if code != exit.Success { // what is missing stands in the table
		return &exit.Error{Code: code}
	}
	return nil
}

// runs are the runs asked for: in the order of their names as they were given,
// otherwise the oldest first and, of those created in the same second, in the
// order of their names, in which they are also let into a lane.
func (q *request) runs(ctx context.Context, c *cluster.Cluster) ([]v1alpha1.BenchmarkRun, error) {
	if len(q.names) > 0 {
		runs := make([]v1alpha1.BenchmarkRun, len(q.names))
		for i, name := range q.names {
			if err := c.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: name}, &runs[i]); err != nil {
				if cluster.IsNoSuchObject(err) {
					return nil, cluster.NotFound(c.Namespace, name)
				}
				return nil, cluster.Explain(err)
			}
		}
		return runs, nil
	}
	selector, err := labels.Parse(q.selector)
	if err != nil {
		return nil, err
	}
	var list v1alpha1.BenchmarkRunList
	if err := c.List(ctx, &list, client.InNamespace(c.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, cluster.Explain(err)
	}
	if len(list.Items) == 0 {
		with := ""
		if q.selector != "" {
			with = " with the labels " + q.selector
		}
		return nil, exit.Errorf(exit.Unknown, "there is no BenchmarkRun in namespace %q%s: see \"kubectl get benchmarkruns --all-namespaces --show-labels\"", c.Namespace, with)
	}
	slices.SortStableFunc(list.Items, func(a, b v1alpha1.BenchmarkRun) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return list.Items, nil
}

// rowOf is the row of a run, and the exit code that it asks for.
func rowOf(ctx context.Context, c *cluster.Cluster, run *v1alpha1.BenchmarkRun) (report.Row, int, error) {
	if run.Status.Artifact == nil {
		return declared(run, cluster.NoResult(run)), exit.Failed, nil
	}
	r, err := c.Result(ctx, run)
	var lost *cluster.LostError
	switch {
	case errors.As(err, &lost):
		return declared(run, "no result that can be read: "+lost.Error()), exit.Unknown, nil
	case err != nil:
		return report.Row{}, exit.Unknown, err
	}
	return report.NewRow(server.Label(r.Run.Server, &run.Spec.Target), r), exit.Success, nil
}

package table

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/server"
)

// options holds the options of the command line.
type options struct {
	names    []string
	selector string
	format   string
	request  string
	pivot    pivotOptions
}

// check validates the options without contacting the cluster.
func (o *options) check() error {
	if err := doc.CheckFormat(o.format, report.TableNames()); err != nil {
		return exit.Errorf(exit.Unknown, "%w", err)
	}
	if len(o.names) > 0 && o.selector != "" {
		return exit.Errorf(exit.Unknown, "names and --selector must not be used together")
	}
	if _, err := labels.Parse(o.selector); err != nil {
		return exit.Errorf(exit.Unknown, "--selector %q: %w", o.selector, err)
	}
	return nil
}

// write prints the table. It holds one result in memory at a time.
func (o *options) write(ctx context.Context, c *cluster.Cluster, out io.Writer) error {
	runs, err := o.runs(ctx, c)
	if err != nil {
		return err
	}
	rows := make([]report.Row, 0, len(runs))
	code := exit.Success
	for i := range runs {
		row, rowCode, err := o.rowOf(ctx, c, &runs[i])
		if err != nil {
			return err
		}
		rows = append(rows, row)
		code = max(code, rowCode)
	}
	if err := report.WriteTable(out, o.format, rows); err != nil {
		return err
	}
	return exit.Coded(code) // the table shows the reason
}

// runs returns the selected runs. Named runs are in the order of the options.
// Other runs are sorted by creation time and then by name, which is also the order
// in which a lane, a queue of runs, admits them.
func (o *options) runs(ctx context.Context, c *cluster.Cluster) ([]v1alpha1.BenchmarkRun, error) {
	if len(o.names) > 0 {
		runs := make([]v1alpha1.BenchmarkRun, len(o.names))
		for i, name := range o.names {
			run, err := c.Run(ctx, name)
			if err != nil {
				return nil, err
			}
			runs[i] = *run
		}
		return runs, nil
	}
	selector, err := labels.Parse(o.selector)
	if err != nil {
		return nil, err
	}
	var list v1alpha1.BenchmarkRunList
	if err := c.List(ctx, &list, client.InNamespace(c.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, cluster.Explain(err)
	}
	if len(list.Items) == 0 {
		with := ""
		if o.selector != "" {
			with = " with the labels " + o.selector
		}
		return nil, exit.Errorf(exit.Unknown, "no BenchmarkRun found in namespace %q%s; list all runs with \"kubectl get benchmarkruns --all-namespaces --show-labels\"", c.Namespace, with)
	}
	slices.SortStableFunc(list.Items, func(a, b v1alpha1.BenchmarkRun) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return list.Items, nil
}

// rowOf returns the row of a run and the exit code that follows from it.
func (o *options) rowOf(ctx context.Context, c *cluster.Cluster, run *v1alpha1.BenchmarkRun) (report.Row, int, error) {
	if run.Status.Artifact == nil {
		return declared(run, cluster.NoResult(run)), exit.Failed, nil
	}
	r, err := c.Result(ctx, run)
	var lost *cluster.LostError
	switch {
	case errors.As(err, &lost):
		return declared(run, "no readable result: "+lost.Error()), exit.Unknown, nil
	case err != nil:
		return report.Row{}, exit.Unknown, err
	}
	row := report.NewRow(server.Label(r.Run.Server, &run.Spec.Target), r)
	if o.request != "" {
		if row.Only(r, o.request); row.Merged == nil {
			return row, exit.Failed, nil
		}
	}
	return row, exit.Success, nil
}

// declared returns the row of a run without a result. It holds the configuration
// of the spec and the reason why there is no result.
func declared(run *v1alpha1.BenchmarkRun, why string) report.Row {
	lengths := map[string]int64{}
	for _, file := range run.Spec.Target.Content {
		if file.SizeBytes > 0 {
			lengths[file.Path] = file.SizeBytes
		}
	}
	plan := loadplan.Plans(run, lengths)[0]
	described := plan.Describe()
	row := report.Row{
		Namespace: run.Namespace, Name: run.Name, NoResult: why,
		Connector: server.Label(server.Describe(&run.Spec.Target, server.OwnIn(run.Status.Target)), &run.Spec.Target),
		Requests:  described.Requests, Sequential: described.Sequential, Authentication: described.Authentication,
		KeepAlive: described.KeepAlive, Connections: described.Connections, UserConnections: described.UserConnections, TargetRatePerSecond: loadplan.TargetRatePerSecond(&run.Spec), Tool: described.Tool,
	}
	if from := run.Spec.Load.RequestsFrom; from != nil {
		row.RequestList = &result.RequestList{ConfigMap: from.ConfigMapKeyRef.Name, Key: from.ConfigMapKeyRef.Key}
	}
	if run.Spec.Target.TLS != nil {
		row.TLS = &report.RowTLS{Protocol: strings.Join(plan.TLS.Protocols, "/"), Cipher: strings.Join(plan.TLS.Ciphers, "/")}
	}
	return row
}

package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/result"
)

// read returns the runs of a side, with those of metrics that are of single requests too, and, if it is a single run that is valid, its
// result.
func read(ctx context.Context, c *cluster.Cluster, s *source, metrics []v1alpha1.BenchmarkMetric) (round.Side, *result.Result, error) {
	switch {
	case s.selector != nil:
		var list v1alpha1.BenchmarkRunList
		if err := c.List(ctx, &list, client.InNamespace(c.Namespace), client.MatchingLabelsSelector{Selector: s.selector}); err != nil {
			return round.Side{}, nil, cluster.Explain(err)
		}
		return runsOf(ctx, c, s.text, list.Items, metrics)
	case s.kind == cluster.Benchmark:
		side, err := roundOf(ctx, c, s)
		return side, nil, err
	}
	run, err := c.Run(ctx, s.name)
	if err != nil {
		return round.Side{}, nil, err
	}
	return runsOf(ctx, c, s.text, []v1alpha1.BenchmarkRun{*run}, metrics)
}

// roundOf returns a round's valid runs of whole blocks, by cell.
func roundOf(ctx context.Context, c *cluster.Cluster, s *source) (round.Side, error) {
	r, err := c.ReadRound(ctx, s.name, s.round)
	if err != nil {
		return round.Side{}, err
	}
	side := round.Side{Name: fmt.Sprintf("benchmark/%s#%d", r.Benchmark, r.Number), Compared: (&round.Report{Round: r}).Compared()}
	if len(r.Omitted) > 0 {
		side.Notes = append(side.Notes, fmt.Sprintf("%s: the artifact had no room for some metrics of single runs.", side.Name))
	}
	all, err := cells.Of(&r.Spec) // those of the artifact can't make specs
	if err != nil {
		side.Notes = append(side.Notes, fmt.Sprintf("%s: its specs can't be compared: %v.", side.Name, err))
	}
	stored := r.Stored()
	for i := range r.Cells {
		group := round.Group{Cell: r.Cells[i].Name, Runs: stored[r.Cells[i].Name]}
		if at := slices.IndexFunc(all, func(cell cells.Cell) bool { return cell.Name == group.Cell }); at >= 0 {
			spec, err := all[at].JSON(&r.Spec.Template.Spec)
			if err == nil {
				err = addSpec(&group, spec)
			}
			if err != nil {
				side.Notes = append(side.Notes, fmt.Sprintf("%s: the spec of cell %s can't be compared: %v.", side.Name, group.Cell, err))
			}
		}
		for j := range group.Runs {
			group.Environments = append(group.Environments, conditions(group.Runs[j].Conditions))
		}
		side.Groups = append(side.Groups, group)
	}
	return side, nil
}

// runsOf returns one group of the runs that are valid and, if there is one run, its result. It holds one result in
// memory at a time.
func runsOf(ctx context.Context, c *cluster.Cluster, text string, runs []v1alpha1.BenchmarkRun, metrics []v1alpha1.BenchmarkMetric) (round.Side, *result.Result, error) {
	side := round.Side{Name: text, Groups: []round.Group{{}}}
	group := &side.Groups[0]
	var dropped []string
	trials := 0
	var single *result.Result
	for i := range runs {
		run := &runs[i]
		if key, ok := benchmark.ParseRunName(run.Labels[benchmark.LabelBenchmark], run.Name); ok && key.Trial {
			trials++
			continue
		}
		if run.Status.Artifact == nil {
			dropped = append(dropped, run.Name+" has "+cluster.NoResult(run))
			continue
		}
		r, err := c.Result(ctx, run)
		var lost *cluster.LostError
		switch {
		case errors.As(err, &lost):
			dropped = append(dropped, run.Name+" has no readable result: "+lost.Error())
			continue
		case err != nil:
			return round.Side{}, nil, err
		}
		if problem, err := add(group, run, r, metrics); err != nil {
			return round.Side{}, nil, err
		} else if problem != "" {
			dropped = append(dropped, run.Name+" isn't valid: "+problem)
		} else if len(runs) == 1 {
			single, side.Spec = r, &run.Spec
		}
	}
	if len(runs) > 1 {
		side.Name += fmt.Sprintf(" (%d)", len(group.Runs))
	}
	if len(runs) == 0 {
		dropped = append(dropped, "no run matches")
	}
	if trials > 0 {
		dropped = append(dropped, fmt.Sprintf("trials of capacity searches, which measure different loads (%d)", trials))
	}
	if len(dropped) > 0 {
		side.Notes = append(side.Notes, fmt.Sprintf("Not in %s: %s.", text, strings.TrimSuffix(strings.Join(firstFew(dropped), "; "), ".")))
	}
	return side, single, nil
}

// add adds a run to a group, or returns why it isn't valid.
func add(group *round.Group, run *v1alpha1.BenchmarkRun, r *result.Result, metrics []v1alpha1.BenchmarkMetric) (problem string, err error) {
	read := benchmark.Run{Name: run.Name, Started: run.CreationTimestamp.Time}
	if end := run.Status.CompletionTime; end != nil {
		read.Ended = end.Time
	}
	read.Complete(r, "", metrics...)
	if !read.Valid {
		return read.Message, nil
	}
	spec, err := json.Marshal(run.Spec)
	if err == nil {
		err = addSpec(group, spec)
	}
	if err != nil {
		return "", fmt.Errorf("spec of %s: %w", run.Name, err)
	}
	encoded, err := json.Marshal(&r.Environment)
	if err != nil {
		return "", fmt.Errorf("environment of %s: %w", run.Name, err)
	}
	environment, err := round.Flatten(encoded)
	if err != nil {
		return "", fmt.Errorf("environment of %s: %w", run.Name, err)
	}
	for path, value := range conditions(read.Conditions) {
		environment[path] = value
	}
	delete(environment, "/targetAddress") // each pod has its own
	group.Environments = append(group.Environments, environment)
	group.Runs = append(group.Runs, read)
	return "", nil
}

// addSpec adds what a spec says of the measurement.
func addSpec(group *round.Group, spec []byte) error {
	flat, err := round.Flatten(spec)
	if err != nil {
		return err
	}
	delete(flat, "/suspend")
	delete(flat, "/ttlSecondsAfterFinished")
	group.Specs = append(group.Specs, flat)
	return nil
}

// conditions returns what a round knows of the environment of a run, by the paths of result.Environment.
func conditions(c benchmark.Conditions) map[string]string {
	known := map[string]string{"/nodeType": c.NodeType, "/kernel": c.Kernel, "/targetImageID": c.Image, "/cpuExclusivity": c.CPUExclusivity, "/placement": c.Placement}
	for path, value := range known {
		if value == "" {
			delete(known, path)
		}
	}
	return known
}

// firstFew returns the first texts, and how many there are beside them.
func firstFew(texts []string) []string {
	const few = 5
	if len(texts) <= few {
		return texts
	}
	return append(slices.Clone(texts[:few]), fmt.Sprintf("%d more", len(texts)-few))
}

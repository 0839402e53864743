package report

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/result"
)

// write prints the report of a run.
func write(ctx context.Context, c *cluster.Cluster, name, format string, out io.Writer) error {
	if !slices.Contains(report.Names(), format) {
		return exit.Errorf(exit.Unknown, "there is no output format %q: use one of %s", format, strings.Join(report.Names(), ", "))
	}
	var run v1alpha1.BenchmarkRun
	if err := c.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: name}, &run); err != nil {
		if cluster.IsNoSuchObject(err) {
			return cluster.NotFound(c.Namespace, name)
		}
		return cluster.Explain(err)
	}
	if run.Status.Artifact == nil {
		return noResult(&run)
	}
	r, err := read(ctx, c, &run)
	if err != nil {
		return err
	}
	return report.Write(out, format, r)
}

// read returns the result that the run's artifact holds.
func read(ctx context.Context, c *cluster.Cluster, run *v1alpha1.BenchmarkRun) (*result.Result, error) {
	var stored corev1.ConfigMap
	key := types.NamespacedName{Namespace: run.Namespace, Name: run.Status.Artifact.ConfigMap}
	if err := c.Get(ctx, key, &stored); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, exit.Errorf(exit.Unknown, "the result of the run is gone: ConfigMap %q was deleted; its summary still is in \"kubectl get benchmarkrun %s --namespace %s --output yaml\"",
				key.Name, run.Name, run.Namespace)
		}
		return nil, cluster.Explain(err)
	}
	data, has := stored.BinaryData[artifact.Key]
	if !has {
		return nil, exit.Errorf(exit.Unknown, "ConfigMap %q has no key %q: it isn't the result of a run", key.Name, artifact.Key)
	}
	r, err := artifact.Decode(data)
	if err != nil {
		return nil, exit.Errorf(exit.Unknown, "ConfigMap %q: %w", key.Name, err)
	}
	if r.Run.UID != string(run.UID) {
		return nil, exit.Errorf(exit.Unknown, "ConfigMap %q holds the result of another run (UID %s, not %s)", key.Name, r.Run.UID, run.UID)
	}
	return r, nil
}

// noResult says why a run has no result.
func noResult(run *v1alpha1.BenchmarkRun) error {
	state := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded)
	if state == nil {
		return exit.Errorf(exit.Failed, "BenchmarkRun %q has no result: the operator hasn't seen it yet; if that lasts, see whether Assay is running", run.Name)
	}
	if meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished) {
		return exit.Errorf(exit.Failed, "BenchmarkRun %q has no result: it ended as %s: %s", run.Name, state.Reason, state.Message)
	}
	progress := ""
	if p := run.Status.Progress; p != nil && p.Percent != nil {
		progress = fmt.Sprintf(" (%d %%)", *p.Percent)
	}
	return exit.Errorf(exit.Failed, "BenchmarkRun %q has no result yet: it is %s%s: %s; wait for it with \"kubectl assay watch %s\"",
		run.Name, state.Reason, progress, state.Message, run.Name)
}

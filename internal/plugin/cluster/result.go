package cluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/result"
)

// LostError is the error for a result that a run had and that can't be read any
// more.
type LostError struct{ text string }

// Error says what was found in its place.
func (e *LostError) Error() string { return e.text }

// lost is a LostError with its exit code.
func lost(format string, args ...any) error {
	return exit.Errorf(exit.Unknown, "%w", &LostError{fmt.Sprintf(format, args...)})
}

// Result returns the result that the artifact of a run holds, which its status
// must name. Errors wrap a LostError when there is none any more.
func (c *Cluster) Result(ctx context.Context, run *v1alpha1.BenchmarkRun) (*result.Result, error) {
	var stored corev1.ConfigMap
	key := types.NamespacedName{Namespace: run.Namespace, Name: run.Status.Artifact.ConfigMap}
	if err := c.Get(ctx, key, &stored); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, lost("the result of the run is gone: ConfigMap %q was deleted; its summary still is in \"kubectl get benchmarkrun %s --namespace %s --output yaml\"",
				key.Name, run.Name, run.Namespace)
		}
		return nil, Explain(err)
	}
	data, has := stored.BinaryData[artifact.Key]
	if !has {
		return nil, lost("ConfigMap %q has no key %q: it isn't the result of a run", key.Name, artifact.Key)
	}
	r, err := artifact.Decode(data)
	if err != nil {
		return nil, lost("ConfigMap %q: %v", key.Name, err)
	}
	if r.Run.UID != string(run.UID) {
		return nil, lost("ConfigMap %q holds the result of another run (UID %s, not %s)", key.Name, r.Run.UID, run.UID)
	}
	return r, nil
}

// NoResult says why a run has no result, to be put after "it has": "no result:
// it ended as …" or "no result yet: it is …".
func NoResult(run *v1alpha1.BenchmarkRun) string {
	state := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded)
	if state == nil {
		return "no result: the operator hasn't seen it yet; if that lasts, see whether Assay is running"
	}
	if meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished) {
		return fmt.Sprintf("no result: it ended as %s: %s", state.Reason, state.Message)
	}
	progress := ""
	if p := run.Status.Progress; p != nil && p.Percent != nil {
		progress = fmt.Sprintf(" (%d %%)", *p.Percent)
	}
	return fmt.Sprintf("no result yet: it is %s%s: %s; wait for it with \"kubectl assay watch %s\"", state.Reason, progress, state.Message, run.Name)
}

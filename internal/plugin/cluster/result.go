package cluster

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/result"
)

// LostError is the error for the result of a run that was stored but can't be read.
type LostError struct{ text string }

// Error implements error. It returns what was found instead of the result.
func (e *LostError) Error() string { return e.text }

func lost(format string, args ...any) error {
	return exit.Errorf(exit.Unknown, "%w", &LostError{fmt.Sprintf(format, args...)})
}

// Result returns the result in the artifact of a run. run.Status.Artifact must be
// set. The error is a LostError if the artifact is missing or isn't the run's.
func (c *Cluster) Result(ctx context.Context, run *v1alpha1.BenchmarkRun) (*result.Result, error) {
	data, err := c.stored(ctx, run.Status.Artifact, BenchmarkRun, run.Name)
	if err != nil {
		return nil, err
	}
	r, err := artifact.Decode(data)
	if err != nil {
		return nil, lost("ConfigMap %q: %v", run.Status.Artifact.ConfigMap.Name, err)
	}
	if r.Run.UID != string(run.UID) {
		return nil, lost("ConfigMap %q holds the result of another run (UID %s, not %s)", run.Status.Artifact.ConfigMap.Name, r.Run.UID, run.UID)
	}
	r.Run.Note = run.Annotations[v1alpha1.AnnotationNote]
	return r, nil
}

// stored reads the artifact that the status of an object refers to. One that isn't what the status announces, by its SHA-256, is a LostError:
// whoever may write ConfigMaps can replace it, and nobody should decode what they wrote.
func (c *Cluster) stored(ctx context.Context, reference *v1alpha1.ArtifactReference, kind *Kind, name string) ([]byte, error) {
	if reference.ConfigMap == nil {
		return nil, lost("the result is kept in a place that this version of the plugin doesn't know")
	}
	var configMap corev1.ConfigMap
	key := types.NamespacedName{Namespace: c.Namespace, Name: reference.ConfigMap.Name}
	if err := c.Get(ctx, key, &configMap); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, lost("ConfigMap %q with the result not found; the summary is still in \"kubectl get %s %s --namespace %s --output yaml\"",
				key.Name, strings.ToLower(kind.Name), name, c.Namespace)
		}
		return nil, Explain(err)
	}
	data, has := configMap.BinaryData[reference.ConfigMap.Key]
	if !has {
		return nil, lost("ConfigMap %q is not the result of a %s: key %q not found", key.Name, kind.noun, reference.ConfigMap.Key)
	}
	if sum := artifact.Identify(data).SHA256; sum != reference.SHA256 {
		return nil, lost("ConfigMap %q holds another result than that of the %s: its SHA-256 is %s, not %s", key.Name, kind.noun, sum, reference.SHA256)
	}
	return data, nil
}

// NoResult returns the reason why a run has no result, as text that follows the words "the run
// has". The message of the run's state comes last, because it may consist of several sentences.
func NoResult(run *v1alpha1.BenchmarkRun) string {
	state := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded)
	if state == nil {
		return "no result yet: the operator hasn't processed it; check that Assay is running"
	}
	if meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished) {
		return fmt.Sprintf("no result: it failed with %s: %s", state.Reason, state.Message)
	}
	progress := ""
	if p := run.Status.Progress; p != nil && p.Percent != nil {
		progress = fmt.Sprintf(" (%d%%)", *p.Percent)
	}
	return fmt.Sprintf("no result yet (wait for it with \"kubectl assay watch %s\"): it is %s%s: %s", run.Name, state.Reason, progress, state.Message)
}

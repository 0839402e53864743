package benchmark

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/plugin/terminal"
	"github.com/assay-dev/assay/internal/plugin/watch"
)

// fieldOwner is the plugin's name in metadata.managedFields.
const fieldOwner = client.FieldOwner("kubectl-assay")

type options struct {
	streams genericiooptions.IOStreams
	out     *terminal.Writer // for verdicts
	cluster *cluster.Cluster
	dryRun  bool
}

// verb changes a Benchmark.
type verb func(ctx context.Context, b *v1alpha1.Benchmark) error

func (o *options) run(wait bool, timeout time.Duration) verb {
	return func(ctx context.Context, b *v1alpha1.Benchmark) error {
		switch {
		case wait && o.dryRun:
			return exit.Errorf(exit.Unknown, "--wait and --dry-run must not be used together")
		case timeout != 0 && !wait:
			return exit.Errorf(exit.Unknown, "--timeout needs --wait")
		case lifecycle.IsSuspended(b):
			return exit.Errorf(exit.Failed, "Benchmark %q is suspended; resume it first with \"kubectl assay benchmark resume %s --namespace %s\"", b.Name, b.Name, b.Namespace)
		case lifecycle.IsRejected(b) && !lifecycle.Changed(b):
			return exit.Errorf(exit.Failed, "no round of Benchmark %q begins, because its spec is invalid; correct and apply it: %s", b.Name, lifecycle.Succeeded(b).Message)
		}
		request := time.Now().UTC().Format(time.RFC3339Nano)
		if err := o.annotate(ctx, b, v1alpha1.AnnotationRunRound, request); err != nil {
			return err
		}
		text := "a round was asked for"
		if lifecycle.IsActive(b) {
			text = fmt.Sprintf("a round was asked for, which begins after round %d", b.Status.Round.Number)
		}
		if err := o.say(b, text); err != nil || !wait {
			return err
		}
		return watch.Round(ctx, o.cluster, b.Name, request, timeout, o.streams, o.out)
	}
}

func (o *options) cancel(ctx context.Context, b *v1alpha1.Benchmark) error {
	if !lifecycle.IsActive(b) {
		return exit.Errorf(exit.Failed, "no round of Benchmark %q is under way", b.Name)
	}
	number := b.Status.Round.Number
	if err := o.annotate(ctx, b, v1alpha1.AnnotationCancelRound, strconv.FormatInt(number, 10)); err != nil {
		return err
	}
	return o.say(b, fmt.Sprintf("round %d is being cancelled", number))
}

func (o *options) suspend() verb {
	return o.setSuspend(true, "is suspended already", "suspended", "waits after the run under way")
}

func (o *options) resume() verb { return o.setSuspend(false, "isn't suspended", "resumed", "goes on") }

// setSuspend returns the verb that suspends a Benchmark, or resumes it. already says that it was before, done that it is now, and round what
// becomes of the round under way.
func (o *options) setSuspend(suspend bool, already, done, round string) verb {
	return func(ctx context.Context, b *v1alpha1.Benchmark) error {
		if lifecycle.IsSuspended(b) == suspend {
			return o.say(b, already)
		}
		if err := o.patch(ctx, b, map[string]any{"spec": map[string]any{"suspend": suspend}}); err != nil {
			return err
		}
		if lifecycle.IsActive(b) {
			return o.say(b, fmt.Sprintf("%s; round %d %s", done, b.Status.Round.Number, round))
		}
		return o.say(b, done)
	}
}

func (o *options) annotate(ctx context.Context, b *v1alpha1.Benchmark, annotation, value string) error {
	return o.patch(ctx, b, map[string]any{"metadata": map[string]any{"annotations": map[string]string{annotation: value}}})
}

// patch merges a document into a Benchmark, unless it was deleted and recreated since.
func (o *options) patch(ctx context.Context, b *v1alpha1.Benchmark, document map[string]any) error {
	metadata, _ := document["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		document["metadata"] = metadata
	}
	metadata["uid"] = b.UID
	encoded, err := json.Marshal(document)
	if err != nil {
		return fmt.Errorf("encode patch: %w", err)
	}
	patchOptions := []client.PatchOption{fieldOwner}
	if o.dryRun {
		patchOptions = append(patchOptions, client.DryRunAll)
	}
	if err := o.cluster.Patch(ctx, b.DeepCopy(), client.RawPatch("application/merge-patch+json", encoded), patchOptions...); err != nil {
		return cluster.Explain(err)
	}
	return nil
}

func (o *options) say(b *v1alpha1.Benchmark, text string) error {
	if o.dryRun {
		text += " (dry run)"
	}
	_, err := fmt.Fprintf(o.streams.Out, "benchmark/%s %s\n", b.Name, text)
	return err
}

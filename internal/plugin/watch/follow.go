package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

// follower follows one run until it has finished.
type follower struct {
	client          client.WithWatch
	key             types.NamespacedName
	waitForCreation bool
	display         display

	// last is the latest state of the run, or nil before the first.
	last *v1alpha1.BenchmarkRun
	// connected reports whether the API server has ever answered. lostAt is the time
	// when contact was lost, or zero if it isn't lost.
	connected bool
	lostAt    time.Time
}

// watch follows the run and then writes its verdict. The error has the exit code.
func (f *follower) watch(ctx context.Context, out io.Writer) error {
	run, err := f.untilFinished(ctx)
	f.display.close()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return exit.Errorf(exit.Unknown, "timed out waiting for BenchmarkRun %q: it %s", f.key.Name, f.lastState())
	case err != nil:
		return err
	}
	v := verdictOf(run)
	if _, err := fmt.Fprintln(out, strings.Join(v.lines, "\n")); err != nil {
		return fmt.Errorf("write verdict: %w", err)
	}
	return exit.Coded(v.code)
}

// lastState returns the latest state of the run as text that follows "it".
func (f *follower) lastState() string {
	if f.last == nil {
		return "does not exist"
	}
	return "is still " + viewOf(f.last).state
}

// untilFinished reads the run and watches it until it has finished. It starts over whenever the
// watch fails or ends: the API server ends every watch after some time.
func (f *follower) untilFinished(ctx context.Context) (*v1alpha1.BenchmarkRun, error) {
	for {
		version, err := f.read(ctx)
		if err == nil && !f.finished() {
			err = f.stream(ctx, version)
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(err, new(*exit.Error)):
			return nil, err
		case f.finished():
			return f.last, nil
		case err != nil:
			if err := f.disconnect(err); err != nil {
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(retryInterval):
		}
	}
}

func (f *follower) finished() bool {
	return f.last != nil && meta.IsStatusConditionTrue(f.last.Status.Conditions, v1alpha1.ConditionFinished)
}

// read lists the run. It uses a list rather than a get because a watch can start at
// the list's resource version, even if the run doesn't exist.
func (f *follower) read(ctx context.Context) (version string, err error) {
	var runs v1alpha1.BenchmarkRunList
	if err := f.client.List(ctx, &runs, f.options()); err != nil {
		return "", err
	}
	f.connect()
	if len(runs.Items) == 0 {
		switch {
		case f.last != nil:
			return "", f.deleted()
		case !f.waitForCreation:
			return "", cluster.NotFound(f.key.Namespace, f.key.Name)
		}
		f.display.note(fmt.Sprintf("BenchmarkRun %q does not exist yet, waiting for its creation", f.key.Name))
		return runs.ResourceVersion, nil
	}
	return runs.ResourceVersion, f.update(&runs.Items[0])
}

// options returns list options that select only the run.
func (f *follower) options() *client.ListOptions {
	options := &client.ListOptions{}
	client.InNamespace(f.key.Namespace).ApplyToList(options)
	client.MatchingFields{"metadata.name": f.key.Name}.ApplyToList(options)
	return options
}

// stream watches the run from a resource version on. It returns when the run has
// finished or the watch ends.
func (f *follower) stream(ctx context.Context, version string) error {
	options := f.options()
	options.Raw = &metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true}
	w, err := f.client.Watch(ctx, &v1alpha1.BenchmarkRunList{}, options)
	if err != nil {
		return err
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		switch event.Type {
		case watch.Deleted:
			return f.deleted()
		case watch.Error:
			return apierrors.FromObject(event.Object)
		case watch.Added, watch.Modified:
			run, is := event.Object.(*v1alpha1.BenchmarkRun)
			if !is {
				return fmt.Errorf("the watch sent an unexpected %T", event.Object)
			}
			if err := f.update(run); err != nil {
				return err
			}
			if f.finished() {
				return nil
			}
		}
	}
	return nil
}

// update stores the current state of the run and shows it. It fails if the run was
// deleted and recreated.
func (f *follower) update(run *v1alpha1.BenchmarkRun) error {
	if f.last != nil && f.last.UID != run.UID {
		return f.deleted()
	}
	f.last = run
	if !f.finished() {
		f.display.show(viewOf(run))
	}
	return nil
}

func (f *follower) deleted() error {
	return exit.Errorf(exit.Unknown, "BenchmarkRun %q was deleted while it was %s", f.key.Name, viewOf(f.last).state)
}

// connect records that the API server has answered.
func (f *follower) connect() {
	if !f.lostAt.IsZero() {
		f.display.note("reconnected to the API server")
	}
	f.connected, f.lostAt = true, time.Time{}
}

// disconnect records that a request to the API server has failed. It returns an
// error if watch must give up: at once if the API server has never answered,
// because then the user's configuration is the likely cause, and otherwise after
// reconnectTimeout. A rejected request counts like a lost connection: an API server
// that is starting rejects requests until it has loaded its authorization rules.
func (f *follower) disconnect(err error) error {
	if !f.connected {
		return cluster.Explain(err)
	}
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return nil
	}
	now := time.Now()
	if f.lostAt.IsZero() {
		f.lostAt = now
		f.display.note(fmt.Sprintf("lost contact with the API server, retrying: %v", err))
	}
	if now.Sub(f.lostAt) > reconnectTimeout {
		return cluster.Explain(err)
	}
	return nil
}

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

// follower follows one run to its end.
type follower struct {
	client          client.WithWatch
	key             types.NamespacedName
	waitForCreation bool
	// patience is how long the API server may be out of reach, once it was
	// reached; pause is the time between two attempts.
	patience, pause time.Duration
	display         display

	// last is the run as last seen; nil before.
	last *v1alpha1.BenchmarkRun
	// reached is whether the API server ever answered, lostAt when it stopped.
	reached bool
	lostAt  time.Time
}

// watch follows the run, then writes its verdict; the error carries the exit
// code.
func (f *follower) watch(ctx context.Context, out io.Writer) error {
	run, err := f.untilFinished(ctx)
	f.display.close()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return exit.Errorf(exit.Unknown, "the timeout passed: BenchmarkRun %q %s", f.key.Name, f.whereItStood())
	case err != nil:
		return err
	}
	v := verdictOf(run)
	if _, err := fmt.Fprintln(out, strings.Join(v.lines, "\n")); err != nil {
		return fmt.Errorf("write verdict: %w", err)
	}
	return silently(v.code)
}

func (f *follower) whereItStood() string {
	if f.last == nil {
		return "doesn't exist yet"
	}
	return "is still " + viewOf(f.last).state
}

// untilFinished reads the run and watches it, again whenever the watch ends (as
// the API server does with every watch after some time) or fails, until the run
// has finished.
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
			if err := f.lost(err); err != nil {
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(f.pause):
		}
	}
}

func (f *follower) finished() bool {
	return f.last != nil && meta.IsStatusConditionTrue(f.last.Status.Conditions, v1alpha1.ConditionFinished)
}

// read reads the run, as a list of one so that the list's resource version, at
// which a watch can begin, is a fresh one.
func (f *follower) read(ctx context.Context) (version string, err error) {
	var runs v1alpha1.BenchmarkRunList
	if err := f.client.List(ctx, &runs, f.options()); err != nil {
		return "", err
	}
	f.found()
	if len(runs.Items) == 0 {
		switch {
		case f.last != nil:
			return "", f.deleted()
		case !f.waitForCreation:
			return "", cluster.NotFound(f.key.Namespace, f.key.Name)
		}
		f.display.note(fmt.Sprintf("BenchmarkRun %q doesn't exist yet", f.key.Name))
		return runs.ResourceVersion, nil
	}
	return runs.ResourceVersion, f.see(&runs.Items[0])
}

func (f *follower) options() *client.ListOptions {
	options := &client.ListOptions{}
	client.InNamespace(f.key.Namespace).ApplyToList(options)
	client.MatchingFields{"metadata.name": f.key.Name}.ApplyToList(options)
	return options
}

// stream watches the run from a resource version on until it has finished or
// the watch ends.
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
				return fmt.Errorf("the watch sent a %T", event.Object)
			}
			if err := f.see(run); err != nil {
				return err
			}
			if f.finished() {
				return nil
			}
		}
	}
	return nil
}

// see takes note of the run as it is now.
func (f *follower) see(run *v1alpha1.BenchmarkRun) error {
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
	return exit.Errorf(exit.Unknown, "BenchmarkRun %q was deleted when it was %s", f.key.Name, viewOf(f.last).state)
}

// found notes that the API server answers.
func (f *follower) found() {
	if !f.lostAt.IsZero() {
		f.display.note("the API server answers again")
	}
	f.reached, f.lostAt = true, time.Time{}
}

// lost notes that the API server doesn't answer as it should. It returns an
// error when that is to be given up: at once when it never did, since then the
// user's settings are the likelier cause, else when patience is over. What is
// refused after it was granted counts as not answering: an API server that
// starts refuses for a moment what it hasn't loaded the rules for.
func (f *follower) lost(err error) error {
	if !f.reached {
		return cluster.Explain(err)
	}
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return nil
	}
	now := time.Now()
	if f.lostAt.IsZero() {
		f.lostAt = now
		f.display.note(fmt.Sprintf("lost the API server, trying again: %v", err))
	}
	if now.Sub(f.lostAt) > f.patience {
		return cluster.Explain(err)
	}
	return nil
}

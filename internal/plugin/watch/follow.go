package watch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/plugin/terminal"
	"github.com/assay-dev/assay/internal/report/doc"
)

// subject is a kind of object that can be followed.
type subject struct {
	kind *cluster.Kind
	// newList returns an empty list of the kind.
	newList func() client.ObjectList
	// finished reports whether there is nothing left to wait for.
	finished func(client.Object) bool
	view     func(client.Object) view
	// retry returns the error of a step that the operator tries again, or "" if there is none.
	retry   func(client.Object) string
	verdict func(client.Object) verdict
}

// follower follows one object until it has finished.
type follower struct {
	subject
	client          client.WithWatch
	key             types.NamespacedName
	waitForCreation bool
	display         display

	// last is the latest state of the object, or nil before the first. retried is the error of the step that the
	// operator then tried again.
	last    client.Object
	retried string
	// connected reports whether the API server has ever answered. lostAt is the time
	// when contact was lost, or zero if it isn't lost.
	connected bool
	lostAt    time.Time
}

// watch follows the object and then writes its verdict. The error has the exit code.
func (f *follower) watch(ctx context.Context, out *terminal.Writer) error {
	object, err := f.untilFinished(ctx)
	f.display.close()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return exit.Errorf(exit.Unknown, "timed out waiting for %s %q: it %s", f.kind.Name, f.key.Name, f.lastState())
	case err != nil:
		return err
	}
	v := f.verdict(object)
	for _, line := range v.lines {
		_, _ = fmt.Fprintln(out, strings.Join(doc.Wrapped(out.Columns(), "", line, 2), "\n")) // Flush reports errors
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write verdict: %w", err)
	}
	return exit.Coded(v.code)
}

// lastState returns the latest state of the object as text that follows "it".
func (f *follower) lastState() string {
	if f.last == nil {
		return "does not exist"
	}
	return "is still " + f.view(f.last).state
}

// untilFinished reads the object and watches it until it has finished. It starts over whenever the
// watch fails or ends: the API server ends every watch after some time.
func (f *follower) untilFinished(ctx context.Context) (client.Object, error) {
	for {
		version, err := f.read(ctx)
		if err == nil && !f.done() {
			err = f.stream(ctx, version)
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(err, new(*exit.Error)):
			return nil, err
		case f.done():
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

func (f *follower) done() bool { return f.last != nil && f.finished(f.last) }

// read lists the object. It uses a list rather than a get because a watch can start at
// the list's resource version, even if the object doesn't exist.
func (f *follower) read(ctx context.Context) (version string, err error) {
	list := f.newList()
	if err := f.client.List(ctx, list, f.options()); err != nil {
		return "", err
	}
	f.connect()
	items, err := meta.ExtractList(list)
	if err != nil {
		return "", err
	}
	if len(items) == 0 {
		switch {
		case f.last != nil:
			return "", f.deleted()
		case !f.waitForCreation:
			return "", f.kind.NotFound(ctx, f.client, f.key.Namespace, f.key.Name)
		}
		f.display.note(fmt.Sprintf("%s %q does not exist yet, waiting for its creation", f.kind.Name, f.key.Name))
		return list.GetResourceVersion(), nil
	}
	return list.GetResourceVersion(), f.update(items[0])
}

// options returns list options that select only the object.
func (f *follower) options() *client.ListOptions {
	options := &client.ListOptions{}
	client.InNamespace(f.key.Namespace).ApplyToList(options)
	client.MatchingFields{"metadata.name": f.key.Name}.ApplyToList(options)
	return options
}

// stream watches the object from a resource version on. It returns when the object has
// finished or the watch ends.
func (f *follower) stream(ctx context.Context, version string) error {
	options := f.options()
	options.Raw = &metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true}
	w, err := f.client.Watch(ctx, f.newList(), options)
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
			if err := f.update(event.Object); err != nil {
				return err
			}
			if f.done() {
				return nil
			}
		}
	}
	return nil
}

// update stores the current state of the object and shows it. It fails if the object was
// deleted and recreated.
func (f *follower) update(read runtime.Object) error {
	object, is := read.(client.Object)
	if !is {
		return fmt.Errorf("the watch sent an unexpected %T", read)
	}
	if f.last != nil && f.last.GetUID() != object.GetUID() {
		return f.deleted()
	}
	f.last = object
	if !f.done() {
		f.display.show(f.view(object))
		f.noteRetry(f.retry(object))
	}
	return nil
}

// noteRetry shows an error whenever it changes.
func (f *follower) noteRetry(err string) {
	if err != "" && err != f.retried {
		f.display.note("the operator is retrying: " + err)
	}
	f.retried = err
}

func (f *follower) deleted() error {
	return exit.Errorf(exit.Unknown, "%s %q was deleted while it was %s", f.kind.Name, f.key.Name, f.view(f.last).state)
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

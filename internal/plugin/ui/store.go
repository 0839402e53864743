package ui

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/internal/plugin/cluster"
)

// store holds the objects of a kind as a watch of the API server reports them.
type store struct {
	kind      *cluster.Kind
	namespace string // empty for all
	informer  cache.SharedIndexInformer
	started   sync.Once

	mu sync.Mutex
	// err is why the API server doesn't answer, since the time at which it last did; nil while it does.
	err   error
	since time.Time
	// changed is closed and replaced at each change.
	changed chan struct{}
}

// newStore returns a store without objects, which start fills with those that are selected. seen is called with each state of an object.
func newStore(c client.WithWatch, kind *cluster.Kind, selected client.ListOptions, object client.Object, list func() client.ObjectList, seen func(any)) *store {
	s := &store{kind: kind, namespace: selected.Namespace, since: time.Now(), changed: make(chan struct{})}
	options := func(o metav1.ListOptions) *client.ListOptions {
		all := selected
		all.Limit, all.Continue, all.Raw = o.Limit, o.Continue, &o
		return &all
	}
	s.informer = cache.NewSharedIndexInformer(listWatch{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			into := list()
			err := c.List(ctx, into, options(o))
			s.answered(err)
			return into, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := c.Watch(ctx, list(), options(o))
			s.answered(err)
			return w, err
		},
	}}, object, 0, cache.Indexers{})
	must(s.informer.SetTransform(trim))
	must(s.informer.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {})) // answered has it
	_, err := s.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { seen(o); s.change() },
		UpdateFunc: func(_, o any) { seen(o); s.change() },
		DeleteFunc: func(any) { s.change() },
	})
	must(err)
	return s
}

// must panics with the errors of an informer that has been started, which these haven't.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// listWatch lists in pages rather than by a watch, which old API servers don't know.
type listWatch struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported is part of client-go's interface of a client without streaming lists.
func (listWatch) IsWatchListSemanticsUnSupported() bool { return true }

// trim removes what no page shows.
func trim(object any) (any, error) {
	if o, ok := object.(client.Object); ok {
		o.SetManagedFields(nil)
	}
	return object, nil
}

// start fills the store until the context ends, unless it was started before.
func (s *store) start(ctx context.Context) {
	s.started.Do(func() { go s.informer.RunWithContext(ctx) })
}

// ready waits until the store has what the cluster has, the API server has refused to say so, or the context ends.
func (s *store) ready(ctx context.Context) {
	for {
		changed := s.wait()
		if c := s.contact(); c.synced || c.err != nil {
			return
		}
		select {
		case <-changed:
		case <-s.informer.HasSyncedChecker().Done():
		case <-ctx.Done():
			return
		}
	}
}

func (s *store) change() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

// answered records whether the API server answers.
func (s *store) answered(err error) {
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || err != nil && s.stopped(err) {
		return
	}
	s.mu.Lock()
	before := s.err
	if err != nil && before == nil {
		s.since = time.Now()
	}
	s.err = err
	s.mu.Unlock()
	if (before == nil) != (err == nil) {
		s.change()
	}
}

func (s *store) stopped(err error) bool {
	return errors.Is(err, context.Canceled) || s.informer.IsStopped()
}

// wait returns a channel that is closed at the next change.
func (s *store) wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// contact says whether the API server answers.
type contact struct {
	// err is why it doesn't, since the time since; nil if it does.
	err   error
	since time.Time
	// synced reports whether it has ever answered.
	synced bool
}

func (s *store) contact() contact {
	s.mu.Lock()
	defer s.mu.Unlock()
	return contact{s.err, s.since, s.informer.HasSynced()}
}

// denied reports whether the user may not list the objects any more, which they then don't see either.
func (s *store) denied() bool {
	err := s.contact().err
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
}

// objects returns all objects of a store. They must not be changed.
func objects[T client.Object](s *store) []T {
	if s.denied() {
		return nil
	}
	var all []T
	for _, object := range s.informer.GetStore().List() {
		all = append(all, object.(T))
	}
	return all
}

// object returns an object of a store, or nil if it isn't there. It must not be changed.
func object[T client.Object](s *store, namespace, name string) (found T, ok bool) {
	item, exists, err := s.informer.GetStore().GetByKey(namespace + "/" + name)
	if err != nil || !exists || s.denied() {
		return found, false
	}
	return item.(T), true
}

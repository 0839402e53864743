package retry

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Informers send a request again after watchDelay to 2*watchDelay.
const watchDelay = time.Second

// NewInformer is cache.NewSharedIndexInformer with requests that are sent again every second or two
// until the API server answers. Its own delay doubles from 0.8-1.6 s to 30-60 s and starts again only
// after 2 minutes, so that after an outage of a few seconds the cache would be behind for as long
// again. That can't be configured.
func NewInformer(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	requests := cache.ToListerWatcherWithContext(lw)
	log := ctrl.Log.WithName("cache").WithValues("type", fmt.Sprintf("%T", example))
	return cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return untilAnswered(ctx, log.Info, func() (runtime.Object, error) { return requests.ListWithContext(ctx, options) })
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return untilAnswered(ctx, log.Info, func() (watch.Interface, error) { return requests.WatchWithContext(ctx, options) })
		},
	}, example, resync, indexers)
}

// untilAnswered sends a request until it succeeds, ctx ends, or its answer asks for another request.
func untilAnswered[T any](ctx context.Context, log func(string, ...any), request func() (T, error)) (T, error) {
	said := ""
	for {
		answer, err := request()
		if err == nil || asksForAnother(err) {
			return answer, err
		}
		if text := err.Error(); text != said {
			log("Failed to list or watch", "error", text)
			said = text
		}
		select {
		case <-ctx.Done():
			return answer, fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(wait.Jitter(watchDelay, 1)):
		}
	}
}

// asksForAnother reports whether a request would fail again, and the informer knows another one. An API
// server that has just started also forbids or doesn't find what it will allow and find later.
func asksForAnother(err error) bool {
	switch apierrors.ReasonForError(err) {
	case metav1.StatusReasonExpired, metav1.StatusReasonGone, metav1.StatusReasonInvalid, metav1.StatusReasonBadRequest,
		metav1.StatusReasonMethodNotAllowed, metav1.StatusReasonNotAcceptable, metav1.StatusReasonUnsupportedMediaType:
		return true
	}
	return apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

// Package retry bounds the time between a controller's attempts, and between those of its caches.
package retry

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// The delay after a failed attempt doubles from minDelay to maxDelay. The default of
// controller-runtime goes up to a quarter of an hour, by which a run would go on that much later
// than the cause of the failure is gone.
const (
	minDelay = 10 * time.Millisecond
	maxDelay = 2 * time.Second
)

// Limiter returns the rate limiter of a controller's failed attempts.
func Limiter() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](minDelay, maxDelay)
}

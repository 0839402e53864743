// Package fair divides a controller's workers among namespaces, and bounds the time of a reconciliation, so that nobody's
// objects keep those of others waiting.
package fair

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/assay-dev/assay/controllers/retry"
)

const (
	// slow is the duration after which a reconciliation is logged and counted. It is before longest, so that the count is
	// scraped before the process ends.
	slow = 20 * time.Second
	// answerTimeout ends the context of a reconciliation: an API server or a webhook that doesn't answer makes it fail.
	answerTimeout = 45 * time.Second
	// longest is the duration after which the process ends: a worker that doesn't return computes, and would never stop.
	longest = time.Minute
)

var (
	waiting = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "assay_reconciliations_waiting", Help: "Objects that wait for a worker, by controller.",
	}, []string{"controller"})
	slowTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "assay_reconciliations_slow_total", Help: "Reconciliations that took more than 20 seconds, by controller. The manager starts from scratch after a minute.",
	}, []string{"controller"})
)

// Collectors returns the metrics of all controllers.
func Collectors() []prometheus.Collector { return []prometheus.Collector{waiting, slowTotal} }

// Options returns the options of a controller with a number of workers. Namespaces take turns, and none has more than half
// of the workers. A reconciliation's context ends after 45 seconds: what must happen after that needs another one. If it
// takes a minute nevertheless, overdue is called, which must end the process.
func Options(workers int, overdue func()) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: workers, ReconciliationTimeout: answerTimeout, RateLimiter: retry.Limiter(),
		NewQueue: func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
			inner := priorityqueue.New(name, func(o *priorityqueue.Opts[reconcile.Request]) { o.RateLimiter = limiter })
			return newQueue(name, inner, workers, overdue)
		},
	}
}

// watch logs and counts a reconciliation that is slow, and calls overdue if it takes too long. stop ends that.
func watch(name string, request reconcile.Request, overdue func()) (stop func()) {
	log := ctrl.Log.WithValues("controller", name, "namespace", request.Namespace, "name", request.Name)
	first := time.AfterFunc(slow, func() {
		slowTotal.WithLabelValues(name).Inc()
		log.Info("Reconciliation is slow", "seconds", slow.Seconds())
	})
	last := time.AfterFunc(longest, func() {
		log.Info("Reconciliation took too long", "seconds", longest.Seconds())
		overdue()
	})
	return func() { first.Stop(); last.Stop() }
}

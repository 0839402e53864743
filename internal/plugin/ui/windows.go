package ui

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/result"
)

const (
	// maxWindows bounds the windows that are kept of a run. They become longer the longer a measurement is.
	maxWindows = 1500
	// maxMeasured bounds the runs of which windows are kept.
	maxMeasured = 100
)

// windows holds what the statuses of active runs have said of their measurements, one window after the other, so that a
// page that is opened later, or again, has what came before. Its methods are safe to call from any goroutine.
type windows struct {
	mu sync.Mutex
	of map[types.UID][]result.Second
}

// see adds the window of a run's status. It forgets a run that has finished.
func (w *windows) see(run *v1alpha1.BenchmarkRun) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if finished(run) {
		delete(w.of, run.UID)
		return
	}
	next, ok := windowOf(run)
	if !ok {
		return
	}
	all := w.of[run.UID]
	if n := len(all); n > 0 && next.Second+next.Seconds <= all[n-1].Second+all[n-1].Seconds {
		return
	}
	if w.of == nil {
		w.of = map[types.UID][]result.Second{}
	}
	if all == nil && len(w.of) >= maxMeasured {
		return
	}
	w.of[run.UID] = append(all[max(0, len(all)-maxWindows+1):], next)
}

// get returns the windows of a run in their order.
func (w *windows) get(uid types.UID) []result.Second {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.of[uid])
}

// windowOf returns the window of a run's status. Metrics that it doesn't have are unknown.
func windowOf(run *v1alpha1.BenchmarkRun) (s result.Second, ok bool) {
	if run.Status.Progress == nil || run.Status.Progress.Window == nil {
		return s, false
	}
	w, spec := run.Status.Progress.Window, &run.Spec
	s = result.Second{Second: ptr.Deref(w.Second, 0), Seconds: ptr.Deref(w.Seconds, 0), Requests: ptr.Deref(w.Requests, 0), Errors: ptr.Deref(w.Errors, 0)}
	s.P50, s.P90, s.P99, s.Max = ptr.Deref(w.P50Microseconds, result.Unknown), result.Unknown, ptr.Deref(w.P99Microseconds, result.Unknown), result.Unknown
	used := func(percent *int32, limitMillis int64) int64 {
		if percent == nil {
			return result.Unknown
		}
		return int64(*percent) * 10 * s.Seconds * limitMillis
	}
	s.ServerCPU = used(w.TargetCPUPercent, cpuMillis(&spec.Target.Resources))
	s.ClientCPU = used(w.ClientCPUPercent, cpuMillis(&spec.Clients.Resources)*int64(loadplan.Replicas(spec)))
	return s, s.Second >= 0 && s.Seconds > 0
}

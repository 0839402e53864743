package manager

import (
	"fmt"
	"runtime/debug"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/session/manager/series"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/steady"
)

// contain calls f, a part of a pod's session. If f panics, the pod's run fails with the reason, and
// the error that contain returns ends the session. The other runs continue.
func (s *Server) contain(r *run, st *stream, identity Identity, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = s.panicked(v)
			r.rejectPod(st, identity, err)
			s.changes.add(identity.Run)
			err = status.Error(codes.Internal, err.Error())
		}
	}()
	return f()
}

// contained calls f, which reads the state of a run for a controller. If f panics, the run's pods are
// rejected with the reason, what they have sent is dropped, and contained calls f again.
func contained[T any](s *Server, uid string, f func(*run) T) (value T) {
	r := s.known(uid)
	defer func() {
		if v := recover(); v != nil {
			r.drop(s.panicked(v))
			value = f(r)
		}
	}()
	return f(r)
}

// drop rejects all pods and drops the metrics that they have sent.
func (r *run) drop(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.all() {
		p.reject(err)
		p.Totals, p.Metrics, p.Summary, p.seconds = nil, nil, nil, map[sessionpb.Stage]int64{}
		if p.stream != nil {
			p.stream.end(status.Error(codes.Internal, err.Error()))
		}
	}
	r.releaseAll()
	r.progress, r.series, r.warmup = map[sessionpb.Stage]*progress{}, series.NewClients(), steady.Seconds{}
	r.target = series.NewTarget()
}

// panicked logs a panic with its stack and returns its error.
func (s *Server) panicked(value any) error {
	err := fmt.Errorf("the manager panicked: %s", clipped(fmt.Sprint(value)))
	s.log.Error(err, "Recovered from a panic in a session", "stack", string(debug.Stack()))
	return err
}

// rejectPod rejects the pod of a stream. It adds the pod if there is none yet, and spares
// one that has a newer stream or another UID.
func (r *run) rejectPod(st *stream, identity Identity, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.find(identity)
	if p == nil {
		p = r.add(identity, nil)
	}
	if p.PodUID == identity.PodUID && (p.stream == nil || p.stream == st) {
		p.reject(err)
	}
}

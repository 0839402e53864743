package retry

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

var (
	errRefused      = fmt.Errorf("dial tcp 10.0.0.1:443: %w", syscall.ECONNREFUSED)
	errForbidden    = apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("RBAC: not loaded"))
	errInitializing = apierrors.NewTooManyRequests("storage is (re)initializing", 1)
)

// apiServer is an API server with a list of pods, which can fail.
type apiServer struct {
	mu       sync.Mutex
	failure  error // the answer to each request, or nil
	pods     []corev1.Pod
	watches  []*watch.FakeWatcher
	requests int
}

func (s *apiServer) version() string { return fmt.Sprint(1 + len(s.pods)) }

func (s *apiServer) list(context.Context, metav1.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if s.failure != nil {
		return nil, s.failure
	}
	return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: s.version()}, Items: append([]corev1.Pod{}, s.pods...)}, nil
}

func (s *apiServer) watch(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	switch {
	case s.failure != nil:
		return nil, s.failure
	case options.SendInitialEvents != nil:
		return nil, apierrors.NewBadRequest("sendInitialEvents is not supported")
	}
	w := watch.NewFakeWithChanSize(100, false)
	s.watches = append(s.watches, w)
	for i := range s.pods {
		if s.pods[i].ResourceVersion > options.ResourceVersion {
			w.Add(&s.pods[i])
		}
	}
	return w, nil
}

// fail makes requests fail, and ends the watches.
func (s *apiServer) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = err
	if err != nil {
		for _, w := range s.watches {
			w.Stop()
		}
		s.watches = nil
	}
}

// create creates a pod of which no watch learns, since there is none.
func (s *apiServer) create(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	s.pods = append(s.pods, pod)
	s.pods[len(s.pods)-1].ResourceVersion = s.version()
}

// TestACacheIsBackAfterAnOutage has an API server fail in the ways of one that stops and starts again,
// and measures on the clock of a synctest bubble how long a cache is behind after that. The outages
// come one after the other: one must not make the next one longer.
func TestACacheIsBackAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &apiServer{}
		informer := NewInformer(&cache.ListWatch{ListWithContextFunc: server.list, WatchFuncWithContext: server.watch}, &corev1.Pod{}, 0, cache.Indexers{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			informer.RunWithContext(ctx)
			close(done)
		}()
		defer func() { cancel(); <-done }()
		time.Sleep(3 * time.Minute)
		for i, outage := range []struct{ refused, forbidden, initializing time.Duration }{
			{refused: 1400 * time.Millisecond},
			{refused: 2 * time.Second, forbidden: 2 * time.Second},
			{initializing: 5 * time.Second},
			{refused: 9 * time.Second, forbidden: 4 * time.Second, initializing: 3 * time.Second},
			{refused: 10 * time.Minute},
		} {
			for _, phase := range []struct {
				failure error
				length  time.Duration
			}{{errRefused, outage.refused}, {errForbidden, outage.forbidden}, {errInitializing, outage.initializing}} {
				if phase.length > 0 {
					server.fail(phase.failure)
					time.Sleep(phase.length)
				}
			}
			name := fmt.Sprintf("pod-%d", i)
			server.create(name)
			server.fail(nil)
			back := time.Now()
			found := false
			for !found && time.Since(back) <= 5*time.Second {
				time.Sleep(10 * time.Millisecond)
				_, found, _ = informer.GetStore().GetByKey("default/" + name)
			}
			if !found {
				t.Errorf("%+v: still behind after %s", outage, time.Since(back))
			}
		}
		if limit := 3 + 5*4 + int((10*time.Minute+30*time.Second)/watchDelay); server.requests > limit {
			t.Errorf("%d requests, more than %d", server.requests, limit)
		}
	})
}

// TestARequestThatMustBeAnotherIsNotRepeated checks that an informer learns from an API server that its
// request can't succeed.
func TestARequestThatMustBeAnotherIsNotRepeated(t *testing.T) {
	tooLarge := apierrors.NewTimeoutError("Too large resource version", 1)
	tooLarge.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
	for _, want := range []error{
		apierrors.NewResourceExpired("too old"), apierrors.NewBadRequest("no"), tooLarge,
	} {
		requests := 0
		_, err := untilAnswered(t.Context(), func(string, ...any) { t.Error("an error is logged") }, func() (int, error) {
			requests++
			return 0, want
		})
		if !errors.Is(err, want) || requests != 1 {
			t.Errorf("%v after %d requests, want %v", err, requests, want)
		}
	}
}

// TestFailuresAreLoggedOnce checks that a long outage isn't logged at each request, and that a request
// ends with its context.
func TestFailuresAreLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		logged, requests := 0, 0
		_, err := untilAnswered(ctx, func(string, ...any) { logged++ }, func() (int, error) {
			if requests++; requests < 5 {
				return 0, errRefused
			}
			return 0, errForbidden
		})
		if !errors.Is(err, context.DeadlineExceeded) || logged != 2 || requests < 30 {
			t.Errorf("%v: %d requests, %d of them logged", err, requests, logged)
		}
	})
}

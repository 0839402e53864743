package live

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/live"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/manager"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const startTime = 1_700_000_000_000_000

// world is a leader with one run, demo in namespace shop, whose measurement is as long as the test says.
type world struct {
	t      testing.TB
	mu     sync.Mutex
	run    *v1alpha1.BenchmarkRun
	length int64
	width  int64
	failed int64
	script []k6metric.Metric // of the client
	ticks  chan time.Time
	server *Server
	url    string
	reads  int
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, width: 1, ticks: make(chan time.Time)}
	w.run = &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "demo", UID: "uid-1"}}
	w.state(v1alpha1.ReasonMeasuring, metav1.ConditionUnknown)
	w.server = &Server{Sessions: w, Runs: w, Access: w, Log: logr.Discard()}
	handler := w.server.handler()
	w.server.hub.tick = func(time.Duration) (<-chan time.Time, func()) { return w.ticks, func() {} }
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

func (w *world) state(reason string, succeeded metav1.ConditionStatus) {
	w.mu.Lock()
	defer w.mu.Unlock()
	run := w.run.DeepCopy()
	run.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Status: succeeded, Reason: reason}}
	if succeeded != metav1.ConditionUnknown {
		run.Status.Conditions = append(run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue})
	}
	w.run = run
}

func (w *world) advance(to, width int64) {
	w.mu.Lock()
	w.length, w.width = to, width
	w.mu.Unlock()
	w.tick()
}

func (w *world) tick() {
	w.t.Helper()
	select {
	case w.ticks <- time.Now():
	case <-time.After(time.Minute):
		w.t.Error("nobody waits for the next second")
	}
}

// Get implements Reader.
func (w *world) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads++
	if w.run == nil || key.Name != w.run.Name || key.Namespace != w.run.Namespace {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	w.run.DeepCopyInto(object.(*v1alpha1.BenchmarkRun))
	return nil
}

// Check implements Access: the token is the user's name, and mallory may view nothing.
func (w *world) Check(r *http.Request, _ types.NamespacedName) (string, int, error) {
	user, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case !ok:
		return "", http.StatusUnauthorized, errors.New("who are you")
	case user == "mallory":
		return user, http.StatusForbidden, errors.New("not you")
	}
	return user, http.StatusOK, nil
}

// Observe implements Sessions.
func (w *world) Observe(string) session.Observation {
	w.mu.Lock()
	defer w.mu.Unlock()
	o := session.ClientState{Connected: true}
	if w.script != nil {
		o.Metrics = &session.ScriptMetrics{Metrics: w.script, Omitted: 2}
	}
	return session.Observation{
		Starts: map[sessionpb.Stage]int64{sessionpb.Stage_STAGE_MEASUREMENT: startTime}, Now: startTime + w.length*1_000_000 + 300_000,
		Clients: map[int]session.ClientState{0: o},
	}
}

// Follow implements Sessions.
func (w *world) Follow(_ string, _ int, l *manager.Live) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*l = manager.Live{}
	for s := int64(0); s+w.width <= w.length; s += w.width {
		l.Seconds = append(l.Seconds, result.Second{Second: s, Seconds: w.width, Requests: 100 * w.width, P50: 1000, P99: 2000, Phases: &result.PhaseTimes{}})
		l.Counts.Requests += 100 * w.width
		if l.Total == nil {
			l.Total = result.NewHistogram()
		}
		l.Total.Record(1000)
	}
	l.Counts.Errors[result.ErrorConnect] = w.failed
}

// testViewer is a connection of a user.
type testViewer struct {
	t        testing.TB
	response *http.Response
	lines    *bufio.Reader
	state    live.Update
}

func (w *world) get(user, namespace, name string) *http.Response {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.url+live.Path(namespace, name), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if user != "" {
		request.Header.Set("Authorization", "Bearer "+user)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func (w *world) view(user string) *testViewer {
	w.t.Helper()
	response := w.get(user, "shop", "demo")
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != live.ContentType {
		w.t.Fatalf("%s: %s %s", user, response.Status, response.Header.Get("Content-Type"))
	}
	return &testViewer{t: w.t, response: response, lines: bufio.NewReader(response.Body)}
}

// next returns the next update, or nil at the end of the stream.
func (v *testViewer) next() *live.Update {
	v.t.Helper()
	line, err := v.lines.ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return nil
	}
	var u live.Update
	if err == nil {
		err = json.Unmarshal(line, &u)
	}
	if err != nil {
		v.t.Fatal(err)
	}
	v.state = *v.state.Apply(&u)
	return &u
}

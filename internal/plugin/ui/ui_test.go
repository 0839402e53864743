package ui

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/wrapper"
)

// site is the pages of a cluster with given objects, and a browser that has opened them.
type site struct {
	t       *testing.T
	server  *App
	guard   *guard
	cluster client.WithWatch
	base    string
	browser *http.Client
}

func newSite(t *testing.T, functions interceptor.Funcs, objects ...client.Object) *site {
	t.Helper()
	scheme, err := cluster.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(functions).Build()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, cluster: c, base: "http://" + listener.Addr().String()}
	s.server, s.guard = NewApp(c, "shop", Scope{Namespace: "shop"}), newGuard(listener.Addr())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	s.server.runs.start(ctx)
	s.server.benchmarks.start(ctx)
	go func() { ended <- serve(ctx, listener, s.guard.protect(s.server.handler(), s.server.csrf)) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.browser = &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if status, body := s.get(strings.TrimPrefix(s.guard.url(), s.base)); status != http.StatusOK || !strings.Contains(body, "refresh") {
		t.Fatalf("opening the session: %d %s", status, body)
	}
	return s
}

// synced waits until the pages have what the cluster has.
func (s *site) synced() *site {
	s.t.Helper()
	s.eventually(func() bool { return s.server.runs.contact().synced && s.server.benchmarks.contact().synced })
	return s
}

func (s *site) eventually(done func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatal("nothing happened in a minute")
		}
	}
}

func (s *site) do(r *http.Request) (int, string, http.Header) {
	s.t.Helper()
	response, err := s.browser.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, string(body), response.Header
}

func (s *site) request(method, path string, form url.Values) *http.Request {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", s.base)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	return r
}

func (s *site) get(path string) (int, string) {
	status, body, _ := s.do(s.request(http.MethodGet, path, nil))
	return status, body
}

// post sends a form with the CSRF token.
func (s *site) post(path string, form url.Values) (int, string, http.Header) {
	form.Set(csrfField, s.server.csrf)
	return s.do(s.request(http.MethodPost, path, form))
}

// events opens the events of a page.
func (s *site) events(path string) *events {
	s.t.Helper()
	response, err := s.browser.Do(s.request(http.MethodGet, path, nil))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = response.Body.Close() })
	limit := time.AfterFunc(time.Minute, func() { _ = response.Body.Close() }) // then until fails
	s.t.Cleanup(func() { limit.Stop() })
	if got := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || got != "text/event-stream" {
		s.t.Fatalf("%s: %s %s", path, response.Status, got)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<22)
	return &events{t: s.t, lines: lines}
}

// events are server-sent events.
type events struct {
	t     *testing.T
	lines *bufio.Scanner
	parts map[string]string
}

// until reads events until one makes done true.
func (e *events) until(done func(*event, map[string]string) bool) {
	e.t.Helper()
	for e.lines.Scan() {
		data, is := bytes.CutPrefix(e.lines.Bytes(), []byte("data: "))
		if !is {
			continue
		}
		var next event
		if err := json.Unmarshal(data, &next); err != nil {
			e.t.Fatal(err)
		}
		if e.parts == nil {
			e.parts = map[string]string{}
		}
		for id, html := range next.Parts {
			e.parts[id] = html
		}
		if done(&next, e.parts) {
			return
		}
	}
	e.t.Fatalf("the events ended: %v; parts %v", e.lines.Err(), e.parts)
}

func (e *events) has(id, text string) {
	e.t.Helper()
	e.until(func(_ *event, parts map[string]string) bool { return strings.Contains(parts[id], text) })
}

// newRun returns a run of namespace shop that measures.
func newRun(name string) *v1alpha1.BenchmarkRun {
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(time.Unix(1_700_000_000, 0))}}
	run.Spec.Target.Image = "tomcat:9"
	run.Spec.Target.Server.Tomcat = &v1alpha1.TomcatServer{}
	run.Spec.Load.Closed = &v1alpha1.ClosedLoad{Connections: 50, DurationSeconds: ptr.To(int32(60))}
	run.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonMeasuring, Message: "The clients are sending load."}}
	run.Status.Progress = &v1alpha1.Progress{State: v1alpha1.ReasonMeasuring, Percent: ptr.To(int32(10)), Requests: ptr.To(int64(5000)), Errors: ptr.To(int64(0)), RequestsPerSecond: "4510"}
	start := metav1.NewMicroTime(time.Now().Add(-6 * time.Second))
	run.Status.MeasurementTime = &start
	return run
}

// finish makes a run finished with a verdict.
func finish(run *v1alpha1.BenchmarkRun, verdict v1alpha1.Verdict) *v1alpha1.BenchmarkRun {
	run.Status.Verdict = verdict
	succeeded, valid := metav1.ConditionTrue, metav1.ConditionTrue
	switch verdict {
	case v1alpha1.VerdictError:
		succeeded = metav1.ConditionFalse
	case v1alpha1.VerdictInvalid:
		valid = metav1.ConditionFalse
	}
	run.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionSucceeded, Status: succeeded, Reason: "Reason", Message: "What happened."},
		{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonFinished},
	}
	if verdict != v1alpha1.VerdictError {
		run.Status.Conditions = append(run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionValid, Status: valid, Reason: "NoFindings", Message: "Why."})
		run.Status.Result = &v1alpha1.ResultStatus{RequestsPerSecond: "4510.2", Requests: ptr.To(int64(100000)), Errors: &v1alpha1.ErrorCounts{Total: ptr.To(int64(3))}}
	}
	return run
}

// withResult stores a result of a run.
func withResult(t *testing.T, run *v1alpha1.BenchmarkRun) *corev1.ConfigMap {
	t.Helper()
	r := &result.Result{SchemaVersion: result.SchemaVersion, Run: result.Run{UID: string(run.UID), Name: run.Name, Namespace: run.Namespace, Server: "<script>alert(1)</script>", Load: result.LoadClosed}}
	r.Merged.Requests = 100
	r.Merged.Latencies.Of(result.Total).Record(1000)
	encoded, err := artifact.Encode(r, artifact.ConfigMapLimit)
	if err != nil {
		t.Fatal(err)
	}
	config, reference := wrapper.Artifact(run.Namespace, run.Name+"-result", "result", encoded)
	run.Status.Artifact = reference
	return config
}

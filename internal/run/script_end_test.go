package run

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// trend returns a trend with the given values.
func trend(name string, values ...float64) k6metric.Metric {
	m := k6metric.New(name, k6metric.Trend, k6metric.Milliseconds)
	for i, v := range values {
		m.Add(v, int64(i))
	}
	return *m
}

// slow is a threshold that ends the load.
var slow = k6metric.Threshold{Metric: "http_req_duration", Source: "avg<100", AbortOnFail: true}

// measured returns a run of a script whose clients have reported these durations of requests.
func measured(t k6metric.Threshold, durations ...float64) *scene {
	s := scripted().started(measurementStage)
	for i, d := range durations {
		c := s.o.Sessions.Clients[i]
		c.Script.SetupEnded = true
		c.Metrics = &session.ScriptMetrics{Elapsed: 900_000, Metrics: []k6metric.Metric{trend("http_req_duration", d), trend("other", 1)}, Thresholds: []k6metric.Threshold{t}}
		s.o.Sessions.Clients[i] = c
	}
	return s
}

// TestAbortOnFail checks that the metrics of all clients together decide, and that the decision stands.
func TestAbortOnFail(t *testing.T) {
	delayed := slow
	delayed.Delay = 2_000_000
	for name, tc := range map[string]struct {
		scene *scene
		ends  int64
	}{
		"crossed by all together":        {measured(slow, 50, 170), 2},
		"crossed by one alone":           {measured(slow, 20, 170), 0},
		"not by all clients' metrics":    {measured(slow, 500), 0},
		"before its delay":               {measured(delayed, 50, 170), 0},
		"without abortOnFail":            {measured(k6metric.Threshold{Metric: slow.Metric, Source: slow.Source}, 500, 500), 0},
		"of a metric that has no values": {measured(k6metric.Threshold{Metric: "none", Source: "avg>100", AbortOnFail: true}, 500, 500), 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := tc.scene.decide()
			if p.EndMeasurement != tc.ends || (p.Status.Abort != nil) != (tc.ends > 0) {
				t.Fatalf("ends at %d, %+v", p.EndMeasurement, p.Status.Abort)
			}
			if tc.ends == 0 {
				return
			}
			if a := p.Status.Abort; a.Metric != slow.Metric || a.Threshold != slow.Source || a.Actual != "110 ms" {
				t.Errorf("%+v", a)
			}
			if got := stateIn(p); !strings.Contains(got.Message, "The load ends after 2s") || !strings.Contains(got.Message, "avg<100 was 110 ms") {
				t.Errorf("%s", got.Message)
			}
			// A manager that was restarted after the status was written knows no metrics yet.
			again := scripted().started(measurementStage)
			again.run.Status = p.Status
			if p := again.decide(); p.EndMeasurement != tc.ends {
				t.Errorf("after a restart it ends at %d", p.EndMeasurement)
			}
		})
	}
}

// TestAbortedLoadHasAResult checks the verdict about a load that a threshold has ended.
func TestAbortedLoadHasAResult(t *testing.T) {
	s := measured(slow, 50, 170)
	s.run.Status = s.decide().Status
	s.totals(false)
	p := s.decide()
	if p.Store == nil {
		t.Fatalf("no artifact: %+v", stateIn(p))
	}
	s.run.Status, s.o.Stored = p.Status, &p.Store.Stored
	p = s.decide()
	met := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionThresholdsMet)
	valid := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionValid)
	if met == nil || met.Status != metav1.ConditionFalse || met.Reason != v1alpha1.ReasonAbortedOnFail || !strings.Contains(met.Message, "http_req_duration avg<100: 110 ms (aborted at second 2) (missed)") {
		t.Errorf("thresholds %+v\nvalid %+v", met, valid)
	}
	if got := stateIn(p); got.Reason != v1alpha1.ReasonCompleted || !strings.Contains(got.Message, "aborted at second 2") || p.Status.Verdict != v1alpha1.VerdictFailed {
		t.Errorf("%s: %+v", p.Status.Verdict, got)
	}
}

// totals adds the totals of every client, whose load ran for two seconds.
func (s *scene) totals(summarizes bool) *scene {
	return s.clients(func(c *session.ClientState) {
		c.Script.LoadEnded, c.TotalsSince = true, now.Add(-3*time.Second)
		c.Totals = &result.Totals{StartedAt: now.Add(-5 * time.Second).UnixMicro(), EndedAt: now.Add(-3 * time.Second).UnixMicro()}
		c.Totals.Requests = 1000
		latency := result.NewHistogram()
		for range 1000 {
			latency.Record(100)
		}
		c.Totals.Latencies[result.Total] = latency
		c.Totals.Script = &result.ScriptTotals{
			VirtualUsers: 1, RunMicroseconds: 2_000_000, Summarizes: summarizes,
			Metrics: []k6metric.Metric{trend("http_req_duration", 10)}, Thresholds: []k6metric.Threshold{slow},
		}
	})
}

// TestSummarize checks which client runs handleSummary(), and that no result waits for ever for it.
func TestSummarize(t *testing.T) {
	change := func(s *scene, i int, change func(*session.ClientState)) *scene {
		c := s.o.Sessions.Clients[i]
		change(&c)
		s.o.Sessions.Clients[i] = c
		return s
	}
	base := func() *scene {
		s := scripted().started(measurementStage).totals(true)
		return change(s, 0, func(c *session.ClientState) { c.Script.SetupData = []byte(`{"shop":7}`) })
	}
	lost := func(ago time.Duration) func(*session.ClientState) {
		return func(c *session.ClientState) { c.Connected, c.DisconnectedSince = false, now.Add(-ago) }
	}
	late := func(c *session.ClientState) { c.TotalsSince = now.Add(-summaryTimeout) }
	for name, tc := range map[string]struct {
		scene  *scene
		client int // -1 for none
		stored bool
		says   string
	}{
		"client 0":                        {base(), 0, false, ""},
		"client 0 may connect again":      {change(base(), 0, lost(time.Second)), -1, false, ""},
		"client 0 is lost":                {change(base(), 0, lost(time.Minute)), 1, false, ""},
		"all are lost":                    {change(change(base(), 0, lost(time.Minute)), 1, lost(time.Minute)), -1, false, ""},
		"it takes too long":               {base().clients(late), -1, true, "no client answered"},
		"it has returned":                 {change(base(), 0, func(c *session.ClientState) { c.Summary = &result.ScriptSummary{Error: "no paper"} }), -1, true, "no paper"},
		"another than client 0 has run":   {change(base(), 1, func(c *session.ClientState) { c.Summary = &result.ScriptSummary{Error: "of 1"} }), -1, true, "of 1"},
		"the script has no handleSummary": {scripted().started(measurementStage).totals(false), -1, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := tc.scene.decide()
			client := -1
			if p.Summarize != nil {
				client = p.Summarize.Client
				if data := string(p.Summarize.Data); !strings.Contains(data, `"shop":7`) || !strings.Contains(data, `"avg\u003c100":{"ok":true}`) {
					t.Errorf("data %s", data)
				}
			}
			if client != tc.client || (p.Store != nil) != tc.stored {
				t.Fatalf("client %d, stored %t: %+v", client, p.Store != nil, stateIn(p))
			}
			if p.Store == nil {
				if p.RequeueAfter == 0 {
					t.Error("waits for ever")
				}
				return
			}
			script := p.Store.Result.Script
			found := slices.ContainsFunc(p.Store.Result.Findings, func(f result.Finding) bool {
				return f.Reason == "SummaryFailed" && strings.Contains(f.Message, tc.says)
			})
			if found != (tc.says != "") || (script.Summary != nil) != (tc.says != "") {
				t.Errorf("%+v, %+v", script.Summary, p.Store.Result.Findings)
			}
		})
	}
}

// TestTeardownWithoutClient0 checks which client runs teardown() after a run has failed, and what the run says of it.
func TestTeardownWithoutClient0(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*scene)
		client int
		waits  bool
		says   string
	}{
		"client 0 is lost": {func(*scene) {}, 1, true, ""},
		"client 0 lives":   {func(s *scene) { s.set(0, func(c *session.ClientState) { c.Connected = true }) }, 0, false, ""},
		"client 0 failed and tears down": {func(s *scene) {
			s.set(0, func(c *session.ClientState) { c.Connected, c.Failure, c.Script.TearingDown = true, "x", true })
		}, 0, true, ""},
		"client 0 failed without k6": {func(s *scene) { s.set(0, func(c *session.ClientState) { c.Connected, c.Failure = true, "x" }) }, 1, true, ""},
		"client 0 has torn down":     {func(s *scene) { s.set(0, func(c *session.ClientState) { c.Script.TornDown = true }) }, 0, false, ""},
		"setup() has not returned": {func(s *scene) {
			s.run.Status.MeasurementTime = nil
			s.clients(func(c *session.ClientState) { c.Script.SetupEnded = false })
		}, 0, false, ""},
		"client 1 is stopped": {func(s *scene) {
			s.set(1, func(c *session.ClientState) { c.Failure, c.FailureKind = "x", session.FailureStopped })
		}, 1, true, ""},
		"client 1 has failed": {func(s *scene) { s.set(1, func(c *session.ClientState) { c.Failure = "x" }) }, 0, false, "was not run"},
		"client 1 runs it":    {func(s *scene) { s.set(1, func(c *session.ClientState) { c.Script.TearingDown = true }) }, 1, true, ""},
		"client 1 has run it": {func(s *scene) { s.set(1, func(c *session.ClientState) { c.Script.TornDown = true }) }, 0, false, "Client 1 ran the script's teardown() because client 0 was lost."},
		"client 1 has run it, and 0 perhaps": {func(s *scene) {
			s.started(teardownStage)
			s.set(1, func(c *session.ClientState) { c.Script.TornDown = true })
		}, 0, false, "Client 0 may have run it, too."},
		"client 1 has failed to": {func(s *scene) {
			s.set(1, func(c *session.ClientState) { c.Script.TornDown, c.Script.TeardownError = true, "no" })
		}, 0, false, "it failed: no."},
		"it takes too long":                    {func(s *scene) { s.run.Status.CompletionTime = ptr.To(metav1.NewTime(now.Add(-teardownTimeout))) }, 0, false, "did not end within"},
		"this manager knows no client yet":     {func(s *scene) { s.o.Sessions.Clients, s.o.Sessions.Since = nil, now }, 0, true, ""},
		"no client has connected again":        {func(s *scene) { s.o.Sessions.Clients, s.o.Sessions.Since = nil, now.Add(-time.Minute) }, 0, false, "was not run"},
		"the clients are being deleted by now": {func(s *scene) { s.o.Job.DeletionTimestamp = ptr.To(metav1.NewTime(now)) }, 0, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted().started(measurementStage).clients(func(c *session.ClientState) { c.Script.SetupEnded = true })
			s.run.Status.MeasurementTime = ptr.To(metav1.NewMicroTime(now))
			s.set(0, func(c *session.ClientState) { c.Connected, c.DisconnectedSince = false, now })
			s.o.Clients[0].Status = corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
				Name: "client", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137}},
			}}}
			failed := s.decide()
			if got := stateIn(failed); got.Reason != v1alpha1.ReasonClientFailed || len(failed.Delete) != 0 {
				t.Fatalf("%+v", got)
			}
			s.run.Status = failed.Status
			tc.change(s)
			p := s.decide()
			deletes := slices.Contains(names(p.Delete), s.o.Job.Name)
			if p.TearDown != tc.client || deletes == tc.waits && s.o.Job.DeletionTimestamp == nil || p.Forget == tc.waits || p.Release == tc.waits {
				t.Errorf("client %d tears down; deletes %q, forgets %t", p.TearDown, names(p.Delete), p.Forget)
			}
			for _, kind := range []string{v1alpha1.ConditionSucceeded, v1alpha1.ConditionFinished} {
				got := meta.FindStatusCondition(p.Status.Conditions, kind)
				if !strings.Contains(got.Message, tc.says) || tc.says == "" && strings.Contains(got.Message, "teardown") {
					t.Errorf("%s: %s", kind, got.Message)
				}
			}
			if tc.waits && p.RequeueAfter == 0 {
				t.Error("waits for ever")
			}
		})
	}
}

// set changes the state of a client.
func (s *scene) set(i int, change func(*session.ClientState)) {
	c := s.o.Sessions.Clients[i]
	change(&c)
	s.o.Sessions.Clients[i] = c
}

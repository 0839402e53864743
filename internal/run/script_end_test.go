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
	"github.com/assay-dev/assay/internal/run/conclusion"
	"github.com/assay-dev/assay/internal/run/ending"
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
	waiting := func(c *session.ClientState) { c.Waiting = "the manager has no memory left" }
	late := func(c *session.ClientState) { c.TotalsSince = now.Add(-conclusion.SummaryTimeout) }
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
		"no memory for client 0":          {change(base(), 0, waiting), 0, false, "handleSummary(). Client 0 waits for memory: the manager has no memory left."},
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
				if p.RequeueAfter == 0 || !strings.HasSuffix(stateIn(p).Message, tc.says) {
					t.Errorf("again in %s: %+v", p.RequeueAfter, stateIn(p))
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

// TestTeardownAfterAFailure checks that client 0 has time to run teardown() after it has failed.
func TestTeardownAfterAFailure(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*scene)
		waits  bool
	}{
		"client 0 failed":                      {func(*scene) {}, true},
		"client 0 is lost":                     {func(s *scene) { s.set(0, func(c *session.ClientState) { c.Connected = false }) }, false},
		"client 1 failed":                      {func(s *scene) { s.set(0, func(c *session.ClientState) { c.Failure = "" }) }, false},
		"setup() has not returned":             {func(s *scene) { s.set(0, func(c *session.ClientState) { c.Script.SetupEnded = false }) }, false},
		"client 0 has sent its totals":         {func(s *scene) { s.set(0, func(c *session.ClientState) { c.Totals = &result.Totals{} }) }, false},
		"it takes too long":                    {func(s *scene) { s.run.Status.CompletionTime = ptr.To(metav1.NewTime(now.Add(-ending.TeardownTimeout))) }, false},
		"this manager knows no client":         {func(s *scene) { s.o.Sessions.Clients = nil }, false},
		"the clients are being deleted by now": {func(s *scene) { s.o.Job.DeletionTimestamp = ptr.To(metav1.NewTime(now)) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted().started(measurementStage).clients(func(c *session.ClientState) { c.Script.SetupEnded = true })
			s.run.Status.MeasurementTime = ptr.To(metav1.NewMicroTime(now))
			s.set(0, func(c *session.ClientState) { c.Connected, c.Failure = true, "x" })
			failed := s.decide()
			if got := stateIn(failed); got.Reason != v1alpha1.ReasonClientFailed || len(failed.Delete) != 0 {
				t.Fatalf("%+v", got)
			}
			s.run.Status = failed.Status
			tc.change(s)
			p := s.decide()
			deletes := slices.Contains(names(p.Delete), s.o.Job.Name)
			if deletes == tc.waits && s.o.Job.DeletionTimestamp == nil || p.Forget == tc.waits || p.Release == tc.waits {
				t.Errorf("deletes %q, forgets %t", names(p.Delete), p.Forget)
			}
			if tc.waits && p.RequeueAfter == 0 {
				t.Error("waits for ever")
			}
		})
	}
}

// TestFailureWithoutTeardown checks that a run says when teardown() may not have run.
func TestFailureWithoutTeardown(t *testing.T) {
	killed := corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "client", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137}},
	}}}
	setUp := func(c *session.ClientState) { c.Connected, c.Script.SetupEnded = true, true }
	for name, tc := range map[string]struct {
		scene func() *scene
		says  bool
	}{
		"client 0 is lost": {func() *scene {
			s := scripted().started(measurementStage).clients(setUp)
			s.set(0, func(c *session.ClientState) { c.Connected, c.DisconnectedSince = false, now })
			s.o.Clients[0].Status = killed
			return s
		}, true},
		"client 1 is lost": {func() *scene {
			s := scripted().started(measurementStage).clients(setUp)
			s.o.Clients[1].Status = killed
			return s
		}, false},
		"client 0 is lost before setup() has returned": {func() *scene {
			s := scripted().started(setupStage).clients(func(c *session.ClientState) { c.Connected = true })
			s.set(0, func(c *session.ClientState) { c.Connected, c.DisconnectedSince = false, now })
			s.o.Clients[0].Status = killed
			return s
		}, false},
		"client 0 failed, and is connected": {func() *scene {
			s := scripted().started(measurementStage).clients(setUp)
			s.set(0, func(c *session.ClientState) { c.Failure = "x" })
			return s
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := tc.scene().decide()
			for _, kind := range []string{v1alpha1.ConditionSucceeded, v1alpha1.ConditionFinished} {
				got := meta.FindStatusCondition(p.Status.Conditions, kind)
				if got == nil || got.Reason != v1alpha1.ReasonClientFailed {
					t.Fatalf("%s: %+v", kind, got)
				}
				if says := strings.HasSuffix(got.Message, ". Client 0 is lost, and may not have run the script's teardown(): what that removes may still be there."); says != tc.says {
					t.Errorf("%s: %s", kind, got.Message)
				}
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

package run

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/ownership"
	"github.com/assay-dev/assay/internal/session"
)

// overdueScene returns a run under load whose deadline passed a second ago.
func overdueScene() *scene {
	s := newScene().started(measurementStage)
	s.run.Spec.ActiveDeadlineSeconds = ptr.To(int32(9))
	s.run.Status.Conditions = append(s.run.Status.Conditions,
		metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonMeasuring, Message: "The clients are sending load."},
		metav1.Condition{Type: v1alpha1.ConditionTargetReady, Status: metav1.ConditionTrue},
		metav1.Condition{Type: v1alpha1.ConditionClientsReady, Status: metav1.ConditionTrue})
	return s
}

// restarted makes the manager one that was started some time ago, to which no pod has connected.
func (s *scene) restarted(ago time.Duration) *scene {
	s.o.Sessions = session.Observation{Since: now.Add(-ago), Now: now.UnixMicro()}
	s.o.LeaderSince = now.Add(-ago)
	return s
}

// leads makes the manager one that leads for some time, and to which the pods are connected.
func (s *scene) leads(ago time.Duration) *scene {
	s.o.LeaderSince = now.Add(-ago)
	return s
}

// since makes the run one that was admitted some time ago.
func (s *scene) since(ago time.Duration) *scene {
	s.run.Status.AdmissionTime.Time = now.Add(-ago)
	return s
}

// storing makes every client's totals have arrived some time ago.
func (s *scene) storing(ago time.Duration) *scene {
	totals := newScene().collected().o.Sessions.Clients[0].Totals
	return s.clients(func(c *session.ClientState) { c.Totals, c.TotalsSince = totals, now.Add(-ago) })
}

func TestTheDeadline(t *testing.T) {
	tests := map[string]struct {
		scene  *scene
		reason string // of a run that ends, or "" for one that goes on
		says   []string
	}{
		"has passed": {overdueScene(), v1alpha1.ReasonDeadlineExceeded,
			[]string{"spec.activeDeadlineSeconds (9s)", "Measuring: The clients are sending load.", "totals of 2 of 2 clients: client 0, which is connected; client 1"}},
		"has passed, a client is away": {overdueScene().clients(func(c *session.ClientState) {
			c.Connected, c.DisconnectedSince = false, now.Add(-time.Second)
		}), "", nil},
		"has passed, a client sends what it had": {overdueScene().clients(func(c *session.ClientState) {
			c.Behind, c.DisconnectedSince = true, now.Add(-time.Second)
		}), "", nil},
		"has passed, a client never sends what it had": {overdueScene().clients(func(c *session.ClientState) {
			c.Behind, c.DisconnectedSince = true, now.Add(-observed.ContactTimeout-time.Second)
		}), v1alpha1.ReasonDeadlineExceeded, []string{"which is connected"}},
		"passed while the manager was away":        {overdueScene().restarted(time.Second), "", nil},
		"passed, and nobody has reconnected":       {overdueScene().restarted(observed.ContactTimeout + time.Second), v1alpha1.ReasonDeadlineExceeded, []string{"has not connected to this manager for 2m1s"}},
		"while the manager has just begun to lead": {overdueScene().leads(time.Second), "", nil},
		"and the grace of its begin, too":          {overdueScene().leads(observed.TakeoverGrace + time.Second).since(2*observed.TakeoverGrace + 10*time.Second), v1alpha1.ReasonDeadlineExceeded, []string{"It had 2m0s more"}},
		"and the manager has led since before":     {overdueScene().leads(10 * time.Second), v1alpha1.ReasonDeadlineExceeded, nil},
		"before the load, while the manager was away": {func() *scene {
			s := overdueScene().restarted(time.Second)
			meta.FindStatusCondition(s.run.Status.Conditions, v1alpha1.ConditionSucceeded).Reason = v1alpha1.ReasonStarting
			return s
		}(), "", nil},
		"before the load, and its pods never came back": {func() *scene {
			s := overdueScene().restarted(observed.TakeoverGrace + time.Second).since(time.Hour)
			meta.FindStatusCondition(s.run.Status.Conditions, v1alpha1.ConditionSucceeded).Reason = v1alpha1.ReasonStarting
			return s
		}(), v1alpha1.ReasonDeadlineExceeded, []string{"Starting"}},
		"while the result is stored": {overdueScene().storing(time.Minute), "", nil},
		"the result can't be stored": {overdueScene().storing(observed.StoreTimeout + time.Second), v1alpha1.ReasonArtifactNotStored, []string{"was not stored 5m0s after that"}},
		"while an earlier pod is there": {func() *scene {
			s := overdueScene()
			s.o.Strays = []observed.Stray{{Relation: ownership.EarlierRun, Kind: "Pod", Object: s.o.Target}}
			return s
		}(), v1alpha1.ReasonDeadlineExceeded, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := test.scene.decide()
			got := stateIn(p)
			if ends := got.Status == metav1.ConditionFalse; ends != (test.reason != "") || ends && got.Reason != test.reason {
				t.Errorf("%s %s: %s; want %q", got.Status, got.Reason, got.Message, test.reason)
			}
			for _, text := range test.says {
				if !strings.Contains(got.Message, text) {
					t.Errorf("%q lacks %q", got.Message, text)
				}
			}
			if test.reason == "" && (p.RequeueAfter <= 0 || p.RequeueAfter > observed.StoreTimeout) {
				t.Errorf("it looks again after %s", p.RequeueAfter)
			}
			// It is judged in the same way if nothing can be read.
			s := test.scene
			blind := &observed.Run{Sessions: s.o.Sessions, LeaderSince: s.o.LeaderSince}
			interrupted := Interrupted(s.run, blind, now, errors.New("no API server"))
			if is := stateIn(interrupted); is.Status != got.Status || is.Status == metav1.ConditionFalse && is.Reason != got.Reason {
				t.Errorf("blind: %s %s: %s", is.Status, is.Reason, is.Message)
			}
		})
	}
}

func TestReadinessHasTimeAfterAChangeOfLeader(t *testing.T) {
	slow := func() *scene {
		s := newScene()
		s.run.Spec.Target.Readiness.TimeoutSeconds = ptr.To(int32(9))
		return s
	}
	for name, test := range map[string]struct {
		scene  *scene
		reason string
	}{
		"the agent never answered":              {slow(), v1alpha1.ReasonTargetNotReady},
		"the manager was restarted":             {slow().restarted(time.Second), v1alpha1.ReasonStarting},
		"the manager leads since the beginning": {slow().restarted(10 * time.Second), v1alpha1.ReasonTargetNotReady},
	} {
		if got := stateIn(test.scene.decide()); got.Reason != test.reason {
			t.Errorf("%s: %s: %s", name, got.Reason, got.Message)
		}
	}
}

// TestErrorsAreVisible checks that the status says why a step is tried again, and no longer does so
// once it succeeded.
func TestErrorsAreVisible(t *testing.T) {
	s := newScene().collected()
	p := s.decide()
	p.Retry(errors.New("create ConfigMap run-result: webhook is down"))
	for _, kind := range []string{v1alpha1.ConditionSucceeded, v1alpha1.ConditionReconciling} {
		if got := meta.FindStatusCondition(p.Status.Conditions, kind); !strings.HasSuffix(got.Message, " Retrying: create ConfigMap run-result: webhook is down") {
			t.Errorf("%s: %q", kind, got.Message)
		}
	}
	s.run.Status = p.Status
	p = Interrupted(s.run, s.o, now, errors.New("get Pod: timeout"))
	if got := stateIn(p); got.Message != "Retrying: get Pod: timeout" || got.Reason != v1alpha1.ReasonCollecting {
		t.Errorf("%s: %q", got.Reason, got.Message)
	}
	s.run.Status = p.Status
	if got := stateIn(s.decide()); strings.Contains(got.Message, "Retrying") {
		t.Errorf("afterwards: %q", got.Message)
	}

	s.run.Status.CompletionTime = ptr.To(metav1.NewTime(now))
	meta.SetStatusCondition(&s.run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue})
	meta.SetStatusCondition(&s.run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionTrue, Message: "1 request was measured."})
	p = s.decide()
	p.Retry(errors.New("delete Pod: timeout"))
	reconciling := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionReconciling)
	if got := stateIn(p); got.Message != "1 request was measured." || reconciling.Message != "The run has finished. Retrying: delete Pod: timeout" {
		t.Errorf("finished: %q, %q", got.Message, reconciling.Message)
	}
}

// TestTheWallClockIsSet makes the wall clock jump by an hour in mid-run. Progress, and the time of the
// measurement in later runs, don't depend on it.
func TestTheWallClockIsSet(t *testing.T) {
	for name, step := range map[string]time.Duration{"not": 0, "forwards": time.Hour, "backwards": -time.Hour, "a little": time.Millisecond} {
		s := newScene().started(measurementStage)
		s.run.Spec.Load.Closed.RequestCount, s.run.Spec.Load.Closed.DurationSeconds = nil, ptr.To(int32(10))
		s.o.Sessions.Now = now.Add(-step).UnixMicro()
		s.o.Sessions.Starts[measurementStage] = s.o.Sessions.Now - time.Second.Microseconds()
		p := s.decide()
		if got := *p.Status.Progress.Percent; got != 10 {
			t.Errorf("%s: %d%% after a second of ten", name, got)
		}
		if off := p.Status.MeasurementTime.Sub(now.Add(-time.Second)); off.Abs() >= time.Second {
			t.Errorf("%s: the measurement began at %s, %s off", name, p.Status.MeasurementTime, off)
		}
	}
}

// TestProgressOfAForeignTool has no counts, and a percentage only of a time: the tool reports nothing until it ends.
func TestProgressOfAForeignTool(t *testing.T) {
	for name, test := range map[string]struct {
		requests *int64
		seconds  *int32
		percent  *int32
	}{"requests": {ptr.To[int64](1000), nil, nil}, "seconds": {nil, ptr.To[int32](10), ptr.To[int32](10)}} {
		s := newScene().started(measurementStage)
		s.run.Spec.Clients.Tool = &v1alpha1.ClientTool{Name: v1alpha1.ToolAB}
		s.run.Spec.Load.Closed.RequestCount, s.run.Spec.Load.Closed.DurationSeconds = test.requests, test.seconds
		s.o.Sessions.Starts[measurementStage] = s.o.Sessions.Now - time.Second.Microseconds()
		p := s.decide().Status.Progress
		if p.Requests != nil || p.Errors != nil || p.RequestsPerSecond != "" || ptr.Deref(p.Percent, -1) != ptr.Deref(test.percent, -1) {
			t.Errorf("%s: %+v", name, p)
		}
		if got := stateIn(s.decide()); got.Message != "The clients run AB, which reports nothing until it ends." {
			t.Errorf("%s: %q", name, got.Message)
		}
	}
}

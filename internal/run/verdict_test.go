package run

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/collect"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/step"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/validity"
)

// TestReasonsOfAVerdict checks that Valid and ThresholdsMet tell apart what their statuses don't.
func TestReasonsOfAVerdict(t *testing.T) {
	warns := result.Finding{Reason: "NoWarmup", Severity: result.Warns, Message: "measured cold"}
	invalidates := result.Finding{Reason: "ClientSaturated", Severity: result.Invalidates, Message: "too busy"}
	accepted := result.Finding{Reason: "TooShort", Severity: result.Accepted, Message: "5 requests"}
	for name, tc := range map[string]struct {
		findings        []result.Finding
		met             bool
		valid, verified string
	}{
		"nothing found":          {nil, true, "True NoFindings", "True AllMet"},
		"a warning":              {[]result.Finding{warns}, true, "True Warnings", "True AllMet"},
		"a warning, and missed":  {[]result.Finding{warns}, false, "True Warnings", "False Missed"},
		"invalid and met":        {[]result.Finding{invalidates, warns}, true, "False ClientSaturated", "Unknown NotValid"},
		"invalid and missed":     {[]result.Finding{invalidates}, false, "False ClientSaturated", "Unknown NotValid"},
		"a warning before it":    {[]result.Finding{warns, invalidates}, true, "False ClientSaturated", "Unknown NotValid"},
		"accepted":               {[]result.Finding{accepted}, true, "True Accepted", "True AllMet"},
		"accepted and a warning": {[]result.Finding{warns, accepted}, true, "True Warnings", "True AllMet"},
		"accepted and invalid":   {[]result.Finding{invalidates, accepted}, true, "False ClientSaturated", "Unknown NotValid"},
	} {
		s := newScene()
		s.run.Status.Artifact = &v1alpha1.ArtifactReference{SHA256: "abc"}
		s.o.Stored = &observed.Stored{Identity: artifact.Identity{SHA256: "abc"}, Result: &result.Result{
			Clients: []result.Client{{}}, Findings: tc.findings, Thresholds: []result.ThresholdOutcome{{Metric: "ErrorRate", Met: tc.met}},
		}}
		p := s.decide()
		for kind, want := range map[string]string{v1alpha1.ConditionValid: tc.valid, v1alpha1.ConditionThresholdsMet: tc.verified} {
			c := meta.FindStatusCondition(p.Status.Conditions, kind)
			if got := string(c.Status) + " " + c.Reason; got != want {
				t.Errorf("%s: %s is %s, want %s", name, kind, got, want)
			}
			if kind == v1alpha1.ConditionValid && slices.Contains(tc.findings, accepted) != strings.Contains(c.Message, "TooShort (accepted): 5 requests.") {
				t.Errorf("%s: %s", name, c.Message)
			}
		}
	}
}

// TestExpectedFindingsAreAccepted has a run without a warm-up.
func TestExpectedFindingsAreAccepted(t *testing.T) {
	for accept, want := range map[v1alpha1.FindingReason]result.Severity{"": result.Warns, "TooShort": result.Warns, "NoWarmup": result.Accepted} {
		s := newScene().collected().sampled()
		s.run.Spec.Load.Warmup = nil
		if accept != "" {
			s.run.Spec.AcceptedFindings = []v1alpha1.FindingReason{accept}
		}
		findings := stored(t, s.decide()).Findings
		at := slices.IndexFunc(findings, func(f result.Finding) bool { return f.Reason == "NoWarmup" })
		if at < 0 || findings[at].Severity != want {
			t.Errorf("accept %q: %+v, want %s NoWarmup", accept, findings, want)
		}
	}
}

// TestTheServersLimitIsJudged has three requests in flight at a Tomcat with a few threads.
func TestTheServersLimitIsJudged(t *testing.T) {
	for threads, want := range map[int32]bool{2: true, 3: false} {
		s := newScene().collected().sampled().tomcat(v1alpha1.TomcatNIO)
		s.run.Spec.Target.Server.Tomcat.Connector.MaxThreads = &threads
		s.clients(func(c *session.ClientState) {
			c.Totals.Requests = 1
			c.Totals.Latencies.Of(result.Total).Record(3 * 500_000 / int64(len(s.o.Sessions.Clients)))
		})
		findings := stored(t, s.decide()).Findings
		got := slices.ContainsFunc(findings, func(f result.Finding) bool {
			return f.Reason == "ConcurrencyLimited" && strings.Contains(f.Message, "at most 2 at a time (maxThreads)")
		})
		if got != want {
			t.Errorf("maxThreads %d: %+v", threads, findings)
		}
	}
}

// TestDeclared checks the declarations of a run on which findings depend, in addition to the result.
func TestDeclared(t *testing.T) {
	ramp, think := int32(15), int32(100)
	for name, tc := range map[string]struct {
		load v1alpha1.Load
		want validity.Declared
	}{
		"closed": {v1alpha1.Load{Closed: &v1alpha1.ClosedLoad{Connections: 5}}, validity.Declared{}},
		"closed, with ramp and think times": {
			v1alpha1.Load{Closed: &v1alpha1.ClosedLoad{Connections: 5, RampSeconds: &ramp, ThinkTime: &v1alpha1.ThinkTime{MaxMilliseconds: &think}}},
			validity.Declared{RampMicroseconds: 15_000_000, ThinkTime: true},
		},
		"open":              {v1alpha1.Load{Open: &v1alpha1.OpenLoad{RequestsPerSecond: "5"}}, validity.Declared{}},
		"open, with a ramp": {v1alpha1.Load{Open: &v1alpha1.OpenLoad{RequestsPerSecond: "5", Ramp: &v1alpha1.RateRamp{Seconds: 15}}}, validity.Declared{RampMicroseconds: 15_000_000}},
	} {
		s := newScene().collected()
		tc.load.Requests, s.run.Spec.Load = s.run.Spec.Load.Requests, tc.load
		e, err := collect.Evidence(step.NewPlanner(s.run, s.o, now))
		if err != nil {
			t.Fatal(err)
		}
		_, got, err := e.Describe(0)
		if err != nil || got != tc.want {
			t.Errorf("%s: %+v (%v), want %+v", name, got, err, tc.want)
		}
	}
}

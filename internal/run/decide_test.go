package run

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/ending"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/lane"
	"github.com/assay-dev/assay/internal/run/loading"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/ownership"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/run/step"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
)

func TestDecideTakesARunFromStageToStage(t *testing.T) {
	tests := map[string]struct {
		scene *scene
		state string
		check func(step.Plan) bool
	}{
		"nothing exists": {
			func() *scene {
				s := newScene()
				s.o.Config, s.o.Target, s.o.Job, s.o.Clients = nil, nil, nil, nil
				s.o.Sessions = session.Observation{}
				return s
			}(), v1alpha1.ReasonStarting, func(p step.Plan) bool {
				return creates(p, "run-config") && creates(p, "run-target") && !creates(p, "run-client")
			},
		},
		"pods run": {newScene(), v1alpha1.ReasonStarting, func(p step.Plan) bool {
			return !creates(p, "run-config") && !creates(p, "run-target") && !creates(p, "run-client") && p.Prepare.Address == "10.0.0.1:8080" && p.Begin == nil
		}},
		"the CPUs aren't known": {
			func() *scene { s := newScene().ready(); s.o.Sessions.Agent.Latest = nil; return s }(),
			v1alpha1.ReasonStarting, func(p step.Plan) bool { return p.Read && p.Begin == nil },
		},
		"a client's session is gone": {
			newScene().ready().clients(func(c *session.ClientState) { c.Connected, c.DisconnectedSince = false, now }),
			v1alpha1.ReasonStarting, func(p step.Plan) bool { return p.Begin == nil && p.RequeueAfter <= observed.ContactTimeout },
		},
		"all are ready": {newScene().ready(), v1alpha1.ReasonMeasuring, func(p step.Plan) bool {
			return p.Begin.Stage == measurementStage && p.Begin.Lead > 0 && p.Begin.Lead < time.Second && p.Status.MeasurementTime == nil
		}},
		"all are ready to warm up": {
			func() *scene {
				s := newScene().ready()
				s.run.Spec.Load.Warmup = &v1alpha1.Warmup{RequestCount: ptr.To(int64(9))}
				return s
			}(),
			v1alpha1.ReasonWarmingUp, func(p step.Plan) bool { return p.Begin.Stage == warmupStage },
		},
		"the warm-up is under way": {
			func() *scene {
				s := newScene().started(warmupStage)
				s.run.Spec.Load.Warmup = &v1alpha1.Warmup{RequestCount: ptr.To(int64(9))}
				return s
			}(), v1alpha1.ReasonWarmingUp, func(p step.Plan) bool {
				return p.Begin == nil && p.RequeueAfter == loading.ProgressInterval
			},
		},
		"the warm-up has ended": {
			func() *scene {
				s := newScene().started(warmupStage).clients(func(c *session.ClientState) { c.WarmupEnded = true })
				s.run.Spec.Load.Warmup = &v1alpha1.Warmup{RequestCount: ptr.To(int64(9))}
				return s
			}(), v1alpha1.ReasonMeasuring, func(p step.Plan) bool { return p.Begin.Stage == measurementStage && p.Begin.Lead > 0 },
		},
		"the measurement is under way": {newScene().started(measurementStage), v1alpha1.ReasonMeasuring, func(p step.Plan) bool {
			return p.Begin == nil && p.Status.MeasurementTime.Time.Equal(now.Add(-time.Second)) && !creates(p, "run-result") && p.RequeueAfter == loading.ProgressInterval
		}},
		"the agent hasn't read the end": {newScene().collected(), v1alpha1.ReasonCollecting, func(p step.Plan) bool { return p.Read && !creates(p, "run-result") }},
		"the agent has read the end": {
			func() *scene { s := newScene().collected(); s.o.Sessions.Agent.Latest.At = now.UnixMicro(); return s }(),
			v1alpha1.ReasonCollecting, func(p step.Plan) bool { return creates(p, "run-result") },
		},
		"the agent is gone at the end": {
			func() *scene { s := newScene().collected(); s.o.Sessions.Agent.Connected = false; return s }(),
			v1alpha1.ReasonCollecting, func(p step.Plan) bool { return creates(p, "run-result") },
		},
		"the target is gone at the end": {
			func() *scene { s := newScene().collected(); s.o.Target, s.o.Sessions.Agent = nil, nil; return s }(),
			v1alpha1.ReasonCollecting, func(p step.Plan) bool { return creates(p, "run-result") && !creates(p, "run-target") },
		},
		"suspended": {
			func() *scene { s := newScene().started(measurementStage); s.run.Spec.Suspend = ptr.To(true); return s }(),
			v1alpha1.ReasonSuspended, func(p step.Plan) bool { return len(p.Delete) > 0 && p.Forget && p.Status.AdmissionTime == nil },
		},
		"queued": {
			func() *scene {
				s := newScene()
				s.run.Status = v1alpha1.BenchmarkRunStatus{}
				s.o.Position = lane.Position{Ahead: 3, Held: true, Holder: "Run other or its pods"}
				return s
			}(), v1alpha1.ReasonQueued, func(p step.Plan) bool {
				return !creates(p, "run-target") && strings.Contains(stateIn(p).Message, "3 runs") && strings.Contains(stateIn(p).Message, "Run other or")
			},
		},
		"its namespace is full": {
			func() *scene {
				s := newScene()
				s.run.Status, s.o.Position = v1alpha1.BenchmarkRunStatus{}, lane.Position{Full: "4 are active"}
				return s
			}(), v1alpha1.ReasonQueued, func(p step.Plan) bool {
				admitted := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionAdmitted)
				return !creates(p, "run-target") && admitted.Reason == v1alpha1.ReasonNamespaceFull && strings.Contains(admitted.Message, "Waiting until namespace ns may have another active run: 4 are active.")
			},
		},
		"its turn": {
			func() *scene {
				s := newScene()
				s.run.Status = v1alpha1.BenchmarkRunStatus{}
				s.o.Position = lane.Position{Free: true}
				return s
			}(), v1alpha1.ReasonStarting, func(p step.Plan) bool { return p.Status.AdmissionTime.Time.Equal(now) },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := test.scene.decide()
			if got := stateIn(p); got.Reason != test.state || got.Status != metav1.ConditionUnknown {
				t.Errorf("state %s (%s: %s), want %s", got.Reason, got.Status, got.Message, test.state)
			}
			if !test.check(p) {
				t.Errorf("the plan isn't as expected: %+v", p)
			}
			if meta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ConditionFinished) {
				t.Error("an active run is Finished")
			}
		})
	}
}

func TestDecideFailsARun(t *testing.T) {
	terminated := func(end corev1.ContainerStateTerminated) []corev1.ContainerStatus {
		return []corev1.ContainerStatus{{Name: server.ContainerName, State: corev1.ContainerState{Terminated: &end}}}
	}
	waits := func(reason string) []corev1.ContainerStatus {
		return []corev1.ContainerStatus{{Name: server.ContainerName, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "the cause"}}}}
	}
	tests := map[string]struct {
		change func(*scene)
		reason string
		says   string
	}{
		"deadline": {func(s *scene) { s.run.Spec.ActiveDeadlineSeconds = ptr.To(int32(9)) }, v1alpha1.ReasonDeadlineExceeded, "spec.activeDeadlineSeconds"},
		"conflict": {func(s *scene) {
			s.o.Strays = []observed.Stray{{Relation: ownership.Foreign, Kind: "Pod", Object: s.o.Target}}
		}, v1alpha1.ReasonNameConflict, "Pod run-target"},
		"target deleted": {func(s *scene) { s.o.Target.DeletionTimestamp = &metav1.Time{Time: now} }, v1alpha1.ReasonTargetLost, "deleted"},
		"target gone":    {func(s *scene) { s.o.Target, s.run.Status.Target = nil, &v1alpha1.TargetStatus{Node: "node"} }, v1alpha1.ReasonTargetLost, "deleted"},
		"target crashed": {func(s *scene) {
			s.o.Target.Status.ContainerStatuses = terminated(corev1.ContainerStateTerminated{ExitCode: 1, Message: "Invalid flag"})
		}, v1alpha1.ReasonTargetCrashed, "exit code 1: Invalid flag"},
		"target ended": {func(s *scene) { s.o.Target.Status.ContainerStatuses = terminated(corev1.ContainerStateTerminated{}) }, v1alpha1.ReasonTargetCrashed, "exit code 0"},
		"target no memory": {func(s *scene) {
			s.o.Target.Status.ContainerStatuses = terminated(corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"})
		}, v1alpha1.ReasonTargetCrashed, "OOMKilled"},
		"target no command": {func(s *scene) {
			s.o.Target.Status.ContainerStatuses = terminated(corev1.ContainerStateTerminated{ExitCode: 128, Reason: "StartError"})
		}, v1alpha1.ReasonTargetNotStarted, "spec.target.server"},
		"target bad image": {func(s *scene) { s.o.Target.Status.ContainerStatuses = waits("InvalidImageName") }, v1alpha1.ReasonTargetImageUnavailable, "the cause"},
		"target no image": {func(s *scene) {
			s.o.Target.Status.ContainerStatuses = waits("ImagePullBackOff")
			s.o.Target.CreationTimestamp.Time = now.Add(-pods.ImagePullTimeout - time.Second)
		}, v1alpha1.ReasonTargetImageUnavailable, "imagePullSecrets"},
		"target not ready": {func(s *scene) {
			s.run.Spec.Target.Readiness.TimeoutSeconds = ptr.To(int32(5))
			s.o.Sessions.Agent.ProbeFailure = "GET / was answered with 404"
		}, v1alpha1.ReasonTargetNotReady, "404"},
		"target unschedulable": {func(s *scene) {
			s.run.Spec.Target.Readiness.TimeoutSeconds = ptr.To(int32(5))
			s.o.Target.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "Insufficient cpu"}}
		}, v1alpha1.ReasonTargetUnschedulable, "Insufficient cpu"},
		"agent failed":       {func(s *scene) { s.o.Sessions.Agent.Failure = "no /proc" }, v1alpha1.ReasonTargetLost, "no /proc"},
		"agent disconnected": {func(s *scene) { s.o.Sessions.Agent.Connected = false }, v1alpha1.ReasonTargetLost, "disconnected"},
		"Job deleted":        {func(s *scene) { s.o.Job = nil }, v1alpha1.ReasonClientLost, "Job"},
		"client deleted":     {func(s *scene) { s.o.Clients[1].DeletionTimestamp = &metav1.Time{Time: now} }, v1alpha1.ReasonClientLost, "Client 1"},
		"client no memory": {func(s *scene) {
			s.o.Clients[1].Status.Phase = corev1.PodFailed
			end(s.o.Clients[1], "client", corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"})
		}, v1alpha1.ReasonClientFailed, "spec.clients.resources.memory"},
		"client failed": {func(s *scene) {
			s.clients(func(c *session.ClientState) { c.Failure = "k6 ended" })
		}, v1alpha1.ReasonClientFailed, "k6 ended"},
		"client disconnected": {func(s *scene) { s.clients(func(c *session.ClientState) { c.Connected = false }) }, v1alpha1.ReasonClientLost, "disconnected"},
		"clients without a session": {func(s *scene) {
			s.o.Sessions.Clients = nil
			s.o.Job.CreationTimestamp.Time = now.Add(-failure.ClientsReadyTimeout - time.Second)
			s.run.Status.AdmissionTime = &s.o.Job.CreationTimestamp
		}, v1alpha1.ReasonClientsNotReady, "Client 0"},
		"clients not ready": {func(s *scene) {
			s.o.Job.CreationTimestamp.Time = now.Add(-2 * failure.ClientsReadyTimeout)
			s.run.Status.AdmissionTime = &s.o.Job.CreationTimestamp
			s.o.Sessions.Agent.ProbeResult = &session.ProbeResult{}
			s.run.Status.Conditions = append(s.run.Status.Conditions, metav1.Condition{
				Type: v1alpha1.ConditionTargetReady, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-failure.ClientsReadyTimeout - time.Second)),
			})
		}, v1alpha1.ReasonClientsNotReady, "Client 0"},
		"Job failed": {func(s *scene) {
			s.o.Job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "PodFailurePolicy", Message: "why"}}
		}, v1alpha1.ReasonClientFailed, "why"},
		"target not pinned": {func(s *scene) {
			s.ready().run.Spec.Target.Resources.CPUPinning = v1alpha1.CPUPinningRequired
		}, v1alpha1.ReasonCPUNotExclusive, "spec.target.resources.cpuPinning"},
		"client not pinned": {func(s *scene) {
			s.ready().run.Spec.Clients.Resources.CPUPinning = v1alpha1.CPUPinningRequired
		}, v1alpha1.ReasonCPUNotExclusive, "spec.clients.resources.cpuPinning"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			test.change(s)
			p := s.decide()
			if got := stateIn(p); got.Status != metav1.ConditionFalse || got.Reason != test.reason || !strings.Contains(got.Message, test.says) {
				t.Errorf("%s %s: %s; want %s with %q", got.Status, got.Reason, got.Message, test.reason, test.says)
			}
			if !meta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ConditionFinished) {
				t.Error("a run that failed isn't Finished")
			}
			if creates(p, "run-target") || p.Begin != nil || creates(p, "run-result") {
				t.Errorf("the plan doesn't end the run: %+v", p)
			}
			if len(p.Delete) > 0 || len(p.Stop) > 0 {
				t.Error("the pods are removed before the verdict is written: after a crash in between they would look lost")
			}
			s.run.Status = p.Status
			if next := s.decide(); len(next.Delete) == 0 || !next.Forget {
				t.Errorf("nothing removes the pods afterwards: %+v", next)
			}
		})
	}
}

func TestNoFaultUndoesWhatWasCollected(t *testing.T) {
	s := newScene().collected()
	s.run.Spec.ActiveDeadlineSeconds = ptr.To(int32(1))
	s.o.Clients[0].Status.Phase = corev1.PodFailed
	s.o.Target.Status.Phase = corev1.PodFailed
	s.o.Sessions.Agent.Connected = false
	if p := s.decide(); !creates(p, "run-result") {
		t.Errorf("state %s: %s", stateIn(p).Reason, stateIn(p).Message)
	}
}

func TestDecideCompletesARunFromItsArtifact(t *testing.T) {
	s := newScene()
	s.o.Target, s.o.Job, s.o.Clients, s.o.Sessions = nil, nil, nil, session.Observation{}
	s.run.Status.Artifact = &v1alpha1.ArtifactReference{
		ConfigMap: &v1alpha1.ArtifactConfigMap{Name: "run-result", Key: "result.json.gz"}, SizeBytes: ptr.To(int64(3)), SHA256: "abc",
	}
	s.o.Stored = &observed.Stored{Identity: artifact.Identity{SizeBytes: 3, SHA256: "abc"}, Result: &result.Result{
		Clients:    []result.Client{{Index: 0}, {Index: 1}},
		Findings:   []result.Finding{{Reason: "Careful", Severity: result.Warns}, {Reason: "ClientSaturated", Severity: result.Invalidates, Message: "too busy"}},
		Thresholds: []result.ThresholdOutcome{{Metric: "ErrorRate", Bound: "below 1%", Actual: "0%", Met: true}},
	}}
	p := s.decide()
	if got := stateIn(p); got.Status != metav1.ConditionTrue || got.Reason != v1alpha1.ReasonCompleted {
		t.Errorf("%+v", got)
	}
	if got := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionValid); got.Status != metav1.ConditionFalse || got.Reason != "ClientSaturated" {
		t.Errorf("%+v", got)
	}
	got := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionThresholdsMet)
	if got.Status != metav1.ConditionUnknown || got.Reason != v1alpha1.ReasonNotValid || !strings.Contains(got.Message, "ErrorRate below 1%: 0% (met)") {
		t.Errorf("thresholds of an invalid result: %+v", got)
	}
	if diff := cmp.Diff(s.run.Status.Artifact, p.Status.Artifact); diff != "" {
		t.Errorf("the artifact (-want +got):\n%s", diff)
	}
	if len(p.Status.Clients) != 2 || !p.Release || len(p.Delete) > 0 {
		t.Errorf("%+v", p)
	}
}

func TestCleanUp(t *testing.T) {
	finished := func(succeeded metav1.ConditionStatus, age time.Duration) *scene {
		s := newScene()
		s.run.Status.CompletionTime = ptr.To(metav1.NewTime(now.Add(-age)))
		s.run.Status.Conditions = append(s.run.Status.Conditions,
			metav1.Condition{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue},
			metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: succeeded})
		return s
	}
	retain := func(s *scene, r v1alpha1.PodRetention) *scene { s.run.Spec.PodRetention = r; return s }
	ttl := func(s *scene, seconds int32) *scene { s.run.Spec.TTLSecondsAfterFinished = &seconds; return s }
	children, all := []string{"run-target", "run-client", "run-config"}, []string{"run-target", "client-0", "client-1"}
	tests := map[string]struct {
		scene  *scene
		delete []string
		stop   []string
		expire bool
	}{
		"clients are exiting":     {scene: finished(metav1.ConditionTrue, time.Second), delete: []string{"run-target"}},
		"clients didn't exit":     {scene: finished(metav1.ConditionTrue, ending.ExitTimeout), delete: children},
		"failed":                  {scene: finished(metav1.ConditionFalse, time.Second), delete: children},
		"failed, kept on failure": {scene: retain(finished(metav1.ConditionFalse, time.Second), v1alpha1.RetainOnFailure), stop: all},
		"kept on failure":         {scene: retain(finished(metav1.ConditionTrue, ending.ExitTimeout), v1alpha1.RetainOnFailure), delete: children},
		"always kept":             {scene: retain(finished(metav1.ConditionTrue, ending.ExitTimeout), v1alpha1.RetainAlways), stop: all},
		"always kept, exiting":    {scene: retain(finished(metav1.ConditionTrue, time.Second), v1alpha1.RetainAlways), stop: []string{"run-target"}},
		"kept, without a node": {
			scene: func() *scene {
				s := retain(finished(metav1.ConditionFalse, 0), v1alpha1.RetainAlways)
				s.o.Clients[1].Spec.NodeName = ""
				return s
			}(),
			delete: []string{"client-1"}, stop: []string{"run-target", "client-0"},
		},
		"a deadline of their own doesn't stop them": {
			scene: func() *scene {
				s := retain(finished(metav1.ConditionFalse, 0), v1alpha1.RetainAlways)
				s.o.Target.Spec.ActiveDeadlineSeconds = ptr.To(int64(7200))
				s.o.Clients[0].Spec.ActiveDeadlineSeconds = ptr.To(int64(pods.StopDeadline))
				return s
			}(),
			stop: []string{"run-target", "client-1"},
		},
		"expires later": {scene: ttl(finished(metav1.ConditionTrue, ending.ExitTimeout), 60), delete: children},
		"expires":       {scene: ttl(finished(metav1.ConditionTrue, ending.ExitTimeout), 5), delete: []string{"run"}, expire: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := test.scene.decide()
			if diff := cmp.Diff(test.delete, names(p.Delete)); diff != "" || p.Expire != test.expire {
				t.Errorf("expire %t, deletes (-want +got):\n%s", p.Expire, diff)
			}
			if diff := cmp.Diff(test.stop, names(p.Stop)); diff != "" {
				t.Errorf("stops (-want +got):\n%s", diff)
			}
			if p.Delete == nil && p.Stop == nil && p.RequeueAfter == 0 {
				t.Error("nothing will end the pods")
			}
		})
	}
}

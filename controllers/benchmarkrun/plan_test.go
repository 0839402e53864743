package benchmarkrun

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/manager"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/test/wrapper"
)

// begin is when the runs of these tests are created; now is when they are
// looked at.
var (
	begin = time.Unix(1_000_000, 0)
	now   = begin.Add(10 * time.Second)
)

const (
	warmupStage      = sessionpb.Stage_STAGE_WARMUP
	measurementStage = sessionpb.Stage_STAGE_MEASUREMENT
)

// scene is a run with two clients and all that is seen of it.
type scene struct {
	run *v1alpha1.BenchmarkRun
	o   *observed
}

// newScene is an admitted run whose pods run and have said nothing yet.
func newScene() *scene {
	run := wrapper.NewRun("ns", "run", "image").Clients(2, "1", "128Mi").Requests(5, 1000).Lane("l").Obj()
	run.UID = "uid"
	run.CreationTimestamp = metav1.NewTime(begin)
	run.Status.AdmissionTime = ptr.To(metav1.NewTime(begin))
	run.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionAdmitted, Status: metav1.ConditionTrue}}
	rendering, _ := server.Render(&run.Spec.Target, nil)
	pod, _ := manifest.TargetPod(run, rendering, &manifest.Settings{})
	pod.CreationTimestamp = metav1.NewTime(begin)
	pod.Spec.NodeName = "node"
	pod.Status.PodIP = "10.0.0.1"
	pod.Status.Phase = corev1.PodRunning
	job := manifest.ClientJob(run, nil, &manifest.Settings{})
	job.CreationTimestamp = metav1.NewTime(begin)
	return &scene{run: run, o: &observed{
		config: &corev1.ConfigMap{Data: map[string]string{"content.json": "[]"}}, target: pod, job: job,
		clients: map[int]*corev1.Pod{0: clientPod(), 1: clientPod()},
		sessions: manager.Observation{
			Clients: map[int]manager.ClientState{0: {Connected: true, Node: "node"}, 1: {Connected: true, Node: "node"}},
			Agent:   &manager.AgentState{Connected: true},
		},
	}}
}

func clientPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "client", CreationTimestamp: metav1.NewTime(begin)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "client", Image: "load"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// clients changes what every client said.
func (s *scene) clients(change func(*manager.ClientState)) *scene {
	for i, c := range s.o.sessions.Clients {
		change(&c)
		s.o.sessions.Clients[i] = c
	}
	return s
}

// ready has the target answered and every client ready.
func (s *scene) ready() *scene {
	s.o.sessions.Agent.ProbeResult = &session.ProbeResult{Software: "test"}
	s.o.sessions.Agent.Latest = &result.ServerUsage{CPUs: "1", AgentCPUs: "0"}
	return s.clients(func(c *manager.ClientState) { c.Ready, c.CPUs = true, "0" })
}

// started has a stage begun a second ago.
func (s *scene) started(stage sessionpb.Stage) *scene {
	s.ready()
	s.o.sessions.Starts = map[sessionpb.Stage]int64{stage: now.Add(-time.Second).UnixMicro()}
	return s
}

// collected has every client's figures sent, the last response being half a
// second old.
func (s *scene) collected() *scene {
	s.started(measurementStage)
	return s.clients(func(c *manager.ClientState) {
		c.Totals = &result.Totals{StartedAt: now.Add(-time.Second).UnixMicro(), EndedAt: now.Add(-time.Second / 2).UnixMicro()}
	})
}

func (s *scene) decide() plan { return decide(s.run, s.o, now) }

func stateIn(p plan) metav1.Condition {
	return *meta.FindStatusCondition(p.status.Conditions, v1alpha1.ConditionSucceeded)
}

func TestDecideTakesARunFromStageToStage(t *testing.T) {
	tests := map[string]struct {
		scene *scene
		state string
		check func(plan) bool
	}{
		"nothing exists": {
			func() *scene {
				s := newScene()
				s.o.config, s.o.target, s.o.job, s.o.clients = nil, nil, nil, nil
				s.o.sessions = manager.Observation{}
				return s
			}(), v1alpha1.ReasonStarting, func(p plan) bool { return p.createConfig && p.createTarget && p.createClients },
		},
		"pods run": {newScene(), v1alpha1.ReasonStarting, func(p plan) bool {
			return !p.createConfig && !p.createTarget && !p.createClients && p.address == "10.0.0.1:8080" && p.start == nil
		}},
		"the CPUs aren't known": {
			func() *scene { s := newScene().ready(); s.o.sessions.Agent.Latest = nil; return s }(),
			v1alpha1.ReasonStarting, func(p plan) bool { return p.read && p.start == nil },
		},
		"a client's session is gone": {
			newScene().ready().clients(func(c *manager.ClientState) { c.Connected, c.DisconnectedSince = false, now }),
			v1alpha1.ReasonStarting, func(p plan) bool { return p.start == nil && p.requeueAfter <= silence },
		},
		"all are ready": {newScene().ready(), v1alpha1.ReasonMeasuring, func(p plan) bool {
			at := time.UnixMicro(p.start[measurementStage])
			return at.After(now) && at.Before(now.Add(time.Second)) && p.status.MeasurementTime.Equal(&metav1.MicroTime{Time: at})
		}},
		"all are ready to warm up": {
			func() *scene {
				s := newScene().ready()
				s.run.Spec.Warmup = &v1alpha1.Warmup{Requests: ptr.To(int64(9))}
				return s
			}(),
			v1alpha1.ReasonWarmingUp, func(p plan) bool { return p.start[warmupStage] != 0 && p.start[measurementStage] == 0 },
		},
		"the warm-up is under way": {
			func() *scene {
				s := newScene().started(warmupStage)
				s.run.Spec.Warmup = &v1alpha1.Warmup{Requests: ptr.To(int64(9))}
				return s
			}(), v1alpha1.ReasonWarmingUp, func(p plan) bool {
				return p.start[warmupStage] == now.Add(-time.Second).UnixMicro() && p.requeueAfter == progressInterval
			},
		},
		"the warm-up has ended": {
			func() *scene {
				s := newScene().started(warmupStage).clients(func(c *manager.ClientState) { c.WarmupEnded = true })
				s.run.Spec.Warmup = &v1alpha1.Warmup{Requests: ptr.To(int64(9))}
				return s
			}(), v1alpha1.ReasonMeasuring, func(p plan) bool { return p.start[measurementStage] > now.UnixMicro() },
		},
		"the measurement is under way": {newScene().started(measurementStage), v1alpha1.ReasonMeasuring, func(p plan) bool {
			return p.start[measurementStage] == now.Add(-time.Second).UnixMicro() && !p.store && p.requeueAfter == progressInterval
		}},
		"the agent hasn't read the end": {newScene().collected(), v1alpha1.ReasonCollecting, func(p plan) bool { return p.read && !p.store }},
		"the agent has read the end": {
			func() *scene { s := newScene().collected(); s.o.sessions.Agent.Latest.At = now.UnixMicro(); return s }(),
			v1alpha1.ReasonCollecting, func(p plan) bool { return p.store },
		},
		"the agent is gone at the end": {
			func() *scene { s := newScene().collected(); s.o.sessions.Agent.Connected = false; return s }(),
			v1alpha1.ReasonCollecting, func(p plan) bool { return p.store },
		},
		"the target is gone at the end": {
			func() *scene { s := newScene().collected(); s.o.target, s.o.sessions.Agent = nil, nil; return s }(),
			v1alpha1.ReasonCollecting, func(p plan) bool { return p.store && !p.createTarget },
		},
		"suspended": {
			func() *scene { s := newScene().started(measurementStage); s.run.Spec.Suspend = ptr.To(true); return s }(),
			v1alpha1.ReasonSuspended, func(p plan) bool { return p.remove && p.forget && p.status.AdmissionTime == nil },
		},
		"queued": {
			func() *scene {
				s := newScene()
				s.run.Status = v1alpha1.BenchmarkRunStatus{}
				s.o.turn = turn{ahead: 3, holder: "ns/other"}
				return s
			}(), v1alpha1.ReasonQueued, func(p plan) bool {
				return !p.createTarget && strings.Contains(stateIn(p).Message, "3 runs") && strings.Contains(stateIn(p).Message, "ns/other")
			},
		},
		"its turn": {
			func() *scene {
				s := newScene()
				s.run.Status = v1alpha1.BenchmarkRunStatus{}
				s.o.turn = turn{free: true}
				return s
			}(), v1alpha1.ReasonStarting, func(p plan) bool { return p.status.AdmissionTime.Time.Equal(now) },
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
			if meta.IsStatusConditionTrue(p.status.Conditions, v1alpha1.ConditionFinished) {
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
		"deadline":       {func(s *scene) { s.run.Spec.ActiveDeadlineSeconds = ptr.To(int32(9)) }, v1alpha1.ReasonDeadlineExceeded, "spec.activeDeadlineSeconds"},
		"conflict":       {func(s *scene) { s.o.conflict = "Pod run-target" }, v1alpha1.ReasonNameConflict, "Pod run-target"},
		"target deleted": {func(s *scene) { s.o.target.DeletionTimestamp = &metav1.Time{Time: now} }, v1alpha1.ReasonTargetLost, "deleted"},
		"target gone":    {func(s *scene) { s.o.target, s.run.Status.Target = nil, &v1alpha1.TargetStatus{Node: "node"} }, v1alpha1.ReasonTargetLost, "deleted"},
		"target evicted": {func(s *scene) { s.o.target.Status.Phase, s.o.target.Status.Reason = corev1.PodFailed, "Evicted" }, v1alpha1.ReasonTargetLost, "Evicted"},
		"target crashed": {func(s *scene) {
			s.o.target.Status.ContainerStatuses = terminated(corev1.ContainerStateTerminated{ExitCode: 1, Message: "Invalid flag"})
		}, v1alpha1.ReasonTargetCrashed, "exit code 1: Invalid flag"},
		"target ended": {func(s *scene) { s.o.target.Status.ContainerStatuses = terminated(corev1.ContainerStateTerminated{}) }, v1alpha1.ReasonTargetCrashed, "exit code 0"},
		"target no memory": {func(s *scene) {
			s.o.target.Status.ContainerStatuses = terminated(corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"})
		}, v1alpha1.ReasonTargetCrashed, "OOMKilled"},
		"target no command": {func(s *scene) {
			s.o.target.Status.ContainerStatuses = terminated(corev1.ContainerStateTerminated{ExitCode: 128, Reason: "StartError"})
		}, v1alpha1.ReasonTargetNotStarted, "spec.target.server"},
		"target bad image": {func(s *scene) { s.o.target.Status.ContainerStatuses = waits("InvalidImageName") }, v1alpha1.ReasonTargetImageUnavailable, "the cause"},
		"target no image": {func(s *scene) {
			s.o.target.Status.ContainerStatuses = waits("ImagePullBackOff")
			s.o.target.CreationTimestamp.Time = now.Add(-imageGrace - time.Second)
		}, v1alpha1.ReasonTargetImageUnavailable, "imagePullSecrets"},
		"target not ready": {func(s *scene) {
			s.run.Spec.Target.Readiness.TimeoutSeconds = ptr.To(int32(5))
			s.o.sessions.Agent.ProbeFailure = "GET / was answered with 404"
		}, v1alpha1.ReasonTargetNotReady, "404"},
		"target unschedulable": {func(s *scene) {
			s.run.Spec.Target.Readiness.TimeoutSeconds = ptr.To(int32(5))
			s.o.target.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "Insufficient cpu"}}
		}, v1alpha1.ReasonTargetUnschedulable, "Insufficient cpu"},
		"agent failed":   {func(s *scene) { s.o.sessions.Agent.Failure = "no /proc" }, v1alpha1.ReasonTargetLost, "no /proc"},
		"agent silent":   {func(s *scene) { s.o.sessions.Agent.Connected = false }, v1alpha1.ReasonTargetLost, "silent"},
		"Job deleted":    {func(s *scene) { s.o.job = nil }, v1alpha1.ReasonClientLost, "Job"},
		"client deleted": {func(s *scene) { s.o.clients[1].DeletionTimestamp = &metav1.Time{Time: now} }, v1alpha1.ReasonClientLost, "client 1"},
		"client no memory": {func(s *scene) {
			s.o.clients[1].Status.Phase = corev1.PodFailed
			s.o.clients[1].Status.ContainerStatuses = terminated(corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"})
		}, v1alpha1.ReasonClientFailed, "spec.clients.resources.memory"},
		"client failed": {func(s *scene) {
			s.clients(func(c *manager.ClientState) { c.Failure = "k6 ended" })
		}, v1alpha1.ReasonClientFailed, "k6 ended"},
		"client silent": {func(s *scene) { s.clients(func(c *manager.ClientState) { c.Connected = false }) }, v1alpha1.ReasonClientLost, "silent"},
		"clients without a session": {func(s *scene) {
			s.o.sessions.Clients = nil
			s.o.job.CreationTimestamp.Time = now.Add(-clientsGrace - time.Second)
		}, v1alpha1.ReasonClientsNotReady, "client 0"},
		"clients not ready": {func(s *scene) {
			s.o.job.CreationTimestamp.Time = now.Add(-2 * clientsGrace)
			s.o.sessions.Agent.ProbeResult = &session.ProbeResult{}
			s.run.Status.Conditions = append(s.run.Status.Conditions, metav1.Condition{
				Type: v1alpha1.ConditionTargetReady, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-clientsGrace - time.Second)),
			})
		}, v1alpha1.ReasonClientsNotReady, "client 0"},
		"Job failed": {func(s *scene) {
			s.o.job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "PodFailurePolicy", Message: "why"}}
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
			if !meta.IsStatusConditionTrue(p.status.Conditions, v1alpha1.ConditionFinished) {
				t.Error("a run that failed isn't Finished")
			}
			if p.createTarget || p.start != nil || p.store {
				t.Errorf("the plan doesn't end the run: %+v", p)
			}
			if p.remove || p.stop {
				t.Error("the pods are removed before the verdict is written: after a crash in between they would look lost")
			}
			s.run.Status = p.status
			if next := s.decide(); !next.remove || !next.forget {
				t.Errorf("nothing removes the pods afterwards: %+v", next)
			}
		})
	}
}

func TestNoFaultUndoesWhatWasCollected(t *testing.T) {
	s := newScene().collected()
	s.run.Spec.ActiveDeadlineSeconds = ptr.To(int32(1))
	s.o.clients[0].Status.Phase = corev1.PodFailed
	s.o.target.Status.Phase = corev1.PodFailed
	s.o.sessions.Agent.Connected = false
	if p := s.decide(); !p.store {
		t.Errorf("state %s: %s", stateIn(p).Reason, stateIn(p).Message)
	}
}

func TestDecideCompletesARunFromItsArtifact(t *testing.T) {
	s := newScene()
	s.o.target, s.o.job, s.o.clients, s.o.sessions = nil, nil, nil, manager.Observation{}
	s.o.result = &result.Result{
		Clients:    []result.Client{{Index: 0}, {Index: 1}},
		Findings:   []result.Finding{{Reason: "Careful", Severity: result.Warns}, {Reason: "ClientSaturated", Severity: result.Invalidates, Message: "too busy"}},
		Thresholds: []result.ThresholdOutcome{{Metric: "ErrorRate", Bound: "below 1%", Actual: "0%", Met: true}},
	}
	p := s.decide()
	if got := stateIn(p); got.Status != metav1.ConditionTrue || got.Reason != v1alpha1.ReasonCompleted {
		t.Errorf("%+v", got)
	}
	if got := meta.FindStatusCondition(p.status.Conditions, v1alpha1.ConditionValid); got.Status != metav1.ConditionFalse || got.Reason != "ClientSaturated" {
		t.Errorf("%+v", got)
	}
	if !meta.IsStatusConditionTrue(p.status.Conditions, v1alpha1.ConditionThresholdsMet) {
		t.Error("the threshold was met")
	}
	if p.status.Artifact.ConfigMap != "run-result" || len(p.status.Clients) != 2 || !p.release || p.remove {
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
	tests := map[string]struct {
		scene                *scene
		remove, stop, expire bool
	}{
		"pods are exiting":        {scene: finished(metav1.ConditionTrue, time.Second)},
		"pods didn't exit":        {scene: finished(metav1.ConditionTrue, exitGrace), remove: true},
		"failed":                  {scene: finished(metav1.ConditionFalse, time.Second), remove: true},
		"failed, kept on failure": {scene: retain(finished(metav1.ConditionFalse, time.Second), v1alpha1.RetainOnFailure), stop: true},
		"kept on failure":         {scene: retain(finished(metav1.ConditionTrue, exitGrace), v1alpha1.RetainOnFailure), remove: true},
		"always kept":             {scene: retain(finished(metav1.ConditionTrue, exitGrace), v1alpha1.RetainAlways), stop: true},
		"expires later":           {scene: ttl(finished(metav1.ConditionTrue, exitGrace), 60), remove: true},
		"expires":                 {scene: ttl(finished(metav1.ConditionTrue, exitGrace), 5), remove: true, expire: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := test.scene.decide()
			if p.remove != test.remove || p.stop != test.stop || p.expire != test.expire {
				t.Errorf("remove %t, stop %t, expire %t", p.remove, p.stop, p.expire)
			}
			if !p.remove && !p.stop && p.requeueAfter == 0 {
				t.Error("nothing will end the pods")
			}
		})
	}
}

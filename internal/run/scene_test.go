package run

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/run/step"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/test/wrapper"
)

// begin is the creation time of the runs of these tests, and now the time of the
// decision.
var (
	begin = time.Unix(1_000_000, 0)
	now   = begin.Add(10 * time.Second)
)

const (
	setupStage       = sessionpb.Stage_STAGE_SETUP
	warmupStage      = sessionpb.Stage_STAGE_WARMUP
	measurementStage = sessionpb.Stage_STAGE_MEASUREMENT
	teardownStage    = sessionpb.Stage_STAGE_TEARDOWN
)

// scene is a run with two clients and what is observed of it.
type scene struct {
	run *v1alpha1.BenchmarkRun
	o   *observed.Run
}

// newScene returns an admitted run whose pods run but have not reported anything.
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
	job, _ := manifest.ClientJob(run, "node", nil, &manifest.Settings{})
	job.CreationTimestamp = metav1.NewTime(begin)
	config, _ := manifest.ConfigMap(run, rendering, &manifest.Inputs{}, []byte("ca"))
	return &scene{run: run, o: &observed.Run{
		CA:     []byte("ca"),
		Config: config, Target: pod, Job: job,
		Clients: map[int]*corev1.Pod{0: clientPod(0), 1: clientPod(1)},
		Sessions: session.Observation{
			Now:     now.UnixMicro(),
			Clients: map[int]session.ClientState{0: {PodState: session.PodState{Connected: true, Node: "node"}}, 1: {PodState: session.PodState{Connected: true, Node: "node"}}},
			Agent:   &session.AgentState{PodState: session.PodState{Connected: true}},
		},
	}}
}

func clientPod(index int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("client-", index), CreationTimestamp: metav1.NewTime(begin)},
		Spec:       corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "client", Image: "load"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// clients changes the state of every client.
func (s *scene) clients(change func(*session.ClientState)) *scene {
	for i, c := range s.o.Sessions.Clients {
		change(&c)
		s.o.Sessions.Clients[i] = c
	}
	return s
}

// ready makes the target and every client ready.
func (s *scene) ready() *scene {
	s.o.Sessions.Agent.ProbeResult = &session.ProbeResult{Software: "test"}
	s.o.Sessions.Agent.Latest = &result.ServerUsage{CPUs: "1", AgentCPUs: "0"}
	return s.clients(func(c *session.ClientState) { c.Ready, c.CPUs = true, "0" })
}

// started sets the start time of a stage to a second ago.
func (s *scene) started(stage sessionpb.Stage) *scene {
	s.ready()
	s.o.Sessions.Starts = map[sessionpb.Stage]int64{stage: now.Add(-time.Second).UnixMicro()}
	return s
}

// collected adds every client's totals. The last response is half a second old.
func (s *scene) collected() *scene {
	s.started(measurementStage)
	return s.clients(func(c *session.ClientState) {
		c.TotalsSince = now.Add(-time.Second / 2)
		c.Totals = &result.Totals{StartedAt: now.Add(-time.Second).UnixMicro(), EndedAt: now.Add(-time.Second / 2).UnixMicro()}
	})
}

func (s *scene) decide() step.Plan { return Decide(s.run, s.o, now) }

func stateIn(p step.Plan) metav1.Condition {
	return *meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionSucceeded)
}

// creates reports whether a plan creates an object of a name.
func creates(p step.Plan, name string) bool {
	if p.Store != nil && p.Store.Object.GetName() == name {
		return true
	}
	return slices.ContainsFunc(p.Create, func(c observed.Creation) bool { return c.Object.GetName() == name })
}

// names returns the names of objects.
func names[T manifest.Object](objects []T) []string {
	var all []string
	for _, obj := range objects {
		all = append(all, obj.GetName())
	}
	return all
}

// tomcat makes the target a Tomcat with the given connector.
func (s *scene) tomcat(protocol v1alpha1.TomcatProtocol) *scene {
	s.run.Spec.Target.Server = v1alpha1.Server{Tomcat: &v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{Protocol: protocol}}}
	return s
}

// withBackend adds a backend, a Tomcat with port 8081.
func (s *scene) withBackend() *scene {
	s.run.Spec.Target.Backends = []v1alpha1.Backend{{
		Name: "app", Image: "app:1", Server: v1alpha1.BackendServer{Tomcat: &v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{Port: new(int32(8081))}}},
	}}
	s.o.Target.Spec.Containers = append(s.o.Target.Spec.Containers, corev1.Container{Name: "app", Image: "app:1"})
	return s
}

// logged sets the servers' logs, by container.
func (s *scene) logged(logs map[string]string) *scene {
	s.o.Logs = logs
	return s
}

// became sets the time since when the target is ready.
func (s *scene) became(ago time.Duration) *scene {
	s.run.Status.Conditions = append(s.run.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionTargetReady, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-ago)),
	})
	return s
}

// ended adds a container of the target that terminated.
func (s *scene) ended(container string, end corev1.ContainerStateTerminated) *scene {
	s.o.Target.Status.ContainerStatuses = append(s.o.Target.Status.ContainerStatuses,
		corev1.ContainerStatus{Name: container, State: corev1.ContainerState{Terminated: &end}})
	return s
}

// readBackend adds a usage sample of a backend that runs on the given CPUs.
func (s *scene) readBackend(name, cpus string) *scene {
	s.o.Sessions.Agent.Backends = append(s.o.Sessions.Agent.Backends, session.BackendState{Name: name, Usage: session.Usage{Latest: &result.ServerUsage{CPUs: cpus, AgentCPUs: "0"}}})
	return s
}

// runs adds a running container of the target.
func (s *scene) runs(name, id, image string) *scene {
	s.o.Target.Status.ContainerStatuses = append(s.o.Target.Status.ContainerStatuses, corev1.ContainerStatus{
		Name: name, ContainerID: id, ImageID: image, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	})
	return s
}

// externalScene returns a run of an external server, whose clients run but have not
// reported anything.
func externalScene() *scene {
	s := newScene()
	s.run.Spec.Target = v1alpha1.Target{Server: v1alpha1.Server{External: &v1alpha1.ExternalServer{URL: "http://www.example.org:81"}}}
	s.o.Target, s.o.Sessions.Agent = nil, nil
	return s
}

// answered sets the result of client 0's first successful probe.
func (s *scene) answered() *scene {
	c := s.o.Sessions.Clients[0]
	c.ProbeResult = &session.ProbeResult{Software: "theirs"}
	s.o.Sessions.Clients[0] = c
	return s
}

func (s *scene) standing() *scene {
	return s.answered().clients(func(c *session.ClientState) { c.Ready = true })
}

// clientsWereReady records in the status that all clients are ready.
func (s *scene) clientsWereReady() {
	s.run.Status.Conditions = append(s.run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionClientsReady, Status: metav1.ConditionTrue})
}

// stuck makes the run's pods wait for their volumes.
func (s *scene) stuck(message string) *scene {
	waiting := []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}}}
	for _, pod := range s.o.Pods() {
		pod.Spec.NodeName, pod.Status.Phase, pod.Status.ContainerStatuses = "node", corev1.PodPending, waiting
	}
	s.o.Sessions.Agent, s.o.Sessions.Clients = nil, nil
	s.o.PodEvents = map[string]*pods.Event{s.o.Target.Name: {Reason: "FailedMount", Message: message}}
	return s
}

// scripted returns a run of a script.
func scripted() *scene {
	s := newScene()
	s.run.Spec.Load, s.run.Spec.Script = v1alpha1.Load{}, &v1alpha1.Script{ConfigMapName: "shop", File: "script.js"}
	s.run.Spec.Target.Readiness.Path = "/"
	return s
}

// untilSteady returns a warm-up that compares its windows with the defaults, for
// two minutes at most.
func untilSteady() *v1alpha1.Warmup {
	return &v1alpha1.Warmup{Steady: &v1alpha1.SteadyState{TimeoutSeconds: ptr.To(int32(120))}}
}

// warmed returns three windows of 5 s, the last one with a given throughput.
func warmed(last int64) []result.WarmupWindow {
	return []result.WarmupWindow{
		{Second: 5, Seconds: 5, Succeeded: 1000, P99: 500}, {Second: 10, Seconds: 5, Succeeded: 1000, P99: 500}, {Second: 15, Seconds: 5, Succeeded: last, P99: 500},
	}
}

// warming returns a run that is in a warm-up until the target is steady.
func warming(windows []result.WarmupWindow) *scene {
	s := newScene().started(warmupStage)
	s.run.Spec.Load.Warmup = untilSteady()
	s.o.Windows = windows
	return s
}

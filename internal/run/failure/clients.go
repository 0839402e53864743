package failure

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/run/inputs"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/session"
)

const (
	// ClientsReadyTimeout is the time that clients may take to become ready.
	ClientsReadyTimeout = 5 * time.Minute
	// RefusalTimeout limits the time for which the Job's pods may be refused: what fills a quota may be terminating.
	RefusalTimeout = 20 * time.Second
)

// client is a client of a run as it is observed. Its pod may be nil.
type client struct {
	session.ClientState
	index int
	known bool // it has had a session with this manager
	pod   *corev1.Pod
}

// eachClient finds the first client of which find returns a message. find must not keep the client.
func eachClient(find func(*seen, *client) string) func(*seen) string {
	return func(s *seen) string {
		var c client // one for all: a thousand are looked at for each row of the table
		for i := range loadplan.Replicas(&s.run.Spec) {
			c = client{index: i, pod: s.o.Clients[i]}
			c.ClientState, c.known = s.o.Sessions.Clients[i]
			if message := find(s, &c); message != "" {
				return message
			}
		}
		return ""
	}
}

func clientEvicted(s *seen, c *client) string {
	why := pods.Eviction(c.pod)
	if why == "" || c.Totals != nil || s.stopping(c) {
		return ""
	}
	return fmt.Sprintf("Client %d was evicted from %s before its measurement was complete: %s. Resolve the cause, and create a new run.",
		c.index, pods.NodeOf(c.pod.Spec.NodeName), why)
}

// jobSuspended finds a Job that was suspended under load. Before that, the run waits until it is resumed.
func jobSuspended(s *seen) string {
	if !s.o.JobSuspended() || !state.UnderLoad(state.Of(s.run)) {
		return ""
	}
	return SuspendedJob(s.run, s.o) + ", which deletes its pods, during the run. Give the queue room or the run a higher priority, and create a new run."
}

// SuspendedJob says that the clients' Job is suspended, and by what, as the begin of a message.
func SuspendedJob(run *v1alpha1.BenchmarkRun, o *observed.Run) string {
	if queue := run.Labels[manifest.LabelQueue]; queue != "" {
		return fmt.Sprintf("Job %s is suspended by Kueue, queue %s", o.Job.Name, queue)
	}
	return fmt.Sprintf("Job %s is suspended by something in the cluster (see kubectl describe job %s -n %s)", o.Job.Name, o.Job.Name, run.Namespace)
}

func jobDeleted(s *seen) string {
	job := s.o.Job
	if job == nil && len(s.o.Sessions.Clients) > 0 || job != nil && !job.DeletionTimestamp.IsZero() {
		return "The clients' Job was deleted during the run. Find out what deleted it, and create a new run."
	}
	return ""
}

// stopping reports whether a client whose pod is being deleted may still say what is unanswered.
func (s *seen) stopping(c *client) bool {
	return c.Connected && c.Failure == "" && !c.pod.DeletionTimestamp.IsZero() && s.now.Before(c.pod.DeletionTimestamp.Time)
}

func clientDeleted(s *seen, c *client) string {
	if c.pod == nil || c.pod.DeletionTimestamp.IsZero() || c.Totals != nil || s.stopping(c) {
		return ""
	}
	return fmt.Sprintf("Client %d was deleted before its measurement was complete. Find out what deleted it, and create a new run.", c.index)
}

// clientFailed finds a client that said that it failed, of a kind that has a reason of its own, or of any. One
// that a signal stopped is waited for until its pod shows why.
func clientFailed(kind session.FailureKind) func(*seen, *client) string {
	return func(s *seen, c *client) string {
		ended, _ := pods.ClientEnded(c.pod, s.now)
		stopping := c.FailureKind == session.FailureStopped && c.pod != nil && (!ended || !c.pod.DeletionTimestamp.IsZero())
		if c.Failure == "" || stopping || kind != anyKind && c.FailureKind != kind {
			return ""
		}
		return fmt.Sprintf("Client %d failed: %s", c.index, c.Failure)
	}
}

// endedEarly reports whether a client terminated by itself before it sent its totals.
func (s *seen) endedEarly(c *client) bool {
	ended, _ := pods.ClientEnded(c.pod, s.now)
	return ended && c.pod.DeletionTimestamp.IsZero() && c.Totals == nil
}

func clientExited(s *seen, c *client) string {
	if !s.endedEarly(c) {
		return ""
	}
	end := pods.ContainerEnd(c.pod, manifest.ClientContainer)
	if end == nil {
		return ""
	}
	return fmt.Sprintf("Client %d exited before its measurement was complete: %s%s", c.index, pods.Exit(end),
		pods.MemoryAdvice(end, c.pod, manifest.ClientContainer, "spec.clients.resources.memory"))
}

func clientEnded(s *seen, c *client) string {
	if !s.endedEarly(c) {
		return ""
	}
	return fmt.Sprintf("Client %d was lost before its measurement was complete: %s", c.index, pods.ReasonOf(c.pod))
}

func jobFailed(s *seen) string {
	if s.o.Job == nil {
		return ""
	}
	for _, condition := range s.o.Job.Status.Conditions {
		if condition.Type == "Failed" && condition.Status == corev1.ConditionTrue {
			return fmt.Sprintf("The clients' Job failed: %s: %s", condition.Reason, condition.Message)
		}
	}
	return ""
}

func clientLacksObject(s *seen, c *client) string {
	if c.pod == nil {
		return ""
	}
	e := s.o.PodEvents[c.pod.Name]
	if !e.Missing() || !s.now.After(c.pod.CreationTimestamp.Add(inputs.Timeout)) {
		return ""
	}
	return fmt.Sprintf("Client %d can't be started: %s. Create what is missing, then create a new run.", c.index, e.OfClient(s.run))
}

func clientImageUnavailable(s *seen, c *client) string {
	wait := pods.Waiting(c.pod, s.now)
	if wait == nil || !wait.Image || wait.Container != manifest.ClientContainer && wait.Container != manifest.ToolContainer {
		return ""
	}
	remedy := "Check the installation of the operator."
	switch {
	case s.run.Spec.Clients.Image != "":
		remedy = "Check spec.clients.image."
	case s.run.Spec.Clients.Tool != nil && s.run.Spec.Clients.Tool.Image != "":
		remedy = "Check spec.clients.tool.image, and the installation of the operator."
	}
	return fmt.Sprintf("The clients' image %s can't be pulled: %s. %s", c.pod.Spec.Containers[0].Image, wait.Message, remedy)
}

func clientBlocked(s *seen, c *client) string {
	wait := pods.Waiting(c.pod, s.now)
	if wait == nil {
		return ""
	}
	if wait.Container != manifest.ClientContainer && wait.Container != manifest.ToolContainer {
		return fmt.Sprintf("Client %d can't be started: container %s, which Assay did not create: %s", c.index, wait.Container, wait.Message)
	}
	return fmt.Sprintf("Client %d can't be started: %s", c.index, wait.Message)
}

// clientRefused finds a client whose pod the Job can't create because the API server rejects it, for a reason of its own or
// for any other.
func clientRefused(reason string) func(*seen) string {
	return func(s *seen) string {
		i, missing := s.o.MissingClient(s.run)
		if !missing || !s.now.After(s.o.ClientsSince(s.run).Add(RefusalTimeout)) {
			return ""
		}
		e := s.o.PodEvents[s.o.Job.Name]
		if e == nil || e.Reason != "FailedCreate" || reasonOfRejection(e.Message) != reason || reason == "" && !strings.Contains(e.Message, "is forbidden") {
			return ""
		}
		return fmt.Sprintf("The pod of client %d was rejected by the API server: %s. %s", i, printable.WithoutPeriod(e.Message), adviceOn(e.Message, s.run.Namespace))
	}
}

// unready is like eachClient, but for those that did not become ready in time. A client with a session becomes ready after the
// target, which has its own timeout.
func unready(find func(*seen, *client) string) func(*seen) string {
	late := eachClient(func(s *seen, c *client) string {
		if c.Ready || !s.now.After(ClientReadyBy(s.run, s.o, c.Connected)) {
			return ""
		}
		return find(s, c)
	})
	return func(s *seen) string {
		if s.o.Job == nil || state.ClientsWereReady(s.run) {
			return ""
		}
		return late(s)
	}
}

func clientNotCreated(s *seen, c *client) string {
	if c.pod != nil {
		return ""
	}
	return fmt.Sprintf("Client %d had no pod after %s. See the events of Job %s.", c.index, ClientsReadyTimeout, s.o.Job.Name)
}

func clientUnschedulable(s *seen, c *client) string {
	message := pods.Unschedulable(c.pod)
	if message == "" {
		return ""
	}
	return fmt.Sprintf("Client %d could not be scheduled within %s: %s%s %s", c.index, ClientsReadyTimeout, Sentence(message),
		PlacementCause(s.run, s.o), placementRemedy(s.run))
}

func clientNotReady(s *seen, c *client) string {
	if e := s.o.PodEvents[c.pod.Name]; e != nil {
		return fmt.Sprintf("Client %d did not start within %s: %s", c.index, ClientsReadyTimeout, e)
	}
	if !c.known && pods.RunningSince(c.pod, manifest.ClientContainer) != (time.Time{}) {
		return fmt.Sprintf("Client %d %s", c.index, s.unconnected(ClientsReadyTimeout, c.pod.Name, manifest.ClientContainer))
	}
	return fmt.Sprintf("Client %d was not ready after %s. See the log of pod %s.", c.index, ClientsReadyTimeout, c.pod.Name)
}

// ClientReadyBy returns the time by which a client has to be ready.
func ClientReadyBy(run *v1alpha1.BenchmarkRun, o *observed.Run, connected bool) time.Time {
	from := o.ClientsSince(run)
	if connected {
		ready := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionTargetReady)
		switch {
		case ready == nil || ready.Status != metav1.ConditionTrue:
			from = observed.TargetReadyBy(run, o)
		case ready.LastTransitionTime.After(from):
			from = ready.LastTransitionTime.Time
		}
	}
	return o.Deadline(from, ClientsReadyTimeout)
}

// clientDisconnected finds a client that has had no session for too long.
func clientDisconnected(s *seen, c *client) string {
	away := s.now.Sub(observed.DisconnectedSince(s.o, c.index))
	if !c.known && !state.ClientsWereReady(s.run) || c.Connected || c.Totals != nil || away <= observed.ContactTimeout {
		return ""
	}
	return fmt.Sprintf("Client %d was disconnected for %s. Check %s and its network.", c.index, observed.ContactTimeout, pods.NodeOf(c.Node))
}

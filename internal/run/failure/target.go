package failure

import (
	"cmp"
	"fmt"
	"net"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/run/inputs"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
)

func targetEvicted(s *seen) string {
	target := s.o.Target
	why := pods.Eviction(target)
	if why == "" && target != nil && pods.Ended(target) {
		if e := s.o.PodEvents[target.Name]; e != nil && e.Reason == pods.EvictedReason {
			why = printable.WithoutPeriod(e.String())
		}
	}
	if why == "" {
		return ""
	}
	return fmt.Sprintf("The target's pod was evicted from %s: %s. Resolve the cause, and create a new run.", pods.NodeOf(target.Spec.NodeName), why)
}

func targetDeleted(s *seen) string {
	hadNode := s.run.Status.Target != nil && s.run.Status.Target.Node != ""
	if s.o.Target == nil && hadNode || s.o.Target != nil && !s.o.Target.DeletionTimestamp.IsZero() {
		return "The target's pod was deleted during the run. Find out what deleted it, and create a new run."
	}
	return ""
}

// sharingUnsupported finds servers that share a limit which the API server didn't keep.
func sharingUnsupported(s *seen) string {
	if s.run.Spec.Target.SharedCPU == nil || s.o.Target == nil || s.o.Target.Spec.Resources != nil {
		return ""
	}
	return "spec.target.sharedCPU needs pod-level resources, which this cluster doesn't have: the API server dropped resources of the target's pod. " +
		"Use Kubernetes 1.34 or later with the feature gate PodLevelResources, or omit sharedCPU."
}

// targetUnsupported finds servers whose version doesn't support, by their logs or the TLS handshake, what is declared. It
// comes before what they do differently.
func targetUnsupported(s *seen) string { return s.mismatches(true) }

// targetMismatched finds servers that are not as declared.
func targetMismatched(s *seen) string { return s.mismatches(false) }

// mismatches returns in which ways the servers are not as declared. Logs under load don't count: they aren't about how the
// servers were started.
func (s *seen) mismatches(unsupported bool) string {
	var found []server.Mismatch
	if !state.UnderLoad(state.Of(s.run)) {
		found = append(found, s.logged...)
	}
	if e := observed.Probed(s.run, s.o); e != nil {
		found = append(found, server.TLSMismatches(&s.run.Spec.Target, e)...)
	}
	var said []string
	for _, c := range found {
		if c.Unsupported || !unsupported {
			said = append(said, c.String())
		}
	}
	return printable.Bounded(strings.Join(said, " "), state.MaxMessage/2)
}

func contentNotWritten(s *seen) string {
	if s.o.Target == nil {
		return ""
	}
	for _, status := range s.o.Target.Status.InitContainerStatuses {
		if end := status.State.Terminated; end != nil && end.ExitCode != 0 && status.Name == manifest.ContentContainer {
			return "The target's content could not be written: " + pods.Exit(end)
		}
	}
	return ""
}

// endedServer returns the server that terminated first, or nil. While the kubelet may be stopping the whole pod there is
// none: it writes why only then.
func (s *seen) endedServer() *corev1.ContainerStatus {
	if s.mayBeStopped() {
		return nil
	}
	return pods.ServerEnd(s.run, s.o.Target)
}

func (s *seen) mayBeStopped() bool {
	if s.o.Target == nil {
		return true
	}
	_, may := pods.MayBeStopping(s.run, s.o.Target, s.now)
	return may || pods.Stopping(s.o.Target)
}

func serverNotStarted(s *seen) string {
	status := s.endedServer()
	if status == nil || !pods.NeverRan(status.State.Terminated) {
		return ""
	}
	return fmt.Sprintf("%s could not be started: %s. Check the command in %s.server.", nameOf(status.Name), pods.Exit(status.State.Terminated), fieldOf(status.Name))
}

func serverExited(s *seen) string {
	status := s.endedServer()
	if status == nil {
		return ""
	}
	end := status.State.Terminated
	text := pods.Exit(end) + pods.MemoryAdvice(end, s.o.Target, status.Name, fieldOf(status.Name)+".resources.memory")
	if strings.TrimSpace(end.Message) == "" {
		// The kubelet keeps no log of a server that exited with code 0 or was killed for memory.
		text += logTail(s.o.Logs[status.Name])
	}
	return fmt.Sprintf("%s exited: %s", nameOf(status.Name), text)
}

func targetFailed(s *seen) string {
	if s.mayBeStopped() || s.o.Target.Status.Phase != corev1.PodFailed || s.o.Target.Status.Reason == "" {
		return ""
	}
	return "The target's pod failed: " + pods.ReasonOf(s.o.Target)
}

func agentExited(s *seen) string {
	if s.mayBeStopped() {
		return ""
	}
	if end := pods.ContainerEnd(s.o.Target, manifest.AgentContainer); end != nil {
		return "The target's agent exited: " + pods.Exit(end)
	}
	return ""
}

// targetEnded finds a pod that ended before a container of Assay's did: the cluster added another one, which failed.
func targetEnded(s *seen) string {
	if s.mayBeStopped() || !pods.Ended(s.o.Target) {
		return ""
	}
	return "The target's pod ended: " + pods.ReasonOf(s.o.Target)
}

func targetLacksObject(s *seen) string {
	target := s.o.Target
	if target == nil || !s.o.PodEvents[target.Name].Missing() || !s.now.After(target.CreationTimestamp.Add(inputs.Timeout)) {
		return ""
	}
	return fmt.Sprintf("The target can't be started: %s. Create what is missing, then create a new run.", s.o.PodEvents[target.Name])
}

func targetBlocked(s *seen) string {
	wait := pods.Waiting(s.o.Target, s.now)
	if wait == nil || wait.Image {
		return ""
	}
	return fmt.Sprintf("Container %s of the target can't be started: %s", wait.Container, wait.Message)
}

func targetImageUnavailable(s *seen) string {
	wait := pods.Waiting(s.o.Target, s.now)
	if wait == nil {
		return ""
	}
	for _, c := range manifest.Servers(s.run, s.o.Target) {
		if c.Name == wait.Container {
			return fmt.Sprintf("Image %s can't be pulled: %s. Check %s.image, spec.target.imagePullPolicy and spec.target.imagePullSecrets.",
				c.Image, wait.Message, fieldOf(c.Name))
		}
	}
	return ""
}

func assayImageUnavailable(s *seen) string {
	wait := pods.Waiting(s.o.Target, s.now)
	if wait == nil {
		return ""
	}
	if wait.Container != manifest.AgentContainer && wait.Container != manifest.ContentContainer {
		return fmt.Sprintf("The image of container %s can't be pulled: %s. Assay did not create that container: check what adds it to pods of namespace %s.",
			wait.Container, wait.Message, s.run.Namespace)
	}
	return fmt.Sprintf("The image of Assay's container %s can't be pulled: %s. Check the installation of the operator.", wait.Container, wait.Message)
}

// readyTooLate reports whether the target did not become ready within its timeout, which it returns in seconds.
func (s *seen) readyTooLate() (timeout int, late bool) {
	started := s.o.Target != nil || state.IsExternal(s.run) && s.o.Job != nil
	late = started && s.now.After(observed.TargetReadyBy(s.run, s.o)) && observed.Probed(s.run, s.o) == nil && !state.TargetWasReady(s.run)
	return int(state.ReadinessTimeout(s.run).Seconds()), late
}

func externalNotReady(s *seen) string {
	timeout, late := s.readyTooLate()
	if !late || !state.IsExternal(s.run) {
		return ""
	}
	return fmt.Sprintf(
		"Readiness probe %s did not succeed within %ds at %s: client 0: %s. Check spec.target.server.external.url, spec.target.readiness (path, host, headers, port) and the network.",
		&loadplan.Probes(&s.run.Spec)[0], timeout, server.ExternalURL(&s.run.Spec.Target), cmp.Or(s.o.Sessions.Clients[0].ProbeFailure, "it never probed the target"))
}

func targetUnschedulable(s *seen) string {
	timeout, late := s.readyTooLate()
	if !late || pods.Unschedulable(s.o.Target) == "" {
		return ""
	}
	return fmt.Sprintf("The target could not be scheduled within %ds: %s. Decrease spec.target.resources, or free a node.", timeout, pods.Unschedulable(s.o.Target))
}

func targetNotStarted(s *seen) string {
	timeout, late := s.readyTooLate()
	if !late || s.o.PodEvents[s.o.Target.Name] == nil {
		return ""
	}
	return fmt.Sprintf("The target did not start within %ds: %s", timeout, s.o.PodEvents[s.o.Target.Name])
}

func targetNotReady(s *seen) string {
	timeout, late := s.readyTooLate()
	if !late {
		return ""
	}
	agent := s.o.Sessions.Agent
	if agent == nil && pods.RunningSince(s.o.Target, manifest.AgentContainer) != (time.Time{}) {
		return fmt.Sprintf("The target's agent %s", s.unconnected(state.ReadinessTimeout(s.run), manifest.TargetName(s.run), manifest.AgentContainer))
	}
	probe := "the agent never reported"
	if agent != nil && agent.ProbeFailure != "" {
		probe = agent.ProbeFailure
	}
	return fmt.Sprintf(
		"Readiness probe %s did not succeed within %ds: %s. Check the server's configuration and spec.target.readiness (path, host, headers, port, timeoutSeconds).%s",
		&loadplan.Probes(&s.run.Spec)[0], timeout, probe, logTail(s.o.Logs[server.ContainerName]))
}

// unconnected says of a container that runs that it has had no session, why that may be, and where to look.
func (s *seen) unconnected(timeout time.Duration, pod, container string) string {
	address := s.o.Settings.SessionAddress
	_, port, _ := net.SplitHostPort(address)
	return fmt.Sprintf("did not connect to the manager at %s within %ds, although it runs. "+
		"A NetworkPolicy or a mesh may be in the way: pods of namespace %s need egress to port %s of the manager in namespace %s, and to DNS. "+
		"To look: set spec.podRetention to OnFailure, create the run again, and read kubectl logs %s -c %s -n %s.%s",
		address, int(timeout.Seconds()), s.run.Namespace, port, s.o.Settings.Namespace, pod, container, s.run.Namespace, logTail(s.o.Logs[container]))
}

// agentFailed finds an agent that said that it failed, of a kind that has a reason of its own, or of any.
func agentFailed(kind session.FailureKind) func(*seen) string {
	return func(s *seen) string {
		agent := s.o.Sessions.Agent
		if state.IsExternal(s.run) || agent == nil || agent.Failure == "" || kind != anyKind && agent.FailureKind != kind {
			return ""
		}
		return "The target's agent failed: " + agent.Failure
	}
}

// agentDisconnected finds an agent that has had no session with this manager for too long.
func agentDisconnected(s *seen) string {
	agent := s.o.Sessions.Agent
	node := ""
	switch {
	case state.IsExternal(s.run):
		return ""
	case agent == nil && state.TargetWasReady(s.run) && s.now.Sub(s.o.Sessions.Since) > observed.ContactTimeout:
	case agent != nil && !agent.Connected && s.now.Sub(agent.DisconnectedSince) > observed.ContactTimeout:
		node = agent.Node
	default:
		return ""
	}
	return fmt.Sprintf("The target's agent was disconnected for %s. Check %s and its network.", observed.ContactTimeout, pods.NodeOf(node))
}

// nameOf returns what a container of the target is called at the start of a message.
func nameOf(container string) string {
	if container == server.ContainerName {
		return "The server"
	}
	return "Backend " + container
}

// fieldOf returns the field that declares a container of the target.
func fieldOf(container string) string {
	if container == server.ContainerName {
		return "spec.target"
	}
	return "spec.target.backends[" + container + "]"
}

const (
	// LastLines limits how many lines a message shows of a failed server's log, LastBytes how many bytes.
	LastLines = 12
	// LastBytes is the limit in bytes.
	LastBytes = 2048
)

// logTail returns the last lines of a server's log, as an addition to a message.
func logTail(log string) string {
	log = strings.TrimRight(log, "\n")
	if log == "" {
		return ""
	}
	lines := strings.Split(log, "\n")
	lines = lines[max(0, len(lines)-LastLines):]
	for i := range lines {
		lines[i] = printable.Text(lines[i])
	}
	text := strings.Join(lines, "\n")
	if len(text) > LastBytes {
		text = "…" + strings.ToValidUTF8(text[len(text)-LastBytes:], "")
	}
	return "\nThe last lines of its log:\n" + text
}

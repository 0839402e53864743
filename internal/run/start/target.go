package start

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/run/step"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
)

// ObserveTarget records in the status what was started, and plans what the run's pods must know of
// it. It returns false if the run fails.
func ObserveTarget(p *step.Planner) bool {
	recorded := ptr.Deref(p.Status.Target, v1alpha1.TargetStatus{})
	p.Started = *recorded.DeepCopy()
	t, pod := &p.Started, p.Observed.Target
	address := ""
	switch {
	case state.IsExternal(p.Run):
		address = server.ExternalAddress(&p.Run.Spec.Target)
		t.Address = address
	case pod == nil:
		return true
	default:
		address = observePod(p, pod)
	}
	if e := observed.Probed(p.Run, p.Observed); e != nil {
		t.ServerSoftware, t.TLS = e.Software, tlsStatus(e.TLS)
	}
	if agent := p.Observed.Sessions.Agent; agent != nil && agent.Latest != nil && pod != nil {
		t.CPUs, t.CPUExclusivity = agent.Latest.CPUs, observed.Exclusivity(agent.Latest.CPUs, agent.Latest.AgentCPUs, p.Run.Spec.Target.Resources)
	}
	recordTarget(p)
	return address == "" || prepareClients(p, address)
}

// prepareClients plans to send the clients their plans. A list of requests that can't be read any
// more is one that every client already has.
func prepareClients(p *step.Planner, address string) bool {
	loads, err := p.LoadPlans()
	if err != nil {
		p.Fail(failure.SpecUnusable(err))
		return false
	}
	if p.Run.Spec.Load.RequestsFrom == nil || loads[0].RequestList != nil {
		p.Prepare = &step.Prepare{Plans: loads, Address: address}
	}
	return true
}

// observePod takes what Kubernetes reports of the target's pod, and returns the target's host and
// port, or "" if the pod has no address yet.
func observePod(p *step.Planner, pod *corev1.Pod) (address string) {
	t, spec := &p.Started, &p.Run.Spec.Target
	t.Node = pod.Spec.NodeName
	if p.Observed.Node != nil {
		t.Kernel = cmp.Or(p.Observed.Node.Status.NodeInfo.KernelVersion, t.Kernel)
	}
	for i := len(t.Backends); i < len(spec.Backends); i++ {
		t.Backends = append(t.Backends, v1alpha1.BackendStatus{Name: spec.Backends[i].Name})
	}
	recordOwn(p)
	containers := map[string]string{}
	servers := manifest.Servers(p.Run, pod)
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == server.ContainerName {
			t.ImageID = status.ImageID
		}
		for i := range t.Backends {
			if t.Backends[i].Name == status.Name {
				t.Backends[i].ImageID = status.ImageID
			}
		}
		isServer := slices.ContainsFunc(servers, func(c corev1.Container) bool { return c.Name == status.Name })
		if _, id, ok := strings.Cut(status.ContainerID, "://"); ok && isServer {
			containers[id] = status.Name
		}
	}
	if pod.Status.PodIP == "" {
		return ""
	}
	t.Address = net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(int(server.Port(spec))))
	p.Watch = &session.Watch{
		Address: t.Address, Probes: loadplan.Probes(&p.Run.Spec), Host: server.Host(p.Run), TLS: server.SessionTLS(p.Run),
		Streams: loadplan.Streams(&p.Run.Spec),
	}
	if len(t.Backends) > 0 {
		p.Watch.Containers = containers
	}
	return t.Address
}

// recordOwn takes what the users' own configurations do from the run's ConfigMap, once.
func recordOwn(p *step.Planner) {
	t := &p.Started
	if t.Configuration != nil || len(server.ConfigurationNames(&p.Run.Spec.Target)) == 0 || p.Observed.Config == nil {
		return
	}
	rendering, err := manifest.ReadRendering(p.Observed.Config)
	if err != nil {
		return // the pod was built from it
	}
	rendering.Own.Record(server.ContainerName, &t.ServerStatus)
	for i := range t.Backends {
		rendering.Own.Record(t.Backends[i].Name, &t.Backends[i].ServerStatus)
	}
}

// recordTarget writes what was started into the status, as far as that has room.
func recordTarget(p *step.Planner) {
	t := p.Started.DeepCopy()
	t.Address, t.Kernel = printable.Bounded(t.Address, 64), printable.Bounded(t.Kernel, 256)
	t.CPUs, t.ServerSoftware = printable.Bounded(t.CPUs, 1024), printable.Bounded(t.ServerSoftware, 256)
	p.Status.Target = t
}

func tlsStatus(e *result.Handshake) *v1alpha1.TLSStatus {
	if e == nil {
		return nil
	}
	s := &v1alpha1.TLSStatus{
		Protocol: printable.Bounded(e.Protocol, 32), Cipher: printable.Bounded(e.Cipher, 64),
		KeyAlgorithm: printable.Bounded(e.KeyAlgorithm, 32), KeySize: ptr.To(int32(e.KeySize)),
		Subject: printable.Bounded(e.Subject, 512), Issuer: printable.Bounded(e.Issuer, 512), Fingerprint: printable.Bounded(e.Fingerprint, 128),
		NotAfter:          ptr.To(metav1.NewTime(time.UnixMicro(e.NotAfter))),
		ClientCertificate: v1alpha1.ClientCertificateNotRequested,
	}
	if e.CertificateRequested {
		s.ClientCertificate = v1alpha1.ClientCertificateRequested
	}
	return s
}

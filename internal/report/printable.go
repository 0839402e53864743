package report

import (
	"slices"

	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/result"
)

// shown is a copy of the result in which all texts are printable.
func shown(r *result.Result) *result.Result {
	p := *r
	clean := func(texts ...*string) {
		for _, text := range texts {
			*text = printable.Text(*text)
		}
	}
	clean(&p.Run.Namespace, &p.Run.Name, &p.Run.UID, &p.Run.Image, &p.Run.Server, &p.Run.Load)
	e := &p.Environment
	clean(&e.TargetNode, &e.TargetAddress, &e.TargetImageID, &e.ServerSoftware, &e.ServerVersion, &e.Connector, &e.TargetCPUs, &e.CPUExclusivity,
		&e.Kernel, &e.ContainerRuntime, &e.Kubelet, &e.Assay)
	e.Libraries = slices.Clone(e.Libraries)
	for i := range e.Libraries {
		clean(&e.Libraries[i])
	}
	if e.TLS != nil {
		t := *e.TLS
		e.TLS = &t
		clean(&t.Protocol, &t.Cipher, &t.KeyAlgorithm, &t.Subject, &t.Issuer, &t.Fingerprint)
	}
	p.Run.Requests = slices.Clone(r.Run.Requests)
	for i := range p.Run.Requests {
		clean(&p.Run.Requests[i].Method, &p.Run.Requests[i].Path)
	}
	clean(&p.Run.Authentication)
	if r.Run.RequestList != nil {
		list := *r.Run.RequestList
		p.Run.RequestList = &list
		clean(&list.ConfigMap, &list.Key, &list.File)
	}
	p.Clients = slices.Clone(r.Clients)
	for i := range p.Clients {
		clean(&p.Clients[i].Node)
	}
	p.Findings = slices.Clone(r.Findings)
	for i := range p.Findings {
		clean(&p.Findings[i].Reason, (*string)(&p.Findings[i].Severity), &p.Findings[i].Message)
	}
	p.Thresholds = slices.Clone(r.Thresholds)
	for i := range p.Thresholds {
		clean(&p.Thresholds[i].Metric, &p.Thresholds[i].Bound, &p.Thresholds[i].Actual)
	}
	if r.Server != nil {
		server := *r.Server
		clean(&server.Begin.CPUs, &server.Begin.AgentCPUs, &server.End.CPUs, &server.End.AgentCPUs)
		p.Server = &server
	}
	e.Backends = slices.Clone(e.Backends)
	for i := range e.Backends {
		b := &e.Backends[i]
		clean(&b.Name, &b.Image, &b.ImageID, &b.CPUs, &b.CPUExclusivity)
	}
	p.Backends = slices.Clone(r.Backends)
	for i := range p.Backends {
		b := &p.Backends[i]
		clean(&b.Name, &b.Begin.CPUs, &b.Begin.AgentCPUs, &b.End.CPUs, &b.End.AgentCPUs)
	}
	return &p
}

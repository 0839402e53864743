package run

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
)

const (
	// verificationTimeout is how long servers may take to log their version and connector once the
	// target is ready. Backends may still be starting: their readiness isn't probed.
	verificationTimeout = 30 * time.Second
	// verificationInterval is how often its log is read until then.
	verificationInterval = 100 * time.Millisecond
)

// verify records what the servers logged. It returns what it waits for while one may still log it.
func (p *planner) verify() (done bool, waits string) {
	ready := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionTargetReady)
	if p.observed.Logs == nil || p.observed.Target == nil || ready == nil || probed(p.run, p.observed) == nil {
		return true, ""
	}
	for _, name := range server.VerifiableContainers(&p.run.Spec.Target) {
		logged := p.logged[name]
		if (logged.Version == "" || logged.Opened() == "") && !p.now.After(ready.LastTransitionTime.Add(verificationTimeout)) {
			p.requeueIn(verificationInterval)
			return false, cmp.Or(p.observed.LogErrors[name], "container "+name+" has not logged its version and connector yet")
		}
	}
	t := &p.started
	if logged, ok := p.logged[server.ContainerName]; ok {
		t.ServerVersion, t.Connector, t.Libraries = shown(logged)
	}
	for i := range t.Backends {
		b := &t.Backends[i]
		if logged, ok := p.logged[b.Name]; ok {
			b.ServerVersion, b.Connector, b.Libraries = shown(logged)
		}
	}
	p.recordTarget()
	return true, ""
}

// shown returns what a server logged, in the lengths that the status has room for.
func shown(l server.Log) (version, connector string, libraries []string) {
	for _, text := range l.Libraries[:min(len(l.Libraries), 16)] {
		if text != "" {
			libraries = append(libraries, Bounded(text, 256))
		}
	}
	return Bounded(l.Version, 256), Bounded(l.Opened(), 256), libraries
}

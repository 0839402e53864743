package run

import (
	"fmt"
	"strings"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/inputs"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/server"
)

// sessionCertificateInterval is the interval at which the manager's own certificate is looked for.
const sessionCertificateInterval = time.Second

// prepare plans the run's objects, and returns false while the run must wait for something before
// it goes on. Once target and clients exist, it only repairs.
func (p *planner) prepare() bool {
	o := p.observed
	started := state.IsExternal(p.run) || o.Target != nil
	complete := started && o.Job != nil
	if o.NoCertManager != "" {
		p.fail(failure.CertManagerMissing(o.NoCertManager))
		return false
	}
	if o.Config == nil && !p.createConfig(complete) {
		return false
	}
	if o.Job == nil {
		p.createCertificates()
		if !p.certificatesReady() {
			return false
		}
	}
	if !complete && o.Settings.NetworkPolicies {
		p.Create = append(p.Create, observed.Creation{
			Object: manifest.NetworkPolicy(p.run, &o.Settings), Unreadable: true, Reason: v1alpha1.ReasonInvalidSpec,
		})
	}
	if err := p.createPods(!started, o.Job == nil && observed.ClientsPlaceable(p.run, o)); err != nil {
		p.fail(failure.Newf(v1alpha1.ReasonInvalidSpec, "%s", err))
		return false
	}
	return true
}

// createConfig plans the run's ConfigMap. It comes first: as long as it exists, Secrets may.
// complete reports whether all pods that need it exist: then the run goes on without it.
func (p *planner) createConfig(complete bool) bool {
	in := p.userInputs()
	switch {
	case len(in.Missing) > 0 && !complete:
		p.awaitInputs(in.Missing)
		return false
	case in.Wrong != nil && !complete:
		p.fail(failure.Newf(v1alpha1.ReasonInvalidSpec, "%s. Fix it, then create a new run.", in.Wrong))
		return false
	case len(in.Missing) > 0 || in.Wrong != nil:
		return true
	case p.observed.CA == nil:
		p.requeueIn(sessionCertificateInterval)
		if !complete {
			p.state(v1alpha1.ReasonStarting, "Waiting for the manager's session certificate.", nil)
		}
		return complete
	}
	rendering := &server.Rendering{}
	var err error
	if !state.IsExternal(p.run) {
		rendering, err = server.Render(&p.run.Spec.Target, in.Configurations)
	}
	if err == nil {
		p.config, err = manifest.ConfigMap(p.run, rendering, &in.Inputs, p.observed.CA)
	}
	if err != nil {
		p.fail(failure.Newf(v1alpha1.ReasonInvalidSpec, "%s", err))
		return false
	}
	p.create(p.config)
	return true
}

func (p *planner) awaitInputs(missing []string) {
	by := p.observed.Deadline(p.Status.AdmissionTime.Time, inputs.Timeout)
	if p.now.After(by) {
		p.fail(failure.Newf(v1alpha1.ReasonConfigurationMissing, "%s. Create it, then create a new run.", strings.Join(missing, "; ")))
		return
	}
	p.state(v1alpha1.ReasonStarting, fmt.Sprintf("Waiting for %s. The run fails if it is still missing %s after admission.",
		strings.Join(missing, "; "), inputs.Timeout), nil)
	p.requeueIn(inputs.Interval)
}

// createPods plans the target's pod, then the clients' Job. They are built from the run's ConfigMap:
// the user's may have changed since that was created.
func (p *planner) createPods(needsTarget, needsClients bool) error {
	config, err := p.frozen()
	if err != nil {
		return err
	}
	if needsTarget {
		rendering, err := manifest.ReadRendering(config)
		if err != nil {
			return err
		}
		pod, err := manifest.TargetPod(p.run, rendering, &p.observed.Settings)
		if err != nil {
			return err
		}
		p.create(pod)
	}
	if needsClients {
		files, err := manifest.ReadScript(config)
		if err != nil {
			return err
		}
		p.create(p.clientJob(files))
	}
	return nil
}

// clientJob returns the clients' Job.
func (p *planner) clientJob(script []manifest.ScriptFile) manifest.Object {
	return manifest.ClientJob(p.run, p.observed.TargetNode(), script, &p.observed.Settings)
}

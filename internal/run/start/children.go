// Package start creates the objects of a run that holds its lane, and waits until they are ready.
package start

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/inputs"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/run/step"
	"github.com/assay-dev/assay/internal/server"
)

// sessionCertificateInterval is the interval at which the manager's own certificate is looked for.
const sessionCertificateInterval = time.Second

// Prepare plans the run's objects, and returns false while the run must wait for something before
// it goes on. Once target and clients exist, it only repairs.
func Prepare(p *step.Planner) bool {
	o := p.Observed
	started := state.IsExternal(p.Run) || o.Target != nil
	complete := started && o.Job != nil
	if o.NoCertManager != "" {
		p.Fail(failure.CertManagerMissing(o.NoCertManager))
		return false
	}
	if o.Config == nil && !createConfig(p, complete) {
		return false
	}
	if o.Job == nil {
		createCertificates(p)
		if !certificatesReady(p) {
			return false
		}
	}
	if !complete && o.Settings.NetworkPolicies {
		p.Create = append(p.Create, observed.Creation{
			Object: manifest.NetworkPolicy(p.Run, &o.Settings), Unreadable: true, Reason: v1alpha1.ReasonInvalidSpec,
		})
	}
	if observed.IsQueued(p.Run) && slices.Contains([]v1alpha1.ClientPlacement{v1alpha1.PlacementApart, v1alpha1.PlacementTogether}, p.Run.Spec.Clients.Placement) {
		p.Fail(failure.SpecUnusable(fmt.Errorf("spec.clients.placement must be Prefer with label %s: the clients of a queue are created before the target", manifest.LabelQueue)))
		return false
	}
	waits := observed.IsQueued(p.Run) && o.Job == nil // for its clients
	if err := createPods(p, !started && !waits, o.Job == nil && observed.ClientsPlaceable(p.Run, o)); err != nil {
		p.Fail(failure.SpecUnusable(err))
		return false
	}
	return true
}

// createConfig plans the run's ConfigMap. It comes first: as long as it exists, Secrets may.
// Complete reports whether all pods that need it exist: then the run goes on without it.
func createConfig(p *step.Planner, complete bool) bool {
	in := p.UserInputs()
	switch {
	case in.Wrong != nil && !complete:
		p.Fail(failure.InputWrong(in.Wrong))
		return false
	case len(in.Missing) > 0 && !complete:
		awaitInputs(p, in.Missing)
		return false
	case len(in.Missing) > 0 || in.Wrong != nil:
		return true
	case p.Observed.CA == nil:
		p.RequeueIn(sessionCertificateInterval)
		if !complete {
			p.SetState(v1alpha1.ReasonStarting, "Waiting for the manager's session certificate.", nil)
		}
		return complete
	}
	rendering := &server.Rendering{}
	var err error
	if !state.IsExternal(p.Run) {
		rendering, err = server.Render(&p.Run.Spec.Target, in.Configurations)
	}
	if err == nil {
		p.Config, err = manifest.ConfigMap(p.Run, rendering, &in.Inputs, p.Observed.CA)
	}
	if err != nil {
		p.Fail(failure.SpecUnusable(err))
		return false
	}
	p.AddCreation(p.Config)
	return true
}

func awaitInputs(p *step.Planner, missing []string) {
	by := p.Observed.Deadline(p.Status.AdmissionTime.Time, inputs.Timeout)
	if p.Now.After(by) {
		p.Fail(failure.InputMissing(missing))
		return
	}
	p.SetState(v1alpha1.ReasonStarting, fmt.Sprintf("Waiting for %s. The run fails if it is still missing %s after admission.",
		strings.Join(missing, "; "), inputs.Timeout), nil)
	p.RequeueIn(inputs.Interval)
}

// createPods plans the target's pod, then the clients' Job. They are built from the run's ConfigMap:
// the user's may have changed since that was created.
func createPods(p *step.Planner, needsTarget, needsClients bool) error {
	config, err := p.Frozen()
	if err != nil {
		return err
	}
	if needsTarget {
		rendering, err := manifest.ReadRendering(config)
		if err != nil {
			return err
		}
		pod, err := manifest.TargetPod(p.Run, rendering, &p.Observed.Settings)
		if err != nil {
			return err
		}
		p.AddCreation(pod)
	}
	if !needsTarget && !needsClients {
		return nil
	}
	files, err := manifest.ReadScript(config)
	if err != nil {
		return err
	}
	// A mistake in the clients' settings is found before the target starts.
	job, err := manifest.ClientJob(p.Run, p.Observed.TargetNode(), files, &p.Observed.Settings)
	if err == nil && needsClients {
		p.AddCreation(job)
	}
	return err
}

// Package ending deletes the objects of a run that is over, or stops its pods and keeps them.
package ending

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/certificate"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/conclusion"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/run/step"
)

const (
	// ExitTimeout is the time that released pods may take to exit before they are deleted.
	ExitTimeout = 5 * time.Second
	// DeletionInterval is the interval at which an object that is being deleted is looked for.
	DeletionInterval = 250 * time.Millisecond
)

// CleanUp deletes what a finished run no longer needs. Clients of a success first get time to exit. The target
// doesn't wait for them: a kubelet takes a second or two to remove a pod, which holds the lane as long.
func CleanUp(p *step.Planner) {
	p.Release = true
	p.SetCondition(v1alpha1.ConditionReconciling, metav1.ConditionFalse, v1alpha1.ReasonFinished, conclusion.FinishedMessage)
	completed := p.Status.CompletionTime.Time
	if p.Succeeded() && !clientsEnded(p.Observed) && p.Now.Before(completed.Add(ExitTimeout)) {
		switch target := p.Observed.Target; {
		case target == nil:
		case retained(p):
			stop(p, target)
		default:
			p.AddDeletion(target)
		}
		p.RequeueAt(completed.Add(ExitTimeout))
		return
	}
	if tearingDown(p) {
		p.Release = false
		return
	}
	p.Forget = true
	if retained(p) {
		stopPods(p)
	} else {
		DeleteChildren(p)
	}
	if ttl := p.Run.Spec.TTLSecondsAfterFinished; ttl != nil {
		expiry := completed.Add(state.Seconds(*ttl))
		if p.Now.Before(expiry) {
			p.RequeueAt(expiry)
			return
		}
		p.Expire, p.Stop, p.Delete = true, nil, []manifest.Object{p.Run} // its children follow
	}
}

// retained reports whether the run's pods are kept, for their logs.
func retained(p *step.Planner) bool {
	retention := p.Run.Spec.PodRetention
	return retention == v1alpha1.RetainAlways || (retention == v1alpha1.RetainOnFailure && !p.Succeeded())
}

// clientsEnded reports whether the clients' pods have terminated. The server never exits by itself.
func clientsEnded(o *observed.Run) bool {
	for _, pod := range o.Clients {
		if !pods.Ended(pod) && pods.ContainerEnd(pod, manifest.ClientContainer) == nil {
			return false
		}
	}
	return true
}

// stopPods plans to terminate the run's pods but to keep them.
func stopPods(p *step.Planner) {
	for _, pod := range p.Observed.Pods() {
		stop(p, pod)
	}
	deleteCertificates(p)
}

// stop plans to terminate a pod but to keep it.
func stop(p *step.Planner, pod *corev1.Pod) {
	switch {
	case pods.ContainersEnded(pod) || pods.WasStopped(pod) || !pod.DeletionTimestamp.IsZero():
	case pod.Spec.NodeName == "": // it has no log, and no kubelet that would stop it
		p.Delete = append(p.Delete, pod)
	default:
		p.Stop = append(p.Stop, pod)
	}
}

// DeleteChildren plans to delete all but the artifact. The pods go first, as they hold the lane,
// and the ConfigMap last: it exists as long as Secrets and the NetworkPolicy may.
func DeleteChildren(p *step.Planner) {
	DeleteLoad(p)
	o := p.Observed
	if deleteCertificates(p) && o.Config != nil {
		if o.Settings.NetworkPolicies {
			p.AddDeletion(manifest.NetworkPolicy(p.Run, &o.Settings))
		}
		p.AddDeletion(o.Config)
	}
}

// DeleteLoad plans to delete the target and the clients.
func DeleteLoad(p *step.Planner) {
	if p.Observed.Target != nil {
		p.AddDeletion(p.Observed.Target)
	}
	if p.Observed.Job != nil {
		p.AddDeletion(p.Observed.Job)
	}
}

// deleteCertificates plans to delete what was created for a run's TLS. While there are Certificates
// it deletes only those, and returns false: cert-manager would create their Secrets again, without
// an owner. Without the ConfigMap the next reconciliation would not know that there are Secrets.
func deleteCertificates(p *step.Planner) bool {
	o := p.Observed
	if !o.Remains() {
		return true
	}
	certificates := manifest.Certificates(p.Run)
	for _, c := range certificates {
		if issued := o.Issued[c.Secret]; issued != nil {
			p.AddDeletion(issued)
		}
	}
	if len(o.Issued) > 0 {
		p.RequeueIn(DeletionInterval)
		if o.Config != nil {
			return false
		}
	}
	for _, c := range certificates {
		if c.OwnSecret() {
			p.AddDeletion(manifest.Secret(p.Run, c.Secret, &certificate.Bundle{}))
		}
	}
	return true
}

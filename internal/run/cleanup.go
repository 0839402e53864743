package run

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/certificate"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/conclusion"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/run/state"
)

const (
	// exitTimeout is the time that released pods may take to exit before they are deleted.
	exitTimeout = 5 * time.Second
	// deletionInterval is the interval at which an object that is being deleted is looked for.
	deletionInterval = 250 * time.Millisecond
)

// cleanUp deletes what a finished run no longer needs. Clients of a success first get time to exit. The target
// doesn't wait for them: a kubelet takes a second or two to remove a pod, which holds the lane as long.
func (p *planner) cleanUp() {
	p.Release = true
	p.condition(v1alpha1.ConditionReconciling, metav1.ConditionFalse, v1alpha1.ReasonFinished, conclusion.FinishedMessage)
	completed := p.Status.CompletionTime.Time
	if p.succeeded() && !p.clientsEnded() && p.now.Before(completed.Add(exitTimeout)) {
		switch target := p.observed.Target; {
		case target == nil:
		case p.retained():
			p.stop(target)
		default:
			p.delete(target)
		}
		p.requeueAt(completed.Add(exitTimeout))
		return
	}
	if p.tearingDown() {
		p.Release = false
		return
	}
	p.Forget = true
	if p.retained() {
		p.stopPods()
	} else {
		p.deleteChildren()
	}
	if ttl := p.run.Spec.TTLSecondsAfterFinished; ttl != nil {
		expiry := completed.Add(state.Seconds(*ttl))
		if p.now.Before(expiry) {
			p.requeueAt(expiry)
			return
		}
		p.Expire, p.Stop, p.Delete = true, nil, []manifest.Object{p.run} // its children follow
	}
}

// retained reports whether the run's pods are kept, for their logs.
func (p *planner) retained() bool {
	retention := p.run.Spec.PodRetention
	return retention == v1alpha1.RetainAlways || (retention == v1alpha1.RetainOnFailure && !p.succeeded())
}

// clientsEnded reports whether the clients' pods have terminated. The server never exits by itself.
func (p *planner) clientsEnded() bool {
	for _, pod := range p.observed.Clients {
		if !pods.Ended(pod) {
			return false
		}
	}
	return true
}

// stopPods plans to terminate the run's pods but to keep them.
func (p *planner) stopPods() {
	for _, pod := range p.observed.Pods() {
		p.stop(pod)
	}
	p.deleteCertificates()
}

// stop plans to terminate a pod but to keep it.
func (p *planner) stop(pod *corev1.Pod) {
	switch {
	case pods.Ended(pod) || pods.WasStopped(pod) || !pod.DeletionTimestamp.IsZero():
	case pod.Spec.NodeName == "": // it has no log, and no kubelet that would stop it
		p.Delete = append(p.Delete, pod)
	default:
		p.Stop = append(p.Stop, pod)
	}
}

// deleteChildren plans to delete all but the artifact. The pods go first, as they hold the lane,
// and the ConfigMap last: it exists as long as Secrets and the NetworkPolicy may.
func (p *planner) deleteChildren() {
	p.deleteLoad()
	o := p.observed
	if p.deleteCertificates() && o.Config != nil {
		if o.Settings.NetworkPolicies {
			p.delete(manifest.NetworkPolicy(p.run, &o.Settings))
		}
		p.delete(o.Config)
	}
}

// deleteLoad plans to delete the target and the clients.
func (p *planner) deleteLoad() {
	if p.observed.Target != nil {
		p.delete(p.observed.Target)
	}
	if p.observed.Job != nil {
		p.delete(p.observed.Job)
	}
}

// deleteCertificates plans to delete what was created for a run's TLS. While there are Certificates
// it deletes only those, and returns false: cert-manager would create their Secrets again, without
// an owner. Without the ConfigMap the next reconciliation would not know that there are Secrets.
func (p *planner) deleteCertificates() bool {
	o := p.observed
	if !o.Remains() {
		return true
	}
	certificates := manifest.Certificates(p.run)
	for _, c := range certificates {
		if issued := o.Issued[c.Secret]; issued != nil {
			p.delete(issued)
		}
	}
	if len(o.Issued) > 0 {
		p.requeueIn(deletionInterval)
		if o.Config != nil {
			return false
		}
	}
	for _, c := range certificates {
		if c.OwnSecret() {
			p.delete(manifest.Secret(p.run, c.Secret, &certificate.Bundle{}))
		}
	}
	return true
}

func (p *planner) delete(obj manifest.Object) {
	if obj.GetDeletionTimestamp().IsZero() {
		p.Delete = append(p.Delete, obj)
	}
}

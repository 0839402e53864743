package manifest

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
)

// RunPods holds what the administrator sets for the pods, and for the other objects, of all runs. What a run sets itself wins.
type RunPods struct {
	// Labels are those of all objects of a run or Benchmark, Annotations those of its pods.
	Labels      map[string]string `json:"podLabels,omitempty"`
	Annotations map[string]string `json:"podAnnotations,omitempty"`
	// InheritLabels are labels of a run or Benchmark that its objects get: a name, or a prefix and *.
	InheritLabels []string `json:"inheritLabels,omitempty"`
	// ImagePullSecrets are names of Secrets in the namespace of each run.
	ImagePullSecrets []string `json:"imagePullSecrets,omitempty"`
	// AgentResources replaces the agent's requests and limits.
	AgentResources struct {
		CPU    *resource.Quantity `json:"cpu,omitempty"`
		Memory *resource.Quantity `json:"memory,omitempty"`
	} `json:"agentResources,omitempty"`
	// SecurityContext is Any if pods have no fixed user, which the cluster then sets, or Fixed.
	SecurityContext string `json:"securityContext,omitempty"`
}

// notDisrupted are annotations by which autoscalers leave the pods of a run alone: a run whose pod is moved is lost.
var notDisrupted = map[string]string{
	"karpenter.sh/do-not-disrupt":                    "true",
	"cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
}

// ReadRunPods reads RunPods from JSON.
func ReadRunPods(text string) (RunPods, error) {
	p, err := readStrictly[RunPods](text)
	if err != nil {
		return p, err
	}
	for _, all := range []map[string]string{p.Labels, p.Annotations} {
		for name := range all {
			if isOwn(name) {
				return p, fmt.Errorf("%s is Assay's own: omit it", name)
			}
		}
	}
	if p.SecurityContext != "" && p.SecurityContext != "Fixed" && p.SecurityContext != "Any" {
		return p, fmt.Errorf("securityContext is %q: it must be Fixed or Any", p.SecurityContext)
	}
	for _, q := range []*resource.Quantity{p.AgentResources.CPU, p.AgentResources.Memory} {
		if q != nil && q.Sign() <= 0 {
			return p, errors.New("agentResources must be more than zero")
		}
	}
	return p, nil
}

// isOwn reports whether a label or an annotation is one of Assay's own.
func isOwn(name string) bool {
	prefix, _, _ := strings.Cut(name, "/")
	return name == LabelManagedBy || prefix == "assay.dev" || strings.HasSuffix(prefix, ".assay.dev")
}

// Label puts the administrator's labels, and those that objects inherit of their run's or Benchmark's, on an object of it that is
// about to be created, and on what others create from it.
func (p *RunPods) Label(obj Object, ofOwner map[string]string) {
	labels := maps.Clone(p.Labels)
	for name, value := range ofOwner {
		for _, pattern := range p.InheritLabels {
			prefix, isPrefix := strings.CutSuffix(pattern, "*")
			if !isOwn(name) && (name == pattern || isPrefix && strings.HasPrefix(name, prefix)) {
				labels = merged(labels, map[string]string{name: value})
			}
		}
	}
	if len(labels) == 0 {
		return
	}
	obj.SetLabels(merged(labels, obj.GetLabels()))
	switch o := obj.(type) {
	case *batchv1.Job:
		o.Spec.Template.Labels = merged(labels, o.Spec.Template.Labels)
	case *unstructured.Unstructured:
		if o.GetKind() == "Certificate" { // of cert-manager, which makes a Secret of it
			_ = unstructured.SetNestedStringMap(o.Object, labels, "spec", "secretTemplate", "labels")
		}
	}
}

// agent returns the requests and limits of the agent.
func (p *RunPods) agent() corev1.ResourceRequirements {
	own := &p.AgentResources
	return storedLocally(equalResources(ptr.Deref(own.CPU, agentCPU), ptr.Deref(own.Memory, agentMemory)), logStorage, logStorage)
}

// prepare puts on a pod what it has unless the run sets it.
func (p *RunPods) prepare(annotations map[string]string, spec *corev1.PodSpec) map[string]string {
	for _, name := range p.ImagePullSecrets {
		spec.ImagePullSecrets = append(spec.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
	}
	if p.SecurityContext == "Any" {
		spec.SecurityContext.RunAsUser, spec.SecurityContext.RunAsGroup = nil, nil
		for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
			for i := range containers {
				if c := containers[i].SecurityContext; c != nil {
					c.RunAsUser, c.RunAsGroup = nil, nil
				}
			}
		}
	}
	return merged(merged(notDisrupted, p.Annotations), annotations)
}

package manifest

import (
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/assay-dev/assay/api/v1alpha1"
)

var podSecurityPolicy = sync.OnceValues(func() (policy.Evaluator, error) { return policy.NewEvaluator(policy.DefaultChecks(), nil) })

// checkPodSecurity returns an error unless a pod meets a Pod Security Standard, as Kubernetes' own admission would say of it
// in a namespace that enforces the standard. The pod is that of field.
func checkPodSecurity(field string, standard v1alpha1.PodSecurity, meta *metav1.ObjectMeta, spec *corev1.PodSpec) error {
	evaluator, err := podSecurityPolicy()
	if err != nil {
		return fmt.Errorf("load the Pod Security Standards: %w", err)
	}
	level, fix := api.LevelRestricted, ""
	if field == "spec.target" {
		fix = ", or set podSecurity to Baseline if that allows it"
	}
	if standard == v1alpha1.PodSecurityBaseline {
		level, fix = api.LevelBaseline, ""
	}
	result := policy.AggregateCheckResults(evaluator.EvaluatePod(api.LevelVersion{Level: level, Version: api.LatestVersion()}, meta, spec))
	if !result.Allowed {
		return fmt.Errorf("%s breaks the Pod Security Standard %s: %s. Change its securityContext or annotations%s", field, level, result.ForbiddenDetail(), fix)
	}
	return nil
}

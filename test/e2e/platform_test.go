//go:build e2e

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// platformValues are those that docs/platform.md names for clusters with policies.
const platformValues = `
runs:
  podLabels: {team: shop}
  agentResources: {cpu: 200m, memory: 64Mi}
  securityContext: Any
networkPolicies: {runs: true}
`

// TestNamespaceWithPolicies measures in a namespace with all that platforms put on one: restricted Pod Security, required
// labels on pods, Jobs and ConfigMaps, a user that the cluster sets for each pod and no other, a LimitRange, a quota, and no
// traffic that a NetworkPolicy doesn't allow.
func TestNamespaceWithPolicies(t *testing.T) {
	c := theCluster
	values := restored(t)
	platform := filepath.Join(t.TempDir(), "platform.yaml")
	if err := os.WriteFile(platform, []byte(platformValues), 0o600); err != nil {
		t.Fatal(err)
	}
	helm(t, "upgrade", "assay", chart, "--values", values, "--values", platform, "--wait", "--timeout", "2m")

	ns := c.namespace(t)
	const user = 1000700000
	for _, obj := range []client.Object{
		&corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "sizes"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, Min: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
		}}}},
		&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "team"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{
			corev1.ResourceRequestsCPU: resource.MustParse("1"), corev1.ResourceLimitsCPU: resource.MustParse("1"), corev1.ResourceLimitsMemory: resource.MustParse("1Gi"), corev1.ResourcePods: resource.MustParse("2"),
		}}},
		&networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "default-deny"}, Spec: networkingv1.NetworkPolicySpec{
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
		}},
	} {
		c.create(t, obj)
	}
	where := func(resources ...admissionv1.Rule) *admissionv1.MatchResources {
		match := &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: ns}}}
		for _, r := range resources {
			match.ResourceRules = append(match.ResourceRules, admissionv1.NamedRuleWithOperations{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Create}, Rule: r,
			}})
		}
		return match
	}
	pods := admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}}
	configMaps := admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}}
	jobs := admissionv1.Rule{APIGroups: []string{"batch"}, APIVersions: []string{"v1"}, Resources: []string{"jobs"}}
	labels, users := metav1.ObjectMeta{Name: "labels-" + ns}, metav1.ObjectMeta{Name: "users-" + ns}
	for _, obj := range []client.Object{
		&admissionv1.ValidatingAdmissionPolicy{ObjectMeta: labels, Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: where(pods, configMaps, jobs),
			Validations: []admissionv1.Validation{{
				Expression: `object.metadata.name == "kube-root-ca.crt" || has(object.metadata.labels) && "team" in object.metadata.labels`, Message: "the label team is required",
			}},
		}},
		&admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: labels, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: labels.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		}},
		&admissionv1.MutatingAdmissionPolicy{ObjectMeta: users, Spec: admissionv1.MutatingAdmissionPolicySpec{
			MatchConstraints: where(pods), FailurePolicy: ptr.To(admissionv1.Fail), ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			Mutations: []admissionv1.Mutation{{PatchType: admissionv1.PatchTypeApplyConfiguration, ApplyConfiguration: &admissionv1.ApplyConfiguration{
				Expression: `Object{spec: Object.spec{securityContext: Object.spec.securityContext{runAsUser: 1000700000}}}`,
			}}},
		}},
		&admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: users, Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: users.Name}},
		&admissionv1.ValidatingAdmissionPolicy{ObjectMeta: users, Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: where(pods),
			Variables: []admissionv1.Variable{{
				Name: "containers", Expression: `object.spec.containers + (has(object.spec.initContainers) ? object.spec.initContainers : [])`,
			}},
			Validations: []admissionv1.Validation{{
				Expression: `object.spec.?securityContext.runAsUser.orValue(0) == 1000700000 && variables.containers.all(c, !has(c.securityContext) || !has(c.securityContext.runAsUser))`,
				Message:    "only the namespace's user is allowed",
			}},
		}},
		&admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: users, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: users.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		}},
	} {
		c.create(t, obj)
		t.Cleanup(func() { _ = c.Delete(context.Background(), obj) })
	}
	// Each policy is in effect when it refuses what it is for: without the label, and with another user.
	probe := func(labels map[string]string, user *int64) string {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "probe", Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "a", Image: "a", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m"), corev1.ResourceMemory: resource.MustParse("64Mi")}},
			SecurityContext: &corev1.SecurityContext{
				RunAsUser: user, RunAsNonRoot: ptr.To(true), AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
		}}}}
		if err := c.Create(t.Context(), pod, client.DryRunAll); err != nil {
			return err.Error()
		}
		return ""
	}
	team := map[string]string{"team": "shop"}
	if err := wait.PollUntilContextTimeout(t.Context(), 250*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return strings.Contains(probe(nil, nil), "the label team") && strings.Contains(probe(team, ptr.To(int64(65532))), "only the namespace's user") && probe(team, nil) == "", nil
	}); err != nil {
		t.Fatalf("%v: %q, %q, %q", err, probe(nil, nil), probe(team, ptr.To(int64(65532))), probe(team, nil))
	}

	run := wrapper.NewRun(ns, "policies", harness.ServerImage).Content("/a.bin", 1000).Path("/fixed/1000/0").Requests(2, 200).
		TargetResources("300m", "128Mi").Clients(1, "250m", "128Mi").Obj()
	c.create(t, run)
	done := c.finished(t, run, 2*time.Minute)
	wantSucceeded(t, done)
	if *done.Status.Result.Requests != 200 {
		t.Errorf("%d requests, want 200", *done.Status.Result.Requests)
	}
	if u := c.artifact(t, done).Server.End; u.CPU() == 0 {
		t.Errorf("the agent, which runs as the cluster's user %d, measured nothing: %+v", user, u)
	}
	c.nothingLeft(t, done, time.Minute)

	// What the policies forbid is refused by the API server, and the run says who can change it.
	refused := wrapper.NewRun(ns, "small", harness.ServerImage).Path("/fixed/1000/0").Requests(1, 10).TargetResources("100m", "128Mi").Clients(1, "250m", "128Mi").Obj()
	c.create(t, refused)
	failed := c.finished(t, refused, 2*time.Minute)
	if message := conditions(failed); !strings.Contains(message, "LimitRange") || !strings.Contains(message, "200m") {
		t.Errorf("the failure doesn't name the LimitRange: %s", message)
	}
}

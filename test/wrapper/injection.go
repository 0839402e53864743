package wrapper

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// InjectedContainer is the name of the container that Injection adds.
const InjectedContainer = "proxy"

// Injection returns a policy, and its binding, by which the API server adds a container to each new pod of a namespace, as a mesh does.
// The container is without limits.
func Injection(namespace, image, args string) (*admissionv1.MutatingAdmissionPolicy, *admissionv1.MutatingAdmissionPolicyBinding) {
	meta := metav1.ObjectMeta{Name: "inject-" + namespace}
	container := `[JSONPatch{op: "add", path: "/spec/containers/-", value: Object.spec.containers{name: "` + InjectedContainer + `", image: "` + image + `", args: [` + args + `],
securityContext: Object.spec.containers.securityContext{allowPrivilegeEscalation: false,
capabilities: Object.spec.containers.securityContext.capabilities{drop: ["ALL"]}}}}]`
	return &admissionv1.MutatingAdmissionPolicy{ObjectMeta: meta, Spec: admissionv1.MutatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}}},
		},
		FailurePolicy:      ptr.To(admissionv1.Fail),
		ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
		Mutations: []admissionv1.Mutation{{
			PatchType: admissionv1.PatchTypeJSONPatch, JSONPatch: &admissionv1.JSONPatch{Expression: container},
		}},
	}}, &admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: meta.Name}}
}

package api

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/internal/plugin"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

// doctor returns what kubectl assay doctor says of a namespace.
func doctor(t *testing.T, namespace string) string {
	t.Helper()
	config := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(config, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := plugin.NewCommand(genericiooptions.IOStreams{Out: &out, ErrOut: &out}, "test")
	cmd.SetArgs([]string{"doctor", "--kubeconfig", config, "--namespace", namespace})
	if code := exit.Report(&out, cmd.ExecuteContext(t.Context())); code == exit.Unknown {
		t.Fatalf("exit code %d: %s", code, &out)
	}
	return out.String()
}

// TestDoctorOfANamespace has the API server's own admission, and policies as platform teams write them.
func TestDoctorOfANamespace(t *testing.T) {
	bounds := &corev1.LimitRange{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
		Type: corev1.LimitTypeContainer, Min: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m")},
	}}}}
	quota := &corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("2")}}}
	account := &corev1.ServiceAccount{ImagePullSecrets: []corev1.LocalObjectReference{{Name: "regcred"}}}
	account.Name = "default"
	rules := []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{admissionv1.Create},
		Rule:       admissionv1.Rule{APIGroups: []string{"", "batch"}, APIVersions: []string{"v1"}, Resources: []string{"pods", "jobs"}},
	}}}
	for _, test := range []struct {
		name    string
		objects []client.Object
		want    []string
	}{
		{"nothing", nil, []string{"ok      quota: ", "ok      limit range: ", "ok      admission of a target: ", "ok      admission of a client: ", "ok      admission of the clients' Job: ", "ok      pull secrets: "}},
		{"limit range", []client.Object{bounds}, []string{"fail    limit range: ", "the container agent of the target: cpu is 50m, must be at least 200m", "fail    admission of a target: ", "minimum cpu usage per Container is 200m"}},
		{"quota", []client.Object{quota}, []string{"fail    quota: ", "requests.cpu: 2 of 2 is free, a run needs 2050m", "ok      admission of a target: "}},
		{"pull secret", []client.Object{account}, []string{"fail    pull secrets: Secret ", "/regcred doesn't exist"}},
		{"required label", []client.Object{
			&admissionv1.ValidatingAdmissionPolicy{Spec: admissionv1.ValidatingAdmissionPolicySpec{
				MatchConstraints: &admissionv1.MatchResources{ResourceRules: rules},
				Validations:      []admissionv1.Validation{{Expression: "has(object.metadata.labels) && 'team' in object.metadata.labels", Message: "the label team is missing"}},
			}},
			&admissionv1.ValidatingAdmissionPolicyBinding{Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}}},
		}, []string{"fail    admission of a target: The API server refuses it: ", "the label team is missing", "fail    admission of the clients' Job: "}},
		{"injected container", []client.Object{
			&admissionv1.MutatingAdmissionPolicy{Spec: admissionv1.MutatingAdmissionPolicySpec{
				MatchConstraints:   &admissionv1.MatchResources{ResourceRules: rules},
				MatchConditions:    []admissionv1.MatchCondition{{Name: "pods", Expression: "object.kind == 'Pod'"}},
				ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
				Mutations: []admissionv1.Mutation{{PatchType: admissionv1.PatchTypeApplyConfiguration, ApplyConfiguration: &admissionv1.ApplyConfiguration{
					Expression: `Object{metadata: Object.metadata{labels: {"mesh": "on"}}, spec: Object.spec{containers: [Object.spec.containers{name: "proxy", image: "mesh/proxy:1"}]}}`,
				}}},
			}},
			&admissionv1.MutatingAdmissionPolicyBinding{},
		}, []string{"warn    admission of a target: ", "the container proxy of image mesh/proxy:1 is added", "the label mesh=on is set"}},
		{"suspended Job", []client.Object{
			&admissionv1.MutatingAdmissionPolicy{Spec: admissionv1.MutatingAdmissionPolicySpec{
				MatchConstraints:   &admissionv1.MatchResources{ResourceRules: rules},
				MatchConditions:    []admissionv1.MatchCondition{{Name: "jobs", Expression: "object.kind == 'Job'"}},
				ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
				Mutations: []admissionv1.Mutation{{PatchType: admissionv1.PatchTypeApplyConfiguration, ApplyConfiguration: &admissionv1.ApplyConfiguration{
					Expression: `Object{spec: Object.spec{suspend: true}}`,
				}}},
			}},
			&admissionv1.MutatingAdmissionPolicyBinding{},
		}, []string{"warn    admission of the clients' Job: ", "ok      admission of a target: "}},
	} {
		t.Run(test.name, func(t *testing.T) {
			namespace := newNamespace(t)
			for _, object := range test.objects {
				create(t, namespace, object)
			}
			// Policies and quotas are in effect once the API server has seen them.
			deadline := time.Now().Add(time.Minute)
			for {
				out, missing := doctor(t, namespace), ""
				for _, want := range test.want {
					if !strings.Contains(out, want) {
						missing = want
					}
				}
				if missing == "" {
					return
				}
				if time.Now().After(deadline) {
					t.Fatalf("%q not found in:\n%s", missing, out)
				}
			}
		})
	}
}

// create creates an object of a case, a policy for the case's namespace alone. It deletes what no namespace has at its end.
func create(t *testing.T, namespace string, object client.Object) {
	t.Helper()
	match := &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}}
	if object.GetName() == "" {
		object.SetName(namespace)
	}
	switch o := object.(type) {
	case *admissionv1.ValidatingAdmissionPolicy:
		o.Spec.MatchConstraints.NamespaceSelector = match
	case *admissionv1.MutatingAdmissionPolicy:
		o.Spec.MatchConstraints.NamespaceSelector = match
		o.Spec.FailurePolicy = ptr.To(admissionv1.Fail)
	case *admissionv1.ValidatingAdmissionPolicyBinding:
		o.Spec.PolicyName = namespace
	case *admissionv1.MutatingAdmissionPolicyBinding:
		o.Spec.PolicyName = namespace
	default:
		object.SetNamespace(namespace)
	}
	if err := apiClient.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if quota, is := object.(*corev1.ResourceQuota); is { // as the controller would
		quota.Status.Hard, quota.Status.Used = quota.Spec.Hard, corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("0")}
		if err := apiClient.Status().Update(t.Context(), quota); err != nil {
			t.Fatal(err)
		}
	}
	if object.GetNamespace() == "" {
		t.Cleanup(func() {
			if err := apiClient.Delete(t.Context(), object); err != nil && !apierrors.IsNotFound(err) && t.Context().Err() == nil {
				t.Error(err)
			}
		})
	}
}

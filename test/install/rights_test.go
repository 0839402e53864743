package install

import (
	"bufio"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// usedElsewhere are the rights that the manager doesn't always use in this test, each with the cause and
// the test that does. A right that isn't among them must be used here.
var usedElsewhere = map[string]string{
	"list assay.dev/benchmarks":                        "an API server that doesn't stream lists to the cache",
	"get assay.dev/benchmarkruns":                      "an identity that the cache doesn't have yet: TestIdentifyReadsPastACacheThatIsBehind",
	"patch assay.dev/benchmarkruns":                    "objects in a bucket: reclaim_test.go",
	"list /configmaps":                                 "an API server that doesn't stream lists to the cache",
	"list batch/jobs":                                  "an API server that doesn't stream lists to the cache",
	"update /secrets":                                  "a certificate that is about to expire: controller_test.go of sessioncertificate",
	"update assay.dev/benchmarks/finalizers":           "owner references, where the API server checks them (OwnerReferencesPermissionEnforcement)",
	"update assay.dev/benchmarkruns/finalizers":        "owner references, where the API server checks them (OwnerReferencesPermissionEnforcement)",
	"get /pods":                                        "a target that exists before it is created: TestReconcileReplacesPlantedObjects",
	"patch /pods":                                      "retained pods, which a kubelet has started: remains_test.go",
	"get batch/jobs":                                   "clients that exist before they are created: TestReconcileReplacesPlantedObjects",
	"patch /configmaps":                                "a new CA of the session certificate: trust_test.go",
	"get /pods/log":                                    "a kubelet's: test/e2e",
	"get /nodes":                                       "a scheduler's: TestReconcileGoesOnWithoutTheRightToReadNodes",
	"create authentication.k8s.io/tokenreviews":        "a pod's token: TestIdentify",
	"create authorization.k8s.io/subjectaccessreviews": "a scraper of metrics: controller-runtime",
	"patch events.k8s.io/events":                       "a repeated event: client-go",
	"list cert-manager.io/certificaterequests":         "cert-manager's kinds: certmanager_test.go",
	"get cert-manager.io/certificates":                 "cert-manager's kinds: certmanager_test.go",
	"list cert-manager.io/certificates":                "cert-manager's kinds: certmanager_test.go",
	"watch cert-manager.io/certificates":               "cert-manager's kinds: certmanager_test.go",
	"create cert-manager.io/certificates":              "cert-manager's kinds: certmanager_test.go",
	"delete cert-manager.io/certificates":              "cert-manager's kinds: certmanager_test.go",
}

// request is an entry of the API server's audit log.
type request struct {
	Verb string
	User struct{ Username string }
	// ObjectRef is nil for requests of other URLs, such as /readyz.
	ObjectRef      *struct{ Resource, Subresource, APIGroup, Namespace, Name string }
	ResponseStatus struct{ Code int }
}

func right(verb, group, resource string) string { return verb + " " + group + "/" + resource }

// requestsOf returns the rights that a user has used, and the requests that were refused.
func requestsOf(t *testing.T, user string) (used map[string]bool, refused []string) {
	t.Helper()
	file, err := os.Open(auditLog)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	used = map[string]bool{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if r.User.Username != user || r.ObjectRef == nil {
			continue
		}
		resource := strings.TrimSuffix(r.ObjectRef.Resource+"/"+r.ObjectRef.Subresource, "/")
		used[right(r.Verb, r.ObjectRef.APIGroup, resource)] = true
		if r.ResponseStatus.Code == 403 {
			refused = append(refused, lines.Text())
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return used, refused
}

// TestGrantedRightsAreUsed has a manager do all that this API server lets it do. Every right that the
// roles give it must be one that it uses, so that none is left over from code that is gone.
func TestGrantedRightsAreUsed(t *testing.T) {
	createNamespace(t, "rights")
	r := install(t, "assay", "all", "networkPolicies.runs=true")
	page := &corev1.ConfigMap{ObjectMeta: metaOf("rights", "page"), Data: map[string]string{"index": "x"}}
	if err := api.Create(t.Context(), page); err != nil {
		t.Fatal(err)
	}
	run := newRun(t, "rights", func(run *v1alpha1.BenchmarkRun) {
		run.Spec.Target.Content = []v1alpha1.ContentFile{{Path: "/index.html", ConfigMapKeyRef: &v1alpha1.ConfigMapKeyReference{Name: "page", Key: "index"}}}
	})
	started(t, run)
	benchmark := &v1alpha1.Benchmark{ObjectMeta: metaOf("rights", "benchmark")}
	benchmark.Spec.Template.Spec = *run.Spec.DeepCopy()
	benchmark.Spec.Template.Spec.Lane = "benchmark"
	if err := api.Create(t.Context(), benchmark); err != nil {
		t.Fatal(err)
	}
	next := newRun(t, "rights", func(run *v1alpha1.BenchmarkRun) { run.Name = "next" })
	gone(t, run)
	started(t, next) // after a look for pods that hold the lane
	gone(t, next)
	eventually(t, "the Benchmark's run", func(ctx context.Context) (bool, error) {
		err := api.Get(ctx, client.ObjectKeyFromObject(benchmark), benchmark)
		return benchmark.Status.Round != nil && ptr.Deref(benchmark.Status.Round.FinishedRuns, 0) > 0, err
	})
	used, refused := requestsOf(t, r.user)
	for _, line := range refused {
		t.Errorf("refused: %s", line)
	}
	granted := map[string]bool{}
	for _, rule := range grantedRules(t) {
		for _, verb := range rule.Verbs {
			for _, resource := range rule.Resources {
				granted[right(verb, rule.APIGroups[0], resource)] = true
			}
		}
	}
	for _, right := range slices.Sorted(maps.Keys(granted)) {
		if !used[right] && usedElsewhere[right] == "" {
			t.Errorf("%s is granted and not used: remove it, or add the test that uses it to usedElsewhere", right)
		}
	}
	for right := range usedElsewhere {
		if !granted[right] {
			t.Errorf("%s isn't granted: remove it from usedElsewhere", right)
		}
	}
}

// grantedRules returns the rules of the roles that controller-gen writes.
func grantedRules(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "config", "rbac", "role.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var rules []rbacv1.PolicyRule
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(document), &role); err != nil {
			t.Fatal(err)
		}
		rules = append(rules, role.Rules...)
	}
	return rules
}

// TestSecurityListsTheRights checks that SECURITY.md says what each right is for, and of no other.
func TestSecurityListsTheRights(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 || !strings.Contains(cells[1], "/") {
			continue
		}
		if strings.TrimSpace(cells[3]) == "" {
			t.Errorf("no purpose: %s", line)
		}
		for verb := range strings.SplitSeq(cells[2], ",") {
			listed[strings.TrimSpace(verb)+" "+strings.TrimPrefix(strings.Trim(cells[1], " `"), "core")] = true
		}
	}
	granted := map[string]bool{}
	for _, rule := range grantedRules(t) {
		for _, verb := range rule.Verbs {
			for _, resource := range rule.Resources {
				granted[right(verb, rule.APIGroups[0], resource)] = true
			}
		}
	}
	for right := range granted {
		if !listed[right] {
			t.Errorf("SECURITY.md doesn't say what it is for: %s", right)
		}
	}
	for right := range listed {
		if !granted[right] {
			t.Errorf("SECURITY.md lists a right that the manager doesn't have: %s", right)
		}
	}
}

// TestManagerTouchesOnlyObjectsOfRuns uses the rights of the manager against the objects of others, as
// somebody could who had taken it over.
func TestManagerTouchesOnlyObjectsOfRuns(t *testing.T) {
	createNamespace(t, "g")
	r := install(t, "assay", "limited", "namespaces={g}", "rbac.aggregate=false")
	run := newRun(t, "g")
	started(t, run)
	foreign := []client.Object{
		&corev1.Secret{ObjectMeta: metaOf("g", "theirs")}, &corev1.ConfigMap{ObjectMeta: metaOf("g", "theirs")},
	}
	for _, obj := range foreign {
		if err := api.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the policy", func(ctx context.Context) (bool, error) {
			return apierrors.IsForbidden(r.client.Delete(ctx, obj, client.DryRunAll)), nil
		})
		if err := r.client.Delete(t.Context(), obj); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "belong to a BenchmarkRun") {
			t.Errorf("delete %T: %v", obj, err)
		}
	}
	if err := r.client.Patch(t.Context(), foreign[1], client.RawPatch("application/merge-patch+json", []byte(`{"data":{"a":"b"}}`))); !apierrors.IsForbidden(err) {
		t.Errorf("change a ConfigMap: %v", err)
	}
	claim := []byte(`{"metadata":{"ownerReferences":[{"apiVersion":"assay.dev/v1alpha1","kind":"BenchmarkRun","name":"run","uid":"` + string(run.UID) + `","controller":true}]}}`)
	if err := r.client.Patch(t.Context(), foreign[1], client.RawPatch("application/merge-patch+json", claim)); !apierrors.IsForbidden(err) {
		t.Errorf("claim a ConfigMap for a run: %v", err)
	}
	planted := &corev1.Pod{ObjectMeta: metaOf("g", "planted"), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}}}
	if err := r.client.Create(t.Context(), planted); !apierrors.IsForbidden(err) {
		t.Errorf("create a pod: %v", err)
	}
	own := &corev1.Secret{ObjectMeta: metaOf("g", "own")}
	own.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(run, v1alpha1.GroupVersion.WithKind("BenchmarkRun"))}
	if err := r.client.Create(t.Context(), own); err != nil {
		t.Errorf("create a Secret of a run: %v", err)
	}
	if err := r.client.Delete(t.Context(), own); err != nil {
		t.Errorf("delete a Secret of a run: %v", err)
	}
	for name, change := range map[string]string{
		"suspend it":            `{"spec":{"suspend":true}}`,
		"label it":              `{"metadata":{"labels":{"a":"b"}}}`,
		"annotate it":           `{"metadata":{"annotations":{"a":"b"}}}`,
		"own it":                `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"theirs","uid":"` + string(foreign[1].GetUID()) + `"}]}}`,
		"keep it":               `{"metadata":{"finalizers":["foregroundDeletion"]}}`,
		"keep it by both":       `{"metadata":{"finalizers":["` + v1alpha1.FinalizerBucketObjects + `","example.com/theirs"]}}`,
		"label it with its own": `{"metadata":{"labels":{"a":"b"},"finalizers":["` + v1alpha1.FinalizerBucketObjects + `"]}}`,
	} {
		if err := r.client.Patch(t.Context(), run, client.RawPatch(types.MergePatchType, []byte(change))); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "nothing of a BenchmarkRun but") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := r.client.Update(t.Context(), run); !apierrors.IsForbidden(err) {
		t.Errorf("update a run: %v", err)
	}
	// Its own finalizer is the manager's: one that has no buckets removes it again.
	for _, finalizers := range []string{`["` + v1alpha1.FinalizerBucketObjects + `"]`, `[]`} {
		if err := r.client.Patch(t.Context(), run, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":`+finalizers+`}}`))); err != nil {
			t.Errorf("finalizers %s: %v", finalizers, err)
		}
	}
	gone(t, run)
}

package api

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// TestFurtherAppliesChangeNothing applies every sample, report and recipe three times by kubectl, the way
// that pipelines do. From the second time on kubectl must say that nothing has changed.
func TestFurtherAppliesChangeNothing(t *testing.T) {
	recipe := []string{"../../config/gitops/recipes/benchmark.yaml"} // that of a run has generateName: it is created
	files := slices.Concat(sampleFiles(t), filesOf(t, sampleDirectory, "benchmarks", "*.yaml"), reportFiles(t), recipe)
	for _, by := range []struct{ name, said string }{{"--server-side=false", "unchanged"}, {"--server-side", "serverside-applied"}} {
		t.Run(by.name, func(t *testing.T) {
			for _, group := range distinct(t, files) {
				namespace := newNamespace(t)
				args := []string{"apply", "--namespace", namespace, by.name}
				for _, name := range group {
					args = append(args, "--filename", name)
				}
				kubectl(t, args...)
				observe(t, namespace)
				before := versions(t, group, namespace)
				for line := range strings.Lines(kubectl(t, args...) + kubectl(t, args...)) {
					if !strings.HasSuffix(strings.TrimSpace(line), by.said) {
						t.Errorf("kubectl apply: %s", line)
					}
				}
				for object, version := range versions(t, group, namespace) {
					if version != before[object] {
						t.Errorf("kubectl apply changed %s", object)
					}
				}
			}
		})
	}
}

// distinct divides files into groups of which none has an object twice, so that one kubectl applies a group: each reads the
// whole schema first.
func distinct(t *testing.T, files []string) (groups [][]string) {
	t.Helper()
	var taken []map[string]bool
next:
	for _, name := range files {
		var objects []string
		for _, object := range sampleObjects(t, name) {
			objects = append(objects, object.GetKind()+" "+object.GetName())
		}
		for i, group := range taken {
			if !slices.ContainsFunc(objects, func(o string) bool { return group[o] }) {
				groups[i] = append(groups[i], name)
				for _, o := range objects {
					group[o] = true
				}
				continue next
			}
		}
		group := map[string]bool{}
		for _, o := range objects {
			group[o] = true
		}
		groups, taken = append(groups, []string{name}), append(taken, group)
	}
	return groups
}

// observe writes the status of the runs and Benchmarks in a namespace, as the operator does as
// soon as it sees one. Until then the API server only shows a default, and stores
// it with whatever is written next.
func observe(t *testing.T, namespace string) {
	t.Helper()
	var runs v1alpha1.BenchmarkRunList
	var benchmarks v1alpha1.BenchmarkList
	for _, list := range []client.ObjectList{&runs, &benchmarks} {
		if err := apiClient.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
	}
	var objects []client.Object
	for i := range runs.Items {
		runs.Items[i].Status.ObservedGeneration = &runs.Items[i].Generation
		objects = append(objects, &runs.Items[i])
	}
	for i := range benchmarks.Items {
		benchmarks.Items[i].Status.ObservedGeneration = &benchmarks.Items[i].Generation
		objects = append(objects, &benchmarks.Items[i])
	}
	for _, o := range objects {
		if err := apiClient.Status().Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

// versions returns the resource versions of the objects of samples by kind and name.
func versions(t *testing.T, samples []string, namespace string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, sample := range samples {
		for _, object := range sampleObjects(t, sample) {
			stored := &unstructured.Unstructured{}
			stored.SetGroupVersionKind(object.GroupVersionKind())
			if err := apiClient.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: object.GetName()}, stored); err != nil {
				t.Fatal(err)
			}
			all[object.GetKind()+" "+object.GetName()] = stored.GetResourceVersion()
		}
	}
	return all
}

// kubectl runs the kubectl of the API server and returns what it says.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	config := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(config, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"), args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+config, "HOME="+t.TempDir())
	var out, complaints bytes.Buffer
	command.Stdout, command.Stderr = &out, &complaints
	if err := command.Run(); err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, complaints.String())
	}
	return out.String()
}

// TestEmptyServersAreUnchanged applies servers of which nothing is set but their kind, twice.
func TestEmptyServersAreUnchanged(t *testing.T) {
	namespace, file := newNamespace(t), filepath.Join(t.TempDir(), "runs.yaml")
	var text strings.Builder
	for _, server := range []string{"tomcat", "httpd", "nginx", "jetty", "generic"} {
		fmt.Fprintf(&text, `---
apiVersion: assay.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: %[1]s}
spec:
  target: {image: "a:1", server: {%[1]s: {}}}
  load: {requests: [{path: /}], closed: {connections: 1, requestCount: 1}}
`, server)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"apply", "--namespace", namespace, "--filename", file}
	kubectl(t, args...)
	for line := range strings.Lines(kubectl(t, args...)) {
		if !strings.HasSuffix(strings.TrimSpace(line), "unchanged") {
			t.Errorf("kubectl apply: %s", line)
		}
	}
}

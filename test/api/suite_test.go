// Package api tests the rules of the BenchmarkRun API on a real API server:
// what it refuses and with which words, which defaults it gives, and what of a
// run may change.
package api

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

// crdFolder has the CRDs that controller-gen makes of the types.
const crdFolder = "../../config/crd/bases"

// apiClient refuses unknown fields, as kubectl does.
var apiClient client.Client

// apiConfig is the configuration to reach the API server, kubeconfig the same as kubectl reads
// it.
var (
	apiConfig  *rest.Config
	kubeconfig []byte
)

func TestMain(m *testing.M) {
	// Scripts call this program as the plugin.
	if filepath.Base(os.Args[0]) == "kubectl-assay" {
		streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
		os.Exit(exit.Report(os.Stderr, plugin.NewCommand(streams, "test").Execute()))
	}
	os.Exit(withAPIServer(m))
}

func withAPIServer(m *testing.M) int {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		fmt.Fprintln(os.Stderr, "KUBEBUILDER_ASSETS must name a folder with kube-apiserver, etcd and kubectl: run make test-api")
		return 1
	}
	environment := &envtest.Environment{
		CRDDirectoryPaths:     []string{crdFolder},
		ErrorIfCRDPathMissing: true,
	}
	config, err := environment.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the API server:", err)
		return 1
	}
	defer func() {
		if err := environment.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the API server:", err)
		}
	}()
	if err := v1alpha1.AddToScheme(scheme.Scheme); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	plain, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	apiConfig, kubeconfig = config, environment.KubeConfig
	apiClient = client.WithFieldValidation(plain, metav1.FieldValidationStrict)
	return m.Run()
}

// base is a run that the API server takes, with something in every place that
// the cases change.
const base = `
apiVersion: assay.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: base}
spec:
  target:
    image: localhost/assay-test/tomcat:9.0
    imagePullSecrets: [{name: registry}]
    resources: {cpu: "1", memory: 1Gi}
    server:
      tomcat:
        connector: {protocol: NIO2, port: 8081, maxThreads: 200, acceptCount: 100, keepAlive: {maxRequests: -1, timeoutMilliseconds: 20000}}
        jvmOptions: ["-server", "-Djava.security.egd=file:/dev/./urandom", "-XX:+UseParallelGC", "-Xmx512m"]
    content: [{path: /js/bootstrap.min.js, sizeBytes: 31819}]
    readiness: {path: /js/bootstrap.min.js, timeoutSeconds: 120}
    podSecurity: Restricted
  clients: {replicas: 2, resources: {cpu: 300m, memory: 256Mi}}
  load:
    requests: [{path: /js/bootstrap.min.js, weight: 3}, {path: "/a/?q=%20x&y[0]=~b", weight: 1}]
    client: {keepAlive: Enabled, timeoutSeconds: 2}
    closed: {connections: 25, requestCount: 50000}
    warmup: {requestCount: 20000}
  thresholds:
  - {metric: LatencyP99, below: 50ms}
  - {metric: ErrorRate, below: "0.5%"}
  - {metric: RequestsPerSecond, above: "1500"}
  lane: default
  activeDeadlineSeconds: 600
  ttlSecondsAfterFinished: 86400
  podRetention: OnFailure
`

// genericBase is the same for the server generic.
const genericBase = `
apiVersion: assay.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: base}
spec:
  target:
    image: localhost/assay-test/httpd:2.4
    server:
      generic:
        command: [/bin/httpd]
        args: ["-f", ""]
        port: 80
        contentPath: /usr/share/nginx/html
    podSecurity: Baseline
    env: [{name: LANG, value: ""}, {name: MODE, value: a b}]
  load:
    requests: [{path: /}]
    closed: {connections: 1, durationSeconds: 10}
    warmup: {durationSeconds: 5}
`

// minimal has only what a run can't do without.
const minimal = `
apiVersion: assay.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: minimal}
spec:
  target: {image: "localhost/assay-test/tomcat:9.0", server: {tomcat: {}}}
  load: {requests: [{path: /}], closed: {connections: 1, requestCount: 1}}
`

// parse merges a JSON merge patch (RFC 7386), written as YAML, into a document
// of YAML.
func parse(t *testing.T, document, patch string) *unstructured.Unstructured {
	t.Helper()
	merged, err := jsonpatch.MergePatch(toJSON(t, document), toJSON(t, patch))
	if err != nil {
		t.Fatalf("merge %s: %v", patch, err)
	}
	var object map[string]any
	if err := yaml.Unmarshal(merged, &object); err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: object}
}

func toJSON(t *testing.T, document string) []byte {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(document))
	if err != nil {
		t.Fatalf("%s: %v", document, err)
	}
	return data
}

// typed is the object as the Go types hold it; ok is false when they can't say
// what it says.
func typed(t *testing.T, object *unstructured.Unstructured) (run *v1alpha1.BenchmarkRun, ok bool) {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	run = &v1alpha1.BenchmarkRun{}
	return run, yaml.UnmarshalStrict(data, run) == nil
}

// newNamespace makes a namespace for one test.
func newNamespace(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "api-"}}
	if err := apiClient.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	return namespace.Name
}

// dryCreate has the API server judge an object without keeping it.
func dryCreate(ctx context.Context, object client.Object, namespace string) error {
	object.SetNamespace(namespace)
	return apiClient.Create(ctx, object, client.DryRunAll)
}

// Package install runs the real manager on an API server without nodes, with the arguments and the
// rights that the chart gives it, and nothing else.
package install

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/controllers/scope"
)

var (
	environment *envtest.Environment
	// api is a client with all rights.
	api client.Client
	// program is the path of the manager, auditLog that of the API server's log of requests.
	program, auditLog string
)

func TestMain(m *testing.M) {
	code, err := withManager(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "install:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func withManager(run func() int) (code int, err error) {
	dir, err := os.MkdirTemp("", "assay-install-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program = filepath.Join(dir, "manager")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/manager").CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build the manager: %w\n%s", err, out)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return 0, err
		}
	}
	environment = &envtest.Environment{CRDDirectoryPaths: []string{filepath.Join("..", "..", "config", "crd", "bases")}, ErrorIfCRDPathMissing: true}
	defer func() { err = errors.Join(err, environment.Stop()) }()
	audit, err := auditTo(filepath.Join(dir, "policy.yaml"))
	if err != nil {
		return 0, err
	}
	auditLog = filepath.Join(dir, "audit.log")
	environment.ControlPlane.GetAPIServer().Configure().Append("audit-policy-file", audit).Append("audit-log-path", auditLog)
	config, err := environment.Start()
	if err != nil {
		return 0, err
	}
	if api, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return 0, err
	}
	return run(), nil
}

// auditTo writes a policy by which the API server logs all requests, without their bodies.
func auditTo(file string) (string, error) {
	return file, os.WriteFile(file, []byte(`{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [{"level": "Metadata"}]}`), 0o600)
}

// release is an installation of the chart: its rights on the API server, and its manager as a process.
type release struct {
	namespace string
	// user is the name of the manager's service account.
	user string
	// client has the rights of the manager.
	client client.Client
	// done is closed when the manager has exited, with err.
	done chan struct{}
	err  error

	mu  sync.Mutex
	log bytes.Buffer
}

// Write implements io.Writer.
func (r *release) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(text)
}

func (r *release) output() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}

// helm returns the path of Helm.
func helm() string {
	path := filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "helm")
	if _, err := os.Stat(path); err != nil {
		return "helm"
	}
	return path
}

// render returns the chart's objects.
func render(t *testing.T, name, namespace string, values ...string) []unstructured.Unstructured {
	t.Helper()
	args := []string{"template", name, filepath.Join("..", "..", "charts", "assay"), "--namespace", namespace}
	for _, value := range values {
		args = append(args, "--set", value)
	}
	var stderr strings.Builder
	command := exec.CommandContext(t.Context(), helm(), args...)
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("helm: %v\n%s", err, stderr.String())
	}
	var all []unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(out), 4096)
	for {
		var obj unstructured.Unstructured
		if err := decoder.Decode(&obj.Object); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if len(obj.Object) > 0 {
			all = append(all, obj)
		}
	}
}

// install installs a release in a new namespace.
func install(t *testing.T, name, namespace string, values ...string) *release {
	t.Helper()
	createNamespace(t, namespace)
	return installIn(t, name, namespace, values...)
}

// installIn gives the chart's rights to the service account of a release and starts its manager, which
// has no others. The manager is stopped at the end of the test.
func installIn(t *testing.T, name, namespace string, values ...string) *release {
	t.Helper()
	return installBy(t, nil, name, namespace, values...)
}

// installBy does the same with the rights of a user, who creates all of the chart's objects. Without a user, those that aren't rights are
// left out.
func installBy(t *testing.T, user client.Client, name, namespace string, values ...string) *release {
	t.Helper()
	r := &release{namespace: namespace, done: make(chan struct{})}
	var deployment appsv1.Deployment
	for _, obj := range render(t, name, namespace, values...) {
		rights := slices.Contains([]string{"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}, obj.GetKind())
		if user != nil || rights {
			if err := cmp.Or(user, api).Create(t.Context(), obj.DeepCopy()); err != nil {
				t.Fatalf("create %s %s: %v", obj.GetKind(), obj.GetName(), err)
			}
			t.Cleanup(func() { _ = api.Delete(context.Background(), &obj) })
		}
		if obj.GetKind() == "Deployment" {
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &deployment); err != nil {
				t.Fatal(err)
			}
		}
	}
	pod := deployment.Spec.Template.Spec
	r.user = "system:serviceaccount:" + namespace + ":" + pod.ServiceAccountName
	account, err := environment.AddUser(envtest.User{
		Name:   r.user,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.client, err = client.New(account.Config(), client.Options{Scheme: api.Scheme()}); err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := account.KubeConfig()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, arg := range pod.Containers[0].Args {
		args = append(args, strings.ReplaceAll(arg, "$(POD_NAMESPACE)", namespace))
	}
	// Several managers share this machine's ports.
	args = append(args, "--health-probe-bind-address=127.0.0.1:0", "--metrics-bind-address=127.0.0.1:0", "--session-bind-address=127.0.0.1:0")
	command := exec.Command(program, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+file, "POD_NAMESPACE="+namespace, "POD_NAME="+name+"-0")
	command.Stdout, command.Stderr = r, r
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		r.err = command.Wait()
		close(r.done)
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-r.done
		_ = api.Delete(context.Background(), &coordinationv1.Lease{ObjectMeta: metaOf(scope.AllNamespace, scope.AllLease)}) // the next one need not wait
		if t.Failed() {
			t.Logf("the manager of %s/%s:\n%s", namespace, name, r.output())
		}
	})
	return r
}

func createNamespace(t *testing.T, name string) {
	t.Helper()
	if err := api.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
}

func metaOf(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, condition func(context.Context) (bool, error)) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, condition); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

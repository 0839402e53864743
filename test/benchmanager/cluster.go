package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/assay-dev/assay/api/v1alpha1"
)

const (
	namespace       = "bench"
	systemNamespace = "assay-system"
	nodeName        = "bench"
	// managerUser is the user as whom the manager talks to the API server.
	managerUser = "assay-manager"
)

// auditPolicy makes the API server log the manager's completed requests, and no others.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  users: [` + managerUser + `]
- level: None
`

// cluster is an API server with etcd and the controllers that Jobs and owner references need.
type cluster struct {
	client.WithWatch
	clientset   *kubernetes.Clientset
	environment *envtest.Environment
	directory   string
	audit       string
	managerFile string // the manager's kubeconfig
	controllers *exec.Cmd
}

func startCluster(ctx context.Context, s *settings) (c *cluster, err error) {
	c = &cluster{}
	if c.directory, err = os.MkdirTemp("", "benchmanager-"); err != nil {
		return nil, err
	}
	defer func(c *cluster) { // an error is returned without it
		if err != nil {
			err = errors.Join(err, c.stop())
		}
	}(c)
	c.audit = filepath.Join(c.directory, "audit.log")
	policy := filepath.Join(c.directory, "audit.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	c.environment = &envtest.Environment{BinaryAssetsDirectory: s.assets, CRDDirectoryPaths: []string{s.crds}, ErrorIfCRDPathMissing: true}
	c.environment.ControlPlaneStartTimeout, c.environment.ControlPlaneStopTimeout = 3*time.Minute, 3*time.Minute
	server := c.environment.ControlPlane.GetAPIServer()
	server.Configure().Set("audit-policy-file", policy).Set("audit-log-path", c.audit).Set("max-requests-inflight", "2000").
		Set("max-mutating-requests-inflight", "1000")
	c.environment.ControlPlane.Etcd = &envtest.Etcd{}
	c.environment.ControlPlane.Etcd.Configure().Set("quota-backend-bytes", "8589934592")
	config, err := c.environment.Start()
	if err != nil {
		return nil, fmt.Errorf("start the API server: %w", err)
	}
	config.QPS, config.Burst = -1, -1
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	if c.WithWatch, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
		return nil, err
	}
	if c.clientset, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if c.managerFile, err = c.kubeconfig(managerUser); err != nil {
		return nil, err
	}
	for _, obj := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: systemNamespace}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}},
		&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: nodeName},
			Status:     corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KernelVersion: "6.1.0", KubeletVersion: "v1.36.3"}},
		},
	} {
		if err := c.Create(ctx, obj); err != nil {
			return nil, err
		}
	}
	return c, c.startControllers(s)
}

// kubeconfig writes the kubeconfig of a user who may do everything.
func (c *cluster) kubeconfig(user string) (string, error) {
	added, err := c.environment.AddUser(envtest.User{Name: user, Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return "", err
	}
	encoded, err := added.KubeConfig()
	if err != nil {
		return "", err
	}
	file := filepath.Join(c.directory, user+".kubeconfig")
	return file, os.WriteFile(file, encoded, 0o600)
}

func (c *cluster) startControllers(s *settings) error {
	file, err := c.kubeconfig("controllers")
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(c.directory, "controllers.log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	c.controllers = exec.Command(filepath.Join(s.assets, "kube-controller-manager"), "--kubeconfig="+file, "--leader-elect=false",
		"--controllers=job-controller,garbage-collector-controller", "--kube-api-qps=1000", "--kube-api-burst=2000", "--secure-port=0",
		"--use-service-account-credentials=false")
	c.controllers.Stdout, c.controllers.Stderr = log, log
	return c.controllers.Start()
}

func (c *cluster) stop() (err error) {
	if c.controllers != nil && c.controllers.Process != nil {
		_ = c.controllers.Process.Signal(syscall.SIGTERM)
		_ = c.controllers.Wait()
	}
	if c.environment != nil {
		err = c.environment.Stop()
	}
	return errors.Join(err, os.RemoveAll(c.directory))
}

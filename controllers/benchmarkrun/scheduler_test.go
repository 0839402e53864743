package benchmarkrun

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/test/wrapper"
)

// schedulerName is the scheduler's name in these tests: it leaves the pods of other tests alone.
const schedulerName = "placement"

// startScheduler starts Kubernetes' own scheduler until the end of the test. The context ends when the scheduler does.
func startScheduler(t *testing.T) context.Context {
	t.Helper()
	directory := t.TempDir()
	access := clientcmdapi.NewConfig()
	access.Clusters["api"] = &clientcmdapi.Cluster{Server: apiConfig.Host, CertificateAuthorityData: apiConfig.CAData}
	access.AuthInfos["admin"] = &clientcmdapi.AuthInfo{ClientCertificateData: apiConfig.CertData, ClientKeyData: apiConfig.KeyData}
	access.Contexts["admin"] = &clientcmdapi.Context{Cluster: "api", AuthInfo: "admin"}
	access.CurrentContext = "admin"
	kubeconfig, config := filepath.Join(directory, "kubeconfig"), filepath.Join(directory, "config.yaml")
	if err := clientcmd.WriteToFile(*access, kubeconfig); err != nil {
		t.Fatal(err)
	}
	text := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nleaderElection: {leaderElect: false}\n" +
		"clientConnection: {kubeconfig: " + kubeconfig + "}\nprofiles: [{schedulerName: " + schedulerName + "}]\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	scheduler := exec.CommandContext(t.Context(), filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kube-scheduler"), "--config="+config, "--secure-port=0",
		"--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig, "--authentication-skip-lookup=true")
	scheduler.Stdout, scheduler.Stderr = &log, &log
	if err := scheduler.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		_ = scheduler.Wait() // at the latest when the test's context is done
		end()
		close(ended)
	}()
	t.Cleanup(func() {
		<-ended
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return ctx
}

// noNode counts clients for which no node is allowed, in the words of the scheduler.
const noNode = "didn't match Pod's node affinity/selector"

// placed waits until the clients are placed as wanted, and returns how many are on each node. A pod may be unschedulable
// for a moment, until the scheduler has seen that earlier ones are gone.
func placed(ctx context.Context, t *testing.T, namespace string, want map[string]int) map[string]int {
	t.Helper()
	var on map[string]int
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		on = map[string]int{}
		var pods corev1.PodList
		if err := api.List(ctx, &pods, client.InNamespace(namespace), client.MatchingLabels{manifest.LabelRole: manifest.RoleClient}); err != nil {
			return false, err
		}
		for i := range pods.Items {
			where := pods.Items[i].Spec.NodeName
			for _, c := range pods.Items[i].Status.Conditions {
				if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && strings.Contains(c.Message, noNode) {
					where = noNode
				}
			}
			on[where]++
		}
		return cmp.Equal(want, on), nil
	})
	if err != nil && !wait.Interrupted(err) {
		t.Fatal(err)
	}
	return on
}

// TestSchedulerPlacesClients has Kubernetes' own scheduler place clients. The target is on node a. Labels of the nodes
// say how many nodes the cluster of a case has.
func TestSchedulerPlacesClients(t *testing.T) {
	for name, clusters := range map[string][]string{"a": {"one", "two", "three"}, "b": {"two", "three"}, "c": {"three"}} {
		labels := map[string]string{corev1.LabelHostname: name}
		for _, cluster := range clusters {
			labels["example.org/"+cluster] = ""
		}
		node := mustCreate(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
		t.Cleanup(func() { _ = api.Delete(context.Background(), node) })
		node.Spec.Taints = nil // the API server adds that a new node isn't ready
		if err := api.Update(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		capacity := corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourceMemory: resource.MustParse("64Gi"), corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"), corev1.ResourcePods: resource.MustParse("110"),
		}
		node.Status = corev1.NodeStatus{Capacity: capacity, Allocatable: capacity, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}
		if err := api.Status().Update(t.Context(), node); err != nil {
			t.Fatal(err)
		}
	}
	scheduling := startScheduler(t)
	for name, test := range map[string]struct {
		cluster   string
		placement v1alpha1.ClientPlacement
		clients   int
		cpu       string
		decoys    []string // nodes of pods with the labels of the run's target
		want      map[string]int
	}{
		"Apart":                           {"two", v1alpha1.PlacementApart, 3, "1", nil, map[string]int{"b": 3}},
		"Apart on three nodes":            {"three", v1alpha1.PlacementApart, 4, "1", nil, map[string]int{"b": 2, "c": 2}},
		"Apart without room":              {"two", v1alpha1.PlacementApart, 3, "6", nil, map[string]int{"b": 2, noNode: 1}},
		"Apart on one node":               {"one", v1alpha1.PlacementApart, 1, "1", nil, map[string]int{noNode: 1}},
		"Apart with decoys elsewhere":     {"three", v1alpha1.PlacementApart, 4, "1", []string{"b", "c"}, map[string]int{"b": 2, "c": 2}},
		"Prefer":                          {"two", v1alpha1.PlacementPrefer, 4, "1", nil, map[string]int{"b": 4}},
		"Prefer with many clients":        {"two", v1alpha1.PlacementPrefer, 12, "1", nil, map[string]int{"b": 12}},
		"Prefer on three nodes":           {"three", v1alpha1.PlacementPrefer, 4, "1", nil, map[string]int{"b": 2, "c": 2}},
		"Prefer without room":             {"two", v1alpha1.PlacementPrefer, 3, "6", nil, map[string]int{"a": 1, "b": 2}},
		"Prefer on one node":              {"one", v1alpha1.PlacementPrefer, 2, "1", nil, map[string]int{"a": 2}},
		"Prefer with decoys elsewhere":    {"two", v1alpha1.PlacementPrefer, 4, "1", []string{"b"}, map[string]int{"b": 4}},
		"Together":                        {"three", v1alpha1.PlacementTogether, 3, "1", nil, map[string]int{"a": 3}},
		"Together with a decoy elsewhere": {"three", v1alpha1.PlacementTogether, 3, "1", []string{"b"}, map[string]int{"a": 3}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(w *wrapper.Run) {
				w.Clients(int32(test.clients), test.cpu, "512Mi")
				w.Spec.Clients.Placement = test.placement
				w.Spec.Clients.NodeSelector = map[string]string{"example.org/" + test.cluster: ""}
			})
			b.reconcile()
			for i, node := range test.decoys {
				decoy := forged(b, b.run.Namespace, fmt.Sprint("decoy-", i), manifest.RoleTarget, refOf(b))
				decoy.Spec.NodeName, decoy.Spec.Affinity = node, nil
				mustCreate(t, decoy)
			}
			b.bindTo("a")
			b.reconcile()
			for i := range test.clients {
				clientOf(t, b, i, func(p *corev1.Pod) { p.Spec.SchedulerName = schedulerName })
			}
			if diff := cmp.Diff(test.want, placed(scheduling, t, b.run.Namespace, test.want)); diff != "" {
				t.Errorf("clients by node (-want +got):\n%s", diff)
			}
			if err := api.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(b.run.Namespace), client.GracePeriodSeconds(0)); err != nil {
				t.Fatal(err)
			}
		})
	}
}

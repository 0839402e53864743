//go:build e2e

package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestHostileClient attacks the manager with the token of a client, in each way that the program in
// test/hostile knows. The manager isn't restarted, and a run in another namespace isn't disturbed.
func TestHostileClient(t *testing.T) {
	c := theCluster
	program := filepath.Join(t.TempDir(), "hostile")
	if out, err := exec.Command("go", "build", "-o", program, "../hostile").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	attacker := wrapper.NewRun(c.namespace(t), "attacker", serverImage).Lane("hostile-attacker").Path("/fixed/100000/10").Seconds(1, 300).Obj()
	c.create(t, attacker)
	c.state(t, attacker, v1alpha1.ReasonMeasuring, 2*time.Minute)
	pod := c.pod(t, attacker.Namespace, client.MatchingLabels{manifest.LabelRunUID: string(attacker.UID), manifest.LabelRole: manifest.RoleClient})
	_, id, _ := strings.Cut(pod.Status.ContainerStatuses[0].ContainerID, "://")
	files := t.TempDir()
	for _, file := range []string{session.TokenPath, session.CAPath} { // the pod ends with its run
		content, err := os.ReadFile(fmt.Sprintf("/proc/%d/root%s", processOf(t, id), file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(files, filepath.Base(file)), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := c.manager(t)
	_, managerID, _ := strings.Cut(before.Status.ContainerStatuses[0].ContainerID, "://")
	command := exec.CommandContext(t.Context(), program, "-duration", "20s", "-manager", net.JoinHostPort(before.Status.PodIP, "9443"), "-pid", strconv.Itoa(processOf(t, managerID)),
		"-token", filepath.Join(files, filepath.Base(session.TokenPath)), "-ca", filepath.Join(files, filepath.Base(session.CAPath)))
	table := make(chan string, 1)
	go func() {
		out, err := command.CombinedOutput()
		table <- fmt.Sprintf("%s%v", out, err)
	}()

	neighbor := wrapper.NewRun(c.namespace(t), "neighbor", serverImage).Lane("hostile-neighbor").Path("/fixed/2000/100").
		Requests(2, 4000).Retain(v1alpha1.RetainAlways).Obj()
	c.create(t, neighbor)
	done := c.finished(t, neighbor, 2*time.Minute)
	wantSucceeded(t, done)
	if s := done.Status.Result; *s.Requests != 4000 || *s.Errors.Total != 0 {
		t.Errorf("%d requests with %d errors, want 4000 with none", *s.Requests, *s.Errors.Total)
	}
	if got := c.serverReport(t, done)["/fixed/2000/100"]; got.Requests != 4000 {
		t.Errorf("the server had %d requests, want 4000", got.Requests)
	}

	out := <-table
	t.Log("\n" + out)
	if !strings.HasSuffix(out, "<nil>") || strings.Contains(out, "failed:") {
		t.Error("the attacks failed")
	}
	wantFailed(t, c.finished(t, attacker, time.Minute), v1alpha1.ReasonClientFailed)
	after := c.manager(t)
	if restarts := func(pod *corev1.Pod) int32 { return pod.Status.ContainerStatuses[0].RestartCount }; after.UID != before.UID || restarts(after) != restarts(before) {
		t.Errorf("the manager was restarted: %+v", after.Status.ContainerStatuses)
	}
}

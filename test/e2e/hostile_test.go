//go:build e2e

package e2e

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// hostileTime is the time for which the manager is attacked: make test-hostile sets 5 minutes. A wave is the
// part of it with the token of one run, which ends by the first attack that its session sees.
var hostileTime = flag.Duration("hostile", hostileWave, "Time for which TestHostileClient attacks the manager.")

const hostileWave = 20 * time.Second

// TestHostileClient attacks the manager with the tokens of clients, in each way that the program in
// test/hostile knows. The manager isn't restarted, and runs in another namespace aren't disturbed: their
// counts are exact. Their latencies and start skew are logged beside those of as many runs without attacks.
func TestHostileClient(t *testing.T) {
	c := theCluster
	program := filepath.Join(t.TempDir(), "hostile")
	if out, err := exec.Command("go", "build", "-o", program, "../hostile").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	before := c.manager(t)
	ended := make(chan struct{})
	var during, without neighbors
	t.Run("at once", func(t *testing.T) {
		t.Run("attacks", func(t *testing.T) {
			t.Parallel()
			defer close(ended)
			namespace := c.namespace(t)
			for i := range int((*hostileTime + hostileWave - 1) / hostileWave) {
				c.attack(t, program, before, namespace, fmt.Sprintf("attacker-%d", i))
			}
		})
		t.Run("neighbors", func(t *testing.T) {
			t.Parallel()
			for namespace := c.namespace(t); len(during) == 0 || !isClosed(ended); {
				during = append(during, c.neighbor(t, namespace, len(during)))
			}
		})
	})
	namespace := c.namespace(t)
	for range during {
		without = append(without, c.neighbor(t, namespace, len(without)))
	}
	t.Logf("medians of %d runs beside the attacks: %s\nof as many without: %s", len(during), during, without)
	after := c.manager(t)
	if restarts := func(pod *corev1.Pod) int32 { return pod.Status.ContainerStatuses[0].RestartCount }; after.UID != before.UID || restarts(after) != restarts(before) {
		t.Errorf("the manager was restarted: %+v", after.Status.ContainerStatuses)
	}
}

// attack attacks the manager for a wave, with what identifies the client of a new run.
func (c *cluster) attack(t *testing.T, program string, manager *corev1.Pod, namespace, name string) {
	t.Helper()
	run := wrapper.NewRun(namespace, name, harness.ServerImage).Lane("hostile-attacker").Path("/fixed/100000/10").Seconds(1, 300).Obj()
	c.create(t, run)
	c.state(t, run, v1alpha1.ReasonMeasuring, 2*time.Minute)
	pod := c.pod(t, run.Namespace, client.MatchingLabels{manifest.LabelRunUID: string(run.UID), manifest.LabelRole: manifest.RoleClient})
	_, id, _ := strings.Cut(pod.Status.ContainerStatuses[0].ContainerID, "://")
	files := t.TempDir()
	volume := fmt.Sprintf("/proc/%d/root%s", processOf(t, id), filepath.Dir(session.TokenPath))
	// Of the links in a projected volume only this one is read, since none is followed in a directory that
	// all can write to on a machine with fs.protected_symlinks.
	version, err := os.Readlink(filepath.Join(volume, "..data"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{session.TokenPath, session.CAPath} { // the pod ends with its run
		content, err := os.ReadFile(filepath.Join(volume, version, filepath.Base(file)))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(files, filepath.Base(file)), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, managerID, _ := strings.Cut(manager.Status.ContainerStatuses[0].ContainerID, "://")
	table, err := exec.CommandContext(t.Context(), program, "-duration", hostileWave.String(), "-manager", net.JoinHostPort(manager.Status.PodIP, "9443"),
		"-pid", strconv.Itoa(processOf(t, managerID)), "-token", filepath.Join(files, filepath.Base(session.TokenPath)),
		"-ca", filepath.Join(files, filepath.Base(session.CAPath))).CombinedOutput()
	t.Logf("%s\n%s", name, table)
	if err != nil || strings.Contains(string(table), "failed:") {
		t.Errorf("the attacks failed: %v", err)
	}
	wantFailed(t, c.finished(t, run, time.Minute), v1alpha1.ReasonClientFailed)
}

// neighbors are the results of runs that share only the manager with the attacker.
type neighbors []*result.Result

func (c *cluster) neighbor(t *testing.T, namespace string, i int) *result.Result {
	t.Helper()
	run := wrapper.NewRun(namespace, fmt.Sprintf("neighbor-%d", i), harness.ServerImage).Lane("hostile-neighbor").Path("/fixed/2000/100").
		Clients(2, "100m", "128Mi").Requests(2, 2000).Retain(v1alpha1.RetainAlways).Obj()
	c.create(t, run)
	done := c.finished(t, run, 2*time.Minute)
	wantSucceeded(t, done)
	if s := done.Status.Result; *s.Requests != 4000 || *s.Errors.Total != 0 {
		t.Errorf("%d requests with %d errors, want 4000 with none", *s.Requests, *s.Errors.Total)
	}
	if got := c.serverReport(t, done)["/fixed/2000/100"]; got.Requests != 4000 {
		t.Errorf("the server had %d requests, want 4000", got.Requests)
	}
	return c.artifact(t, done)
}

// String returns the medians of their figures.
func (n neighbors) String() string {
	median := func(figure func(*result.Result) int64) int64 {
		var figures []int64
		for _, r := range n {
			figures = append(figures, figure(r))
		}
		slices.Sort(figures)
		return figures[len(figures)/2]
	}
	return fmt.Sprintf("%d requests/s, p50 %d us, p99 %d us, start skew %d us",
		median(func(r *result.Result) int64 { return int64(r.RequestsPerSecond()) }),
		median(func(r *result.Result) int64 { return r.Merged.Latencies.Get(result.Total).Percentile(50) }),
		median(func(r *result.Result) int64 { return r.Merged.Latencies.Get(result.Total).Percentile(99) }),
		median((*result.Result).StartSkewMicroseconds))
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

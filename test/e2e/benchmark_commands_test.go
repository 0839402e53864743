//go:build e2e

package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
)

// commands types what a user of a Benchmark would, after its first round, which failed. Each command must
// print what was measured, or do what it says, and exit with its documented code.
func (c *cluster) commands(t *testing.T, b *v1alpha1.Benchmark, round *benchmark.Round) {
	t.Helper()
	ref, ns := "benchmark/"+b.Name, b.Namespace
	prints := func(code int, want string, args ...string) {
		t.Helper()
		if out := plugin(t, code, append(args, "-n", ns)...); !strings.Contains(out, want) {
			t.Errorf("kubectl assay %s doesn't print %q:\n%s", strings.Join(args, " "), want, out)
		}
	}
	prints(2, "FAILED", "watch", ref)
	prints(0, "worse", "report", ref)
	prints(0, "| /fixed/4000/100 |", "table", ref, "--metric", "LatencyP50:varied", "--percent-of", "path=/fixed/2000/100", "-o", "markdown")
	first, second := ofTwoCells(t, round)
	prints(0, "/load/requests/0/path", "compare", first, second)
	prints(0, "LatencyP50:varied", "compare", first, second, "--metric", "LatencyP50:varied,LatencyP50:same")
	plugin(t, 1, "compare", ref+"#1", ref, "-n", ns)
	plugin(t, 4, "report", "benchmark/none", "-n", ns)

	plugin(t, 1, "benchmark", "accept", b.Name, "-n", ns) // its baseline is a cell
	plugin(t, 0, "benchmark", "run", b.Name, "-n", ns)
	c.benchmarkIs(t, b, "in round 2", func() bool { return b.Status.Round.Number == 2 && b.Status.Round.CompletionTime == nil })
	plugin(t, 0, "benchmark", "cancel", b.Name, "-n", ns)
	c.benchmarkIs(t, b, "cancelled", func() bool { return b.Status.Round.CompletionTime != nil })
	prints(1, "ancelled", "watch", ref)
	plugin(t, 1, "benchmark", "cancel", b.Name, "-n", ns)
	plugin(t, 0, "benchmark", "suspend", b.Name, "-n", ns)
	plugin(t, 1, "benchmark", "run", b.Name, "-n", ns)
	plugin(t, 0, "benchmark", "resume", b.Name, "-n", ns)
	prints(0, "worse", "report", ref, "--round", "1")
}

// ofTwoCells returns the names of two valid runs, of different cells.
func ofTwoCells(t *testing.T, round *benchmark.Round) (first, second string) {
	t.Helper()
	valid := slices.DeleteFunc(slices.Clone(round.Runs), func(r benchmark.Run) bool { return !r.Valid })
	for i := range valid {
		if valid[i].Cell != valid[0].Cell {
			return valid[0].Name, valid[i].Name
		}
	}
	t.Fatal("all runs are of one cell")
	return "", ""
}

// benchmarkIs waits until a Benchmark is as it should be.
func (c *cluster) benchmarkIs(t *testing.T, b *v1alpha1.Benchmark, how string, is func() bool) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		read := v1alpha1.Benchmark{}
		err := c.Get(ctx, client.ObjectKeyFromObject(b), &read)
		*b = read
		return err == nil && is(), err
	}); err != nil {
		t.Fatalf("the Benchmark is not %s: %v: %+v", how, err, b.Status)
	}
}

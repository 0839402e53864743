package plugin_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/plugin"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

const shop = `apiVersion: assay.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: shop, labels: {app: shop}}
spec:
  target: {image: "shop:1", server: {generic: {port: 8080}}}
  load:
    requests: [{path: /a}]
    closed: {connections: 50, durationSeconds: 30}
`

// manifest writes a manifest with texts replaced, and returns the name of its file.
func manifest(t *testing.T, text string, replacements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.yaml")
	if err := os.WriteFile(path, []byte(strings.NewReplacer(replacements...).Replace(text)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// made returns the Benchmark that ab prints with --dry-run, without a cluster.
func made(t *testing.T, args ...string) *v1alpha1.Benchmark {
	t.Helper()
	var out bytes.Buffer
	cmd := plugin.NewCommand(genericiooptions.IOStreams{Out: &out, ErrOut: &out}, "")
	cmd.SetArgs(append([]string{"ab", "--dry-run"}, args...))
	if err := cmd.Execute(); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	b := &v1alpha1.Benchmark{}
	if err := yaml.UnmarshalStrict(out.Bytes(), b); err != nil {
		t.Fatal(err)
	}
	return b
}

// changes returns what an option of the Benchmark's only axis changes, as "- PATH" and "PATH=VALUE".
func changes(b *v1alpha1.Benchmark, option int) string {
	var all []string
	for _, path := range b.Spec.Axes[0].Options[option].Remove {
		all = append(all, "- "+path)
	}
	for _, set := range b.Spec.Axes[0].Options[option].Set {
		all = append(all, set.Path+"="+string(set.Value.Raw))
	}
	return strings.Join(all, " ")
}

func TestVariants(t *testing.T) {
	file := manifest(t, shop)
	for _, tc := range []struct {
		args []string
		a, b string
	}{
		{[]string{"shop:1", "shop:2", "-f", file}, `/target/image="shop:1"`, `/target/image="shop:2"`},
		{[]string{"-f", file, "--set", "load.requests[0].path=/b,'/c,d'", "--set", "load.closed.connections=1,2"},
			`/load/requests/0/path="/b" /load/closed/connections=1`, `/load/requests/0/path="/c,d" /load/closed/connections=2`},
		{[]string{"-f", file, "-f", manifest(t, shop, "port: 8080}}", "port: 8081}}", "{path: /a}", "{path: /b}", "closed", "warmup: {durationSeconds: 3}\n    closed")},
			"", `/load/requests=[{"path":"/b"}] /target/server/generic/port=8081 /load/warmup={"durationSeconds":3}`},
		{[]string{"-f", manifest(t, shop, "server:", "labels: {example.org/team: x, b: z}, server:"), "-f", manifest(t, shop, "server:", "labels: {b: z}, server:")},
			"", "- /target/labels/example.org~1team"},
	} {
		b := made(t, tc.args...)
		a := changes(b, 0)
		if got := changes(b, 1); a != tc.a || len(strings.Fields(got)) != len(strings.Fields(tc.b)) {
			t.Errorf("%v: A %s, B %s", tc.args, a, got)
		} else {
			for _, change := range strings.Fields(tc.b) {
				if !strings.Contains(got+" ", change+" ") {
					t.Errorf("%v: B has %s, not %s", tc.args, got, change)
				}
			}
		}
		if r := b.Spec.Repetitions; r.Order != v1alpha1.OrderAlternating || b.GenerateName != "shop-ab-" || b.Spec.Template.Metadata.Labels["app"] != "shop" {
			t.Errorf("%v: %+v, %q, labels %v", tc.args, r, b.GenerateName, b.Spec.Template.Metadata.Labels)
		}
	}
	for _, tc := range []struct {
		args []string
		text string
	}{
		{[]string{"shop:1", "shop:2"}, "-f is missing"},
		{[]string{"shop:1", "-f", file}, "name two variants in one way"},
		{[]string{"shop:1", "shop:2", "-f", file, "--set", "load.closed.connections=1,2"}, "name two variants in one way"},
		{[]string{"-f", file}, "name two variants in one way"},
		{[]string{"shop:1", "shop:1", "-f", file}, `both images are shop:1`},
		{[]string{"-f", file, "-f", file}, "don't differ"},
		{[]string{"-f", file, "--set", "load.closed.connections=1,2,3"}, "it has 3 values, must have two"},
		{[]string{"-f", file, "--set", "load.closed.connections=1,1"}, "both values are the same"},
		{[]string{"-f", file, "--set", "load.closed.connections={,1"}, "as in a list of YAML"},
		{[]string{"-f", file, "--set", "/load=1,2"}, "must be PATH=A,B"},
		{[]string{"-f", file, "--set", "load.closed.connection=1,2"}, "unknown field; use connections: 1"},
		{[]string{"-f", file, "-f", manifest(t, shop, "connections", "conections")}, "spec.load.closed.conections: unknown field"},
		{[]string{"shop:1", "shop:2", "-f", manifest(t, shop, "durationSeconds: 30", "requestCount: 900")}, "spec.load.closed.requestCount must not be set: the load alternates between A and B by time. Set durationSeconds"},
		{[]string{"shop:1", "shop:2", "-f", manifest(t, shop, "durationSeconds: 30", "durationSeconds: 30, rampSeconds: 3")}, "alternation needs a load without ramp"},
		{[]string{"shop:1", "shop:2", "-f", manifest(t, shop+"---\n"+shop)}, "has 2 BenchmarkRuns, must have one"},
		{[]string{"shop:1", "shop:2", "-f", file + "x"}, "no such file"},
		{[]string{"shop:1", "shop:2", "-f", file, "--metric", "Speed"}, `Unsupported value: "Speed"`},
		{[]string{"shop:1", "shop:2", "-f", file, "--by", "2", "--tolerance", "2"}, "[by tolerance] were all set"},
		{[]string{"shop:1", "shop:2", "-f", file, "--min", "9", "--max", "5"}, "need 6 blocks"},
		{[]string{"shop:1", "shop:2", "-f", file, "-o", "yaml"}, `unknown output format "yaml"`},
	} {
		start(t, startAPIServer(t), append([]string{"ab", "--dry-run"}, tc.args...)...).wantEnd(t, exit.Unknown, tc.text)
	}
}

// TestMetricsOfTheQuestion checks which metric decides.
func TestMetricsOfTheQuestion(t *testing.T) {
	closed, open := manifest(t, shop), manifest(t, shop, "closed: {connections: 50,", "open: {requestsPerSecond: 100,")
	for _, tc := range []struct {
		args            []string
		metric, request string
	}{
		{[]string{"-f", closed}, "RequestsPerSecond", ""},
		{[]string{"-f", open}, "LatencyP99", ""},
		{[]string{"-f", manifest(t, shop, "{path: /a}", "{path: /a, name: cart}"), "--metric", "LatencyP50:cart"}, "LatencyP50", "cart"},
	} {
		metrics := made(t, append(tc.args, "shop:1", "shop:2")...).Spec.Comparison.Metrics
		for i, m := range metrics {
			if gate := m.Role != v1alpha1.RoleReport; gate != (i == 0) || gate && (string(m.Name) != tc.metric || m.Request != tc.request) {
				t.Errorf("%v: %+v", tc.args, metrics)
			}
		}
	}
}

// TestClaimOfABetterVariant checks the claim that --by makes.
func TestClaimOfABetterVariant(t *testing.T) {
	for metric, is := range map[string]v1alpha1.ClaimRelation{"RequestsPerSecond": v1alpha1.ClaimHigher, "LatencyP50:cart": v1alpha1.ClaimLower} {
		b := made(t, "shop:1", "shop:2", "-f", manifest(t, shop, "{path: /a}", "{path: /a, name: cart}"), "--by", "3", "--metric", metric, "--max", "12")
		name, request, _ := strings.Cut(metric, ":")
		want := v1alpha1.Claim{
			Name: "b-is-better", Metric: v1alpha1.BenchmarkMetric(name), Request: request, Is: is, ByAtLeastPercent: ptr.To(int32(3)),
			Cell: v1alpha1.CellSelector{"variant": "b"}, Than: v1alpha1.CellSelector{"variant": "a"},
		}
		if diff := cmp.Diff([]v1alpha1.Claim{want}, b.Spec.Claims); diff != "" || *b.Spec.Repetitions.Max != 12 {
			t.Errorf("max %d, (-want +got)\n%s", *b.Spec.Repetitions.Max, diff)
		}
		for _, m := range b.Spec.Comparison.Metrics {
			if m.Role != v1alpha1.RoleReport {
				t.Errorf("%s decides, too", m.Name)
			}
		}
	}
}

// answered lets the operator answer the Benchmark that ab has created.
func answered(b *v1alpha1.Benchmark, verdict v1alpha1.BenchmarkVerdict, percent, low, high string) *v1alpha1.Benchmark {
	active(b)
	r := b.Status.Round
	claim := map[v1alpha1.BenchmarkVerdict]v1alpha1.ClaimVerdict{v1alpha1.BenchmarkPassed: v1alpha1.ClaimConfirmed, v1alpha1.BenchmarkFailed: v1alpha1.ClaimContradicted, v1alpha1.BenchmarkInconclusive: v1alpha1.ClaimUndecided}[verdict]
	r.Claims = []v1alpha1.ClaimStatus{{Name: "not-worse/" + string(b.Spec.Comparison.Metrics[0].Name) + "/variant=b", Percent: percent, LowPercent: low, HighPercent: high, Verdict: claim}}
	if verdict == v1alpha1.BenchmarkInconclusive {
		r.Claims[0].BlocksToDecide = ptr.To(int32(40))
	}
	r.CompletedBlocks = ptr.To(int32(10))
	complete(b, verdict, benchmark.ReasonCompleted, "The message.")
	r.CompletionTime = ptr.To(metav1.NewTime(r.StartTime.Add(12*time.Minute - 20*time.Second)))
	return b
}

func TestAnswers(t *testing.T) {
	file := manifest(t, shop)
	for _, tc := range []struct {
		verdict            v1alpha1.BenchmarkVerdict
		percent, low, high string
		args               []string
		code               int
		want               string
	}{
		{v1alpha1.BenchmarkPassed, "-4.2", "-5.2", "-3.1", []string{"--tolerance", "6"}, 0,
			"B serves 4.2% (3.1% to 5.2%) fewer requests per second than A: \"at most 6% fewer\" is confirmed, after 10 blocks in 12 minutes.\n  A: shop:1\n  B: shop:2\nshop-ab-x7k2p, round 1 passed"},
		{v1alpha1.BenchmarkFailed, "12", "8", "17", []string{"--metric", "LatencyP99"}, 2,
			"The p99 of B is 12% (8% to 17%) higher than that of A: \"at most 5% higher\" is contradicted, after 10 blocks in 12 minutes.\n"},
		{v1alpha1.BenchmarkInconclusive, "-1", "-7", "3", nil, 5,
			"B serves 1% fewer (7% fewer to 3% more) requests per second than A: \"at most 5% fewer\" is undecided, after 10 blocks in 12 minutes. About 40 blocks would decide.\n"},
		{v1alpha1.BenchmarkInconclusive, "2", "", "3", []string{"--tolerance", "0"}, 5, "B serves 2% more (unbounded to 3% more) requests per second than A: \"not fewer\" is undecided"},
		{v1alpha1.BenchmarkPassed, "14", "11", "16", []string{"--by", "10"}, 0, "B serves 14% (11% to 16%) more requests per second than A: \"at least 10% more\" is confirmed"},
		{v1alpha1.BenchmarkFailed, "2", "1", "3", []string{"--by", "0", "--metric", "LatencyP99"}, 2, "The p99 of B is 2% (1% to 3%) higher than that of A: \"lower\" is contradicted"},
		{v1alpha1.BenchmarkError, "", "", "", nil, 1, "round 1 ended with an error: Error: The message."},
	} {
		server := startAPIServer(t)
		c := start(t, server, append([]string{"ab", "shop:1", "shop:2", "-f", file}, tc.args...)...)
		c.out.waitFor(t, "waiting for the operator")
		server.SetBenchmark(answered(server.Benchmark(), tc.verdict, tc.percent, tc.low, tc.high))
		c.wantEnd(t, tc.code, tc.want, "kubectl assay report benchmark/shop-ab-x7k2p --namespace default\n", "To delete it with its runs: kubectl delete benchmark shop-ab-x7k2p --namespace default\n")
	}
}

// TestAnswerForAComment checks that Markdown has the answer and the report alone, and that the Benchmark is deleted if that is asked for.
func TestAnswerForAComment(t *testing.T) {
	server := startAPIServer(t)
	c := start(t, server, "ab", "--set", "load.requests[0].path=/a,/@c*", "-f", manifest(t, shop), "-o", "markdown", "--keep=false", "--name", "pr")
	c.out.waitFor(t, "waiting for the operator")
	server.SetBenchmark(answered(server.Benchmark(), v1alpha1.BenchmarkFailed, "-12", "-14", "-10"))
	c.wantEnd(t, exit.GateFailed, "**B serves 12% (10% to 14%) fewer requests per second than A:", "- A: load.requests\\[0\\].path=/a\n- B: load.requests\\[0\\].path=/\\@c\\*\n\n", "## Benchmark default/pr, round 1: FAILED\n")
	if n := strings.Count(c.out.String(), "round 1 FAILED"); n != 0 {
		t.Errorf("the comment has the verdict of watch:\n%s", c.out)
	}
	start(t, server, "watch", "benchmark/pr").wantEnd(t, exit.Unknown, `Benchmark "pr" not found`)
}

// TestInterruptedComparison checks that a command that ends early says how to go on, and that a Benchmark isn't replaced.
func TestInterruptedComparison(t *testing.T) {
	server := startAPIServer(t)
	out := newOutput()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := plugin.NewCommand(genericiooptions.IOStreams{Out: out, ErrOut: out}, "")
	args := []string{"ab", "shop:1", "shop:2", "-f", manifest(t, shop), "--name", "pr"}
	cmd.SetArgs(append(args, "--server", server.URL(), "--kubeconfig", os.DevNull))
	code := make(chan int)
	go func() { code <- exit.Report(out, cmd.ExecuteContext(ctx)) }()
	out.waitFor(t, "waiting for the operator")
	cancel()
	if got := <-code; got != exit.Interrupted {
		t.Errorf("exit code %d", got)
	}
	want := "The round goes on. To follow it: kubectl assay watch benchmark/pr --namespace default\nTo delete it: kubectl delete benchmark pr --namespace default\n"
	if !strings.Contains(out.String(), want) {
		t.Errorf("%q not found in:\n%s", want, out)
	}
	start(t, server, args...).wantEnd(t, exit.Unknown, `Benchmark "pr" exists already: use another --name, or delete it`)
	start(t, server, append(args, "--name", "pr2", "--timeout", "1s")...).wantEnd(t, exit.Unknown, "timed out waiting for Benchmark \"pr2\"", "The round goes on. To follow it: kubectl assay watch benchmark/pr2")
}

// TestDoctorFit checks that a round of two equal variants is made, again the second time, and says what can be decided.
func TestDoctorFit(t *testing.T) {
	server := startAPIServer(t)
	file := manifest(t, shop)
	for round := int64(1); round <= 2; round++ {
		c := start(t, server, "doctor", "--fit", "-f", file)
		c.out.waitFor(t, "waiting for the operator")
		b := server.Benchmark()
		if b.Name != "assay-fit" || len(b.Spec.Axes[0].Options[0].Set)+len(b.Spec.Axes[0].Options[1].Set) != 0 || *b.Spec.Repetitions.Min != 10 {
			t.Fatalf("%s %+v", b.Name, b.Spec)
		}
		b.Spec.Repetitions.Order = v1alpha1.OrderRandomizedBlocks // conclude makes one run after the other
		server.SetConfigMap(conclude(t, b, 1))
		server.SetBenchmark(b)
		c.wantEnd(t, exit.Success, "ok      requests/s: 10 blocks find differences of ", "ok      p99: 10 blocks find differences of ", "ok      noise: none of 20 runs has a finding\n")
		if b.Status.Round.Number != round {
			t.Errorf("round %d", b.Status.Round.Number)
		}
	}
	start(t, server, "doctor", "-f", file).wantEnd(t, exit.Unknown, "-f needs --fit")
	start(t, server, "doctor", "--fit", "-f", manifest(t, shop, "durationSeconds: 30", "requestCount: 900")).wantEnd(t, exit.Unknown, "requestCount must not be set")
	c := start(t, startAPIServer(t), "doctor", "--fit")
	c.out.waitFor(t, "waiting for the operator")
}

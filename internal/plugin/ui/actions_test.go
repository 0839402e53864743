package ui

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
)

// allowed answers reviews of what a user may do: yes for the verbs.
func allowed(verbs ...string) interceptor.Funcs {
	return interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
		if review, is := o.(*authorizationv1.SelfSubjectAccessReview); is {
			review.Status.Allowed = slices.Contains(verbs, review.Spec.ResourceAttributes.Verb)
			return nil
		}
		return c.Create(ctx, o, options...)
	}}
}

// pair returns a Benchmark with rounds, a claim of which was contradicted, and a run of the last one.
func pair() (*v1alpha1.Benchmark, *v1alpha1.BenchmarkRun) {
	at := func(minutes int) metav1.Time { return metav1.NewTime(time.Unix(1_700_000_000+int64(60*minutes), 0)) }
	b := &v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "pair", UID: "uid-pair"}}
	b.Spec.Template.Spec = newRun("demo").Spec
	b.Spec.Axes = []v1alpha1.Axis{{Name: "connector", Options: []v1alpha1.AxisOption{{Name: "nio"}, {Name: "apr"}}}}
	b.Spec.Claims = []v1alpha1.Claim{{Name: "apr-is-faster", Metric: "LatencyP99", Is: v1alpha1.ClaimLower, Cell: map[string]string{"connector": "apr"}, Than: map[string]string{"connector": "nio"}}}
	b.Status.Verdict, b.Status.Hash = v1alpha1.BenchmarkFailed, "h"
	b.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionTrue, Reason: "Completed"}, {Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: "Finished"}}
	b.Status.Round = &v1alpha1.RoundStatus{
		Number: 2, Hash: "h", Verdict: b.Status.Verdict, Cells: ptr.To(int32(2)), CompletionTime: ptr.To(at(2)), CompletedBlocks: ptr.To(int32(10)), Reason: "Completed",
		Claims: []v1alpha1.ClaimStatus{{Name: "apr-is-faster", Verdict: v1alpha1.ClaimContradicted, Percent: "12.1", LowPercent: "9.2", HighPercent: "15.8"}},
	}
	b.Status.History = []v1alpha1.RoundReference{{Number: 2, Verdict: b.Status.Verdict, CompletionTime: at(2)}, {Number: 1, Verdict: v1alpha1.BenchmarkInconclusive, CompletionTime: at(1)}}
	run := finish(newRun(benchmark.RunKey{Round: 2, Number: 3}.Name("pair")), v1alpha1.VerdictPassed)
	run.Labels = map[string]string{benchmark.LabelBenchmark: "pair", "app": "shop", "argocd.example/instance": "x"}
	run.Spec.Alternation = &v1alpha1.Alternation{Block: "b", Variants: 2, Variant: ptr.To(int32(0))}
	return b, run
}

// TestActions checks which links each page has, and that those to what a user may not do aren't there.
func TestActions(t *testing.T) {
	b, ofRound := pair()
	done, active := finish(newRun("done"), v1alpha1.VerdictPassed), newRun("active")
	stored := withResult(t, done)
	for name, test := range map[string]struct {
		verbs []string
		want  map[string][]string // by the path of the page; what begins with ! isn't there
	}{
		"all": {[]string{"create", "patch", "delete"}, map[string][]string{
			"/runs/shop/done":                 {"/runs/shop/done/again", "/new?from=runs%2Fshop%2Fdone", "/runs/shop/done/delete", "/runs/shop/done/report?format=html", "format=json", "format=csv%3Dseries", "kubectl assay report done --namespace shop"},
			"/runs/shop/active":               {"!/again", "/new?from=runs%2Fshop%2Factive", "action=\"/runs/shop/active/suspend\"", "/runs/shop/active/delete", "!format=", "kubectl assay watch active --namespace shop"},
			"/runs/shop/" + ofRound.Name:      {`<a class="button" href="/benchmarks/shop/pair">Benchmark pair</a>`},
			"/benchmarks/shop/pair":           {"/benchmarks/shop/pair/again", "/new?from=benchmarks%2Fshop%2Fpair", "format=csv&amp;round=2", "?round=1\">Round 1", "?view=runs", "!<form", "--round 2"},
			"/benchmarks/shop/pair?view=runs": {"action=\"/benchmarks/shop/pair/suspend\"", "?round=2\">Round 2", "/benchmarks/shop/pair/delete"},
			"/new":                            {"!You may not create"},
		}},
		"none": {nil, map[string][]string{
			"/runs/shop/done": {"!/again", "!/new?from", "!/delete", "format=json"}, "/runs/shop/active": {"!<form", "!/delete"},
			"/benchmarks/shop/pair": {"!/again", "!/new?from", "!/delete", "?view=runs"}, "/benchmarks/shop/pair?view=runs": {"!/suspend", "!/delete"},
			"/new": {"You may not create benchmarkruns in namespace shop"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			copies := []client.Object{b.DeepCopy(), ofRound.DeepCopy(), done.DeepCopy(), active.DeepCopy(), stored.DeepCopy()}
			s := newSite(t, allowed(test.verbs...), copies...).synced()
			for path, parts := range test.want {
				_, body := s.get(path)
				for _, part := range parts {
					text, not := strings.CutPrefix(part, "!")
					if strings.Contains(body, text) == not {
						t.Errorf("%s: %q\n%s", path, part, body)
					}
				}
			}
		})
	}
}

// TestAgain checks that a run is copied under a free name, without what is the original's only, and that a Benchmark is asked for a round; each after a
// question.
func TestAgain(t *testing.T) {
	b, run := pair()
	s := newSite(t, allowed("create"), b, run, newRun("demo"), newRun("demo-again")).synced()
	if _, body := s.get("/runs/shop/demo/again"); !strings.Contains(body, "Run demo again?") || !strings.Contains(body, "A new run demo-again-2 ") {
		t.Error(body)
	}
	for _, test := range [][2]string{ // in this order: each copy takes the first name that is free
		{"demo", "demo-again-2"}, {"demo-again", "demo-again-3"}, {run.Name, strings.TrimSuffix(run.Name[:min(25, len(run.Name))], "-") + "-again"},
	} {
		name, want := test[0], test[1]
		if status, body, header := s.post("/runs/shop/"+name+"/again", url.Values{}); status != http.StatusSeeOther || header.Get("Location") != "/runs/shop/"+want {
			t.Errorf("%s: %d to %s, want %s\n%s", name, status, header.Get("Location"), want, body)
			continue
		}
		made := s.stored(want)
		if made.Spec.Alternation != nil || made.Spec.Load.Closed.Connections != 50 || len(made.Labels) > 1 || name == run.Name && made.Labels["app"] != "shop" {
			t.Errorf("%s: %+v, labels %v", want, made.Spec, made.Labels)
		}
	}
	if status, _, _ := s.do(s.request(http.MethodPost, "/runs/shop/demo/again", url.Values{})); status != http.StatusForbidden {
		t.Errorf("without the token of forms: %d", status)
	}
	if status, body, _ := s.post("/runs/shop/nowhere/again", url.Values{}); status != http.StatusNotFound {
		t.Errorf("%d %s", status, body)
	}
	if _, body := s.get("/new?from=runs/shop/demo"); !strings.Contains(body, "name: demo-again-4") || !strings.Contains(body, "connections: 50") || strings.Contains(body, "status:") {
		t.Error(body)
	}
	if _, body := s.get("/new?from=benchmarks/shop/pair"); !strings.Contains(body, "name: pair-again") || !strings.Contains(body, "kind: Benchmark\n") {
		t.Error(body)
	}
	if _, body := s.get("/benchmarks/shop/pair/again"); !strings.Contains(body, "Run a round of Benchmark pair?") {
		t.Error(body)
	}
	if status, body, _ := s.post("/benchmarks/shop/pair/again", url.Values{}); status != http.StatusSeeOther {
		t.Errorf("%d %s", status, body)
	}
	if err := s.cluster.Get(t.Context(), client.ObjectKeyFromObject(b), b); err != nil || b.Annotations[v1alpha1.AnnotationRunRound] == "" {
		t.Errorf("%v, annotations %v", err, b.Annotations)
	}
}

// TestFiles checks that reports are kept as files, in formats that write nowhere else, and that a browser that shows one gives it no rights.
func TestFiles(t *testing.T) {
	b, _ := pair()
	done := finish(newRun("done"), v1alpha1.VerdictPassed)
	s := newSite(t, interceptor.Funcs{}, withResult(t, done), done, b).synced()
	for path, want := range map[string]string{
		"/runs/shop/done/report?format=html": "<!DOCTYPE html>", "/runs/shop/done/report?format=json": `"schemaVersion"`,
		"/benchmarks/shop/pair/report?format=json&round=2": `"verdict"`, "/benchmarks/shop/pair/report?format=csv": "run,cell",
	} {
		status, body, header := s.do(s.request(http.MethodGet, path, nil))
		if status != http.StatusOK || !strings.Contains(body, want) || !strings.HasPrefix(header.Get("Content-Disposition"), "attachment; filename=") || !strings.HasPrefix(header.Get("Content-Security-Policy"), "sandbox;") {
			t.Errorf("%s: %d %v %s", path, status, header, body)
		}
	}
	for _, path := range []string{"/runs/shop/done/report?format=csv%3Dseries", "/runs/shop/done/report?format=script", "/runs/shop/done/report?format=x", "/runs/shop/nowhere/report", "/benchmarks/shop/pair/report?format=json&round=9"} {
		if status, body, header := s.do(s.request(http.MethodGet, path, nil)); status != http.StatusUnprocessableEntity || header.Get("Content-Disposition") != "" {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

// TestBenchmarkList checks what the list says of a Benchmark: the worst claim with its interval, when that was, and the last rounds.
func TestBenchmarkList(t *testing.T) {
	b, _ := pair()
	s := newSite(t, interceptor.Funcs{}, b).synced()
	_, body := s.get("/benchmarks")
	for _, part := range []string{
		`<td class="bad">Contradicted: apr-is-faster: p99 of apr is lower than that of nio. It is &#43;12% (&#43;9% to &#43;16%)`, "<td>2023-11-14 22:15</td>",
		`/benchmarks/shop/pair?round=1" title="Round 1: Inconclusive, 2023-11-14 22:14" aria-label="Round 1: Inconclusive, 2023-11-14 22:14"><span class="unsure">&#9671;</span></a><a href="/benchmarks/shop/pair?round=2"`,
	} {
		if !strings.Contains(body, part) {
			t.Errorf("no %s in\n%s", part, body)
		}
	}
}

// TestWarningsInTheList checks that no verdict hides warnings, and that they can be looked for.
func TestWarningsInTheList(t *testing.T) {
	var objects []client.Object
	for name, verdict := range map[string]v1alpha1.Verdict{"met": v1alpha1.VerdictPassed, "missed": v1alpha1.VerdictFailed} {
		run := finish(newRun(name), verdict)
		run.Status.Conditions[2].Reason, run.Status.Conditions[2].Message = v1alpha1.ReasonWarnings, "StartSkew: of 2s."
		objects = append(objects, run)
	}
	s := newSite(t, interceptor.Funcs{}, append(objects, finish(newRun("clean"), v1alpha1.VerdictPassed))...).synced()
	_, body := s.get("/?q=warnings")
	if got := names(body); !slices.Equal(slices.Sorted(slices.Values(got)), []string{"met", "missed"}) || !strings.Contains(body, `title="StartSkew: of 2s.">warnings, threshold missed`) || !strings.Contains(body, `title="StartSkew: of 2s.">warnings`) {
		t.Errorf("%v\n%s", got, body)
	}
}

// TestPlainErrors checks that no message has an address of the API server's.
func TestPlainErrors(t *testing.T) {
	refused := &url.Error{Op: "Get", URL: "https://10.0.0.1:6443/apis/assay.dev/v1alpha1/namespaces/shop/benchmarkruns?limit=500", Err: errors.New("dial tcp: connection refused")}
	s := newSite(t, interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return refused },
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return refused
		},
	})
	s.eventually(func() bool { return s.server.runs.contact().err != nil })
	for _, path := range []string{"/", "/benchmarks", "/runs/shop/demo", "/runs/shop/demo/delete", "/new?from=runs/shop/demo", "/compare?run=shop/a&run=shop/b", "/runs/shop/demo/report"} {
		if _, body := s.get(path); !strings.Contains(body, "onnection refused") && !strings.Contains(body, "ial tcp") || strings.Contains(body, "https://") {
			t.Errorf("%s: %s", path, body)
		}
	}
}

// TestPort checks that a start has the port of the one before, and any while that is in use.
func TestPort(t *testing.T) {
	const server = "https://10.0.0.1:6443"
	usual := portOf(server, 1000)
	if usual != portOf(server, 1000) || usual == portOf("https://10.0.0.2:6443", 1000) || usual == portOf(server, 1001) || usual < 1024 || usual >= 32768 {
		t.Errorf("port %d", usual)
	}
	one, err := listen(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	taken := one.Addr().(*net.TCPAddr).Port
	other, err := listen(t.Context(), 0, taken)
	if err != nil || other.Addr().(*net.TCPAddr).Port == taken {
		t.Fatalf("%v, %v", other, err)
	}
	if _, err := listen(t.Context(), taken, 0); err == nil {
		t.Error("another port than that of --port")
	}
	_, _ = one.Close(), other.Close()
	again, err := listen(t.Context(), 0, taken)
	if err != nil || again.Addr().(*net.TCPAddr).Port != taken {
		t.Errorf("%v, %v", again, err)
	}
	_ = again.Close()
}

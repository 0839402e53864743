package browser_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/ui"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/browser"
)

// alice is the ui.Login of a cluster with one user.
type alice struct{ cluster client.WithWatch }

// User implements ui.Login.
func (alice) User(context.Context, string) (string, error) { return "alice", nil }

// Open implements ui.Login.
func (a alice) Open(_ string, scope ui.Scope, _ ui.Limits) (*ui.App, error) {
	return ui.NewApp(a.cluster, "shop", scope), nil
}

// uiRun returns a run of namespace shop whose number says in which state it is.
func uiRun(number int) *v1alpha1.BenchmarkRun {
	name := fmt.Sprintf("cart-%04d", number)
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(time.Unix(1_700_000_000+int64(60*number), 0)),
	}}
	run.Spec.Target.Image = "tomcat:9"
	run.Spec.Target.Server.Tomcat = &v1alpha1.TomcatServer{}
	run.Spec.Target.Resources.CPU, run.Spec.Clients.Resources.CPU = ptr.To(resource.MustParse("4")), ptr.To(resource.MustParse("2"))
	run.Spec.Clients.Replicas = ptr.To(int32(2))
	run.Spec.Load.Closed = &v1alpha1.ClosedLoad{Connections: 50, DurationSeconds: ptr.To(int32(60))}
	verdicts := []v1alpha1.Verdict{"", v1alpha1.VerdictPassed, v1alpha1.VerdictFailed, v1alpha1.VerdictInvalid, v1alpha1.VerdictError}
	run.Status.Verdict = verdicts[number%len(verdicts)]
	condition := metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCompleted, Message: "All clients have measured."}
	switch run.Status.Verdict {
	case "":
		condition.Status, condition.Reason, condition.Message = metav1.ConditionUnknown, v1alpha1.ReasonMeasuring, "The clients are sending load."
		run.Status.Progress = &v1alpha1.Progress{
			State: v1alpha1.ReasonMeasuring, Percent: ptr.To(int32(40)), RemainingSeconds: ptr.To(int64(36)),
			Requests: ptr.To(int64(890)), Errors: ptr.To(int64(10)), RequestsPerSecond: "40",
			Window: &v1alpha1.ProgressWindow{
				Second: ptr.To(int64(20)), Seconds: ptr.To(int64(2)), Requests: ptr.To(int64(81)), Errors: ptr.To(int64(1)),
				P50Microseconds: ptr.To(int64(5520)), P99Microseconds: ptr.To(int64(93_800)), TargetCPUPercent: ptr.To(int32(53)), ClientCPUPercent: ptr.To(int32(12)),
			},
		}
		run.Status.MeasurementTime = ptr.To(metav1.NewMicroTime(time.Now().Add(-24 * time.Second)))
	case v1alpha1.VerdictError:
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, v1alpha1.ReasonTargetCrashed, "The server exited with code 1."
	default:
		run.Status.Result = &v1alpha1.ResultStatus{
			RequestsPerSecond: fmt.Sprintf("%d.5", 4000+number), Requests: ptr.To(int64(100_000)), Errors: &v1alpha1.ErrorCounts{Total: ptr.To(int64(number % 7))},
			Latency: &v1alpha1.PhaseLatencies{Total: &v1alpha1.Latency{P99Microseconds: ptr.To(int64(93_800 + 100*number))}},
			Target:  &v1alpha1.TargetUsage{CPUPercent: ptr.To(int32(53 + number%5))},
		}
	}
	begun := run.CreationTimestamp.Add(5 * time.Second)
	run.Status.AdmissionTime = ptr.To(metav1.NewTime(begun))
	if run.Status.Verdict == "" {
		run.Status.AdmissionTime = ptr.To(metav1.NewTime(time.Now().Add(-30 * time.Second)))
	} else {
		run.Status.CompletionTime = ptr.To(metav1.NewTime(begun.Add(time.Duration(70+number%9) * time.Second)))
	}
	run.Status.Conditions = []metav1.Condition{condition}
	if number%6 == 0 && run.Status.Result != nil {
		run.Status.Conditions = append(run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionValid, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonWarnings, Message: "StartSkew: The clients began 0.4s apart."})
	}
	if run.Status.Verdict != "" {
		run.Status.Conditions = append(run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonFinished})
	}
	return run
}

// stored stores a result as that of a run.
func stored(tb testing.TB, run *v1alpha1.BenchmarkRun, r *result.Result) *corev1.ConfigMap {
	tb.Helper()
	r.Run.UID, r.Run.Name, r.Run.Namespace = string(run.UID), run.Name, run.Namespace
	encoded, err := artifact.Encode(r, artifact.ConfigMapLimit)
	if err != nil {
		tb.Fatal(err)
	}
	name := run.Name + "-result"
	run.Status.Artifact = &v1alpha1.ArtifactReference{ConfigMap: &v1alpha1.ArtifactConfigMap{Name: name, Key: "result"}, SHA256: artifact.Identify(encoded).SHA256}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: run.Namespace, Name: name,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(run, v1alpha1.GroupVersion.WithKind("BenchmarkRun"))},
		},
		BinaryData: map[string][]byte{"result": encoded},
	}
}

// roundRuns is the number of runs of uiBenchmark.
const roundRuns = 16

// serveUI serves the pages of a cluster with n runs, the first of which have reports and the last belong to a round, and returns their address.
func serveUI(tb testing.TB, n int) string {
	tb.Helper()
	scheme, err := cluster.NewScheme()
	if err != nil {
		tb.Fatal(err)
	}
	var objects []client.Object
	for i := range n - roundRuns {
		run := uiRun(i)
		switch i {
		case 1:
			objects = append(objects, stored(tb, run, clean()))
		case 2:
			objects = append(objects, stored(tb, run, measured(2, 22)))
		}
		objects = append(objects, run)
	}
	objects = append(objects, uiBenchmark()...)
	objects = append(objects, decided())
	byName := func(o client.Object) []string { return []string{o.GetName()} }
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&v1alpha1.BenchmarkRun{}, metav1.ObjectNameField, byName).WithIndex(&v1alpha1.Benchmark{}, metav1.ObjectNameField, byName).Build()
	return served(tb, alice{c}, "a-token")
}

// served serves pages behind a proxy that adds a token, or nothing if it is empty, and returns their address.
func served(tb testing.TB, login ui.Login, token string) string {
	tb.Helper()
	server := httptest.NewUnstartedServer(nil)
	address := "http://" + server.Listener.Addr().String()
	portal, err := ui.NewPortal(address, login)
	if err != nil {
		tb.Fatal(err)
	}
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		portal.ServeHTTP(w, r)
	})
	server.Start()
	tb.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return address
}

// uiBenchmark returns a Benchmark in the middle of its first round, and the runs of the round so far.
func uiBenchmark() []client.Object {
	b := &v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "connectors", UID: "uid-connectors"}}
	b.Spec.Template.Spec = uiRun(1).Spec
	b.Spec.Axes = []v1alpha1.Axis{{Name: "connector", Options: []v1alpha1.AxisOption{{Name: "nio"}, {Name: "apr"}}}}
	b.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionUnknown, Reason: "Running", Message: "Block 8 of 10 is under way."}}
	b.Status.Round = &v1alpha1.RoundStatus{
		Number: 1, Cells: ptr.To(int32(2)), CompletedBlocks: ptr.To(int32(7)), FinishedRuns: ptr.To(int32(16)), InvalidRuns: ptr.To(int32(1)),
		ExpectedCompletionTime: ptr.To(metav1.NewTime(time.Now().Add(4*time.Minute + 30*time.Second))),
	}
	all := []client.Object{b}
	for block := range 8 {
		for cell := range 2 {
			number := 1 // a valid one
			switch {
			case block == 7 && cell == 1:
				number = 0
			case block == 7:
				number = 3
			}
			run := uiRun(number)
			run.Name = benchmark.RunKey{Round: 1, Cell: cell, Number: block}.Name(b.Name)
			run.UID, run.Labels = types.UID("uid-"+run.Name), map[string]string{benchmark.LabelBenchmark: b.Name}
			if run.Status.Result != nil {
				run.Status.Result.RequestsPerSecond = fmt.Sprint(4000 + 300*cell + 17*(block*7%5))
			}
			all = append(all, run)
		}
	}
	return all
}

// decided returns a Benchmark whose last round has ended, with what its status says of that.
func decided() *v1alpha1.Benchmark {
	b := &v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "servers", UID: "uid-servers"}}
	b.Spec.Template.Spec = uiRun(1).Spec
	b.Spec.Axes = []v1alpha1.Axis{{Name: "connector", Options: []v1alpha1.AxisOption{{Name: "nio"}, {Name: "apr"}}}}
	b.Spec.Claims = []v1alpha1.Claim{{Name: "apr-answers-sooner", Metric: "LatencyP99", Is: v1alpha1.ClaimLower, Cell: map[string]string{"connector": "apr"}, Than: map[string]string{"connector": "nio"}}}
	b.Status.Verdict, b.Status.Hash = v1alpha1.BenchmarkFailed, "h"
	b.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionTrue, Reason: "Completed"}, {Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: "Finished"}}
	for number := int64(5); number > 0; number-- {
		verdict := []v1alpha1.BenchmarkVerdict{v1alpha1.BenchmarkFailed, v1alpha1.BenchmarkPassed, v1alpha1.BenchmarkInconclusive, v1alpha1.BenchmarkMeasured, v1alpha1.BenchmarkError}[5-number]
		b.Status.History = append(b.Status.History, v1alpha1.RoundReference{Number: number, Verdict: verdict, CompletionTime: metav1.NewTime(time.Unix(1_700_000_000+86400*number, 0))})
	}
	b.Status.Round = &v1alpha1.RoundStatus{
		Number: 5, Hash: "h", Verdict: b.Status.Verdict, Cells: ptr.To(int32(2)), StartTime: metav1.NewTime(b.Status.History[0].CompletionTime.Add(-time.Hour)), CompletionTime: ptr.To(b.Status.History[0].CompletionTime), CompletedBlocks: ptr.To(int32(10)),
		FinishedRuns: ptr.To(int32(20)), Reason: "Completed",
		Claims: []v1alpha1.ClaimStatus{{Name: "apr-answers-sooner", Verdict: v1alpha1.ClaimContradicted, Percent: "12.1", LowPercent: "9.2", HighPercent: "15.8"}},
	}
	return b
}

// openList opens the list and waits until it has n runs.
func openList(tb testing.TB, b *browser.Browser, address string, n int) *browser.Tab {
	tb.Helper()
	tab, end, err := b.OpenURL(address, true)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(end)
	await(tb, tab, fmt.Sprintf(`document.querySelectorAll('#rows > tr').length === %d`, n))
	return tab
}

// await waits until an expression is true. The page may change meanwhile.
func await(tb testing.TB, tab *browser.Tab, expression string) {
	tb.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		is, err := browser.Evaluate[bool](tab, expression)
		if err == nil && is {
			return
		}
		if time.Now().After(deadline) {
			text, _ := tab.Text()
			tb.Fatalf("%s isn't true after two minutes: %v\n%s", expression, err, text)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// reload loads a page again and waits until an expression is true of the new one.
func reload(tb testing.TB, tab *browser.Tab, expression string) {
	tb.Helper()
	if _, err := browser.Evaluate[bool](tab, `(window.old = true, location.reload(), true)`); err != nil {
		tb.Fatal(err)
	}
	await(tb, tab, "window.old === undefined && document.readyState === 'complete' && "+expression)
}

// uiPages are the paths of the pages, each with what is true when it is complete.
var uiPages = []struct{ name, path, complete string }{
	{"list", "/", `document.querySelectorAll('#rows > tr').length > 0`},
	{"list-filtered", "/?verdict=Passed&q=cart", `document.querySelectorAll('#rows > tr').length > 0`},
	{"list-nothing", "/?q=nowhere", `document.body.innerText.includes('Clear the filter')`},
	{"run-measuring", "/runs/shop/cart-0000", `document.querySelector('#plots svg .s-throughput') !== null`},
	{"run-report", "/runs/shop/cart-0001", `document.querySelector('.timeline .tools') !== null`},
	{"run-failed", "/runs/shop/cart-0004", `document.querySelector('#answer') !== null`},
	{"run-again", "/runs/shop/cart-0001/again", `document.querySelector('main form') !== null`},
	{"compare", "/compare?" + url.Values{"run": {"shop/cart-0001", "shop/cart-0002"}}.Encode(), `document.querySelector('#answer') !== null`},
	{"list-compact", "/?rows=compact", `document.querySelectorAll('.list.compact #rows > tr').length > 0`},
	{"benchmarks", "/benchmarks", `document.body.innerText.includes('connectors')`},
	{"benchmark-report", "/benchmarks/shop/servers", `document.querySelector('#answer') !== null`},
	{"benchmark", "/benchmarks/shop/connectors", `document.querySelectorAll('.matrix .dots .figure').length === 2`},
	{"new", "/new?sample=generic", `document.querySelector('#manifest').value.includes('BenchmarkRun')`},
	{"delete", "/runs/shop/cart-0003/delete", `document.querySelector('main form') !== null`},
	{"not-found", "/nowhere", `document.body.innerText.includes('Not found')`},
}

// TestUI checks each page of the user interface in each view, and the one for who comes without a token.
func TestUI(t *testing.T) {
	b := start(t)
	refused, end, err := b.OpenURL(served(t, alice{}, ""), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	t.Run("refused", func(t *testing.T) { checkUI(t, refused, "http://127.0.0.1") })
	address := serveUI(t, 30)
	for _, page := range uiPages {
		t.Run(page.name, func(t *testing.T) {
			tab, end, err := b.OpenURL(address+page.path, true)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(end)
			await(t, tab, page.complete)
			checkUI(t, tab, address)
		})
	}
}

// TestFilterToNothing types what no run has: the list says how many are left, and how to see all again.
func TestFilterToNothing(t *testing.T) {
	tab := openList(t, start(t), serveUI(t, 30), 30)
	evaluate[bool](t, tab, `((e) => { e.value = 'nowhere'; return e.dispatchEvent(new Event('input')); })(document.querySelector('#search'))`)
	if text := evaluate[string](t, tab, `[...document.querySelectorAll('#count, #nothing:not([hidden])')].map((e) => e.innerText).join(' ')`); text != "0 of 30 runs No run matches. Clear the filter" {
		t.Errorf("%q", text)
	}
	evaluate[bool](t, tab, `((e) => { e.value = ''; return e.dispatchEvent(new Event('input')); })(document.querySelector('#search'))`)
	if text := evaluate[string](t, tab, `[...document.querySelectorAll('#count, #nothing:not([hidden])')].map((e) => e.innerText).join(' ')`); strings.TrimSpace(text) != "30 of 30 runs" {
		t.Errorf("%q", text)
	}
}

// TestFocusStays sends an active page parts that stay as they are, and ones that have changed, while a link in them has the focus.
func TestFocusStays(t *testing.T) {
	tab, end, err := start(t).OpenURL(serveUI(t, 30)+"/benchmarks/shop/connectors", true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	await(t, tab, `document.querySelectorAll('#matrix a').length > 3`)
	const sent = `((change) => {
		const matrix = document.querySelector('#matrix'), link = matrix.querySelectorAll('a')[3], html = matrix.innerHTML;
		link.focus();
		show({parts: {matrix: change(html)}});
		return [link.isConnected, document.activeElement.href === link.href, matrix.innerHTML === change(html)].join(' ');
	})`
	if found := evaluate[string](t, tab, sent+`((html) => html)`); found != "true true true" {
		t.Errorf("of the same part: %s", found)
	}
	if found := evaluate[string](t, tab, sent+`((html) => html.replace('<p>', '<p>Now '))`); found != "false true true" {
		t.Errorf("of a part that has changed: %s", found)
	}
}

// TestLongList scrolls to the end of a long list: it shows 100 rows at first and all at the end, filters all, and shows all without scripts.
func TestLongList(t *testing.T) {
	const n, shown = 230, `[...document.querySelectorAll('#rows > tr')].filter((row) => row.offsetHeight > 0).length`
	b, address := start(t), serveUI(t, n)
	tab := openList(t, b, address, n)
	await(t, tab, shown+` === 100`)
	filter := func(text string) {
		evaluate[bool](t, tab, `((e) => { e.value = '`+text+`'; return e.dispatchEvent(new Event('input')); })(document.querySelector('#search'))`)
	}
	filter("cart-0007")
	await(t, tab, shown+` === 1`)
	filter("")
	await(t, tab, shown+` === 100 && !document.querySelector('#more').hidden`)
	await(t, tab, `((box) => { box.scrollTop = box.scrollHeight; return `+shown+` === 230; })(document.querySelector('.scroll'))`)
	await(t, tab, `document.querySelector('#more').hidden`)
	without, end, err := b.OpenURL(address, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	await(t, without, shown+` === 230 && !document.querySelector('#more').checkVisibility()`)
}

// checkUI checks a page that is complete. The status 401 without a token, and 404 of a page that isn't there, are written to the console by
// the browser itself.
func checkUI(t *testing.T, tab *browser.Tab, address string) {
	t.Helper()
	expectNothing(t, browser.View{}, checks{
		"messages": func() ([]string, error) {
			return slices.DeleteFunc(tab.Messages(), func(m string) bool { return strings.Contains(m, "responded with a status of 40") }), nil
		},
		"requests": func() ([]string, error) { return tab.Foreign(address), nil },
	})
	checkKeyboard(t, tab)
	for _, view := range layouts {
		look(t, tab, view)
		expectNothing(t, view, checks{"wider than the page": tab.Scrolling, "texts over each other": tab.Overlaps, "texts cut off": tab.Cut})
	}
	for _, view := range colors {
		look(t, tab, view)
		expectNothing(t, view, checks{"axe-core": func() ([]string, error) { return tab.Inaccessible(axe(t)) }})
	}
}

// slowest returns the longest time in milliseconds from a change of the list to the paint after it: of filtering by a text that is typed, and
// of scrolling through it.
const slowest = `(async () => {
	const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
	const most = async (steps) => {
		let longest = 0;
		for (const step of steps) {
			await painted();
			const from = performance.now();
			step();
			await painted();
			longest = Math.max(longest, performance.now() - from);
		}
		return longest;
	};
	const search = document.getElementById('search');
	const typed = ['c', 'ca', 'cart-00', 'cart-001', 'cart-0', 'tomcat passed', ''].map((text) => () => {
		search.value = text;
		search.dispatchEvent(new Event('input', {bubbles: true}));
	});
	const filter = await most(typed);
	const box = document.querySelector('.scroll');
	const scroll = await most([...Array(40).keys()].map((i) => () => { box.scrollTop = box.scrollHeight * i / 40; }));
	return {Filter: filter, Scroll: scroll};
})()`

// BenchmarkList measures how long the list of 1,000 runs takes to be filtered and scrolled, and to load.
func BenchmarkList(b *testing.B) {
	const n = 1000
	chromium, end, err := browser.Start(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer end()
	tab := openList(b, chromium, serveUI(b, n), n)
	var filter, scroll, paint []float64
	for b.Loop() {
		times, err := browser.Evaluate[struct{ Filter, Scroll float64 }](tab, slowest)
		if err != nil {
			b.Fatal(err)
		}
		painted, err := browser.Evaluate[float64](tab, firstPaint)
		if err != nil {
			b.Fatal(err)
		}
		filter, scroll, paint = append(filter, times.Filter), append(scroll, times.Scroll), append(paint, painted)
		reload(b, tab, fmt.Sprintf(`document.querySelectorAll('#rows > tr').length === %d`, n))
	}
	for unit, all := range map[string][]float64{"filter-ms": filter, "scroll-ms": scroll, "first-paint-ms": paint} {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], unit)
		b.ReportMetric(all[len(all)-1], "longest-"+unit)
	}
}

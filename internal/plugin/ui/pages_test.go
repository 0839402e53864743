package ui

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
)

// stored returns a run as the cluster has it.
func (s *site) stored(name string) *v1alpha1.BenchmarkRun {
	s.t.Helper()
	run := &v1alpha1.BenchmarkRun{}
	if err := s.cluster.Get(s.t.Context(), client.ObjectKey{Namespace: "shop", Name: name}, run); err != nil {
		s.t.Fatal(err)
	}
	return run
}

// names returns the names of the rows of a list in their order.
func names(html string) (all []string) {
	for _, part := range strings.Split(html, `<tr id="`)[1:] {
		_, after, _ := strings.Cut(part, `<a href="`)
		_, after, _ = strings.Cut(after, `">`)
		name, _, _ := strings.Cut(after, "<")
		all = append(all, name)
	}
	return all
}

// TestList checks the order of the runs, what each filter selects, and what the page says if that is none.
func TestList(t *testing.T) {
	queued := newRun("queued")
	queued.Status.Conditions[0].Reason, queued.Status.Conditions[0].Message = v1alpha1.ReasonQueued, "Waiting for lane default: 2 runs are ahead."
	old := finish(newRun("old"), v1alpha1.VerdictPassed)
	old.CreationTimestamp = metav1.NewTime(old.CreationTimestamp.Add(-time.Hour))
	old.Labels = map[string]string{"app": "cart"}
	invalid := finish(newRun("invalid"), v1alpha1.VerdictInvalid)
	invalid.Spec.Target.Server = v1alpha1.Server{Generic: &v1alpha1.GenericServer{}}
	s := newSite(t, interceptor.Funcs{}, queued, old, invalid, newRun("measuring")).synced()
	for query, want := range map[string]string{
		"":                   "[measuring queued invalid old]",
		"?sort=name":         "[measuring queued invalid old]",
		"?q=OLD":             "[old]",
		"?q=tomcat+passed":   "[old]",
		"?label=app%3Dcart":  "[old]",
		"?state=Queued":      "[queued]",
		"?verdict=Invalid":   "[invalid]",
		"?server=Generic":    "[invalid]",
		"?namespace=other":   "[]",
		"?q=nothing+like+it": "[]",
	} {
		status, body := s.get("/" + query)
		if got := fmt.Sprint(names(body)); status != http.StatusOK || got != want {
			t.Errorf("%q: %d %s, want %s", query, status, got, want)
		}
		if want == "[]" && !strings.Contains(body, "0 of 4 runs. <a href=\"/\">Clear the filter</a>") {
			t.Errorf("%q: the page doesn't say that none match", query)
		}
	}
	_, body := s.get("/")
	for _, text := range []string{"2 runs are ahead", "4,510", "Invalid", "&lt;0.01%", "50 connections", "Tomcat"} {
		if !strings.Contains(body, text) {
			t.Errorf("the list lacks %q", text)
		}
	}
	if _, body := s.get("/?label=%21%21"); !strings.Contains(body, "label selector can") {
		t.Error("nothing is said of a wrong label selector")
	}
	if _, body := newSite(t, interceptor.Funcs{}).synced().get("/"); !strings.Contains(body, "No runs in namespace shop") {
		t.Error("an empty list doesn't say so")
	}
}

// TestListSaysWhy checks that a missed threshold and a run without a result aren't told by the same words, in the list and on the run's
// page, and that warnings are in the list.
func TestListSaysWhy(t *testing.T) {
	missed, without, warned := finish(newRun("missed"), v1alpha1.VerdictFailed), finish(newRun("without"), v1alpha1.VerdictError), finish(newRun("warned"), v1alpha1.VerdictPassed)
	meta.SetStatusCondition(&without.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonTargetCrashed})
	meta.SetStatusCondition(&warned.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionValid, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonWarnings})
	s := newSite(t, interceptor.Funcs{}, missed, without, warned).synced()
	_, body := s.get("/")
	if wide := strings.IndexFunc(body, func(r rune) bool { return r > unicode.MaxLatin1 }); wide >= 0 {
		t.Errorf("a browser needs two bytes for each character of the list because of %q", body[wide:wide+4])
	}
	text := html.UnescapeString(regexp.MustCompile("<[^>]*>").ReplaceAllString(body, ""))
	for _, want := range []string{"✕ Failed threshold missed", "! Error no result: TargetCrashed", "✓ Passed warnings"} {
		if !strings.Contains(text, want) {
			t.Errorf("the list lacks %q: %s", want, text)
		}
	}
	if _, body := s.get("/runs/shop/without"); !strings.Contains(body, "Error") || strings.Contains(body, "Failed") {
		t.Error("a run without a result is said to have failed")
	}
}

// TestListEvents checks that rows that change are sent, and those that go.
func TestListEvents(t *testing.T) {
	s := newSite(t, interceptor.Funcs{}, newRun("demo")).synced()
	id := rowOf(newRun("demo"), time.Now()).ID
	events := s.events("/events?q=demo")
	events.until(func(e *event, _ map[string]string) bool { return strings.Contains(e.Rows[id], "Measuring") })
	run := s.stored("demo")
	finish(run, v1alpha1.VerdictPassed)
	if err := s.cluster.Update(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	events.until(func(e *event, _ map[string]string) bool { return strings.Contains(e.Rows[id], "Passed") })
	if err := s.cluster.Create(t.Context(), newRun("demo-2")); err != nil {
		t.Fatal(err)
	}
	events.until(func(e *event, _ map[string]string) bool { return len(e.Rows) == 1 && e.Rows[id] == "" })
	if err := s.cluster.Delete(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	events.until(func(e *event, _ map[string]string) bool { return len(e.Gone) == 1 && e.Gone[0] == id })
}

// TestReport checks that a finished run's page is its report below the bar, without anything that a text of a report could use: a form, a token, or a
// script of the page's own; and that a run without a result says why.
func TestReport(t *testing.T) {
	good, failed, gone := finish(newRun("good"), v1alpha1.VerdictPassed), finish(newRun("failed"), v1alpha1.VerdictError), finish(newRun("gone"), v1alpha1.VerdictPassed)
	stored, _ := withResult(t, good), withResult(t, gone)
	s := newSite(t, interceptor.Funcs{}, good, stored, failed, gone).synced()
	for path, text := range map[string]string{"/runs/shop/good": "alert(1)", "/runs/shop/failed": "Error: Reason", "/compare?run=shop/good&run=shop/failed": "Not compared"} {
		status, body, header := s.do(s.request(http.MethodGet, path, nil))
		if status != http.StatusOK || strings.Count(body, "<!DOCTYPE html>") != 1 || !strings.Contains(body, text) || !strings.Contains(body, `aria-label="Pages"`) {
			t.Errorf("%s: %d %s", path, status, body)
		}
		for _, part := range []string{"<form", "<iframe", "<style", "<script>", s.server.csrf, s.guard.token, s.guard.session} {
			if strings.Contains(body, part) {
				t.Errorf("%s has %s", path, part)
			}
		}
		csp := header.Get("Content-Security-Policy")
		for _, part := range []string{"script-src 'self';", "style-src 'self';", "connect-src 'none'", "form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'; trusted-types 'none'"} {
			if !strings.Contains(csp, part) || strings.Contains(csp, "unsafe") {
				t.Errorf("%s: Content-Security-Policy %q", path, csp)
			}
		}
	}
	for _, path := range []string{"/assets/report.css", "/assets/timeline.js"} {
		if status, body := s.get(path); status != http.StatusOK || len(body) < 1000 {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if _, body := s.get("/runs/shop/gone"); !strings.Contains(body, "the status is what is left") || !strings.Contains(body, "4510.2") {
		t.Error(body)
	}
	if status, body := s.get("/runs/shop/nowhere"); status != http.StatusNotFound || !strings.Contains(body, "No run &#34;nowhere&#34; in namespace shop: it was deleted, or never existed.") {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := s.get("/compare?run=shop/good"); status != http.StatusBadRequest {
		t.Errorf("compare with one run: %d", status)
	}
}

// TestHostileTexts checks that nothing that users and servers write becomes a part of a page.
func TestHostileTexts(t *testing.T) {
	const hostile = `"><img src=x onerror=alert(1)><script>alert(2)</script>{{.CSRF}}`
	run := newRun("demo")
	run.Labels = map[string]string{"app": hostile}
	run.Spec.Target.Image = hostile
	run.Spec.Lane = "x"
	run.Status.Conditions[0].Message = hostile + "\x1b[31m"
	failed := finish(newRun("failed"), v1alpha1.VerdictError)
	failed.Status.Conditions[0].Reason, failed.Status.Conditions[0].Message = hostile, hostile
	b := &v1alpha1.Benchmark{}
	b.Namespace, b.Name = "shop", "round"
	b.Spec.Axes = []v1alpha1.Axis{{Name: hostile}}
	b.Status.Verdict = hostile
	b.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionFalse, Reason: hostile, Message: hostile}}
	b.Status.Round = &v1alpha1.RoundStatus{Number: 1}
	s := newSite(t, interceptor.Funcs{}, run, failed, b).synced()
	for _, path := range []string{
		"/", "/?q=" + url.QueryEscape(hostile), "/?label=" + url.QueryEscape(hostile), "/?sort=" + url.QueryEscape(hostile), "/runs/shop/demo", "/runs/shop/failed",
		"/runs/shop/" + url.PathEscape(hostile), "/benchmarks", "/benchmarks/shop/round", "/benchmarks/shop/round/report", "/benchmarks/shop/round/again", "/runs/shop/failed/again", "/new?from=" + url.QueryEscape("runs/shop/"+hostile), "/compare?run=" + url.QueryEscape(hostile) + "&run=b",
		"/runs/shop/demo/delete", "/new?sample=" + url.QueryEscape(hostile), "/" + url.PathEscape(hostile),
	} {
		status, body := s.get(path)
		if status == http.StatusInternalServerError || strings.Contains(body, "<img") || strings.Contains(body, "<script>") || strings.Contains(body, "\x1b") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	_, body, _ := s.post("/new", url.Values{"manifest": {hostile}})
	if strings.Contains(body, "<img") {
		t.Error(body)
	}
	events := s.events("/runs/shop/demo/events")
	events.has("head", "&lt;img")
	for id, html := range events.parts {
		if strings.Contains(html, "<img") {
			t.Errorf("part %s: %s", id, html)
		}
	}
}

// TestCreate checks that a manifest is only checked until it is started, that the API server's messages come with their
// fields, and that samples are offered.
func TestCreate(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{Group: "assay.dev", Kind: "BenchmarkRun"}, "new", field.ErrorList{field.Required(field.NewPath("spec", "load"), "must be set")})
	s := newSite(t, interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
		if o.GetName() == "invalid" {
			return invalid
		}
		return c.Create(ctx, o, options...)
	}}).synced()
	manifest := func(name string) url.Values {
		return url.Values{"manifest": {"apiVersion: assay.dev/v1alpha1\nkind: BenchmarkRun\nmetadata:\n  name: " + name + "\nspec:\n  load:\n    closed:\n      connections: 5\n"}}
	}
	if status, body, _ := s.post("/new", manifest("good")); status != http.StatusOK || !strings.Contains(body, "The API server accepts it") || !strings.Contains(body, "connections: 5") {
		t.Errorf("check: %d %s", status, body)
	}
	runs := &v1alpha1.BenchmarkRunList{}
	if err := s.cluster.List(t.Context(), runs); err != nil || len(runs.Items) != 0 {
		t.Errorf("the check created %d runs, %v", len(runs.Items), err)
	}
	if status, body, _ := s.post("/new", manifest("invalid")); status != http.StatusUnprocessableEntity || !strings.Contains(body, "<code>spec.load</code>") || !strings.Contains(body, "must be set") {
		t.Errorf("invalid: %d %s", status, body)
	}
	form := manifest("good")
	form.Set("action", "start")
	if status, _, header := s.post("/new", form); status != http.StatusSeeOther || header.Get("Location") != "/runs/shop/good" {
		t.Errorf("start: %d to %s", status, header.Get("Location"))
	}
	s.stored("good")
	if status, _, _ := s.post("/new", form); status != http.StatusUnprocessableEntity && status != http.StatusConflict {
		t.Errorf("start again: %d", status)
	}
	for _, text := range []string{"", ":", "apiVersion: v1\nkind: Secret\nmetadata: {name: x}", "- a", "kind: BenchmarkRun\nkind: Benchmark"} {
		if status, body, _ := s.post("/new", url.Values{"manifest": {text}, "action": {"start"}}); status != http.StatusUnprocessableEntity {
			t.Errorf("%q: %d %s", text, status, body)
		}
	}
	if _, body := s.get("/new"); !strings.Contains(body, "name: "+firstSample) {
		t.Error("the form begins without a sample")
	}
	if _, body := s.get("/new?sample="); strings.Contains(body, "name: "+firstSample) {
		t.Error("the form without a sample has one")
	}
	if _, body := s.get("/new?sample=open"); !strings.Contains(body, "kind: BenchmarkRun") || !strings.Contains(body, "<option>benchmarks/connectors") {
		t.Error("the sample isn't there")
	}
	if _, body := s.get("/new?sample=../manager/manager"); strings.Contains(body, "kind: Deployment") {
		t.Error("a file that is no sample is offered")
	}
}

// preconditioned deletes an object if it has the UID of the preconditions, as an API server does and the fake one doesn't.
func preconditioned(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
	var all client.DeleteOptions
	all.ApplyOptions(options)
	found := o.DeepCopyObject().(client.Object)
	if err := c.Get(ctx, client.ObjectKeyFromObject(o), found); err != nil {
		return err
	}
	if p := all.Preconditions; p != nil && p.UID != nil && *p.UID != found.GetUID() {
		return apierrors.NewConflict(schema.GroupResource{Group: "assay.dev", Resource: "benchmarkruns"}, o.GetName(), errors.New("another UID"))
	}
	return c.Delete(ctx, o, options...)
}

// TestDelete checks that deletion is asked about, and deletes the object that was asked about, not one that was made since.
func TestDelete(t *testing.T) {
	s := newSite(t, interceptor.Funcs{Delete: preconditioned}, finish(newRun("nightly-14"), v1alpha1.VerdictPassed)).synced()
	if _, body := s.get("/runs/shop/nightly-14/delete"); !strings.Contains(body, "Delete run nightly-14?") || !strings.Contains(body, "Its result is deleted with it.") || !strings.Contains(body, `value="uid-nightly-14"`) {
		t.Error(body)
	}
	for _, uid := range []string{"", "another"} {
		if status, _, _ := s.post("/runs/shop/nightly-14/delete", url.Values{"uid": {uid}}); status < 400 {
			t.Errorf("UID %q: %d", uid, status)
		}
	}
	s.stored("nightly-14")
	if status, body, _ := s.post("/runs/shop/nightly-14/delete", url.Values{"uid": {"uid-nightly-14"}}); status != http.StatusSeeOther {
		t.Errorf("%d %s", status, body)
	}
	if err := s.cluster.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "nightly-14"}, &v1alpha1.BenchmarkRun{}); !apierrors.IsNotFound(err) {
		t.Errorf("%v", err)
	}
}

// TestRights checks that a page names the missing verb, whatever the user may not do.
func TestRights(t *testing.T) {
	forbidden := func(verb string) error {
		return apierrors.NewForbidden(schema.GroupResource{Group: "assay.dev", Resource: "benchmarkruns"}, "demo", fmt.Errorf("user ann can't %s", verb))
	}
	s := newSite(t, interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return forbidden("list")
		},
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return forbidden("get")
		},
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return forbidden("patch")
		},
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
			return forbidden("create")
		},
		Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
			return forbidden("delete")
		},
	})
	s.eventually(func() bool { return s.server.runs.contact().err != nil })
	if _, body := s.get("/"); !strings.Contains(body, "You may not list benchmarkruns in namespace shop") || strings.Contains(body, "No runs in") {
		t.Error(body)
	}
	for verb, request := range map[string]func() (int, string, http.Header){
		"get":    func() (int, string, http.Header) { return s.do(s.request(http.MethodGet, "/runs/shop/demo", nil)) },
		"patch":  func() (int, string, http.Header) { return s.post("/runs/shop/demo/suspend", url.Values{}) },
		"delete": func() (int, string, http.Header) { return s.post("/runs/shop/demo/delete", url.Values{"uid": {"u"}}) },
		"create": func() (int, string, http.Header) {
			return s.post("/new", url.Values{"manifest": {"apiVersion: assay.dev/v1alpha1\nkind: BenchmarkRun\nmetadata: {name: demo}"}})
		},
	} {
		if status, body, _ := request(); status != http.StatusForbidden || !strings.Contains(body, "can&#39;t "+verb) {
			t.Errorf("%s: %d %s", verb, status, body)
		}
	}
}

// TestBenchmark checks the matrix of a round under way: which runs are planned, running, valid, invalid and failed.
func TestBenchmark(t *testing.T) {
	b := &v1alpha1.Benchmark{}
	b.Namespace, b.Name = "shop", "pair"
	b.Spec.Axes = []v1alpha1.Axis{}
	b.Spec.Repetitions = &v1alpha1.Repetitions{Min: ptr.To(int32(5)), Max: ptr.To(int32(5))}
	b.Status.Round = &v1alpha1.RoundStatus{Number: 2, Cells: ptr.To(int32(1)), FinishedRuns: ptr.To(int32(3)), CompletedBlocks: ptr.To(int32(1))}
	b.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonRunning, Message: "Under way."}}
	objects := []client.Object{b}
	add := func(k benchmark.RunKey, verdict v1alpha1.Verdict) {
		run := newRun(k.Name("pair"))
		run.Labels = map[string]string{benchmark.LabelBenchmark: "pair"}
		if verdict != "" {
			finish(run, verdict)
		}
		objects = append(objects, run)
	}
	add(benchmark.RunKey{Round: 1, Number: 4}, v1alpha1.VerdictPassed) // of the round before
	add(benchmark.RunKey{Round: 2, Number: 0}, v1alpha1.VerdictPassed)
	add(benchmark.RunKey{Round: 2, Number: 1}, v1alpha1.VerdictInvalid)
	add(benchmark.RunKey{Round: 2, Number: 1, Replacement: 1}, v1alpha1.VerdictError)
	add(benchmark.RunKey{Round: 2, Number: 2}, "")
	s := newSite(t, interceptor.Funcs{}, objects...).synced()
	m := matrixOf(b, objects2runs(objects), time.Now())
	var marks string
	for _, p := range m.Cells[0].Places {
		marks += p.Mark
	}
	if marks != "■✕▣▢▢" {
		t.Errorf("matrix %s, want ■✕▣▢▢", marks)
	}
	if _, body := s.get("/benchmarks/shop/pair"); !strings.Contains(body, "Block 2 of 5 · 3 of 5 runs") || !strings.Contains(body, "requests/s, from 4,000 to 5,000") || strings.Count(body, `class="place`) != 5 {
		t.Error(body)
	}
	if _, body := s.get("/benchmarks"); !strings.Contains(body, "/benchmarks/shop/pair") {
		t.Error(body)
	}
	events := s.events("/benchmarks/shop/pair/events")
	events.has("matrix", "▣")
	running := s.stored(benchmark.RunKey{Round: 2, Number: 2}.Name("pair"))
	finish(running, v1alpha1.VerdictPassed)
	if err := s.cluster.Update(t.Context(), running); err != nil {
		t.Fatal(err)
	}
	events.until(func(_ *event, parts map[string]string) bool {
		return strings.Contains(parts["matrix"], "■") && !strings.Contains(parts["matrix"], `class="place running"`)
	})
}

func objects2runs(objects []client.Object) (runs []*v1alpha1.BenchmarkRun) {
	for _, o := range objects {
		if run, is := o.(*v1alpha1.BenchmarkRun); is {
			runs = append(runs, run)
		}
	}
	return runs
}

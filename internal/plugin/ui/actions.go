package ui

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/report/number"
)

// actions has the links and forms of a page by which a user acts on its object.
type actions struct {
	// Suspend is the path of the form that suspends, or resumes, and CSRF its token. A page with a report has no form: what
	// changes anything is on a page of its own, to which a link leads.
	Suspend, CSRF string
	Suspended     bool
	// Links lead to other pages, Rounds to the reports of other rounds, Files to the report as a file.
	Links, Rounds, Files []link
	// Command shows the same in a terminal.
	Command string
}

type link struct{ Text, Path string }

// maxRounds bounds the rounds that a page has links to.
const maxRounds = 10

// may reports whether the user may do something with an object, or with all of a kind if name is empty. If the API server doesn't say,
// the user may try: it decides in the end.
func (s *App) may(ctx context.Context, verb string, kind *cluster.Kind, namespace, name string) bool {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: v1alpha1.GroupVersion.Group, Resource: kind.Plural, Name: name},
	}}
	return s.client.Create(ctx, review) != nil || review.Status.Allowed
}

// add adds a link if is.
func (a *actions) add(is bool, text, path string) {
	if is {
		a.Links = append(a.Links, link{text, path})
	}
}

// download adds links to a report as files, in some of the formats of fileTypes.
func (a *actions) download(path string, query url.Values, formats ...string) {
	for _, format := range formats {
		name, _, _ := strings.Cut(format, "=")
		query.Set("format", format)
		a.Files = append(a.Files, link{strings.ToUpper(name), path + "/report?" + query.Encode()})
	}
}

// fromPath returns the path of the form for a new object that begins as a copy.
func fromPath(kind, namespace, name string) string {
	return "/new?" + url.Values{"from": {kind + "/" + namespace + "/" + name}, "namespace": {namespace}}.Encode()
}

// benchmarkOf returns the name of the Benchmark that a run belongs to, empty for none.
func benchmarkOf(run *v1alpha1.BenchmarkRun) string {
	name := run.Labels[benchmark.LabelBenchmark]
	if _, is := benchmark.ParseRunName(name, run.Name); !is {
		return ""
	}
	return name
}

func (s *App) actionsOfRun(ctx context.Context, run *v1alpha1.BenchmarkRun) *actions {
	path, ended, of := pathOf("runs", run.Namespace, run.Name), finished(run), benchmarkOf(run)
	a := &actions{Command: fmt.Sprintf("kubectl assay %s %s --namespace %s", map[bool]string{true: "report", false: "watch"}[ended], run.Name, run.Namespace)}
	a.add(of != "", "Benchmark "+of, pathOf("benchmarks", run.Namespace, of))
	if s.may(ctx, "create", cluster.BenchmarkRun, run.Namespace, "") {
		a.add(ended, "Run again…", path+"/again")
		a.add(true, "Duplicate", fromPath("runs", run.Namespace, run.Name))
	}
	if run.Status.Artifact != nil {
		a.download(path, url.Values{}, "html", "json", "csv=series")
	}
	if !ended && s.may(ctx, "patch", cluster.BenchmarkRun, run.Namespace, run.Name) {
		a.Suspend, a.CSRF, a.Suspended = path, s.csrf, ptr.Deref(run.Spec.Suspend, false)
	}
	a.add(s.may(ctx, "delete", cluster.BenchmarkRun, run.Namespace, run.Name), "Delete…", path+"/delete")
	return a
}

// actionsOfBenchmark returns what a user can do on the page of a round that has ended, or on that of the runs if number is 0.
func (s *App) actionsOfBenchmark(ctx context.Context, b *v1alpha1.Benchmark, shown int64) *actions {
	path := pathOf("benchmarks", b.Namespace, b.Name)
	a := &actions{Command: fmt.Sprintf("kubectl assay report benchmark/%s --namespace %s", b.Name, b.Namespace)}
	if shown > 0 {
		a.Command += fmt.Sprintf(" --round %d", shown)
		a.add(true, "Runs of the last round", path+"?view=runs")
	}
	patch := s.may(ctx, "patch", cluster.Benchmark, b.Namespace, b.Name)
	a.add(patch && !lifecycle.IsActive(b) && !lifecycle.IsSuspended(b), "Run a round…", path+"/again")
	a.add(s.may(ctx, "create", cluster.Benchmark, b.Namespace, ""), "Duplicate", fromPath("benchmarks", b.Namespace, b.Name))
	if shown > 0 {
		a.download(path, url.Values{"round": {fmt.Sprint(shown)}}, "html", "json", "csv")
	}
	if patch && shown == 0 {
		a.Suspend, a.CSRF, a.Suspended = path, s.csrf, lifecycle.IsSuspended(b)
	}
	a.add(s.may(ctx, "delete", cluster.Benchmark, b.Namespace, b.Name), "Delete…", path+"/delete")
	for _, r := range roundsOf(b) {
		if r.Number != shown {
			a.Rounds = append(a.Rounds, link{"Round " + number.Count(r.Number), r.Path})
		}
	}
	return a
}

// roundMark is a round that has ended, in a row of them.
type roundMark struct {
	Number                    int64
	Verdict, Date, Text, Path string
}

// roundsOf returns the last rounds of a Benchmark that have ended, the newest first.
func roundsOf(b *v1alpha1.Benchmark) (all []roundMark) {
	kept := b.Status.History
	if s := b.Status.Round; s != nil && s.CompletionTime != nil && (len(kept) == 0 || kept[0].Number != s.Number) {
		kept = append([]v1alpha1.RoundReference{{Number: s.Number, Verdict: s.Verdict, CompletionTime: *s.CompletionTime}}, kept...)
	}
	for i := range kept[:min(len(kept), maxRounds)] {
		r := &kept[i]
		year, rest := stamp(r.CompletionTime.Time)
		date := year + "-" + rest
		all = append(all, roundMark{
			Number: r.Number, Verdict: cmp.Or(string(r.Verdict), "Error"), Date: date, Text: fmt.Sprintf("Round %d: %s, %s", r.Number, r.Verdict, date),
			Path: fmt.Sprintf("%s?round=%d", pathOf("benchmarks", b.Namespace, b.Name), r.Number),
		})
	}
	return all
}

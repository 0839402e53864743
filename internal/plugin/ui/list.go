package ui

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/server"
)

// filter selects and orders runs. It is what the URL of the list says.
type filter struct {
	Text, Namespace, Label, Server, State, Verdict, Sort string
	// Rows is "compact" for lower rows.
	Rows     string
	selector labels.Selector
	// Problem says what is wrong with Label.
	Problem string
}

// filterOf returns the filter of a request. A namespace that the lists are limited to needs none.
func (s *App) filterOf(q url.Values) *filter {
	f := &filter{
		Text: q.Get("q"), Namespace: q.Get("namespace"), Label: q.Get("label"), Server: q.Get("server"), State: q.Get("state"),
		Verdict: q.Get("verdict"), Sort: q.Get("sort"), Rows: q.Get("rows"),
	}
	if f.Namespace == s.scope.Namespace {
		f.Namespace = ""
	}
	selector, err := labels.Parse(f.Label)
	if err != nil {
		f.Problem = "The label selector can't be read: " + err.Error()
		selector = labels.Everything()
	}
	f.selector = selector
	return f
}

// Empty reports whether the filter selects all runs.
func (f *filter) Empty() bool {
	return f.Text+f.Namespace+f.Label+f.Server+f.State+f.Verdict == ""
}

func (f *filter) selects(run *v1alpha1.BenchmarkRun, r *row) bool {
	for _, text := range strings.Fields(strings.ToLower(f.Text)) {
		if !strings.Contains(r.Text, text) {
			return false
		}
	}
	return (f.Namespace == "" || run.Namespace == f.Namespace) && (f.Server == "" || strings.HasPrefix(r.Server, f.Server)) &&
		(f.State == "" || r.State == f.State) && (f.Verdict == "" || r.Verdict == f.Verdict) && f.selector.Matches(labels.Set(run.Labels))
}

// row is a run in the list.
type row struct {
	ID, Key, Namespace, Name, Path string
	// Version changes with what the row shows.
	Version string
	// Verdict is a run's verdict, State its state. Says adds to it: of a run that hasn't finished the state's message.
	Verdict, State, Says string
	// Why is the text behind Says: what warnings say.
	Why          string
	Server, Load string
	// Rate is in requests/s, P99 in milliseconds.
	Rate, P99, Failed, CPU string
	// Year precedes Started where there is room.
	Year, Started, Took string

	// Text is what the filter searches, in lower case.
	Text string
	// Later means that the row is below the first firstRows, and hidden until one scrolls there.
	Later bool

	active  bool
	created time.Time
}

// rowOf returns a run's row, from its status.
func rowOf(run *v1alpha1.BenchmarkRun, now time.Time) *row {
	sum := sha256.Sum256([]byte(run.Namespace + "/" + run.Name))
	r := &row{
		ID: "r" + hex.EncodeToString(sum[:8]), Key: run.Namespace + "/" + run.Name, Namespace: run.Namespace, Name: run.Name, Path: pathOf("runs", run.Namespace, run.Name),
		State: "New", Server: printable.Text(server.Describe(&run.Spec.Target, server.OwnIn(run.Status.Target))), Load: loadOf(&run.Spec),
		Rate: none, P99: none, Failed: none, CPU: none, Started: none, Took: none, created: run.CreationTimestamp.Time,
	}
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded); c != nil {
		r.State, r.Says = printable.Text(c.Reason), printable.Text(c.Message)
	}
	r.active = !finished(run)
	if !r.active {
		r.State, r.Verdict, r.Says = string(v1alpha1.StateFinished), string(run.Status.Verdict), besideVerdict(run)
		r.Why = printable.Text(condition(run.Status.Conditions, v1alpha1.ConditionValid).Message)
	}
	if p := run.Status.Progress; p != nil && r.active {
		if p.RequestsPerSecond != "" {
			r.Rate = rateOf(p.RequestsPerSecond)
		}
		if p.Percent != nil && r.State != v1alpha1.ReasonQueued {
			r.Says = fmt.Sprintf("%d%%", *p.Percent)
		}
	}
	if s := run.Status.Result; s != nil {
		r.set(s)
	}
	if at := run.Status.AdmissionTime; at != nil {
		r.Year, r.Started = stamp(at.Time)
		end := now
		if done := run.Status.CompletionTime; done != nil {
			end = done.Time
		}
		r.Took = span(end.Sub(at.Time))
	}
	r.Text = strings.ToLower(strings.Join([]string{r.Key, r.Server, r.Load, r.State, r.Verdict, r.Says, run.Spec.Target.Image, run.Spec.Lane}, " "))
	shown := sha256.Sum256([]byte(strings.Join([]string{r.Verdict, r.State, r.Says, r.Rate, r.P99, r.Failed, r.CPU, r.Year, r.Started, r.Took}, "\x00")))
	r.Version = hex.EncodeToString(shown[:8])
	return r
}

// besideVerdict says why a run has failed or has no result, or that its result has warnings; empty for nothing.
func besideVerdict(run *v1alpha1.BenchmarkRun) string {
	valid := condition(run.Status.Conditions, v1alpha1.ConditionValid)
	warns := valid.Reason == v1alpha1.ReasonWarnings
	switch run.Status.Verdict {
	case v1alpha1.VerdictFailed:
		if warns {
			return "warnings, threshold missed" // the first word is seen where there is little room
		}
		return "threshold missed"
	case v1alpha1.VerdictError:
		return "no result: " + printable.Text(condition(run.Status.Conditions, v1alpha1.ConditionSucceeded).Reason)
	case v1alpha1.VerdictInvalid:
		return printable.Text(valid.Reason)
	}
	if warns {
		return "warnings"
	}
	return ""
}

// set sets the metrics of a result.
func (r *row) set(s *v1alpha1.ResultStatus) {
	r.Rate = rateOf(s.RequestsPerSecond)
	if l := s.Latency; l != nil && l.Total != nil && l.Total.P99Microseconds != nil {
		r.P99 = number.Milliseconds(*l.Total.P99Microseconds)
	}
	if s.Requests != nil && s.Errors != nil && s.Errors.Total != nil {
		r.Failed = number.Share(*s.Errors.Total, *s.Requests)
	}
	if s.Target != nil && s.Target.CPUPercent != nil {
		r.CPU = number.Count(int64(*s.Target.CPUPercent)) + "%"
	}
}

func finished(run *v1alpha1.BenchmarkRun) bool {
	return meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished)
}

// loadOf describes a load in a few words: "50 connections", "2,000 requests/s".
func loadOf(spec *v1alpha1.BenchmarkRunSpec) string {
	switch {
	case loadplan.Shape(spec) == result.LoadScript:
		return "k6 script"
	case spec.Load.Stages != nil:
		return number.Count(int64(len(spec.Load.Stages.Levels))) + " stages"
	case spec.Load.Open != nil:
		return number.Rate(loadplan.TargetRatePerSecond(spec)) + " requests/s"
	case spec.Load.Closed != nil:
		text := number.Count(int64(spec.Load.Closed.Connections)) + " connections"
		if spec.Load.Pages != nil {
			text = number.Count(int64(spec.Load.Closed.Users)) + " users"
		}
		if n := ptr.Deref(spec.Clients.Replicas, 1); n > 1 && spec.Load.LoadIsPer != v1alpha1.LoadPerRun {
			text = number.Count(int64(n)) + " × " + text
		}
		return text
	}
	return none
}

// order compares rows: runs that are active come first in the order in which they begin, then the newest.
func order(sort string) func(a, b *row) int {
	newest := func(a, b *row) int { return cmp.Or(b.created.Compare(a.created), cmp.Compare(a.Key, b.Key)) }
	return func(a, b *row) int {
		if a.active != b.active {
			return map[bool]int{true: -1, false: 1}[a.active]
		}
		if a.active {
			queued := func(r *row) int {
				return slices.Index([]string{v1alpha1.ReasonQueued, v1alpha1.ReasonSuspended}, r.State)
			}
			return cmp.Or(cmp.Compare(queued(a), queued(b)), a.created.Compare(b.created), cmp.Compare(a.Key, b.Key))
		}
		switch sort {
		case "name":
			return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
		case "server":
			return cmp.Or(cmp.Compare(a.Server, b.Server), newest(a, b))
		case "verdict":
			return cmp.Or(cmp.Compare(a.Verdict, b.Verdict), newest(a, b))
		}
		return newest(a, b)
	}
}

// rows returns the rows that a filter selects, in their order, and the number of all runs.
func (s *App) rows(f *filter) (rows []*row, all int) {
	now := s.now()
	runs := objects[*v1alpha1.BenchmarkRun](s.runs)
	for _, run := range runs {
		if r := rowOf(run, now); f.selects(run, r) {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, order(f.Sort))
	return rows, len(runs)
}

// firstRows is the number of rows that a list shows at first.
const firstRows = 100

// listPage is the list of runs.
type listPage struct {
	page
	Filter *filter
	Rows   []*row
	All    int
	// More means that not all rows are shown at first.
	More bool
	// Namespaces, Servers, States and Verdicts are what can be selected.
	Namespaces, Servers, States, Verdicts []string
}

func (s *App) list(w http.ResponseWriter, r *http.Request) {
	p := listPage{page: s.page("Runs", "runs"), Filter: s.filterOf(r.URL.Query())}
	ready(r.Context(), s.runs)
	p.Events = "/events?" + r.URL.RawQuery
	p.Rows, p.All = s.rows(p.Filter)
	for i, r := range p.Rows {
		r.Later = i >= firstRows
	}
	p.More = len(p.Rows) > firstRows
	p.Notice = s.runs.notice(s.now())
	every, _ := s.rows(&filter{selector: labels.Everything()})
	choices := func(of func(*row) string) []string {
		var all []string
		for _, r := range every {
			if text := of(r); text != "" {
				all = append(all, text)
			}
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	p.Namespaces = choices(func(r *row) string { return r.Namespace })
	p.Servers = choices(func(r *row) string { return r.Server })
	p.States = choices(func(r *row) string { return r.State })
	p.Verdicts = choices(func(r *row) string { return r.Verdict })
	render(w, http.StatusOK, "list", p)
}

// listEvents sends the rows that have changed. Those that the page doesn't have yet are only counted, so that nothing moves
// while somebody reads.
func (s *App) listEvents(w http.ResponseWriter, r *http.Request) {
	f := s.filterOf(r.URL.Query())
	ready(r.Context(), s.runs)
	var shown map[string]string
	s.watch(w, r, s.runs, s.runs, func() *event {
		rows, _ := s.rows(f)
		e := &event{Parts: partsOf(map[string]any{"notice": s.runs.notice(s.now())}), Rows: map[string]string{}}
		current := make(map[string]string, len(rows))
		for _, r := range rows {
			html, err := execute("row", r)
			if err != nil {
				continue
			}
			current[r.ID] = string(html)
			if shown == nil || shown[r.ID] != string(html) {
				e.Rows[r.ID] = string(html)
			}
		}
		for id := range shown {
			if _, still := current[id]; !still {
				e.Gone = append(e.Gone, id)
			}
		}
		slices.Sort(e.Gone)
		shown = current
		return e
	})
}

// partsOf returns the contents of elements of a page by their names, which are those of their templates, given their data.
func partsOf(elements map[string]any) map[string]string {
	parts := map[string]string{}
	for name, data := range elements {
		html, err := execute(name, data)
		if err != nil {
			html = []byte(err.Error())
		}
		parts[name] = string(html)
	}
	return parts
}

// pathOf returns the path of an object's page.
func pathOf(kind, namespace, name string) string {
	return "/" + kind + "/" + url.PathEscape(namespace) + "/" + url.PathEscape(name)
}

// condition returns a condition of an object, or an empty one.
func condition(conditions []metav1.Condition, name string) metav1.Condition {
	return ptr.Deref(meta.FindStatusCondition(conditions, name), metav1.Condition{})
}

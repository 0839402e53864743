package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/report"
	"github.com/assay-dev/assay/internal/printable"
)

// runPage is the page of a run that hasn't finished, or whose result can't be read.
type runPage struct {
	page
	Row  *row
	Head *head
	// Live is what a run that hasn't finished shows, nil for others.
	Live *livePage
	// Text is why there is no report, Summary what the status has of it.
	Text, Summary string
	Spec          string
	Actions       *actions
}

// head is the outcome of a run in words.
type head struct {
	// Class is good, bad, unsure or plain.
	Class, Word, Sentence string
	Lines                 []string
}

// headOf returns what the status says of a run: the verdict of one that has finished, else its state.
func headOf(run *v1alpha1.BenchmarkRun) *head {
	state := condition(run.Status.Conditions, v1alpha1.ConditionSucceeded)
	h := &head{Class: "plain", Word: printable.Text(state.Reason), Sentence: printable.Text(state.Message)}
	if state.Reason == "" {
		h.Word, h.Sentence = "New", "The operator hasn't seen the run yet. Check that Assay is running if that lasts."
	}
	if !finished(run) {
		return h
	}
	valid, met := condition(run.Status.Conditions, v1alpha1.ConditionValid), condition(run.Status.Conditions, v1alpha1.ConditionThresholdsMet)
	switch {
	case state.Status != metav1.ConditionTrue:
		h.Class, h.Word = "bad", "Error"
		h.Lines = append(h.Lines, "It has no result: "+printable.Text(state.Reason)+".")
		return h
	case valid.Status == metav1.ConditionFalse:
		h.Class, h.Word, h.Sentence = "bad", "Invalid", "This is not a result. "+printable.Text(valid.Message)
	case valid.Status == metav1.ConditionTrue && valid.Reason == v1alpha1.ReasonWarnings:
		h.Class, h.Word, h.Sentence = "good", "Valid, with warnings", printable.Text(valid.Message)
	case valid.Status == metav1.ConditionTrue:
		h.Class, h.Word, h.Sentence = "good", "Valid", printable.Text(valid.Message)
	default:
		h.Class, h.Word = "unsure", "Validity unknown"
	}
	switch met.Status {
	case metav1.ConditionTrue:
		h.Lines = append(h.Lines, "Thresholds met: "+printable.Text(met.Message))
	case metav1.ConditionFalse:
		h.Lines = append(h.Lines, "Thresholds MISSED: "+printable.Text(met.Message))
		h.Class = "bad"
	case metav1.ConditionUnknown:
		h.Lines = append(h.Lines, "Thresholds: unknown. "+printable.Text(met.Message))
	}
	return h
}

// find reads the object of a path when the stores are ready, the first of which has those of its kind. It answers with a message and returns false
// if the object isn't there.
func find[T client.Object](s *App, w http.ResponseWriter, r *http.Request, into T, stores ...*store) (T, bool) {
	ready(r.Context(), stores...)
	found, err := read(r.Context(), s, r.PathValue("namespace"), r.PathValue("name"), into, stores[0])
	if err != nil {
		s.failed(w, r, err)
	}
	return found, err == nil
}

// read returns an object from a store or, if that doesn't have it, from the API server: it may be in another namespace.
func read[T client.Object](ctx context.Context, s *App, namespace, name string, into T, from *store) (T, error) {
	if found, ok := object[T](from, namespace, name); ok {
		return found, nil
	}
	return into, s.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, into)
}

// failed answers with an error of a request to the API server.
func (s *App) failed(w http.ResponseWriter, r *http.Request, err error) {
	status, n := http.StatusBadGateway, notice{"The API server", sentence(err)}
	if code, title := statusOf(err); code != 0 {
		status, n.Title = code, title
	}
	if name := r.PathValue("name"); status == http.StatusNotFound && name != "" {
		kind := "run"
		if strings.HasPrefix(r.URL.Path, "/benchmarks/") {
			kind = "Benchmark"
		}
		n.Text = fmt.Sprintf("No %s %q in namespace %s: it was deleted, or never existed.", kind, name, r.PathValue("namespace"))
	}
	s.message(w, status, n)
}

func (s *App) run(w http.ResponseWriter, r *http.Request) {
	run, ok := find(s, w, r, &v1alpha1.BenchmarkRun{}, s.runs)
	if !ok {
		return
	}
	p := runPage{page: s.page("Run "+run.Name, "runs"), Row: rowOf(run, s.now()), Head: headOf(run)}
	p.Notice = s.runs.notice(s.now())
	p.Spec, p.Actions = yamlText(run.Spec), s.actionsOfRun(r.Context(), run)
	if !finished(run) {
		p.Events = p.Row.Path + "/events"
		p.Live = newLiveView(run).page(run, s.windows.get(run.UID))
		render(w, http.StatusOK, "run", p)
		return
	}
	d, err := report.OfRun(r.Context(), s.in(run.Namespace), run)
	if err != nil {
		p.Text, p.Summary = sentence(err), yamlText(run.Status.Result)
		if errors.As(err, new(*cluster.LostError)) {
			p.Text = "The result of " + run.Name + " can't be read; the status is what is left. " + p.Text
		}
		render(w, http.StatusOK, "run", p)
		return
	}
	document(w, p.page, p.Actions, d)
}

// report answers with the report of a run as a file.
func (s *App) report(w http.ResponseWriter, r *http.Request) {
	namespace, name := r.PathValue("namespace"), r.PathValue("name")
	s.file(w, r, name, func(format string, out io.Writer) error {
		return report.WriteRun(r.Context(), s.in(namespace), name, "", format, "", false, out)
	})
}

// yamlText returns a part of an object as YAML.
func yamlText(part any) string {
	text, err := yaml.Marshal(part)
	if err != nil {
		return err.Error()
	}
	return printable.Text(string(text))
}

// runEvents follows a run's status until the run has finished.
func (s *App) runEvents(w http.ResponseWriter, r *http.Request) {
	run, ok := find(s, w, r, &v1alpha1.BenchmarkRun{}, s.runs)
	if !ok {
		return
	}
	uid, view := run.UID, newLiveView(run)
	s.watch(w, r, s.runs, s.runs, func() *event {
		notice := s.runs.notice(s.now())
		current, err := read(r.Context(), s, run.Namespace, run.Name, &v1alpha1.BenchmarkRun{}, s.runs)
		if err != nil || current.UID != uid || finished(current) {
			return &event{Reload: err == nil || r.Context().Err() == nil && isGone(err), Parts: partsOf(map[string]any{"notice": notice})}
		}
		s.windows.see(current)
		p := view.page(current, s.windows.get(uid))
		return &event{Parts: partsOf(map[string]any{"notice": notice, "head": headOf(current), "metrics": p, "plots": p})}
	})
}

func isGone(err error) bool {
	code, _ := statusOf(err)
	return code == http.StatusNotFound
}

// statusOf returns the HTTP status for an error of the API server, and a title; 0 if it is another one.
func statusOf(err error) (code int, title string) {
	switch {
	case apierrors.IsNotFound(err):
		return http.StatusNotFound, "Not found"
	case apierrors.IsForbidden(err):
		return http.StatusForbidden, "Not permitted"
	case apierrors.IsUnauthorized(err):
		return http.StatusUnauthorized, "Not logged in"
	case apierrors.IsConflict(err):
		return http.StatusConflict, "Changed meanwhile"
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return http.StatusUnprocessableEntity, "Rejected"
	}
	return 0, ""
}

// requestURL matches the beginning of errors of net/http: the address of the API server, which tells a reader nothing.
var requestURL = regexp.MustCompile(`(?:Get|Head|Post|Put|Patch|Delete) "?https?://[^\s"]*"?: `)

// plain returns the text of an error without URLs.
func plain(err error) string {
	return strings.TrimSpace(requestURL.ReplaceAllString(printable.Text(err.Error()), ""))
}

// sentence returns an error as a sentence.
func sentence(err error) string {
	text := plain(err)
	if text == "" {
		return "Something failed."
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

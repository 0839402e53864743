package report

import (
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/html"
)

// failed returns the page of a run that has finished without a result: why, and how far it got. It has no metrics of a measurement.
func failed(run *v1alpha1.BenchmarkRun, spec string) *doc.Document {
	d := &doc.Document{
		Title: run.Namespace + "/" + run.Name, Verdict: doc.Verdict{Tone: doc.Bad, Text: "! Error: no result"},
		Remarks: []string{"A failed run has no result: what its clients had counted is partial. kubectl describe shows its last events."},
	}
	if state := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded); state != nil {
		d.Verdict.Text = "! Error: " + state.Reason
		d.Sentences = []doc.Sentence{{Tone: doc.Bad, Lead: "No result", Text: state.Message}}
	}
	conditions := doc.TableOf("Conditions of the status", run.Status.Conditions,
		doc.Word("condition", func(c *metav1.Condition) string { return c.Type }),
		doc.Word("status", func(c *metav1.Condition) string { return string(c.Status) }),
		doc.Word("reason", func(c *metav1.Condition) string { return c.Reason }),
		doc.Word("since", func(c *metav1.Condition) string { return c.LastTransitionTime.UTC().Format(time.RFC3339) }),
		doc.Word("message", func(c *metav1.Condition) string { return c.Message }))
	d.Add(course(run),
		doc.Section{ID: "conditions", Title: "Conditions", Question: "What did the operator see?", Blocks: []doc.Block{conditions}},
		doc.Section{ID: "spec", Title: "Spec", Question: "What was declared?", Blocks: []doc.Block{
			html.Lines("spec, as YAML", spec),
		}})
	return d
}

// course says how far a run got: its events with the time from the first, and what the state it ended in had done.
func course(run *v1alpha1.BenchmarkRun) doc.Section {
	s := doc.Section{ID: "course", Title: "Course", Question: "How far did it get?"}
	if len(run.Status.Timeline) == 0 {
		s.Add(doc.Paragraph{"The run ended before it began."})
		return s
	}
	if p := run.Status.Progress; p != nil && p.Requests != nil {
		text := fmt.Sprintf("%d requests had completed", *p.Requests)
		if p.Errors != nil {
			text += fmt.Sprintf(", %d of which had failed", *p.Errors)
		}
		s.Add(doc.Paragraph{text + ". They are partial, and no result."})
	}
	first := run.Status.Timeline[0].Time
	s.Add(doc.TableOf("Events by the manager's clock", run.Status.Timeline,
		doc.Word("event", func(e *v1alpha1.TimelineEntry) string { return string(e.Event) }),
		doc.Word("time", func(e *v1alpha1.TimelineEntry) string { return e.Time.UTC().Format("2006-01-02 15:04:05.000 UTC") }),
		doc.Number("s after the first", func(e *v1alpha1.TimelineEntry) string {
			return strconv.FormatFloat(e.Time.Sub(first.Time).Seconds(), 'f', 3, 64)
		})))
	return s
}

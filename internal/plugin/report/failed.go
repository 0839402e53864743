package report

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/plot"
)

// writeFailed writes the page of a run that has finished without a result: why, and how far it got. It has no figures of a measurement.
func writeFailed(run *v1alpha1.BenchmarkRun, out io.Writer) error {
	p := &html.Page{
		Title: run.Name, Subject: run.Namespace + "/" + run.Name, Verdict: plot.Bad, Headline: "✕ FAILED: no result",
		Remarks: []string{"There are no figures of a failed run: neither its own nor partial ones. kubectl describe shows its last events."},
	}
	if state := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded); state != nil {
		p.Headline = "✕ FAILED: " + state.Reason
		p.Sentences = []html.Sentence{{Color: plot.Bad, Lead: "No result", Text: state.Message}}
	}
	p.Sections = []html.Section{course(run)}
	conditions := html.Section{ID: "conditions", Title: "Conditions", Question: "What did the operator see?"}
	table := &html.Table{Caption: "Conditions of the status", Columns: html.Words("condition", "status", "reason", "since", "message")}
	for i := range run.Status.Conditions {
		c := &run.Status.Conditions[i]
		table.Rows = append(table.Rows, []string{c.Type, string(c.Status), c.Reason, c.LastTransitionTime.UTC().Format(time.RFC3339), c.Message})
	}
	conditions.Blocks = []html.Block{{Table: table}}
	spec, err := yaml.Marshal(&run.Spec)
	if err != nil {
		return fmt.Errorf("write spec as YAML: %w", err)
	}
	p.Sections = append(p.Sections, conditions, html.Section{
		ID: "spec", Title: "Spec", Question: "What was declared?", Blocks: []html.Block{{Title: "spec, as YAML", Folded: true, Text: string(spec)}},
	})
	return p.Write(out)
}

// course says how far a run got: its events with the time from the first, and what the state it ended in had done.
func course(run *v1alpha1.BenchmarkRun) html.Section {
	s := html.Section{ID: "course", Title: "Course", Question: "How far did it get?"}
	if len(run.Status.Timeline) == 0 {
		s.Paragraphs = []string{"The run ended before it began."}
		return s
	}
	table := &html.Table{Caption: "Events by the manager's clock", Columns: append(html.Words("event", "time"), html.Numbers("s after the first")...)}
	first := run.Status.Timeline[0].Time
	for _, e := range run.Status.Timeline {
		table.Rows = append(table.Rows, []string{
			string(e.Event), e.Time.UTC().Format("2006-01-02 15:04:05.000 UTC"), strconv.FormatFloat(e.Time.Sub(first.Time).Seconds(), 'f', 3, 64),
		})
	}
	s.Blocks = []html.Block{{Table: table}}
	if p := run.Status.Progress; p != nil && p.State != "" && p.Requests != nil {
		text := fmt.Sprintf("%d requests had completed in the state %s", *p.Requests, p.State)
		if p.Errors != nil {
			text += fmt.Sprintf(", %d of which had failed", *p.Errors)
		}
		s.Paragraphs = []string{text + ". They are no result."}
	}
	return s
}

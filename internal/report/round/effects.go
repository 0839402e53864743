package round

import (
	"fmt"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report"
)

// maxConclusions is the largest number of effects that are written as sentences; the table has all.
const maxConclusions = 6

// writeConclusions writes what the gate's effects mean in sentences, the worst first.
func (r *Report) writeConclusions(d document) {
	var texts []string
	sentences := r.Sentences()
	for _, s := range sentences[:min(len(sentences), maxConclusions)] {
		texts = append(texts, s.String())
	}
	if more := len(sentences) - maxConclusions; more > 0 {
		texts = append(texts, fmt.Sprintf("%d more are in the table.", more))
	}
	if text := r.CountsAsFailed(); text != "" {
		texts = append(texts, text)
	}
	d.list(texts...)
}

// writeEffects writes all effects: those of the gate, and those that are only reported.
func (r *Report) writeEffects(d document) {
	var gate, reported [][]string
	for _, e := range benchmark.Ranked(r.Effects) {
		row := []string{r.Cells[e.Cell].Name, r.baselineCell(&e), string(e.Metric), Change(&e), Interval(&e), benchmark.Phrase(e.Word)}
		detectable := Detectable(&e)
		if e.Role != v1alpha1.RoleGate {
			reported = append(reported, append(row, detectable))
			continue
		}
		blocks := "-"
		if e.BlocksToDecide > 0 {
			blocks = strconv.Itoa(e.BlocksToDecide)
		}
		gate = append(gate, append(row, string(e.Verdict), tolerance(&e), detectable, blocks))
	}
	columns := []any{report.Words("cell"), report.Words("compared with"), report.Words("metric"), "difference", "interval", report.Words("conclusion")}
	if len(gate) > 0 {
		d.section("Gate")
		d.paragraph(fmt.Sprintf("All intervals together hold the true differences with a confidence of %d%%. A round like this one finds a "+
			"difference to the worse of the size in the column \"detectable\" in 4 of 5 cases.", r.confidence()))
		d.table(append(columns[:len(columns):len(columns)], report.Words("verdict"), "tolerance", "detectable", "blocks to decide"), gate)
		for _, metric := range r.gateMetrics() {
			if lines := r.forest(metric, d.columns()); lines != nil {
				d.plot(lines)
			}
		}
	}
	if len(reported) > 0 {
		d.section("Reported, not in the gate")
		d.paragraph(fmt.Sprintf("Of the differences that are found here at most %d%% are false on average. None of them decides.", 100-r.confidence()))
		d.table(append(columns[:len(columns):len(columns)], "detectable"), reported)
	}
}

// gateMetrics returns the metrics of the gate in the order of the spec.
func (r *Report) gateMetrics() (metrics []v1alpha1.BenchmarkMetric) {
	if c := r.Spec.Comparison; c != nil {
		for i := range c.Metrics {
			if c.Metrics[i].Role != v1alpha1.RoleReport {
				metrics = append(metrics, c.Metrics[i].Name)
			}
		}
	}
	return metrics
}

// baselineCell returns the whole name of what an effect's cell is compared with.
func (r *Report) baselineCell(e *benchmark.Effect) string {
	if at := r.Cells[e.Cell].Baseline; at != benchmark.NoBaseline {
		return r.Cells[at].Name
	}
	return r.ComparedWith(e)
}

func (r *Report) confidence() int32 {
	if c := r.Spec.Comparison; c != nil {
		return ptr.Deref(c.ConfidencePercent, 95)
	}
	return 95
}

func tolerance(e *benchmark.Effect) string {
	return strconv.Itoa(int(e.TolerancePercent)) + "%"
}

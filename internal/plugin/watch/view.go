package watch

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/report"
)

// view is what is shown of an active run.
type view struct {
	// state is the run's state, as in Measuring.
	state string
	// percent is how much of the state's load is done; -1 when there is none.
	percent int32
	// details are figures, or else a sentence on what the run waits for.
	details string
}

// viewOf is what is shown of the run as it is.
func viewOf(run *v1alpha1.BenchmarkRun) view {
	condition := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded)
	if condition == nil {
		return view{state: "New", percent: -1, details: "waiting for the operator to see it"}
	}
	v := view{state: report.Printable(condition.Reason), percent: -1}
	if p := run.Status.Progress; p != nil && p.Percent != nil && p.Stage == condition.Reason {
		v.percent = *p.Percent
		v.details = figures(p)
	}
	if v.details == "" {
		v.details = report.Printable(condition.Message)
	}
	return v
}

func figures(p *v1alpha1.Progress) string {
	var parts []string
	if p.RequestsPerSecond != "" {
		parts = append(parts, report.Printable(p.RequestsPerSecond)+" requests/s")
	}
	if p.Errors != nil {
		parts = append(parts, fmt.Sprintf("%d errors", *p.Errors))
	}
	if p.RemainingSeconds != nil {
		parts = append(parts, (time.Duration(*p.RemainingSeconds)*time.Second).String()+" left")
	}
	return strings.Join(parts, ", ")
}

// line is the view as a line of text.
func (v view) line() string {
	line := fmt.Sprintf("%-10s", v.state)
	if v.percent >= 0 {
		line += fmt.Sprintf(" %3d %%", v.percent)
	}
	return strings.TrimRight(line+"  "+v.details, " ")
}

// barCells is how many characters the bar has between its ends.
const barCells = 30

// bar is the view as a line with a bar, cut to a terminal's width in
// characters.
func (v view) bar(width int) string {
	line := fmt.Sprintf("%-10s", v.state)
	if v.percent >= 0 {
		done := barCells * int(min(max(v.percent, 0), 100)) / 100
		line += fmt.Sprintf(" [%s%s] %3d %%", strings.Repeat("=", done), strings.Repeat(" ", barCells-done), v.percent)
	}
	cells := []rune(strings.TrimRight(line+"  "+v.details, " "))
	// The last column is left free: a character in it makes some terminals wrap.
	if len(cells) >= width {
		cells = cells[:max(width-1, 0)]
	}
	return string(cells)
}

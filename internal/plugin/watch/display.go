package watch

import (
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/printable"
)

// display shows the progress of a run or a round. Its methods return no errors: a failure to
// write must not change the exit code.
type display interface {
	// show shows the current state.
	show(view)
	// note shows a message that isn't part of the state.
	note(text string)
	// close ends the display. What it has shown stays visible.
	close()
}

// lines prints a line whenever the view changes.
type lines struct {
	out, notes     io.Writer
	last, lastNote string
}

func (l *lines) show(v view) {
	if line := v.line(); line != l.last {
		_, _ = fmt.Fprintln(l.out, line)
		l.last, l.lastNote = line, ""
	}
}

func (l *lines) note(text string) {
	if text != l.lastNote {
		_, _ = fmt.Fprintln(l.notes, printable.Text(text))
		l.lastNote = text
	}
}

func (l *lines) close() {}

// Control sequences of ECMA-48, as every terminal has them.
const (
	toLineStart = "\r"
	eraseToEnd  = "\x1b[K"
)

// bar rewrites one line of a terminal. It overwrites the line with a single write and erases only
// the rest of the line, which avoids flicker. Each state has a line of its own.
type bar struct {
	out, notes io.Writer
	width      func() int

	state, lastNote string
	open            bool
}

func (b *bar) show(v view) {
	if b.open && v.state != b.state {
		b.close()
	}
	b.state, b.open, b.lastNote = v.state, true, ""
	_, _ = fmt.Fprint(b.out, toLineStart+v.bar(b.width())+eraseToEnd)
}

func (b *bar) note(text string) {
	if text == b.lastNote {
		return
	}
	b.close()
	_, _ = fmt.Fprintln(b.notes, printable.Text(text))
	b.lastNote = text
}

func (b *bar) close() {
	if b.open {
		_, _ = fmt.Fprintln(b.out)
	}
	b.open = false
}

// view holds the lines that watch shows of an active run or round.
type view struct {
	// state is the state, for example Measuring.
	state string
	// percent is the progress within the state, or -1 if there is none.
	percent int32
	// details holds metrics, or the message of the state if there are none.
	details string
}

func viewOfRun(run *v1alpha1.BenchmarkRun) view {
	condition := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded)
	if condition == nil {
		return view{state: "New", percent: -1, details: "waiting for the operator"}
	}
	v := view{state: printable.Text(condition.Reason), percent: -1}
	if p := run.Status.Progress; p != nil && p.Percent != nil && string(p.State) == condition.Reason {
		v.percent = *p.Percent
		v.details = metrics(p)
	}
	if v.details == "" {
		v.details = withoutRetry(condition.Message)
	}
	return v
}

// retried returns the error of the operator's last step if the conditions say that it is tried again, or "".
func retried(conditions []metav1.Condition) string {
	if c := meta.FindStatusCondition(conditions, v1alpha1.ConditionReconciling); c != nil {
		_, err, _ := strings.Cut(c.Message, v1alpha1.RetryPrefix)
		return err
	}
	return ""
}

// withoutRetry returns the message of a condition without the error that retried returns.
func withoutRetry(message string) string {
	message, _, _ = strings.Cut(message, v1alpha1.RetryPrefix)
	return printable.Text(strings.TrimSpace(message))
}

func metrics(p *v1alpha1.Progress) string {
	var parts []string
	if p.RequestsPerSecond != "" {
		parts = append(parts, printable.Text(p.RequestsPerSecond)+" requests/s")
	}
	if w := p.Window; w != nil && w.P99Microseconds != nil {
		parts = append(parts, fmt.Sprintf("p99 %.3f ms", float64(*w.P99Microseconds)/1000))
	}
	if w := p.Window; w != nil && w.TargetCPUPercent != nil {
		parts = append(parts, fmt.Sprintf("target CPU %d%%", *w.TargetCPUPercent))
	}
	if p.Errors != nil {
		parts = append(parts, fmt.Sprintf("%d errors", *p.Errors))
	}
	if p.RemainingSeconds != nil {
		parts = append(parts, (time.Duration(*p.RemainingSeconds)*time.Second).String()+" left")
	}
	return strings.Join(parts, ", ")
}

func (v view) line() string {
	line := fmt.Sprintf("%-10s", v.state)
	if v.percent >= 0 {
		line += fmt.Sprintf(" %3d%%", v.percent)
	}
	return strings.TrimRight(line+"  "+v.details, " ")
}

// barCells is the number of characters between the ends of the bar.
const barCells = 30

// bar returns the view as a line with a progress bar, truncated to the width of the
// terminal in characters.
func (v view) bar(width int) string {
	line := fmt.Sprintf("%-10s", v.state)
	if v.percent >= 0 {
		done := barCells * int(min(max(v.percent, 0), 100)) / 100
		line += fmt.Sprintf(" [%s%s] %3d%%", strings.Repeat("=", done), strings.Repeat(" ", barCells-done), v.percent)
	}
	cells := []rune(strings.TrimRight(line+"  "+v.details, " "))
	// Leave the last column empty: a character in it makes some terminals wrap.
	if len(cells) >= width {
		cells = cells[:max(width-1, 0)]
	}
	return string(cells)
}

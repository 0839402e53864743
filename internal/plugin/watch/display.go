package watch

import (
	"fmt"
	"io"

	"github.com/assay-dev/assay/internal/report"
)

// display shows how far a run is. It has no errors: whether the showing worked
// doesn't change the verdict, for which the command is run.
type display interface {
	// show shows the run as it is now.
	show(view)
	// note says something beside that.
	note(text string)
	// close ends the showing; what was shown stays readable.
	close()
}

// lines prints a line whenever something changed.
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
		_, _ = fmt.Fprintln(l.notes, report.Printable(text))
		l.lastNote = text
	}
}

func (l *lines) close() {}

// Control sequences of ECMA-48, as every terminal has them.
const (
	toLineStart = "\r"
	eraseToEnd  = "\x1b[K"
)

// bar rewrites one line of a terminal. Each time the line is written over, in
// one go, and only what was longer before is erased, so that nothing flickers. A
// state that is over keeps its line.
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
	_, _ = fmt.Fprintln(b.notes, report.Printable(text))
	b.lastNote = text
}

func (b *bar) close() {
	if b.open {
		_, _ = fmt.Fprintln(b.out)
	}
	b.open = false
}

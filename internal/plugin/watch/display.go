package watch

import (
	"fmt"
	"io"

	"github.com/assay-dev/assay/internal/printable"
)

// display shows the progress of a run. Its methods return no errors: a failure to
// write must not change the exit code.
type display interface {
	// show shows the current state of the run.
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

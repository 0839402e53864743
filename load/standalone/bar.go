package standalone

import (
	"fmt"
	"io"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// Control sequences of ECMA-48, as every terminal has them.
const (
	toLineStart = "\r"
	eraseToEnd  = "\x1b[K"
)

// Bar shows a load's progress on one line of a terminal.
type Bar struct {
	out    io.Writer
	stage  string
	amount session.Amount
	began  time.Time
	counts result.Counts
}

// NewBar returns a bar that writes to out: a terminal, or io.Discard to show nothing.
func NewBar(out io.Writer) *Bar { return &Bar{out: out} }

// Begin implements Watcher. It shows the name of the stage.
func (b *Bar) Begin(warmup bool, amount session.Amount) {
	b.stage, b.amount, b.began, b.counts = "measuring", amount, time.Now(), result.Counts{}
	if warmup {
		b.stage = "warming up"
	}
	b.write(b.stage)
}

// Second implements Watcher. It shows the stage's progress and figures.
func (b *Bar) Second(counts result.Counts) {
	b.counts.Add(counts)
	elapsed := time.Since(b.began)
	done := float64(b.counts.Requests) / float64(max(1, b.amount.Requests))
	if b.amount.Requests == 0 {
		done = elapsed.Seconds() / b.amount.Duration().Seconds()
	}
	done = min(done, 1)
	line := fmt.Sprintf("%-10s %3.0f%%  %d requests/s, %d requests, %d failed", b.stage, 100*done,
		counts.Succeeded(), b.counts.Requests, b.counts.Errors.Total())
	if done > 0 {
		left := time.Duration(float64(elapsed) * (1 - done) / done)
		line += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	b.write(line)
}

// Clear removes the line.
func (b *Bar) Clear() { b.write("") }

// write replaces the line. It ignores errors: they don't affect the result.
func (b *Bar) write(line string) { _, _ = fmt.Fprint(b.out, toLineStart+line+eraseToEnd) }

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

// Bar shows on one line of a terminal how far a load is.
type Bar struct {
	out    io.Writer
	now    func() time.Time
	stage  string
	amount session.Amount
	began  time.Time
	counts result.Counts
}

// NewBar returns a bar for a terminal.
func NewBar(out io.Writer) *Bar { return &Bar{out: out, now: time.Now} }

// Begin begins a stage.
func (b *Bar) Begin(warmup bool, amount session.Amount) {
	b.stage, b.amount, b.began, b.counts = "measuring", amount, b.now(), result.Counts{}
	if warmup {
		b.stage = "warming up"
	}
	b.write(b.stage)
}

// Second shows what the stage is at.
func (b *Bar) Second(counts result.Counts) {
	b.counts.Add(counts)
	elapsed := b.now().Sub(b.began)
	done := float64(b.counts.Requests) / float64(max(1, b.amount.Requests))
	if b.amount.Requests == 0 {
		done = elapsed.Seconds() / b.amount.Duration().Seconds()
	}
	done = min(done, 1)
	line := fmt.Sprintf("%-10s %3.0f %%  %d requests/s, %d requests, %d failed", b.stage, 100*done,
		counts.Succeeded(), b.counts.Requests, b.counts.Errors.Total())
	if done > 0 {
		left := time.Duration(float64(elapsed) * (1 - done) / done)
		line += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	b.write(line)
}

// Clear takes the line away.
func (b *Bar) Clear() { b.write("") }

// write has no errors: whether the showing works doesn't change the figures.
func (b *Bar) write(line string) { _, _ = fmt.Fprint(b.out, toLineStart+line+eraseToEnd) }

// Silent is a watcher that shows nothing.
type Silent struct{}

// Begin shows nothing.
func (Silent) Begin(bool, session.Amount) {}

// Second shows nothing.
func (Silent) Second(result.Counts) {}

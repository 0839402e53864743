package standalone

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// Control sequences of ECMA-48, as every terminal has them.
const (
	toLineStart = "\r"
	eraseToEnd  = "\x1b[K"
)

// Bar shows a load's progress on one line of a terminal. Its methods may be called concurrently.
type Bar struct {
	mu     sync.Mutex
	out    io.Writer
	line   string // what the terminal shows
	stage  string
	amount session.Amount
	began  time.Time
	counts result.Counts
}

// NewBar returns a bar that writes to out: a terminal, or io.Discard to show nothing.
func NewBar(out io.Writer) *Bar { return &Bar{out: out} }

// Begin implements Watcher. It shows the name of the stage.
func (b *Bar) Begin(warmup bool, amount session.Amount) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stage, b.amount, b.began, b.counts = "measuring", amount, time.Now(), result.Counts{}
	if warmup {
		b.stage = "warming up"
	}
	b.write(b.stage)
}

// Second implements Watcher. It shows the stage's metrics and, unless its amount is unknown, its progress.
func (b *Bar) Second(counts result.Counts) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts.Add(counts)
	elapsed := time.Since(b.began)
	progress := elapsed.Round(time.Second).String()
	var done float64
	switch duration := b.amount.Duration(); {
	case b.amount.Requests > 0:
		done = float64(b.counts.Requests) / float64(b.amount.Requests)
	case duration > 0:
		done = elapsed.Seconds() / duration.Seconds()
	}
	if b.amount.Requests > 0 || b.amount.Duration() > 0 {
		done = min(done, 1)
		progress = fmt.Sprintf("%3.0f%%", 100*done)
	}
	line := fmt.Sprintf("%-10s %s  %d requests/s, %d requests, %d failed", b.stage, progress,
		counts.Succeeded(), b.counts.Requests, b.counts.Errors.Total())
	if done > 0 {
		left := time.Duration(float64(elapsed) * (1 - done) / done)
		line += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	b.write(line)
}

// Clear removes the line.
func (b *Bar) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.write("")
}

// Write implements io.Writer. It writes whole lines of a log above the line with the progress.
func (b *Bar) Write(lines []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	line := b.line
	b.write("")
	n, err := b.out.Write(lines)
	b.write(line)
	return n, err
}

// write replaces the line. It ignores errors: they don't affect the result.
func (b *Bar) write(line string) {
	b.line = line
	_, _ = fmt.Fprint(b.out, toLineStart+line+eraseToEnd)
}

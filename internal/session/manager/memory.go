package manager

import (
	"errors"

	"github.com/assay-dev/assay/internal/memory"
)

const (
	// heldEvery is the number of messages between two looks at what the series takes, heldSlack what it grows by
	// meanwhile: a sample is some kB, and a few of the histograms that aren't packed become larger.
	heldEvery = 64
	heldSlack = 256 << 10
	// minSeriesLength is the number of entries down to which a series is joined if there is no memory for more.
	minSeriesLength = 60
)

// held counts the bytes of a run that are in the account. Messages count as they were sent.
type held struct {
	totals, metrics int64
	// summaries are those of handleSummary() and what it is called with.
	summaries int64
	// unseen is the number of messages since the series was looked at.
	unseen int
}

// kinds are those of a run's pods.
var kinds = []memory.Kind{memory.Totals, memory.ScriptMetrics, memory.SetupData, memory.Summary, memory.Series}

// hold sets how many bytes the pods of the run make the manager hold of a kind. If that is too much, the pod that sent
// the last of them waits: its session ends, and it sends them again. But for the largest run of a namespace nothing would
// ever be given back: its pod fails instead. Observe has the reason. r.mu must be held.
func (r *run) hold(p *participant, kind memory.Kind, bytes int64) error {
	err := r.memory.Hold(r.owner, kind, bytes)
	if full := (*memory.FullError)(nil); errors.As(err, &full) {
		if full.Wait {
			p.Waiting = err.Error()
		} else {
			p.fail(err.Error())
		}
	}
	return err
}

// releaseAll gives back what the pods of the run made the manager hold. r.mu must be held.
func (r *run) releaseAll() {
	for _, kind := range kinds {
		_ = r.memory.Hold(r.owner, kind, 0) // fewer are always accepted
	}
	r.held = held{}
}

// holdSeries counts the series and the usage samples, before one of them grows. Where there is no memory for as many
// entries as they may have, they are joined. r.mu must be held.
func (r *run) holdSeries(p *participant) error {
	if r.held.unseen--; r.held.unseen >= 0 {
		return nil
	}
	for r.memory.Hold(r.owner, memory.Series, r.seriesBytes()) != nil && r.series.Len() > minSeriesLength {
		r.series.Double()
	}
	if err := r.hold(p, memory.Series, r.seriesBytes()); err != nil {
		return err
	}
	r.held.unseen = heldEvery
	return nil
}

// seriesBytes returns about how much memory the series and the usage samples take.
func (r *run) seriesBytes() int64 { return int64(heldSlack + r.series.Bytes() + r.target.Bytes()) }

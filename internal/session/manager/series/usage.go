package series

import (
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// peakMicroseconds is the shortest time over which the peak CPU usage is taken: the kernel counts CPU
// time in hundredths of a second.
const peakMicroseconds = 900_000

// usage holds what one container of the target's pod has used, by the agent's usage samples.
type usage struct {
	session.Usage
	start   int64 // of the measurement, or 0 if it is unknown
	samples samples[result.ServerUsage]
	base    *result.ServerUsage // the sample from which the next CPU usage is taken
}

func newUsage(start int64) *usage {
	return &usage{start: start, samples: samples[result.ServerUsage]{table: result.ServerMetrics, start: start}}
}

func (u *usage) state() session.Usage {
	state := u.Usage
	state.PeakCPUPercent = u.peak()
	if total, ok := u.samples.total(); ok {
		latest := *u.Latest
		latest.GCPauseMax = total.GCPauseMax
		state.Latest = &latest
	}
	return state
}

func (u *usage) setStart(at int64) {
	if u.start == at {
		return
	}
	u.start = at
	u.samples.setStart(at)
	u.Begin, u.base = u.Latest, u.Latest
	u.PeakCPUPercent, u.PeakResident = 0, 0
}

// add adds a sample. It drops one that isn't newer than the last: the agent's
// clock was corrected in between.
func (u *usage) add(sample *result.ServerUsage) {
	if u.Latest != nil && sample.At <= u.Latest.At {
		return
	}
	u.Latest = sample
	kept := *sample
	kept.CPUs, kept.AgentCPUs, kept.Cores = "", "", "" // the latest sample has them
	u.samples.add(sample.At, kept)
	if u.start == 0 {
		return
	}
	if u.Begin == nil || distance(sample.At, u.start) <= distance(u.Begin.At, u.start) {
		u.Begin, u.base = sample, sample
		u.PeakResident = sample.Resident
		return
	}
	u.PeakResident = max(u.PeakResident, sample.Resident)
	if elapsed := sample.At - u.base.At; elapsed >= peakMicroseconds {
		u.PeakCPUPercent = max(u.PeakCPUPercent, percentBetween(u.base, sample))
		u.base = sample
	}
}

// peak returns the highest CPU usage in any second of the measurement, in percent
// of one CPU. For a measurement shorter than a second it returns the mean.
func (u *usage) peak() float64 {
	if u.PeakCPUPercent > 0 || u.Begin == nil || u.Latest.At <= u.Begin.At {
		return u.PeakCPUPercent
	}
	return percentBetween(u.Begin, u.Latest)
}

func percentBetween(a, b *result.ServerUsage) float64 {
	return 100 * float64(b.CPU()-a.CPU()) / float64(b.At-a.At)
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

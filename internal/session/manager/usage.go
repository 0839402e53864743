package manager

import (
	"cmp"
	"slices"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

const (
	// maxPoints bounds the usage samples that are kept. Beyond it, every second one is dropped.
	maxPoints = 1 << 15
	// peakMicroseconds is the shortest time over which the peak CPU usage is taken:
	// the kernel counts CPU time in hundredths of a second.
	peakMicroseconds = 900_000
	// maxSampleDelay is the longest delay of a sample after its intended time.
	maxSampleDelay = 200_000
)

// usage holds what one container of the target's pod has used, by the agent's usage samples.
type usage struct {
	session.Usage
	start  int64 // of the measurement, or 0 if it is unknown
	points []point
	base   *result.ServerUsage // the sample from which the next CPU usage is taken
}

// point is a sample in short: CPU time in microseconds, RSS in bytes.
type point struct{ at, cpu, resident int64 }

// addSample adds a usage sample of all containers. It reports whether one of them
// appeared for the first time. It bounds the containers of all samples together.
func (r *run) addSample(sample *result.ServerSample) (appeared bool, err error) {
	appeared = r.usage.Latest == nil
	for i := range sample.Backends {
		if name := sample.Backends[i].Name; r.backends[name] == nil {
			if len(r.backends) >= session.MaxBackends {
				return false, malformed("samples of more than %d containers behind the server", session.MaxBackends)
			}
			r.backends[name] = &usage{start: r.usage.start}
			appeared = true
		}
	}
	r.usage.add(&sample.Server)
	for i := range sample.Backends {
		r.backends[sample.Backends[i].Name].add(&sample.Backends[i].ServerUsage)
	}
	return appeared, nil
}

func (u *usage) state() session.Usage {
	state := u.Usage
	state.PeakCPUPercent = u.peak()
	return state
}

func (u *usage) setStart(at int64) {
	if u.start == at {
		return
	}
	u.start = at
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
	u.points = append(u.points, point{at: sample.At, cpu: sample.CPU(), resident: sample.Resident})
	if len(u.points) > maxPoints {
		half := u.points[:0]
		for i := 0; i < len(u.points); i += 2 {
			half = append(half, u.points[i])
		}
		u.points = half
	}
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

// between returns the CPU time that the container used between two times, and its RSS at the end,
// or -1 for what is unknown. It interpolates the CPU time between two samples.
func (u *usage) between(from, to int64) (cpu, resident int64) {
	begin, ok := u.cpuAt(from)
	if !ok {
		return -1, -1
	}
	end, ok := u.cpuAt(to)
	if !ok {
		last := u.points[len(u.points)-1]
		if last.at <= from {
			return -1, -1
		}
		end = last.cpu // the samples end within these seconds
	}
	i, found := u.search(to + maxSampleDelay)
	if !found {
		i--
	}
	return max(end-begin, 0), u.points[max(i, 0)].resident
}

// cpuAt returns the CPU time used until a time. ok is false if there are no samples around it.
func (u *usage) cpuAt(at int64) (cpu int64, ok bool) {
	i, found := u.search(at)
	switch {
	case found:
		return u.points[i].cpu, true
	case i == len(u.points):
		return 0, false
	case i == 0:
		return u.points[0].cpu, u.points[0].at-at <= maxSampleDelay
	}
	a, b := u.points[i-1], u.points[i]
	return a.cpu + int64(float64(b.cpu-a.cpu)*float64(at-a.at)/float64(b.at-a.at)), true
}

func (u *usage) search(at int64) (int, bool) {
	return slices.BinarySearchFunc(u.points, at, func(p point, at int64) int { return cmp.Compare(p.at, at) })
}

func percentBetween(a, b *result.ServerUsage) float64 {
	return 100 * float64(b.CPU()-a.CPU()) / float64(b.At-a.At)
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

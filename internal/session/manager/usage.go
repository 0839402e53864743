package manager

import (
	"slices"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	// pointsLength bounds the readings that are kept: past it, every other is
	// dropped.
	pointsLength = 1 << 15
	// peakMicroseconds is the least time over which the peak of the CPU time is
	// taken: the kernel counts it in hundredths of a second.
	peakMicroseconds = 900_000
	// readingDelay is by how much a reading may be later than the instant that it
	// is for.
	readingDelay = 200_000
)

// usage is what one container of the target's pod has used, by the agent's
// readings.
type usage struct {
	start  int64 // of the measurement; 0 when it isn't known
	latest *result.ServerUsage
	begin  *result.ServerUsage // the reading nearest to the start
	points []point
	base   *result.ServerUsage // from which the next CPU time is taken
	cpu    float64             // the largest, in percent of one CPU
	rss    int64               // the largest, in bytes
}

// point is a reading in short: CPU time in microseconds, resident set in bytes.
type point struct{ at, cpu, resident int64 }

// addReading adds a reading of all containers. It returns whether one of them was
// read for the first time. The containers are bounded over all readings, each
// of which is.
func (r *run) addReading(reading *result.ServerSample) (appeared bool, nonsense *malformedError) {
	appeared = r.usage.latest == nil
	for i := range reading.Backends {
		if name := reading.Backends[i].Name; r.backends[name] == nil {
			if len(r.backends) >= session.MaxBackends {
				return false, malformed("readings of more than %d containers behind the server", session.MaxBackends)
			}
			r.backends[name] = &usage{start: r.starts[sessionpb.Stage_STAGE_MEASUREMENT]}
			appeared = true
		}
	}
	r.usage.add(&reading.Server)
	for i := range reading.Backends {
		r.backends[reading.Backends[i].Name].add(&reading.Backends[i].ServerUsage)
	}
	return appeared, nil
}

// begins tells when the measurement begins.
func (u *usage) begins(at int64) {
	u.start = at
	u.begin, u.base = u.latest, u.latest
}

// add adds a reading. One that is older than the last, since the agent's idea
// of the manager's clock was corrected in between, is left out.
func (u *usage) add(reading *result.ServerUsage) {
	if u.latest != nil && reading.At <= u.latest.At {
		return
	}
	u.latest = reading
	u.points = append(u.points, point{at: reading.At, cpu: reading.UserCPU + reading.SystemCPU, resident: reading.Resident})
	if len(u.points) > pointsLength {
		half := u.points[:0]
		for i := 0; i < len(u.points); i += 2 {
			half = append(half, u.points[i])
		}
		u.points = half
	}
	if u.start == 0 {
		return
	}
	if u.begin == nil || distance(reading.At, u.start) <= distance(u.begin.At, u.start) {
		u.begin, u.base = reading, reading
		u.rss = reading.Resident
		return
	}
	u.rss = max(u.rss, reading.Resident)
	if elapsed := reading.At - u.base.At; elapsed >= peakMicroseconds {
		u.cpu = max(u.cpu, percentBetween(u.base, reading))
		u.base = reading
	}
}

// peak is the largest CPU time of any second of the measurement, in percent of
// one CPU. Of a measurement shorter than that, it is the mean.
func (u *usage) peak() float64 {
	if u.cpu > 0 || u.begin == nil || u.latest.At <= u.begin.At {
		return u.cpu
	}
	return percentBetween(u.begin, u.latest)
}

// between returns what the server used from one instant to another, and its
// resident set at the end; -1 for what isn't known. The CPU time at an instant
// between two readings is interpolated.
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
		end = last.cpu // the readings end within these seconds
	}
	i, found := u.search(to + readingDelay)
	if !found {
		i--
	}
	return max(end-begin, 0), u.points[max(i, 0)].resident
}

// cpuAt is the CPU time used until an instant; ok is false when there are no
// readings around it.
func (u *usage) cpuAt(at int64) (cpu int64, ok bool) {
	i, found := u.search(at)
	switch {
	case found:
		return u.points[i].cpu, true
	case i == len(u.points):
		return 0, false
	case i == 0:
		return u.points[0].cpu, u.points[0].at-at <= readingDelay
	}
	a, b := u.points[i-1], u.points[i]
	return a.cpu + int64(float64(b.cpu-a.cpu)*float64(at-a.at)/float64(b.at-a.at)), true
}

// search finds the first reading at or after an instant.
func (u *usage) search(at int64) (int, bool) {
	return slices.BinarySearchFunc(u.points, at, func(p point, at int64) int {
		switch {
		case p.at < at:
			return -1
		case p.at > at:
			return 1
		}
		return 0
	})
}

func percentBetween(a, b *result.ServerUsage) float64 {
	return 100 * float64(b.UserCPU+b.SystemCPU-a.UserCPU-a.SystemCPU) / float64(b.At-a.At)
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/assay-dev/assay/test/harness"
)

// fault is one fault, as the seed determined it.
type fault struct {
	kind *kind
	// early makes the fault strike after delay from the creation of the run, else from the start of
	// the measurement.
	early bool
	delay time.Duration
	// hold is the duration of the fault, if it has one.
	hold time.Duration
	// times is the number of repetitions, if the fault is repeated.
	times int
	// victim is the index of the client.
	victim int
	// shift is the change of a clock, in seconds.
	shift int32
}

const (
	// earlySpan and span bound the time of a fault: a run starts in about 3 s and measures for about 5 s.
	earlySpan, span = 3 * time.Second, 5 * time.Second
	clients         = 2
)

// choose returns the kinds of a list of names.
func choose(names string) ([]*kind, error) {
	return harness.Choose(names, kinds, func(k **kind, name string) bool { return (*k).name == name })
}

// draw returns the faults of a seed. Each kind occurs before any occurs again. A fault depends on the
// seed, its number and its kind alone.
func draw(seed uint64, n int, from []*kind, maxHold time.Duration) []fault {
	var faults []fault
	order := rand.New(rand.NewPCG(seed, 0))
	for len(faults) < n {
		for _, i := range order.Perm(len(from)) {
			if len(faults) == n {
				break
			}
			r := rand.New(rand.NewPCG(seed, uint64(len(faults)+1)))
			faults = append(faults, from[i].draw(r, maxHold))
		}
	}
	return faults
}

func (k *kind) draw(r *rand.Rand, maxHold time.Duration) fault {
	f := fault{kind: k, early: r.IntN(5) == 0 && !k.late, victim: r.IntN(clients), times: 2 + r.IntN(2)}
	f.delay = time.Duration(r.Int64N(int64(span)))
	if f.early {
		f.delay = time.Duration(r.Int64N(int64(earlySpan)))
	}
	// Outages are short more often than long.
	shortest, longest := max(k.minHold, time.Second), min(max(k.maxHold, k.minHold), max(maxHold, k.minHold))
	if ratio := float64(longest) / float64(shortest); k.maxHold > 0 && ratio >= 1 {
		f.hold = time.Duration(float64(shortest) * math.Pow(ratio, r.Float64())).Round(100 * time.Millisecond)
	}
	f.shift = []int32{-3600, -60, -2, 2, 60, 3600}[r.IntN(6)]
	return f
}

// describe returns the fault's parameters.
func (f *fault) describe() string {
	from := "start of the measurement"
	if f.early {
		from = "creation"
	}
	text := fmt.Sprintf("%.1fs after the %s", f.delay.Seconds(), from)
	if f.hold > 0 {
		text += fmt.Sprintf(", for %.1fs", f.hold.Seconds())
	}
	if f.kind.ofClient {
		text += fmt.Sprintf(", client %d", f.victim)
	}
	if f.kind.repeats {
		text += fmt.Sprintf(", %d times", f.times)
	}
	if f.kind.shifts {
		text += fmt.Sprintf(", by %ds", f.shift)
	}
	return text
}

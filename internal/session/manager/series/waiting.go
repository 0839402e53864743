package series

import (
	"time"

	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
)

// waiting takes out of the samples of one source what was used while other variants were loaded.
//
// Samples are taken at whole seconds or a little later, so that some are of a time that belongs partly to own slices. Of what was used
// then, others' slices get what they take on average when all of the time is theirs, and the own ones the rest.
type waiting[T any] struct {
	table result.Table[T]
	last  *T // the latest sample
	// used is the usage between samples that lie in others' slices, over the given microseconds. skipped is all that was taken out.
	used         T
	microseconds int64
	skipped      T
}

// takeOut returns a sample without what was used while other variants were loaded. own and others are the parts of the time since the
// latest sample, in microseconds.
func (w *waiting[T]) takeOut(sample *T, own, others int64) T {
	if own == 0 {
		w.microseconds += others
	}
	for i := range w.table {
		f := &w.table[i]
		if f.Merging != result.Sum || w.last == nil || others == 0 {
			continue
		}
		now, before := *f.Of(sample), *f.Of(w.last)
		if f.Optional && (now == result.Unknown || before == result.Unknown) {
			continue
		}
		used := now - before
		switch {
		case own == 0:
			*f.Of(&w.used) += used
		case w.microseconds == 0:
			continue
		default:
			used = min(used, int64(float64(*f.Of(&w.used))*float64(others)/float64(w.microseconds)))
		}
		*f.Of(&w.skipped) += used
	}
	last, rest := *sample, *sample
	w.last = &last
	w.table.Since(&rest, &w.skipped)
	return rest
}

// alternation has what the target of a load that alternates with others used while those were loaded.
type alternation struct {
	slices     *profile.Slices
	start, at  int64 // of the measurement, and of the latest sample
	containers map[string]*waiting[result.ServerUsage]
	node       waiting[result.NodeUsage]
}

func newAlternation(slices *profile.Slices, start int64) *alternation {
	return &alternation{
		slices: slices, start: start, containers: map[string]*waiting[result.ServerUsage]{}, node: waiting[result.NodeUsage]{table: result.NodeMetrics},
	}
}

// virtual returns the virtual time. A time in another variant's slice is the end of the own one before.
func (a *alternation) virtual(at int64) int64 {
	v := a.slices.Virtual(time.Duration(at-a.start) * time.Microsecond)
	return a.start + (v + time.Microsecond - 1).Microseconds()
}

// takeOut returns a sample in virtual time, without what was used while other variants were loaded.
func (a *alternation) takeOut(sample *result.ServerSample) *result.ServerSample {
	at := sample.Server.At
	virtual := at
	var own, others int64
	if a.start != 0 && at >= a.start {
		virtual = a.virtual(at)
		if own = virtual - a.virtual(a.at); a.at < a.start {
			own = virtual - a.at // all is loaded, or nothing is, before the start
		}
		others = at - a.at - own
	}
	a.at = at
	container := func(name string, u *result.ServerUsage) result.ServerUsage {
		w := a.containers[name]
		if w == nil {
			w = &waiting[result.ServerUsage]{table: result.ServerMetrics}
			a.containers[name] = w
		}
		rest := w.takeOut(u, own, others)
		rest.At = virtual
		return rest
	}
	rest := *sample
	rest.Server, rest.Backends = container("", &sample.Server), nil
	for i := range sample.Backends {
		b := &sample.Backends[i]
		rest.Backends = append(rest.Backends, result.BackendUsage{Name: b.Name, ServerUsage: container(b.Name, &b.ServerUsage)})
	}
	if sample.Node != nil {
		node := a.node.takeOut(sample.Node, own, others)
		rest.Node = &node
	}
	return &rest
}

// waiting returns what all containers used between samples while other variants were loaded, or nil without such samples.
func (a *alternation) waiting() *result.WaitingUsage {
	var all result.WaitingUsage
	for _, w := range a.containers {
		all.Microseconds = max(all.Microseconds, w.microseconds)
		all.CPU += w.used.CPU()
	}
	if all.Microseconds == 0 {
		return nil
	}
	return &all
}

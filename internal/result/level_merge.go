package result

// Reached returns those of a load's levels, and of the steps between them, that clients came to before the load
// was ended early. The last one ends with it.
func Reached(levels []Level, steps []Step, clients []*Totals) ([]Level, []Step) {
	var reachedLevels []Level
	for i := range levels {
		if l := levels[i]; l.endWith(i, clients, func(t *Totals) []LevelTotals { return t.Levels }) {
			reachedLevels = append(reachedLevels, l)
		}
	}
	var reachedSteps []Step
	for i := range steps {
		if s := steps[i]; s.endWith(i, clients, func(t *Totals) []LevelTotals { return t.Steps }) {
			reachedSteps = append(reachedSteps, s)
		}
	}
	return reachedLevels, reachedSteps
}

// endWith ends a level with the last second that a client has of it. It reports whether there is one.
func (l *Level) endWith(number int, clients []*Totals, of func(*Totals) []LevelTotals) bool {
	seconds := int64(0)
	for _, t := range clients {
		if all := of(t); number < len(all) {
			seconds = max(seconds, all[number].Seconds)
		}
	}
	l.End = min(l.End, l.Start+seconds)
	return seconds > 0
}

// AddLevels merges the clients' metrics of the given levels and steps, of which target, bounds and usage
// of the target are set, and removes them from the clients. Clients may have metrics of later ones, which
// are dropped.
func (r *Result) AddLevels(levels []Level, steps []Step) {
	r.Levels, r.Steps = levels, steps
	for i := range r.Clients {
		c := &r.Clients[i]
		for l := range min(len(levels), len(c.Levels)) {
			levels[l].add(&c.Levels[l])
		}
		for s := range min(len(steps), len(c.Steps)) {
			steps[s].add(&c.Steps[s])
		}
		c.Levels, c.Steps = nil, nil
	}
}

func (l *Level) add(t *LevelTotals) {
	l.Merge(&t.Measure)
	l.ClientCPU = max(l.ClientCPU, t.CPU)
}

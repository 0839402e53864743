package run

import "time"

// contactTimeout is the time for which a pod may be without a session during the run.
const contactTimeout = 2 * time.Minute

// Leadership tells for which time there was a leader. Only while a manager leads can a run go on:
// the rest counts for no time limit.
type Leadership struct {
	// Since is the time at which this manager began to lead, or zero before that.
	Since time.Time
	// Gaps holds the stretches of time in which nobody led, the oldest first.
	Gaps []Gap
}

// Gap is a stretch of time in which nobody led.
type Gap struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// deadline returns the time at which a limit ends that began at from. The time without a leader
// since then doesn't count.
func (l *Leadership) deadline(from time.Time, limit time.Duration) time.Time {
	return from.Add(limit + l.unattended(from))
}

// rejoins reports whether a pod that was created at a time may have had its session with an earlier
// leader, and may still come back to this one.
func (l *Leadership) rejoins(created, now time.Time) bool {
	return l.Since.After(created) && now.Before(l.Since.Add(contactTimeout))
}

// unattended returns for how long nobody has led since from.
func (l *Leadership) unattended(from time.Time) time.Duration {
	var total time.Duration
	for _, gap := range l.Gaps {
		if gap.From.Before(from) {
			gap.From = from
		}
		if gap.To.After(gap.From) {
			total += gap.To.Sub(gap.From)
		}
	}
	return total
}

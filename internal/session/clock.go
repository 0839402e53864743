package session

import "time"

// Clock converts between times of a process and microseconds since the Unix epoch. It is the machine's wall clock of one moment, and
// monotonic from there, so that a step of the wall clock disturbs neither way.
type Clock struct{ origin time.Time }

// NewClock returns a clock that begins now.
func NewClock() Clock { return Clock{time.Now()} }

// At converts a time, which needs a monotonic reading.
func (c Clock) At(local time.Time) int64 {
	return c.origin.UnixMicro() + local.Sub(c.origin).Microseconds()
}

// Local is the inverse of At. The result has a monotonic reading.
func (c Clock) Local(at int64) time.Time {
	return c.origin.Add(time.Duration(at-c.origin.UnixMicro()) * time.Microsecond)
}

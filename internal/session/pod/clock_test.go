package pod

import (
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// ask adds a ping that takes the given times there and back. The manager's clock is
// ahead of the pod's, and the manager answers after a millisecond.
func (c *clock) ask(ahead, there, back time.Duration) {
	sent := c.own()
	time.Sleep(there)
	received := c.own() + ahead.Microseconds()
	time.Sleep(time.Millisecond)
	left := c.own() + ahead.Microseconds()
	time.Sleep(back)
	c.answered(sent, received, left, c.own())
}

const ms = time.Millisecond

// TestClockTakesTheBestPing checks with a fake clock that the offset is that of the
// ping with the shortest round trip, and that its error is within the bound.
func TestClockTakesTheBestPing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock()
		if c.error() != math.MaxInt64 || c.measured() || c.at(time.Now()) != time.Now().UnixMicro() {
			t.Errorf("before the first ping: error %s, %d", c.error(), c.at(time.Now()))
		}
		const ahead = 3 * time.Second
		for range burst - 1 {
			c.ask(ahead, 10*ms, 50*ms)
		}
		if c.settled() {
			t.Error("settled before the burst is complete")
		}
		c.ask(ahead, 2*ms, ms)
		if !c.settled() {
			t.Error("not settled after the burst")
		}
		if got := time.Duration(c.at(time.Now())-time.Now().UnixMicro())*time.Microsecond - ahead; got != 500*time.Microsecond {
			t.Errorf("off by %s, want half of the millisecond by which the ways differ", got)
		}
		if c.error() != 1500*time.Microsecond {
			t.Errorf("error %s, want half of the round trip", c.error())
		}
		at := time.Now().Add(ahead + 10*time.Second)
		if got := time.Until(c.local(at.UnixMicro())); got != 10*time.Second-500*time.Microsecond {
			t.Errorf("in %s", got)
		}
		if got := c.at(c.local(at.UnixMicro())); got != at.UnixMicro() {
			t.Errorf("there and back: %d µs off", got-at.UnixMicro())
		}
	})
}

// TestClockForgetsOldPings lets the two clocks drift apart, with later pings that
// are worse than the first.
func TestClockForgetsOldPings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock()
		for range burst {
			c.ask(0, ms, ms)
		}
		if before := c.error(); before != ms {
			t.Errorf("error %s", before)
		}
		time.Sleep(100 * time.Second)
		if got := c.error(); got != 2500*time.Microsecond {
			t.Errorf("error %s after 100 s, want it grown by 15 µs each second", got)
		}
		for range window {
			c.ask(20*ms, 5*ms, 5*ms)
		}
		if got := c.at(time.Now()) - time.Now().UnixMicro(); got != 20_000 {
			t.Errorf("%d µs ahead, want 20000", got)
		}
	})
}

// TestClockOfAnotherManager connects to a manager with another clock: the
// offset changes when the new burst is complete, and not at all once the
// measurement was ordered.
func TestClockOfAnotherManager(t *testing.T) {
	for _, frozen := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := newClock()
			for range burst {
				c.ask(time.Second, ms, ms)
			}
			if frozen {
				c.freeze()
			}
			c.connected()
			ahead := func() time.Duration { return time.Duration(c.at(time.Now())-time.Now().UnixMicro()) * time.Microsecond }
			for range burst - 1 {
				c.ask(2*time.Second, ms, ms)
			}
			if ahead() != time.Second || c.settled() {
				t.Errorf("ahead by %s in the midst of the burst", ahead())
			}
			c.ask(2*time.Second, ms, ms)
			want := map[bool]time.Duration{false: 2 * time.Second, true: time.Second}[frozen]
			if ahead() != want {
				t.Errorf("ahead by %s, want %s", ahead(), want)
			}
		})
	}
}

// TestClockIgnoresWhatCantBe adds answers that precede their pings.
func TestClockIgnoresWhatCantBe(t *testing.T) {
	c := newClock()
	c.answered(100, 0, 0, 50)
	c.answered(100, 0, 500, 200)
	if c.measured() {
		t.Error("the clock was set")
	}
}

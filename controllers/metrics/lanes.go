package metrics

import (
	"slices"
	"sync"
	"time"
)

const (
	// maxLanes bounds the values of the label lane. Users name lanes.
	maxLanes = 32
	// otherLanes is the label of all further lanes.
	otherLanes = "other"
	// laneRetention is the time for which the series of a lane without runs are kept, so that they
	// are scraped although the lane's only run was deleted at its end.
	laneRetention = time.Hour
)

// laneLabels assigns values of the label lane, each to one lane until that has gone.
type laneLabels struct {
	mu   sync.Mutex
	seen map[string]time.Time // when a run of the lane was seen last
}

// of returns the label of a lane, of which a run was seen.
func (l *laneLabels) of(lane string, now time.Time) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.seen[lane]; !known && (len(l.seen) >= maxLanes || lane == otherLanes) {
		return otherLanes
	}
	l.seen[lane] = now
	return lane
}

// gone returns the lanes of which no run was seen for laneRetention, and forgets them.
func (l *laneLabels) gone(now time.Time) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var gone []string
	for lane, seen := range l.seen {
		if now.Sub(seen) >= laneRetention {
			delete(l.seen, lane)
			gone = append(gone, lane)
		}
	}
	slices.Sort(gone)
	return gone
}

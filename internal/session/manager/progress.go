package manager

import (
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// recentSeconds is the number of seconds that are kept one by one for the rate.
const recentSeconds = 64

// progress is the progress of a stage, over all clients.
type progress struct {
	session.Progress
	recent map[int64]int64 // requests by second
	newest int64
}

// add adds the figures of one client in one second or several.
func (p *progress) add(second *result.ClientSecond, seconds int64) {
	p.Requests += second.Requests
	p.Errors += second.Errors.Total()
	p.Dropped += second.Dropped
	last := second.Second + seconds - 1
	if last > p.newest {
		p.newest = last
		for s := range p.recent {
			if s <= p.newest-recentSeconds {
				delete(p.recent, s)
			}
		}
	}
	for s := max(second.Second, p.newest-recentSeconds+1); s <= last; s++ {
		p.recent[s] += second.Requests / seconds
	}
}

// rate returns the requests of the newest second before passed, or 0 if no such second is kept.
func (p *progress) rate(passed int64) int64 {
	for s := min(p.newest, passed-1); s > p.newest-recentSeconds && s >= 0; s-- {
		if n, ok := p.recent[s]; ok {
			return n
		}
	}
	return 0
}

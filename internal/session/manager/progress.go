package manager

import "github.com/assay-dev/assay/internal/result"

// recentSeconds is how many seconds are kept one by one to tell the rate from.
const recentSeconds = 64

// progress is how far a stage is, over all clients.
type progress struct {
	requests, errors, dropped int64
	recent                    map[int64]int64 // requests by second
	newest                    int64
}

// add adds what one client did in one second or several.
func (p *progress) add(second *result.ClientSecond, seconds int64) {
	p.requests += second.Requests
	p.errors += second.Errors.Total()
	p.dropped += second.Dropped
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

// rate is the requests of the newest second that is below passed, else of the
// oldest one kept.
func (p *progress) rate(passed int64) int64 {
	for s := min(p.newest, passed-1); s > p.newest-recentSeconds && s >= 0; s-- {
		if n, ok := p.recent[s]; ok {
			return n
		}
	}
	return 0
}

package driver

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/assay-dev/assay/internal/load/driver/request"
	"github.com/assay-dev/assay/internal/load/recorder"
)

// pageUser loads pages over some connections, as a browser does: first the document, then, when it is
// complete, the elements, each on the next connection that is free. The first connection leads:
// it decides when the user's next page begins, loads the document, and takes its share of the
// elements. The others wait for pages with elements.
type pageUser struct {
	stage       *Stage
	number      int
	connections []*connection
	// page is the document of the current page, or nil if there are no more. taken is the number of
	// its elements that a connection has taken. busy counts the connections that load elements.
	page        *request.Request
	taken, busy atomic.Int64

	// mu guards the outcome of the current page: when its last request ended, and whether one failed.
	mu     sync.Mutex
	ended  time.Duration
	failed bool

	// pages is the number of pages of the current round, roundFailed reports whether one failed.
	pages       int
	roundFailed bool
}

// addUser adds the connections of a user to the stage.
func (s *Stage) addUser(number int) {
	u := &pageUser{stage: s, number: number}
	for range s.load.plan.UserConnections {
		c := s.add(number, number)
		c.user = u
		u.connections = append(u.connections, c)
	}
	u.connections[0].pace = newPace(s.load.plan, s.amount, number)
}

// lead loads pages until the stage has no more for the user. c is the first connection.
func (u *pageUser) lead(c *connection) {
	for {
		begin, ok := u.stage.next(c)
		if !ok {
			break
		}
		u.load(c.choose(), c, begin)
	}
	if u.stage.stopping.Load() {
		return // the other connections notice
	}
	u.page = nil
	for _, other := range u.connections[1:] {
		other.wake(c.loop(), 0)
	}
}

// follow loads elements whenever the leading connection wakes this one.
func (u *pageUser) follow(c *connection) {
	for {
		if _, ok := c.park(nil); !ok || u.page == nil {
			return
		}
		c.checkIdle(u.stage.now())
		u.loadElements(c)
		if u.busy.Add(-1) == 0 {
			u.connections[0].wake(c.loop(), 0)
		}
	}
}

// load loads a page that begins now, and records its outcome.
func (u *pageUser) load(document *request.Request, c *connection, begin time.Duration) {
	u.page, u.ended, u.failed = document, begin, false
	u.taken.Store(0)
	u.request(c, document, begin)
	if !u.failed && len(document.Elements) > 0 {
		loading := min(len(u.connections), len(document.Elements))
		u.busy.Store(int64(loading))
		for _, other := range u.connections[1:loading] {
			other.wake(c.loop(), 0)
		}
		u.loadElements(c)
		if u.busy.Add(-1) > 0 {
			c.park(nil)
		}
		c.checkIdle(u.stage.now()) // the other connections may have taken longer
	}
	if u.stage.stopping.Load() {
		return
	}
	c.last = u.ended // the think time is between pages
	u.record(begin)
}

// loadElements makes the requests for those elements of the page that no connection has taken.
func (u *pageUser) loadElements(c *connection) {
	for !u.stage.stopping.Load() {
		i := u.taken.Add(1) - 1
		if i >= int64(len(u.page.Elements)) {
			return
		}
		u.request(c, u.page.Elements[i], u.stage.now())
	}
}

// request makes a request of the page.
func (u *pageUser) request(c *connection, r *request.Request, begin time.Duration) {
	c.request(r, begin)
	u.mu.Lock()
	u.ended = max(u.ended, c.outcome.Ended)
	u.failed = u.failed || c.outcome.Error != recorder.NoError
	u.mu.Unlock()
}

func (u *pageUser) record(begin time.Duration) {
	p := recorder.Page{Ended: u.ended, Took: u.ended - begin, Failed: u.failed}
	u.pages++
	u.roundFailed = u.roundFailed || u.failed
	if u.pages == u.stage.load.requests.RoundPages() {
		p.EndsRound, p.RoundFailed = true, u.roundFailed
		u.pages, u.roundFailed = 0, false
	}
	u.stage.recorder.Page(u.number, &p)
}

// end closes the user's connections, none of which may be in use.
func (u *pageUser) end() {
	for _, c := range u.connections {
		c.end()
	}
}

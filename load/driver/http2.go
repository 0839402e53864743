package driver

import (
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/targettls"
	"github.com/assay-dev/assay/load/recorder"
)

// shared is what so many streams share: one HTTP/2 connection at a time. Each of
// the streams is a connection to its stage, which makes one request after the
// other. The first of them that finds nothing open opens a connection; its
// fate is that of all who wait for it.
type shared struct {
	stage  *Stage
	number int // among the connections
	// readers are those of all connections that haven't ended.
	readers sync.WaitGroup

	mu sync.Mutex
	// current is the connection that takes requests; nil for none. Those before it
	// end when their last response has.
	current *http2Connection
	opening *attempt // the one under way; nil for none
	// links are the transports of all connections, also of the one being opened.
	links map[*connection]struct{}
	// failures counts the connections in a row that had no response.
	failures int
	// present is how many of the streams take part in the load.
	present int
}

// attempt is a connection being opened.
type attempt struct {
	over chan struct{}
	// Set before over is closed.
	connection *http2Connection
	ready      time.Duration
	fault      result.ErrorKind
}

// addShared adds a connection of a plan with HTTP/2: its streams, which make
// requests as connections do.
func (s *Stage) addShared(number int) {
	shared := newShared(s, number)
	for range s.load.plan.Streams {
		i := len(s.connections)
		s.connections = append(s.connections, &connection{
			stage: s, number: i, place: number, shared: shared, stream: newHTTP2Stream(),
			woken: make(chan time.Duration, 1), pace: newPace(s.load.plan, s.amount, i),
		})
	}
}

func newShared(s *Stage, number int) *shared {
	return &shared{stage: s, number: number, links: map[*connection]struct{}{}}
}

// acquire is a connection for a request that began at begin, and when that was
// ready.
func (s *shared) acquire(begin time.Duration, o *recorder.Outcome) (*http2Connection, time.Duration, result.ErrorKind) {
	s.mu.Lock()
	if h := s.current; h != nil {
		s.mu.Unlock()
		return h, begin, recorder.NoError
	}
	if a := s.opening; a != nil {
		s.mu.Unlock()
		<-a.over
		return a.connection, max(begin, a.ready), a.fault
	}
	a := &attempt{over: make(chan struct{})}
	s.opening = a
	link := &connection{stage: s.stage, number: s.number}
	s.links[link] = struct{}{}
	s.mu.Unlock()

	a.connection, a.ready, a.fault = s.open(link, begin, o)

	s.mu.Lock()
	s.opening = nil
	if a.fault == recorder.NoError {
		s.current = a.connection
	} else {
		s.failures++
		delete(s.links, link)
	}
	s.mu.Unlock()
	close(a.over)
	if a.fault == recorder.NoError {
		s.readers.Go(a.connection.read)
	}
	return a.connection, a.ready, a.fault
}

// open opens a connection by a link.
func (s *shared) open(link *connection, begin time.Duration, o *recorder.Outcome) (*http2Connection, time.Duration, result.ErrorKind) {
	ready, fault := link.open(begin, o)
	if fault != recorder.NoError {
		return nil, 0, fault
	}
	if secure, ok := link.transport.(*secured); ok && secure.ConnectionState().NegotiatedProtocol != targettls.ProtocolHTTP2 {
		link.abandon()
		return nil, 0, result.ErrorTLS
	}
	_ = link.transport.SetDeadline(time.Time{}) // requests have their own times
	return newHTTP2Connection(s, link), ready, recorder.NoError
}

// retire has a connection take no more requests.
func (s *shared) retire(h *http2Connection) {
	s.mu.Lock()
	if s.current == h {
		s.current = nil
	}
	s.mu.Unlock()
}

// ended notes that a connection has ended, and whether it had any response.
func (s *shared) ended(h *http2Connection, answered bool) {
	s.mu.Lock()
	if s.current == h {
		s.current = nil
	}
	delete(s.links, h.link)
	if answered {
		s.failures = 0
	} else {
		s.failures++
	}
	s.mu.Unlock()
}

// enter has a stream take part; leave has it end that, and the last one ends the
// connection.
func (s *shared) enter() {
	s.mu.Lock()
	s.present++
	s.mu.Unlock()
}

func (s *shared) leave() {
	s.mu.Lock()
	s.present--
	last := s.present == 0
	h := s.current
	if last {
		s.current = nil
	}
	s.mu.Unlock()
	if !last {
		return
	}
	if h != nil {
		h.end()
	}
	s.readers.Wait()
}

// failed is how many connections in a row had no response.
func (s *shared) failed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failures
}

// interrupt closes all transports, which wakes up whoever uses them.
func (s *shared) interrupt() {
	s.mu.Lock()
	links := make([]*connection, 0, len(s.links))
	for link := range s.links {
		links = append(links, link)
	}
	s.mu.Unlock()
	for _, link := range links {
		link.interrupt()
	}
}

// exchangeHTTP2 is exchange on a stream of a shared connection.
func (c *connection) exchangeHTTP2(r *request, begin time.Duration, o *recorder.Outcome) time.Duration {
	if !c.present {
		c.present = true
		c.shared.enter()
	}
	var ready time.Duration
	for turns := 0; ; turns++ {
		response, opened, fault := c.turnHTTP2(r, begin, o)
		if turns == 0 {
			ready = opened
		}
		c.failures = 0
		if fault != recorder.NoError {
			o.Error = fault
			c.failures = c.shared.failed()
			return c.stage.now()
		}
		end := c.stream.lastByte
		o.Processing = end - ready
		next, ok := c.lead(r, &response, turns)
		if o.Error = c.stage.judge(r, &response, end-begin, ok); next != nil && o.Error != result.ErrorTimeout {
			o.Error = recorder.NoError // it isn't the last word
		}
		if next == nil || o.Error != recorder.NoError {
			return end
		}
		r = next
	}
}

// turnHTTP2 sends a request and reads its response, for a request that began at
// begin. It returns when the connection was ready.
func (c *connection) turnHTTP2(r *request, begin time.Duration, o *recorder.Outcome) (response, time.Duration, result.ErrorKind) {
	for {
		h, ready, fault := c.shared.acquire(begin, o)
		if fault != recorder.NoError {
			return response{}, 0, fault
		}
		st := c.stream
		st.begin(r, begin, c.reader.noted)
		if !h.start(st, c.extraFields(r), o) {
			continue // the server has just ended the connection, or it is worn out
		}
		h.send(st, r)
		h.await(st)
		o.Sent += st.sent
		o.Received += st.received
		o.Body += st.response.body
		if st.response.fault != recorder.NoError {
			return st.response, ready, st.response.fault
		}
		o.Status = st.response.status
		// A response may begin before the body of its request has been sent.
		if st.written > 0 {
			o.Waiting = max(0, st.firstByte-st.written)
		}
		o.Receiving = st.lastByte - st.firstByte
		return st.response, ready, recorder.NoError
	}
}

// extraFields are the lines of a request's head that it has only this time.
func (c *connection) extraFields(r *request) []byte {
	text := c.compose(r)
	return text[r.fields : len(text)-(len(r.bytes)-r.fields)]
}

package driver

import (
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/load/driver/fault"
	"github.com/assay-dev/assay/internal/load/driver/http2"
	"github.com/assay-dev/assay/internal/load/driver/request"
	"github.com/assay-dev/assay/internal/load/driver/response"
	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/targettls"
)

// sharedConnection holds what the streams of one HTTP/2 connection have in common. Each
// stream is a connection to its stage and makes one request after the other. At most one
// HTTP/2 connection takes new requests at a time. The first stream that finds none opens
// it, and the other streams wait for the outcome.
type sharedConnection struct {
	stage  *Stage
	number int // index of the connection among those of the plan
	// readers counts the goroutines that read and write HTTP/2 connections.
	readers sync.WaitGroup

	mu sync.Mutex
	// current is the connection that takes requests, or nil if there is none. Earlier
	// connections close after their last response.
	current *http2.Connection
	opening *openAttempt // nil when no connection is being opened
	// links holds the transports of all connections, including the one being opened.
	links map[*connection]struct{}
	// failures counts consecutive connections that failed before a complete response.
	failures int
	// present counts the streams that take part in the load.
	present int
}

// openAttempt is an attempt to open a connection.
type openAttempt struct {
	done chan struct{}
	// The fields below are set before done is closed.
	connection *http2.Connection
	ready      time.Duration
	fault      *fault.Fault
}

// addShared adds the streams of the plan's HTTP/2 connection number, as connections of the stage.
func (s *Stage) addShared(number int) {
	shared := &sharedConnection{stage: s, number: number, links: map[*connection]struct{}{}}
	for range s.load.plan.Streams {
		i := len(s.connections)
		c := s.add(i, number)
		c.shared, c.stream, c.pace = shared, http2.NewStream(), newPace(s.load.plan, s.amount, i)
	}
}

// acquire returns an open connection for a request that began at begin, and the time at
// which the connection was ready. It opens a connection if there is none.
func (s *sharedConnection) acquire(begin time.Duration, o *recorder.Outcome) (*http2.Connection, time.Duration, *fault.Fault) {
	s.mu.Lock()
	if h := s.current; h != nil {
		s.mu.Unlock()
		return h, begin, nil
	}
	if a := s.opening; a != nil {
		s.mu.Unlock()
		<-a.done
		return a.connection, max(begin, a.ready), a.fault
	}
	a := &openAttempt{done: make(chan struct{})}
	s.opening = a
	link := &connection{stage: s.stage, number: s.number}
	s.links[link] = struct{}{}
	s.mu.Unlock()

	a.connection, a.ready, a.fault = s.open(link, begin, o)

	s.mu.Lock()
	s.opening = nil
	if a.fault == nil {
		s.current = a.connection
	} else {
		s.failures++
		delete(s.links, link)
	}
	s.mu.Unlock()
	close(a.done)
	if a.fault == nil {
		s.readers.Go(a.connection.Serve)
	}
	return a.connection, a.ready, a.fault
}

// open opens a transport with link and starts HTTP/2 on it.
func (s *sharedConnection) open(link *connection, begin time.Duration, o *recorder.Outcome) (*http2.Connection, time.Duration, *fault.Fault) {
	ready, failed := link.open(begin, o)
	if failed != nil {
		return nil, 0, failed
	}
	if secure, ok := link.transport.(*tlsTransport); ok && secure.ConnectionState().NegotiatedProtocol != targettls.ProtocolHTTP2 {
		link.abandon()
		return nil, 0, fault.New(result.ErrorTLS, "tls: the server selected no HTTP/2 by ALPN")
	}
	_ = link.transport.SetDeadline(time.Time{}) // each request has its own timeout
	load := s.stage.load
	var h *http2.Connection
	config := http2.Config{
		Transport: link.transport, Table: load.table, Buffer: link.reader.Space(), Start: s.stage.start, Timeout: load.timeout(), Slack: load.slack, Streams: load.plan.Streams,
		LastStream: load.lastStream, Go: s.readers.Go, Retired: func() { s.retire(h) }, Closed: func(answered bool) { s.ended(h, link, answered) },
	}
	if secure, ok := link.transport.(*tlsTransport); ok {
		config.CloseNotify = secure.CloseWrite
	}
	h = http2.New(config)
	return h, ready, nil
}

// retire stops h from being used for new requests.
func (s *sharedConnection) retire(h *http2.Connection) {
	s.mu.Lock()
	if s.current == h {
		s.current = nil
	}
	s.mu.Unlock()
}

// ended removes a connection that has closed. answered reports whether it had at least
// one complete response.
func (s *sharedConnection) ended(h *http2.Connection, link *connection, answered bool) {
	s.mu.Lock()
	if s.current == h {
		s.current = nil
	}
	delete(s.links, link)
	if answered {
		s.failures = 0
	} else {
		s.failures++
	}
	s.mu.Unlock()
}

// join adds the stream to the load, unless it takes part, before it claims a request: streams that find none left leave.
func (c *connection) join() {
	if c.shared != nil && !c.present {
		c.present = true
		c.shared.mu.Lock()
		c.shared.present++
		c.shared.mu.Unlock()
	}
}

// leave removes a stream from the load. The last stream to leave closes the connection
// and waits for its goroutines.
func (s *sharedConnection) leave() {
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
		h.End()
	}
	s.readers.Wait()
}

// failed returns the number of consecutive connections without a complete response.
func (s *sharedConnection) failed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failures
}

// interrupt closes all transports, which wakes the goroutines that use them.
func (s *sharedConnection) interrupt() {
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

// roundTripHTTP2 is like roundTrip, on a stream of a shared connection.
func (c *connection) roundTripHTTP2(r *request.Request, o *recorder.Outcome) (got response.Response, ready time.Duration) {
	st := c.stream
	for {
		var h *http2.Connection
		if h, ready, got.Fault = c.shared.acquire(c.begin, o); got.Fault != nil {
			c.failures = c.shared.failed()
			return got, 0
		}
		if h.RoundTrip(st, r, c.begin, c.extraFields(r), c.reader.Fields) {
			break
		}
	}
	o.Reused = o.Reused || !o.Opened
	o.Sent += st.Sent
	o.Received += st.Received
	o.Body += st.Response.Body
	if c.failures = 0; st.Response.Fault != nil {
		c.failures = c.shared.failed()
		got = st.Response
		received := int64(0)
		if st.FirstByte > 0 {
			received = st.Received
		}
		got.Fault = c.stage.load.timeouts.Of(got.Fault, received)
		return got, ready
	}
	o.Status, o.Encoding = st.Response.Status, st.Response.Encoding
	// A response may begin before the body of its request has been sent.
	if st.Written > 0 {
		o.Waiting = max(0, st.FirstByte-st.Written)
	}
	o.Receiving = st.LastByte - st.FirstByte
	return st.Response, ready
}

// extraFields returns the header lines that r has only this time: cookies and a digest.
func (c *connection) extraFields(r *request.Request) []byte {
	text := c.stage.load.requests.Compose(r, &c.memory)
	return text[r.Fields : len(text)-(len(r.Bytes)-r.Fields)]
}

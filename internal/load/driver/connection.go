package driver

import (
	"errors"
	"io"
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

// closeWait is the time that the server gets to close a connection that both sides want
// to close. The side that closes first keeps the pair of ports for a minute, and the
// client alone would run out of ports.
const closeWait = 20 * time.Millisecond

// connection makes requests one after the other, on one transport at a time.
type connection struct {
	stage  *Stage
	number int
	// index is the connection's index in the load's profile. All streams of an HTTP/2
	// connection have the same index.
	index int
	// shared is the HTTP/2 connection that this connection is a stream of, or nil with
	// HTTP/1.1. present reports whether the stream takes part in the load.
	shared  *sharedConnection
	stream  *http2.Stream
	present bool
	// user is the user that the connection is one of, or nil unless the load is one of pages.
	user *pageUser

	reader  response.Reader
	outcome recorder.Outcome
	memory  request.Memory

	// transport is the open connection, or nil if there is none. Only the connection's own
	// goroutine sets it. mu is for Stop, which closes the transport if no loop runs the connection.
	mu        sync.Mutex
	transport transport
	// socket is the transport or, over TLS, the one below it, if a loop runs the connection. Otherwise it is nil.
	socket *socket
	// task runs the connection in a loop. It is nil if a goroutine runs it.
	task *task
	// requests is the number of requests made on the transport.
	requests int64
	// written is the time at which the current request was written, from the stage's start.
	written time.Duration

	// begin is the time at which the current request began, from the stage's start.
	begin time.Duration
	// choose returns the next request.
	choose func() *request.Request
	// repeats reports whether the loop may repeat requests on the transport. repeated is the last one that it has made
	// instead of the current one, or nil.
	repeats  bool
	repeated *request.Request

	// intended is the intended start time of a request of an open load, in virtual time from the stage's
	// start. claimed reports whether the connection has waited for one,
	// free whether it is free although it hasn't waited, because a loop has made its last request.
	intended time.Duration
	claimed  bool
	free     bool
	// woken carries the time that is passed to wake. It is nil if a loop runs the connection.
	woken chan time.Duration
	// pace decides when requests of a closed load start. If it is nil, each starts when the
	// one before has ended.
	pace *pace

	// unrequested counts idle connections that were closed because of unrequested bytes, since the last outcome.
	unrequested int64
	// failures counts consecutive failures to open a connection.
	failures int
	// serverKeepsOpen reports whether the server has left a connection open that it should
	// have closed.
	serverKeepsOpen bool

	// made reports whether there was a request, first is when the first began and last when
	// the last ended, from the stage's start.
	made        bool
	first, last time.Duration
}

// runAll makes requests until the stage has no more for the connection.
func (c *connection) runAll() {
	if c.stage.load.requests.ReadsFields() {
		c.reader.Fields = &response.Fields{}
	}
	c.choose = c.stage.load.requests.Chooser(c.number)
	switch u := c.user; {
	case u == nil:
		c.run()
	case c == u.connections[0]:
		u.lead(c)
	default:
		u.follow(c)
	}
	c.end()
}

// run makes one request after the other.
func (c *connection) run() {
	if jars := c.stage.load.jars; jars != nil { // no lock needed: stages run one after the other
		c.memory.Jar = jars[c.number]
		defer func() { jars[c.number] = c.memory.Jar }()
	}
	for {
		begin, ok := c.stage.next(c)
		if !ok {
			return
		}
		c.request(c.choose(), begin)
	}
}

// request makes one request that begins now and records its outcome.
func (c *connection) request(r *request.Request, begin time.Duration) {
	c.outcome = recorder.Outcome{Error: recorder.NoError}
	o := &c.outcome
	c.begin = begin
	end := c.exchange(r, o)
	if c.free {
		return
	}
	begin = c.begin
	if !c.made {
		c.made, c.first = true, begin
	}
	if c.stage.stopping.Load() && o.Error != recorder.NoError { // stopping may be the reason for its failure
		c.unanswered(begin)
		return
	}
	c.last = end
	c.reader.Release()
	o.Ended = c.stage.slices.Virtual(end)
	o.Total = end - begin
	open := c.stage.arrivals != nil
	if open {
		o.Schedule(c.stage.slices.Virtual(begin) - c.intended)
	}
	c.stage.recorder.Record(c.number, o)
	if c.failures > 0 && !open { // an open load is paced by its arrivals
		c.backOff()
	}
}

// unanswered records a request that began at begin and was under way when the stage was stopped.
func (c *connection) unanswered(begin time.Duration) {
	s := c.stage
	age := s.stopped - begin
	if s.arrivals != nil {
		age += s.slices.Virtual(begin) - c.intended
	}
	c.last = max(c.last, s.stopped)
	s.recorder.Unanswered(s.slices.Virtual(s.stopped), 1, age)
}

// open opens a connection for a request that began at begin. It returns the time at which
// the connection was ready.
func (c *connection) open(begin time.Duration, o *recorder.Outcome) (time.Duration, *fault.Fault) {
	load := c.stage.load
	opened, err := c.dial(begin + load.timeout())
	if err != nil {
		c.failures++
		return 0, load.timeouts.Connecting(err)
	}
	ready := c.stage.now()
	o.Unrequested += c.unrequested
	c.unrequested = 0
	first := !o.Opened && !o.Reused
	if first {
		o.Opened, o.Connect = true, ready-begin
	} else {
		o.Reopened++
	}
	c.requests, c.repeats = 0, false
	c.setTransport(opened)
	c.socket, _ = opened.(*socket)
	if c.stage.stopping.Load() {
		c.abandon() // Stop may have run before setTransport
		return 0, fault.New(result.ErrorConnect, "stopped")
	}
	if load.tlsConfigs != nil {
		c.setLimit(c.limit(begin))
		resumed, err := c.handshake(opened, load.tlsConfigs[c.number])
		if err != nil {
			c.failures++
			c.abandon()
			return 0, load.timeouts.Handshaking(err)
		}
		connected := ready
		ready = c.stage.now()
		switch {
		case first:
			o.Secured, o.TLS, o.Resumed = true, ready-connected, resumed
		case resumed:
			o.ReopenedResumed++
		}
	}
	c.failures = 0
	c.reader.Attach(c.transport, c.stage.start)
	return ready, nil
}

func (c *connection) dial(deadline time.Duration) (socketTransport, error) {
	if c.task != nil {
		return c.task.dial(&c.stage.load.endpoint, deadline)
	}
	return c.stage.load.dial(c.stage.context, c.stage.start.Add(deadline))
}

// adjustFault returns the fault of a request that failed with f on the open transport. If that is a TLS error, the connection counts as
// one that couldn't be opened.
func (c *connection) adjustFault(f *fault.Fault) *fault.Fault {
	s, ok := c.transport.(*tlsTransport)
	first := ok && c.requests == 1
	if first && f.Is(result.ErrorReceive) {
		// The server may have closed the connection before the request was written, and its alert is still unread.
		if c.socket != nil {
			c.socket.readable = true // though the loop may not have seen it
		}
		_, err := s.inner.poll(s.Conn, c.reader.Space())
		if err != nil && targettls.Alert(err) != "" {
			f = fault.Broken(err)
		}
	}
	if f = fault.AfterHandshake(f, first); f.Is(result.ErrorTLS) {
		c.failures++
	}
	switch received := c.reader.Received; {
	case !f.Is(result.ErrorReceive) || f.Detail != "":
	case received > 0:
		f = f.With("after %d bytes of the response", received)
	case c.requests > 1:
		f = f.With("request %d of the connection", c.requests)
	}
	return c.stage.load.timeouts.Of(f, c.reader.Received)
}

// limit returns the time at which a request that began at begin is given up.
func (c *connection) limit(begin time.Duration) time.Duration {
	return begin + c.stage.load.timeout() + c.stage.load.slack
}

// setLimit makes reads and writes fail at a time, from the stage's start.
func (c *connection) setLimit(limit time.Duration) {
	if c.socket != nil {
		c.socket.limit = limit
		return
	}
	// This fails only on a closed connection, and then the write fails too.
	_ = c.transport.SetDeadline(c.stage.start.Add(limit))
}

// close closes the connection after a complete response to r. It lets the server close first.
func (c *connection) close(r *request.Request, response *response.Response, o *recorder.Outcome) {
	if c.serverKeepsOpen && !c.reader.Ended {
		c.abandon()
		return
	}
	c.setLimit(c.stage.now() + closeWait)
	var n int
	err := io.EOF
	if !c.reader.Ended {
		n, err = c.transport.Read(c.reader.Space())
	}
	if s, ok := c.transport.(*tlsTransport); ok && n == 0 && errors.Is(err, io.EOF) {
		// That was close_notify. The end of the connection follows.
		_, err = s.inner.Read(c.reader.Space())
	}
	// A server that closes without close_notify has truncated nothing: the response is complete.
	if n == 0 && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
		c.drop()
		return
	}
	o.Received += int64(n)
	if n > 0 && o.Error == recorder.NoError {
		setFault(o, r, response.Excess)
	}
	c.serverKeepsOpen = err != nil && fault.Broken(err).Is(result.ErrorTimeout)
	c.abandon()
}

// end closes the connection gracefully, if there is one: it leaves the HTTP/2 connection,
// or sends close_notify over TLS.
func (c *connection) end() {
	if c.present {
		c.present = false
		c.shared.leave()
		return
	}
	if s, ok := c.transport.(*tlsTransport); ok {
		_ = s.CloseWrite() // the server may have closed its side already
	}
	c.drop()
}

// drop closes the connection, if there is one.
func (c *connection) drop() {
	if t := c.transport; t != nil {
		c.setTransport(nil)
		_ = t.Close() // no error matters: nothing written is pending
	}
}

// abandon resets the connection. Data in transit is lost, and neither side keeps its port.
func (c *connection) abandon() {
	_ = c.transport.SetLinger(0) // fails only on a closed connection
	c.drop()
}

// setTransport makes t the open transport.
func (c *connection) setTransport(t transport) {
	c.mu.Lock()
	c.transport = t
	c.mu.Unlock()
}

// interrupt closes the transport, which wakes the connection's goroutine. A loop
// interrupts its connections itself.
func (c *connection) interrupt() {
	if c.shared != nil {
		c.shared.interrupt()
		return
	}
	c.mu.Lock()
	if c.transport != nil && c.task == nil {
		_ = c.transport.Close()
	}
	c.mu.Unlock()
}

// idleAfter is the time without a request after which a loop checks a connection by a system call. Before, it relies on the
// events that it has seen.
const idleAfter = 100 * time.Millisecond

// checkIdle closes a connection that can't carry the request which begins now, after a pause. The server may have closed it, as
// servers do after a keep-alive timeout: a request on it could only fail, and that wouldn't be an error of the server. Or bytes have
// arrived that respond to no request, such as the status 408 of some servers after that timeout: they would be taken for the next
// response.
func (c *connection) checkIdle(now time.Duration) {
	if c.transport == nil || c.shared != nil { // the reader of an HTTP/2 connection notices
		return
	}
	if c.socket != nil && now-c.last > idleAfter {
		c.socket.readable = true // though the loop hasn't seen it
	}
	switch c.transport.idle() {
	case unrequested:
		c.unrequested++
		c.abandon()
	case ended:
		c.drop()
	}
}

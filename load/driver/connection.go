package driver

import (
	"errors"
	"io"
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/load/recorder"
)

// closeWait is how long a connection that both sides mean to end is left to the
// server to close. The side that closes first keeps the pair of ports for a
// minute, of which the client alone would run out.
const closeWait = 20 * time.Millisecond

// connection makes requests one after the other, on one transport at a time.
type connection struct {
	stage  *Stage
	number int
	// place is the connection's in the profile of a load. Those that are streams of
	// one HTTP/2 connection have one.
	place int
	// shared is the HTTP/2 connection of which this is a stream; nil in HTTP/1.1.
	// present is whether it takes part in it.
	shared  *shared
	stream  *http2Stream
	present bool

	reader  responseReader
	outcome recorder.Outcome
	memory  memory

	// transport is the open connection, nil without one. It is set by the
	// connection's goroutine alone; the lock is for Stop, which closes it where no
	// loop does.
	mu        sync.Mutex
	transport transport
	// wire is the transport, or what it is on; nil where that is none.
	wire wire
	// task is what carries the connection in a loop; nil for a goroutine.
	task *task
	// carried is the number of requests made on it.
	carried int64
	// written is when the current request was, from the stage's start.
	written time.Duration

	// intended is when the request of an open load was meant to start, from the
	// stage's start; on woken it is told to a connection that waits for it.
	intended time.Duration
	woken    chan time.Duration
	// pace is when requests of a closed load are made; nil for one after the other.
	pace *pace

	// failures counts the connections in a row that couldn't be opened.
	failures int
	// impatient is whether the server has left a connection open that it should
	// have closed.
	impatient bool

	// made is whether there was a request, first when the first began, last when
	// the last ended, from the stage's start.
	made        bool
	first, last time.Duration
}

// run makes requests until the stage has no more.
func (c *connection) run() {
	if c.stage.load.attentive {
		c.reader.noted = &noted{}
	}
	choose := c.stage.load.chooser(c.number)
	if jars := c.stage.load.jars; jars != nil { // stages come one after the other
		c.memory.jar = jars[c.number]
		defer func() { jars[c.number] = c.memory.jar }()
	}
	for {
		begin, ok := c.stage.next(c)
		if !ok {
			break
		}
		c.request(choose(), begin)
	}
	c.end()
}

// request makes one request that begins now and records its outcome.
func (c *connection) request(r *request, begin time.Duration) {
	c.outcome = recorder.Outcome{Error: recorder.NoError}
	o := &c.outcome
	end := c.exchange(r, begin, o)
	if c.stage.stopping.Load() {
		return // it may have failed for that alone
	}
	if !c.made {
		c.made, c.first = true, begin
	}
	c.last = end
	c.reader.rest()
	o.Ended = end
	o.Total = end - begin
	open := c.stage.arrivals != nil
	if open {
		o.Schedule(begin - c.intended)
	}
	c.stage.recorder.Record(c.number, o)
	if c.failures > 0 && !open { // the arrivals are the pace of an open load
		c.pause(pauseAfter(c.failures))
	}
}

// open opens a connection for a request that began at begin. It returns when
// that was ready.
func (c *connection) open(begin time.Duration, o *recorder.Outcome) (time.Duration, result.ErrorKind) {
	load := c.stage.load
	opened, err := c.dial(c.stage.start.Add(begin + load.timeout()))
	if err != nil {
		c.failures++
		return 0, openFault(err, result.ErrorConnect)
	}
	ready := c.stage.now()
	first := !o.Opened && !o.Reused
	if first {
		o.Opened, o.Connect = true, ready-begin
	} else {
		o.Reopened++
	}
	c.carried = 0
	c.hold(opened)
	c.wire, _ = opened.(wire)
	if c.stage.stopping.Load() {
		c.abandon() // Stop may have come before the connection was there to close
		return 0, result.ErrorConnect
	}
	if load.security != nil {
		c.setDeadline(begin)
		resumed, err := c.handshake(load.security[c.number])
		if err != nil {
			c.failures++
			c.abandon()
			return 0, openFault(err, result.ErrorTLS)
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
	c.reader.attach(c.transport, c.stage.start)
	return ready, recorder.NoError
}

func (c *connection) dial(deadline time.Time) (transport, error) {
	if c.task != nil {
		return c.task.dial(&c.stage.load.endpoint, deadline)
	}
	return c.stage.load.dial(c.stage.context, deadline)
}

// refusal is the kind of error of a connection that broke with a fault. In TLS
// 1.3 the client is done with the handshake before the server has looked at its
// certificate: what the server says to the first request, by an alert, is of
// the handshake still. Such connections are paced as those are that can't be
// opened.
func (c *connection) refusal(fault result.ErrorKind) result.ErrorKind {
	s, ok := c.transport.(*secured)
	if !ok || c.carried > 1 {
		if fault == result.ErrorTLS {
			return result.ErrorReceive
		}
		return fault
	}
	if fault == result.ErrorReceive {
		// The request may have met a connection that the server had closed by then,
		// with the alert still to be read.
		_, err := s.Read(c.reader.space())
		fault = faultOf(err)
	}
	if fault == result.ErrorTLS {
		c.failures++
	}
	return fault
}

// setDeadline has the connection fail when a request that began at begin takes
// too long.
func (c *connection) setDeadline(begin time.Duration) { c.setLimit(c.limit(begin)) }

// limit is when a request that began at begin is given up: a little after its
// timeout, so that a response in the last moment isn't lost. One that is complete
// only after the timeout is late all the same.
func (c *connection) limit(begin time.Duration) time.Time {
	timeout := c.stage.load.timeout()
	return c.stage.start.Add(begin + timeout + min(timeout/20, 50*time.Millisecond))
}

func (c *connection) setLimit(limit time.Time) {
	if c.wire != nil {
		c.wire.setLimit(limit)
		return
	}
	// It fails only on a closed connection, as the write will.
	_ = c.transport.SetDeadline(limit)
}

// close ends the connection after a complete response, leaving it to the server
// to close first.
func (c *connection) close(response *response, o *recorder.Outcome) {
	if c.impatient && !c.reader.ended {
		c.abandon()
		return
	}
	c.setLimit(time.Now().Add(closeWait))
	var n int
	err := io.EOF
	if !c.reader.ended {
		n, err = c.transport.Read(c.reader.space())
	}
	if s, ok := c.transport.(*secured); ok && n == 0 && errors.Is(err, io.EOF) {
		// The end of TLS, which that of the connection follows.
		_, err = s.beneath.Read(c.reader.space())
	}
	// A server that ends the connection alone, and not TLS first, has cut nothing
	// off: the response is complete.
	if n == 0 && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
		c.drop()
		return
	}
	o.Received += int64(n)
	if n > 0 && o.Error == recorder.NoError {
		o.Error = response.excess
	}
	c.impatient = err != nil && faultOf(err) == result.ErrorTimeout
	c.abandon()
}

// end ends the connection, if there is one, in good order.
func (c *connection) end() {
	if c.present {
		c.present = false
		c.shared.leave()
		return
	}
	if s, ok := c.transport.(*secured); ok {
		_ = s.CloseWrite() // the server may be gone as well
	}
	c.drop()
}

// drop closes the connection, if there is one.
func (c *connection) drop() {
	if t := c.transport; t != nil {
		c.hold(nil)
		_ = t.Close() // nothing that was written is unread
	}
}

// abandon breaks the connection: what is under way on it is lost, and neither
// side keeps its ports.
func (c *connection) abandon() {
	_ = c.transport.SetLinger(0) // fails only on what is closed already
	c.drop()
}

// hold makes a transport the open one.
func (c *connection) hold(t transport) {
	c.mu.Lock()
	c.transport = t
	c.mu.Unlock()
}

// interrupt closes the transport under the connection's goroutine, which wakes
// it up. What a loop carries it interrupts itself.
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

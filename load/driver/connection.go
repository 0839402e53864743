package driver

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/load/recorder"
)

// closeWait is how long a connection that both sides mean to end is left to the
// server to close. The side that closes first keeps the pair of ports for a
// minute, of which the client alone would run out.
const closeWait = 20 * time.Millisecond

// connection makes requests one after the other, on one TCP connection at a
// time.
type connection struct {
	stage   *Stage
	number  int
	reader  responseReader
	outcome recorder.Outcome

	// tcp is the open connection, nil without one. Stop closes it.
	tcp atomic.Pointer[net.TCPConn]
	// carried is the number of requests made on it, deadline the deadline that is
	// set on it, from the stage's start.
	carried  int64
	deadline time.Duration

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
	choose := c.stage.load.chooser(c.number)
	for {
		begin, ok := c.stage.next()
		if !ok {
			break
		}
		c.request(choose(), begin)
	}
	c.abandon()
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
	o.Ended = end
	o.Total = end - begin
	c.stage.recorder.Record(c.number, o)
	if c.failures > 0 {
		c.stage.pause(pauseAfter(c.failures))
	}
}

// exchange opens a connection where there is none, sends the request and reads
// its response. It fills in the outcome and returns when the request ended.
func (c *connection) exchange(r *request, begin time.Duration, o *recorder.Outcome) time.Duration {
	ready := begin
	if c.tcp.Load() == nil {
		if o.Error = c.open(begin); o.Error != recorder.NoError {
			return c.stage.now()
		}
		ready = c.stage.now()
		o.Opened, o.Connect = true, ready-begin
	}
	tcp := c.tcp.Load()
	o.Reused = c.carried > 0
	c.carried++
	c.setDeadline(tcp, begin)

	sent, err := tcp.Write(r.bytes)
	o.Sent = int64(sent)
	if err != nil {
		o.Error = faultOf(err)
		c.abandon()
		return c.stage.now()
	}
	written := c.stage.now()
	response := c.reader.read(false)
	o.Received, o.Body, o.Status = c.reader.received, response.body, response.status
	if response.fault != recorder.NoError {
		o.Error = response.fault
		c.abandon()
		return c.stage.now()
	}

	end := c.reader.lastByte
	o.Processing, o.Waiting, o.Receiving = end-ready, c.reader.firstByte-written, end-c.reader.firstByte
	switch {
	case end-begin > c.stage.load.timeout():
		o.Error = result.ErrorTimeout
	case response.status < 200 || response.status > 399:
		o.Error = result.ErrorStatus
	case r.length >= 0 && r.length != response.body:
		o.Error = result.ErrorLength
	}
	if !response.persistent || !c.stage.load.plan.KeepAlive {
		c.close(&response, o)
	}
	return end
}

// open opens a connection for a request that began at begin.
func (c *connection) open(begin time.Duration) result.ErrorKind {
	load := c.stage.load
	tcp, err := dial(c.stage.context, load.address, c.stage.start.Add(begin+load.timeout()))
	if err != nil {
		c.failures++
		return dialFault(err)
	}
	c.failures, c.carried, c.deadline = 0, 0, 0
	c.reader.attach(tcp, c.stage.start)
	c.tcp.Store(tcp)
	if c.stage.stopping.Load() {
		c.abandon() // Stop may have come before the connection was there to close
		return result.ErrorConnect
	}
	return recorder.NoError
}

// setDeadline has the connection fail when a request that began at begin takes
// longer than the timeout. Setting a deadline costs a lock or two, so that it
// is set further ahead than needed, by a twentieth of the timeout and at most
// 50 ms, and stands for the requests to come. A response that is complete only
// in that time is late all the same.
func (c *connection) setDeadline(tcp *net.TCPConn, begin time.Duration) {
	timeout := c.stage.load.timeout()
	if needed := begin + timeout; c.deadline < needed {
		c.deadline = needed + min(timeout/20, 50*time.Millisecond)
		// It fails only on a closed connection, as the write will.
		_ = tcp.SetDeadline(c.stage.start.Add(c.deadline))
	}
}

// close ends the connection after a complete response, leaving it to the server
// to close first.
func (c *connection) close(response *response, o *recorder.Outcome) {
	tcp := c.tcp.Load()
	if c.reader.ended {
		c.tcp.Store(nil)
		_ = tcp.Close() // nothing is left to be lost
		return
	}
	if c.impatient {
		c.abandon()
		return
	}
	_ = tcp.SetReadDeadline(time.Now().Add(closeWait))
	n, err := tcp.Read(c.reader.buffer)
	if n > 0 {
		o.Received += int64(n)
		if o.Error == recorder.NoError {
			o.Error = response.excess
		}
	}
	c.impatient = err != nil && faultOf(err) == result.ErrorTimeout
	c.abandon()
}

// abandon ends the connection at once: what is under way on it is lost, and
// neither side keeps its ports.
func (c *connection) abandon() {
	tcp := c.tcp.Swap(nil)
	if tcp == nil {
		return
	}
	_ = tcp.SetLinger(0)
	_ = tcp.Close()
}

package driver

import (
	"time"

	"github.com/assay-dev/assay/internal/load/driver/fault"
	"github.com/assay-dev/assay/internal/load/driver/request"
	"github.com/assay-dev/assay/internal/load/driver/response"
	"github.com/assay-dev/assay/internal/load/recorder"
)

// exchange makes a request, which begins at c.begin, and the follow-up requests that its responses call
// for: the answer to a challenge, and redirects. It fills in the outcome and returns the time at which the last response ended.
func (c *connection) exchange(r *request.Request, o *recorder.Outcome) time.Duration {
	var ready time.Duration
	o.Named = r.Named
	for trips := 0; ; trips++ {
		var got response.Response
		var opened time.Duration
		if c.shared == nil {
			got, opened = c.roundTrip(r, o)
		} else {
			got, opened = c.roundTripHTTP2(r, o)
		}
		if trips == 0 {
			ready = opened
		}
		if c.free {
			return c.last
		}
		if c.repeated != nil {
			r, ready, c.repeated = c.repeated, c.begin, nil
			o.Named = r.Named
		}
		if setFault(o, r, got.Fault); got.Fault != nil {
			return c.stage.now()
		}
		end := c.lastByte()
		o.Processing = end - ready
		next, ok := c.stage.load.requests.FollowUp(r, &c.memory, got.Status, c.reader.Fields, trips)
		answered := fault.Response{
			Status: got.Status, Took: end - c.begin, Succeeded: r.Succeeds(got.Status), Length: got.Body, Wanted: r.Wanted(got.Encoding), FollowUp: next != nil, Stuck: !ok,
		}
		setFault(o, r, answered.Of(c.stage.load.timeout(), c.stage.load.timeouts))
		if c.shared == nil {
			c.closeUnlessKept(r, &got, o)
		}
		if next == nil || o.Error != recorder.NoError {
			return end
		}
		r = next
	}
}

// setFault makes an outcome that of a request that failed with f, or succeeded if f is nil.
func setFault(o *recorder.Outcome, r *request.Request, f *fault.Fault) {
	o.Error = recorder.NoError
	if f != nil {
		o.Error, o.Cause, o.Detail, o.Request = f.Kind, f.Cause, f.Detail, r
	}
}

// lastByte returns the time at which the last response ended.
func (c *connection) lastByte() time.Duration {
	if c.shared != nil {
		return c.stream.LastByte
	}
	return c.reader.LastByte
}

// closeUnlessKept closes the connection after a complete response, unless it is kept for another request.
func (c *connection) closeUnlessKept(r *request.Request, got *response.Response, o *recorder.Outcome) {
	keepAlive := c.stage.load.plan.KeepAlive
	if !got.Persistent && keepAlive {
		o.ClosedByServer++
	}
	if !got.Persistent || !keepAlive {
		c.close(r, got, o)
	}
	if c.task != nil && c.task.loop.plain != nil {
		c.repeats = o.Error == recorder.NoError && c.task.loop.plain.learn(r, &c.reader)
	}
}

// roundTrip sends a request and reads its response. It opens a connection if there is none, and returns the time at which the
// connection was ready. After an error the transport is closed.
func (c *connection) roundTrip(r *request.Request, o *recorder.Outcome) (got response.Response, ready time.Duration) {
	ready = c.begin
	if c.transport == nil {
		if ready, got.Fault = c.open(c.begin, o); got.Fault != nil {
			return got, 0
		}
	}
	o.Reused = o.Reused || !o.Opened
	c.requests++
	sent, err := c.write(r)
	if c.free {
		return got, ready
	}
	o.Sent += int64(sent)
	switch {
	case err != nil:
		got.Fault, c.reader.Received = fault.Broken(err), 0
	case len(r.LongBody) == 0:
		got = c.reader.Read(r.NoBody)
	default:
		got = c.readWhileWriting(r, o)
	}
	if err == nil {
		o.Received += c.reader.Received
		o.Body += got.Body
		o.Status, o.Encoding = got.Status, got.Encoding
	}
	if got.Fault != nil {
		got.Fault = c.adjustFault(got.Fault)
		c.abandon()
		return got, ready
	}
	// A response may begin before the body of its request has been sent.
	o.Waiting = max(0, c.reader.FirstByte-c.written)
	o.Receiving = c.reader.LastByte - c.reader.FirstByte
	return got, ready
}

// write writes a request, apart from a long body. A task also waits until there is something to read.
func (c *connection) write(r *request.Request) (sent int, err error) {
	c.setLimit(c.limit(c.begin))
	switch {
	case c.repeats:
		return c.writeAndRepeat(r)
	case c.socket == nil:
		sent, err = c.transport.Write(c.stage.load.requests.Compose(r, &c.memory))
		c.written = c.stage.now()
		return sent, err
	}
	text := c.stage.load.requests.Compose(r, &c.memory)
	encrypted, err := c.encrypt(text)
	if err != nil {
		return 0, err
	}
	sent, c.written, err = c.socket.writeAndWait(encrypted)
	return c.sentOf(text, sent, err), err
}

// sentOf returns how many bytes of a text were sent, if writing what encrypt returned for it sent a number of bytes.
func (c *connection) sentOf(text []byte, sent int, err error) int {
	switch {
	case err == nil:
		return len(text)
	case c.stage.load.tlsConfigs != nil: // part of a record counts as none
		return 0
	}
	return sent
}

// encrypt returns what is written to the socket for a text: with TLS its records, which are valid until the next call.
func (c *connection) encrypt(text []byte) ([]byte, error) {
	if _, secure := c.transport.(*tlsTransport); !secure {
		return text, nil
	}
	c.socket.startBuffering()
	_, err := c.transport.Write(text)
	return c.socket.stopBuffering(), err
}

// readWhileWriting reads a response while a long body is still being sent. A server may
// respond before it has read all of the body.
func (c *connection) readWhileWriting(r *request.Request, o *recorder.Outcome) response.Response {
	sent := make(chan int, 1)
	var failed error
	t := c.transport
	go func() {
		n, err := t.Write(r.LongBody)
		c.written, failed = c.stage.now(), err
		sent <- n
	}()
	got := c.reader.Read(r.NoBody)
	// Once the response is complete, the rest of the body may take closeWait. A write that starts
	// later sets its own deadline, so that this one is set again until the goroutine has ended.
	ticker := time.NewTicker(closeWait)
	defer ticker.Stop()
	for writing := true; writing; {
		select {
		case n := <-sent:
			o.Sent += int64(n)
			writing = false
		case <-ticker.C:
			_ = t.SetWriteDeadline(time.Unix(1, 0))
			got.Persistent = false
		}
	}
	if failed != nil {
		got.Persistent = false
	}
	return got
}

package driver

import (
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/load/recorder"
)

// memory holds what a connection keeps of responses for later requests. It outlives the transport.
type memory struct {
	jar    jar
	digest digest
	// text is a buffer for requests that get additional headers.
	text []byte
}

// exchange makes a request, which begins at c.begin, and the follow-up requests that its responses call
// for: the answer to a challenge, and redirects. It fills in the outcome and returns the time at which the last response ended.
func (c *connection) exchange(r *request, o *recorder.Outcome) time.Duration {
	var ready time.Duration
	for trips := 0; ; trips++ {
		var got response
		var opened time.Duration
		if c.shared == nil {
			got, opened = c.roundTrip(r, o)
		} else {
			got, opened = c.roundTripHTTP2(r, o)
		}
		if trips == 0 {
			ready = opened
		}
		if c.repeated != nil {
			r, ready, c.repeated = c.repeated, c.begin, nil
		}
		if o.Error = got.fault; o.Error != recorder.NoError {
			return c.stage.now()
		}
		end := c.lastByte()
		o.Processing = end - ready
		next, ok := c.followUp(r, &got, trips)
		o.Error = c.stage.load.classify(r, &got, end-c.begin, next, ok)
		if c.shared == nil {
			c.closeUnlessKept(r, &got, o)
		}
		if next == nil || o.Error != recorder.NoError {
			return end
		}
		r = next
	}
}

// lastByte returns the time at which the last response ended.
func (c *connection) lastByte() time.Duration {
	if c.shared != nil {
		return c.stream.lastByte
	}
	return c.reader.lastByte
}

// closeUnlessKept closes the connection after a complete response, unless it is kept for another request.
func (c *connection) closeUnlessKept(r *request, got *response, o *recorder.Outcome) {
	keepAlive := c.stage.load.plan.KeepAlive
	if !got.persistent && keepAlive {
		o.ClosedByServer++
	}
	if !got.persistent || !keepAlive {
		c.close(got, o)
	}
	if c.task != nil && c.task.loop.plain != nil {
		c.repeats = o.Error == recorder.NoError && c.task.loop.plain.learn(r, &c.reader)
	}
}

// roundTrip sends a request and reads its response. It opens a connection if there is none, and returns the time at which the
// connection was ready. After an error the transport is closed.
func (c *connection) roundTrip(r *request, o *recorder.Outcome) (got response, ready time.Duration) {
	ready = c.begin
	if c.transport == nil {
		var fault result.ErrorKind
		if ready, fault = c.open(c.begin, o); fault != recorder.NoError {
			return response{fault: fault}, 0
		}
	}
	o.Reused = o.Reused || !o.Opened
	c.requests++
	sent, err := c.write(r)
	o.Sent += int64(sent)
	switch {
	case err != nil:
		got.fault = faultOf(err)
	case len(r.body) == 0:
		got = c.reader.read(r.noBody)
	default:
		got = c.readWhileWriting(r, o)
	}
	if err == nil {
		o.Received += c.reader.received
		o.Body += got.body
		o.Status = got.status
	}
	if got.fault != recorder.NoError {
		got.fault = c.adjustFault(got.fault)
		c.abandon()
		return got, ready
	}
	// A response may begin before the body of its request has been sent.
	o.Waiting = max(0, c.reader.firstByte-c.written)
	o.Receiving = c.reader.lastByte - c.reader.firstByte
	return got, ready
}

// write writes a request, apart from a long body. A task also waits until there is something to read.
func (c *connection) write(r *request) (sent int, err error) {
	c.setLimit(c.limit(c.begin))
	switch {
	case c.repeats:
		return c.writeAndRepeat(r)
	case c.socket == nil:
		sent, err = c.transport.Write(c.compose(r))
		c.written = c.stage.now()
		return sent, err
	}
	text := c.compose(r)
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

// compose returns the text of a request, including cookies and a digest if the connection has any.
func (c *connection) compose(r *request) []byte {
	m := &c.memory
	if len(m.jar.cookies) == 0 && !m.digest.challenged {
		return r.bytes
	}
	m.text = append(m.text[:0], r.bytes[:r.fields]...)
	m.text = m.jar.appendField(m.text, r, c.stage.load.tlsConfigs != nil)
	if m.digest.challenged {
		method := r.planned.Method
		if method == "" {
			method = "GET"
		}
		m.text = m.digest.appendField(m.text, method, r.planned.Path)
	}
	m.text = append(m.text, r.bytes[r.fields:]...)
	return m.text
}

// readWhileWriting reads a response while a long body is still being sent. A server may
// respond before it has read all of the body.
func (c *connection) readWhileWriting(r *request, o *recorder.Outcome) response {
	sent := make(chan int, 1)
	var failed error
	t := c.transport
	go func() {
		n, err := t.Write(r.body)
		c.written, failed = c.stage.now(), err
		sent <- n
	}()
	got := c.reader.read(r.noBody)
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
			got.persistent = false
		}
	}
	if failed != nil {
		got.persistent = false
	}
	return got
}

// followUp returns the request that a response leads to, or nil if there is none. It
// returns false if the response calls for a request that can't be made.
func (c *connection) followUp(r *request, response *response, trips int) (next *request, ok bool) {
	n := c.reader.fields
	if n == nil {
		return nil, true
	}
	load := c.stage.load
	if load.plan.Cookies && len(n.cookies) > 0 {
		c.memory.jar.store(n.cookies, r, time.Now())
	}
	switch {
	case response.status == 401 && load.credentials != nil:
		c.memory.digest.credentials = load.credentials
		if trips == 0 && c.memory.digest.challenge(n.challenges) {
			return r, true
		}
	case r.planned.Follow && isRedirect(response.status) && n.location != "":
		if trips >= maxRedirects {
			return nil, false
		}
		return load.redirected(r, response.status, n.location)
	}
	return nil, true
}

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
// for: the answer to a challenge, and redirects. It opens a connection if there is none. It fills
// in the outcome and returns the time at which the last response ended.
func (c *connection) exchange(r *request, o *recorder.Outcome) time.Duration {
	if c.shared != nil {
		return c.exchangeHTTP2(r, c.begin, o)
	}
	ready := c.begin
	if c.transport == nil {
		if ready, o.Error = c.open(c.begin, o); o.Error != recorder.NoError {
			return c.stage.now()
		}
	}
	o.Reused = c.requests > 0
	at := ready
	for trips := 0; ; trips++ {
		response, fault := c.roundTrip(r, at, o)
		if c.repeated != nil {
			r, ready, c.repeated = c.repeated, c.begin, nil
		}
		if fault != recorder.NoError {
			o.Error = fault
			return c.stage.now()
		}
		end := c.reader.lastByte
		o.Processing = end - ready
		next, ok := c.followUp(r, &response, trips)
		if o.Error = c.stage.classify(r, &response, end-c.begin, ok); next != nil && o.Error != result.ErrorTimeout {
			o.Error = recorder.NoError // a follow-up request decides
		}
		if !response.persistent && c.stage.load.plan.KeepAlive {
			o.ClosedByServer++
		}
		if !response.persistent || !c.stage.load.plan.KeepAlive {
			c.close(&response, o)
		}
		if c.task != nil && c.task.loop.plain != nil {
			c.repeats = o.Error == recorder.NoError && c.task.loop.plain.learn(r, &c.reader)
		}
		if next == nil || o.Error != recorder.NoError {
			return end
		}
		at = end
		if c.transport == nil {
			if at, o.Error = c.open(c.begin, o); o.Error != recorder.NoError {
				return c.stage.now()
			}
		}
		r = next
	}
}

// classify returns the kind of error of a complete response. ok is false if the response
// should have led to a follow-up request but couldn't.
func (s *Stage) classify(r *request, response *response, took time.Duration, ok bool) result.ErrorKind {
	switch {
	case took > s.load.timeout():
		return result.ErrorTimeout
	case !ok || !r.succeeds(response.status):
		return result.ErrorStatus
	case r.length >= 0 && r.length != response.body:
		return result.ErrorLength
	}
	return recorder.NoError
}

// roundTrip sends a request and reads its response. The round trip begins at at. After an error the transport is closed.
func (c *connection) roundTrip(r *request, at time.Duration, o *recorder.Outcome) (response, result.ErrorKind) {
	c.requests++
	var sent int
	var err error
	switch {
	case c.repeats:
		sent, err = c.writeAndRepeat(r)
	case c.wire != nil && len(r.body) == 0:
		sent, err = c.writeAndWait(c.compose(r), c.limit(c.begin), c.stage.start.Add(at))
	default:
		c.setDeadline(c.begin)
		sent, err = c.transport.Write(c.compose(r))
		c.written = c.stage.now()
	}
	o.Sent += int64(sent)
	if err != nil {
		fault := c.adjustFault(faultOf(err))
		c.abandon()
		return response{}, fault
	}
	var got response
	if len(r.body) == 0 {
		got = c.reader.read(r.noBody)
	} else {
		got = c.readWhileWriting(r, o)
	}
	o.Received += c.reader.received
	o.Body += got.body
	o.Status = got.status
	if got.fault != recorder.NoError {
		fault := c.adjustFault(got.fault)
		c.abandon()
		return got, fault
	}
	// A response may begin before the body of its request has been sent.
	o.Waiting = max(0, c.reader.firstByte-c.written)
	o.Receiving = c.reader.lastByte - c.reader.firstByte
	return got, recorder.NoError
}

// writeAndWait writes a request and waits until there is something to read.
func (c *connection) writeAndWait(text []byte, limit, at time.Time) (sent int, err error) {
	encrypted, err := c.encrypt(text)
	if err != nil {
		return 0, err
	}
	sent, c.written, err = c.wire.writeAndWait(encrypted, at, c.stage.start, limit)
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

// encrypt returns what is written to the wire for a text: with TLS its records, which are valid until the next call.
func (c *connection) encrypt(text []byte) ([]byte, error) {
	if _, secure := c.transport.(*tlsTransport); !secure {
		return text, nil
	}
	c.wire.startBuffering()
	_, err := c.transport.Write(text)
	return c.wire.stopBuffering(), err
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

package driver

import (
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/load/recorder"
)

// memory is what a connection keeps of responses for its next requests: its
// cookies and the server's challenge, which outlive the transport. All of it
// may be empty.
type memory struct {
	jar    jar
	digest digest
	// text is the request last written, where it wasn't written as it stands.
	text []byte
}

// exchange makes a request and, where its response leads on, what comes of it:
// the answer to a challenge, what a redirect asks for. It opens connections
// where there is none. It fills in the outcome and returns when the request
// ended.
func (c *connection) exchange(r *request, begin time.Duration, o *recorder.Outcome) time.Duration {
	if c.shared != nil {
		return c.exchangeHTTP2(r, begin, o)
	}
	ready := begin
	if c.transport == nil {
		if ready, o.Error = c.open(begin, o); o.Error != recorder.NoError {
			return c.stage.now()
		}
	}
	o.Reused = c.carried > 0
	at := ready
	for turns := 0; ; turns++ {
		response, fault := c.turn(r, begin, at, o)
		if fault != recorder.NoError {
			o.Error = fault
			return c.stage.now()
		}
		end := c.reader.lastByte
		o.Processing = end - ready
		next, ok := c.lead(r, &response, turns)
		if o.Error = c.stage.judge(r, &response, end-begin, ok); next != nil && o.Error != result.ErrorTimeout {
			o.Error = recorder.NoError // it isn't the last word
		}
		if !response.persistent || !c.stage.load.plan.KeepAlive {
			c.close(&response, o)
		}
		if next == nil || o.Error != recorder.NoError {
			return end
		}
		at = end
		if c.transport == nil {
			if at, o.Error = c.open(begin, o); o.Error != recorder.NoError {
				return c.stage.now()
			}
		}
		r = next
	}
}

// judge is what is wrong with a complete response; ok is whether it led where
// it should.
func (s *Stage) judge(r *request, response *response, took time.Duration, ok bool) result.ErrorKind {
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

// turn sends a request at an instant and reads its response, for a request that
// began at begin. After a fault, the transport is gone.
func (c *connection) turn(r *request, begin, at time.Duration, o *recorder.Outcome) (response, result.ErrorKind) {
	c.carried++
	var sent int
	var err error
	if c.wire != nil && len(r.body) == 0 {
		sent, err = c.ask(c.compose(r), c.limit(begin), c.stage.start.Add(at))
	} else {
		c.setDeadline(begin)
		sent, err = c.transport.Write(c.compose(r))
		c.written = c.stage.now()
	}
	o.Sent += int64(sent)
	if err != nil {
		fault := c.refusal(faultOf(err))
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
		fault := c.refusal(got.fault)
		c.abandon()
		return got, fault
	}
	// A response may begin before the body of its request has been sent.
	o.Waiting = max(0, c.reader.firstByte-c.written)
	o.Receiving = c.reader.lastByte - c.reader.firstByte
	return got, recorder.NoError
}

// ask sends a request at an instant and waits for what comes of it.
func (c *connection) ask(text []byte, limit, at time.Time) (sent int, err error) {
	w := c.wire
	if _, secure := c.transport.(*secured); !secure {
		sent, c.written, err = w.ask(text, at, c.stage.start, limit)
		return sent, err
	}
	w.hold()
	sent, err = c.transport.Write(text)
	secret := w.take()
	if err == nil {
		_, c.written, err = w.ask(secret, at, c.stage.start, limit)
	}
	if err != nil {
		return 0, err
	}
	return sent, nil
}

// compose is a request as it is written: with the cookies and the proof of a
// password that go with it, if any do.
func (c *connection) compose(r *request) []byte {
	m := &c.memory
	if len(m.jar.cookies) == 0 && !m.digest.challenged {
		return r.bytes
	}
	m.text = append(m.text[:0], r.bytes[:r.fields]...)
	m.text = m.jar.appendField(m.text, r, c.stage.load.security != nil)
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

// readWhileWriting reads a response while a long body is still being sent: a
// server may answer before it has read all of it, even for good.
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
	// A server that wants no more of it has the rest of its time to close. A write
	// that begins has a deadline of its own, so that it takes more than one to end
	// them all.
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

// lead is the request that a response leads to; nil for none, and false where
// it should have led on but can't.
func (c *connection) lead(r *request, response *response, turns int) (next *request, ok bool) {
	n := c.reader.noted
	if n == nil {
		return nil, true
	}
	load := c.stage.load
	if load.plan.Cookies && len(n.cookies) > 0 {
		c.memory.jar.take(n.cookies, r, time.Now())
	}
	switch {
	case response.status == 401 && load.credentials != nil:
		c.memory.digest.credentials = load.credentials
		if turns == 0 && c.memory.digest.challenge(n.challenges) {
			return r, true
		}
	case r.planned.Follow && isRedirect(response.status) && n.location != "":
		if turns >= mostRedirects {
			return nil, false
		}
		return load.redirected(r, response.status, n.location)
	}
	return nil, true
}

package driver

import (
	"bytes"
	"errors"
	"syscall"
	"time"

	"github.com/assay-dev/assay/internal/load/driver/request"
	"github.com/assay-dev/assay/internal/load/driver/response"
	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/result"
)

// plainLoad makes the requests of a plain load in a loop: a closed load without think time or an open load, on kept connections, whose
// requests don't depend on responses.
//
// The first requests of a connection are made by its task. While the task waits for the response to a later one,
// the loop handles the response and sends the next request itself, as long as each response equals one that a task has read
// before, apart from the body. Otherwise the task goes on, as if it had made the last request. With an open load the task still waits
// while the connection is free, and the loop sends the request that is due next.
//
// This is for the CPU's caches. What the kernel does for a request displaces most of what they hold, so that each line
// of code and data that the client needs for one has to be fetched again (docs/design/2026-11-28-plain-loads.md).
type plainLoad struct {
	timeout time.Duration
	// until is the end of the slice of the load, or never.
	until time.Duration
	// known are the latest responses that the loop may handle, by request. An entry is nil if there is none.
	known    []*plainResponse
	requests []plainRequest // in flight, by task
	buffer   *[response.BufferBytes]byte
	outcome  recorder.Outcome
	// average is a moving average of response times, if naps reports that the loop may nap.
	average time.Duration
	naps    bool
}

// A loop naps for at most maxNap and at most one napFraction-th of the average response time, since a response may be noticed as much
// later. A nap shorter than minNap doesn't pay.
const (
	minNap, maxNap = 10 * time.Microsecond, 50 * time.Microsecond
	napFraction    = 20
)

// plainResponse is a successful response with a Content-Length that leaves the connection open. It doesn't change.
type plainResponse struct {
	head     []byte // text of the header section
	body     int64  // length of the body
	status   int
	encoding result.Encoding
}

func (r *plainResponse) length() int64 { return int64(len(r.head)) + r.body }

// plainRequest is a task's request in flight. The fields of the first group suffice for a response that arrives at once.
type plainRequest struct {
	// repeats reports whether the loop may handle the response. free reports whether the connection is free, with an open load: the last
	// request is recorded.
	repeats    bool
	free       bool
	generation int32         // of the socket
	fd, number int32         // of the socket and the connection
	secure     *tlsTransport // nil without TLS
	request    *request.Request
	// begin and written are the times at which it began and was written, from the stage's start.
	begin, written time.Duration
	// response is the response that it gets, or nil if the header section hasn't arrived.
	response *plainResponse
	made     int64 // number of requests that the loop has made in place of the task
	received int64 // number of bytes that have arrived of the response

	// firstByte and lastByte are the times at which the first and the last of them did.
	firstByte, lastByte time.Duration
	// intended is the intended start time, with an open load.
	intended time.Duration
	// err is the error of writing. Then sent is the number of bytes that were written, of what encrypt has returned, and rest are the others.
	err  error
	sent int
	rest []byte
}

// newPlainLoad returns the state of a loop with a number of tasks, or nil if the stage's load isn't plain.
func newPlainLoad(s *Stage, tasks int) *plainLoad {
	l := s.load
	if s.arrivals == nil && (l.plan.ThinkTime != nil || len(s.amount.Profile) > 0) || !l.plan.KeepAlive || len(l.plan.Pages) > 0 || l.jars != nil || !l.requests.Fixed() {
		return nil
	}
	return &plainLoad{
		timeout: l.timeout(), known: make([]*plainResponse, len(l.requests.Requests)), requests: make([]plainRequest, tasks),
		buffer: new([response.BufferBytes]byte), outcome: recorder.Outcome{Error: recorder.NoError, Reused: true}, naps: s.arrivals == nil,
	}
}

// nap returns for how long the loop is to sleep before it waits for an event, or 0.
//
// A server that sends to a loop which waits has to wake it up, which costs the server CPU time. Where at least one response is expected in
// every two naps, a loop that sleeps for a moment spares the server most of that (docs/design/2026-12-01-naps.md).
// It doesn't with an open load: it would send late.
func (p *plainLoad) nap(connections int) time.Duration {
	if p == nil || !p.naps {
		return 0
	}
	nap := min(maxNap, p.average/napFraction)
	if nap < minNap || p.average > 2*nap*time.Duration(connections) {
		return 0
	}
	return nap
}

// learn takes note of the successful response that a reader has just read. It returns false if the loop can't handle such
// responses.
func (p *plainLoad) learn(r *request.Request, reader *response.Reader) bool {
	text, got, ok := reader.Fixed()
	if !ok {
		return false
	}
	if known := p.known[r.Index]; known == nil || known.body != got.Body || !bytes.Equal(known.head, text) {
		p.known[r.Index] = &plainResponse{head: bytes.Clone(text), body: got.Body, status: got.Status, encoding: got.Encoding}
	}
	return true
}

// repeats reports whether an event is one that repeat handles.
func (p *plainLoad) repeats(e *syscall.EpollEvent) bool {
	if p == nil || e.Events != syscall.EPOLLIN {
		return false
	}
	r := &p.requests[e.Fd]
	return r.repeats && r.generation == e.Pad
}

// isFree reports whether a task waits although its connection is free.
func (p *plainLoad) isFree(t *task) bool { return p != nil && p.requests[t.index].free }

// repeat reads what has arrived of the response to a task's request, and sends the next request after its end, if one is due. It returns
// false if the task must go on instead.
func (l *loop) repeat(index int32) bool {
	s, p := l.stage, l.plain
	if s.stopping.Load() || s.ending.Load() {
		return false
	}
	r := &p.requests[index]
	complete, ok := l.receivePlain(index, r)
	if !complete {
		return ok
	}
	end := r.lastByte
	if end-r.begin > p.timeout {
		return false
	}
	begin, intended, due := end, time.Duration(0), true
	if s.arrivals != nil {
		intended, begin, due = s.arrivals.due(l.tasks[index].connection)
	} else if end >= p.until || !s.claim(end) {
		return false
	}
	var next plainSend
	if due {
		next = l.send(index, r)
	}
	l.record(r, end)
	if r.free, r.repeats = !due, due; r.free {
		if isClosed(s.arrivals.exhausted) {
			l.resume(l.tasks[index]) // which ends
		}
		return true
	}
	return r.follow(next, begin, intended)
}

// begin sends the request that a task was woken for. It returns false if the task must go on instead, because its connection isn't free or
// may have ended.
func (l *loop) begin(t *task) bool {
	if !l.plain.isFree(t) {
		return false
	}
	s, r := l.stage, &l.plain.requests[t.index]
	now := s.now()
	if t.socket.readable || t.socket.gone || now-r.lastByte > idleAfter || s.slices.Next(now) != now || s.stopping.Load() {
		return false
	}
	t.woken, r.free, r.repeats = false, false, true
	s.arrivals.recordStart(t.wokenAt, s.slices.Virtual(now))
	l.earliest = min(l.earliest, t.connection.limit(now))
	return r.follow(l.send(t.index, r), now, t.wokenAt)
}

// plainSend is a request that was sent, or the error of writing it after a number of bytes. rest are the others.
type plainSend struct {
	request *request.Request
	written time.Duration
	sent    int
	rest    []byte
	err     error
}

// send sends a task's next request.
func (l *loop) send(index int32, r *plainRequest) (s plainSend) {
	s.request = r.request
	if len(l.plain.known) > 1 {
		s.request = l.tasks[index].connection.choose()
	}
	text := s.request.Bytes
	if r.secure != nil {
		text, s.err = l.tasks[index].connection.encrypt(text)
	}
	if s.err == nil {
		s.sent, s.err = send(int(r.fd), text)
	}
	if s.err != nil {
		s.rest = text[s.sent:]
	}
	s.written = l.stage.now()
	return s
}

// follow makes a request that was sent the one in flight. It reports whether all of it was sent.
func (r *plainRequest) follow(s plainSend, begin, intended time.Duration) bool {
	r.request, r.begin, r.written, r.intended = s.request, begin, s.written, intended
	r.response, r.received = nil, 0
	r.made++
	if r.err = s.err; s.err != nil {
		r.sent, r.rest = s.sent, s.rest
	}
	return s.err == nil
}

// record records a request whose response ended at end.
func (l *loop) record(r *plainRequest, end time.Duration) {
	s, o := l.stage, &l.plain.outcome
	o.Named = r.request.Named
	o.Ended, o.Total, o.Processing = s.slices.Virtual(end), end-r.begin, end-r.begin
	o.Waiting, o.Receiving = max(0, r.firstByte-r.written), end-r.firstByte
	o.Status, o.Encoding, o.Body, o.Received, o.Sent = r.response.status, r.response.encoding, r.response.body, r.received, int64(len(r.request.Bytes))
	if s.arrivals != nil {
		o.Schedule(s.slices.Virtual(r.begin) - r.intended)
	}
	s.recorder.Record(int(r.number), o)
	l.plain.average += (o.Total - l.plain.average) / 16
}

// receivePlain reads what has arrived of a response. It reports whether that is complete, and if not, whether it equals the known one
// so far.
func (l *loop) receivePlain(index int32, r *plainRequest) (complete, ok bool) {
	p := l.plain
	known := p.known[r.request.Index]
	if known == nil {
		return false, false
	}
	if r.secure != nil {
		l.tasks[index].socket.readable = true
	}
	for {
		size, flags := int64(response.BufferBytes), 0
		switch {
		case r.response != nil:
			size, flags = min(size, r.response.length()-r.received+1), syscall.MSG_TRUNC
		case known.body >= response.LongBodyBytes:
			size = response.HeadReadBytes
		}
		var n int
		var err error
		if r.secure == nil {
			n, err = receive(int(r.fd), p.buffer[:size], flags)
		} else {
			n, err = l.tasks[index].socket.poll(r.secure.Conn, p.buffer[:size])
		}
		switch {
		case n > 0:
		case errors.Is(err, syscall.EAGAIN), errors.Is(err, errNotReady):
			return false, true
		case r.secure == nil: // crypto/tls returns an error each time
			l.tasks[index].socket.failed = err
			return false, false
		default:
			return false, false
		}
		r.lastByte = l.stage.now()
		if r.response == nil {
			r.firstByte = r.lastByte
			if !bytes.HasPrefix(p.buffer[:n], known.head) {
				l.tasks[index].connection.reader.Preload(p.buffer[:n], 0, r.firstByte, r.lastByte)
				return false, false
			}
			r.response = known
		}
		r.received += int64(n)
		switch length := r.response.length(); {
		case r.received == length && l.stage.arrivals != nil && r.secure != nil:
			// A free connection has no event for what has arrived together with the response.
			return r.secure.idle() == usable, false
		case r.received >= length:
			return r.received == length, false
		case int64(n) < size && r.secure == nil: // otherwise there may be another record
			return false, true
		}
	}
}

// writeAndRepeat writes a request and waits until there is something to read. Meanwhile the loop may go on with the load: then the
// connection's current request is the last one that the loop has made, unless the connection is free.
func (c *connection) writeAndRepeat(r *request.Request) (sent int, err error) {
	t, s := c.task, &c.task.socket
	p := &t.loop.plain.requests[t.index]
	t.loop.plain.until = c.stage.slices.End(c.begin)
	*p = plainRequest{generation: t.generation, fd: int32(s.fd), number: int32(c.number), request: r, begin: c.begin, intended: c.intended}
	if secure, ok := c.transport.(*tlsTransport); ok {
		p.secure = secure
	}
	text, err := c.encrypt(r.Bytes)
	if err != nil {
		return 0, err
	}
	p.sent, p.err = s.Write(text)
	p.written = c.stage.now()
	if p.err == nil && !s.readable && !s.gone {
		p.repeats = true
		_ = s.wait(forReading) // the next read meets the error again
		p.repeats = false
	}
	if c.requests += p.made; p.free {
		p.free, c.free, c.last = false, true, p.lastByte
		return 0, nil
	}
	if p.made > 0 {
		c.repeated, c.begin, c.last, c.intended = p.request, p.begin, p.begin, p.intended
		c.setLimit(c.limit(c.begin))
		if errors.Is(p.err, syscall.EAGAIN) {
			var n int
			n, p.err = s.Write(p.rest)
			p.sent, p.written = p.sent+n, c.stage.now()
		}
	}
	if p.response != nil {
		c.reader.Preload(p.response.head, p.received-int64(len(p.response.head)), p.firstByte, p.lastByte)
	}
	c.written = p.written
	return c.sentOf(p.request.Bytes, p.sent, p.err), p.err
}

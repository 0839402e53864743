package driver

import (
	"bytes"
	"crypto/tls"
	"errors"
	"syscall"
	"time"

	"github.com/assay-dev/assay/internal/load/driver/request"
	"github.com/assay-dev/assay/internal/load/driver/response"
	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/result"
)

// plainLoad makes the requests of a plain load in a loop: a closed load without think time, on kept connections, whose requests don't
// depend on responses.
//
// The first requests of a connection are made by its task. While the task waits for the response to a later one,
// the loop handles the response and sends the next request itself, as long as each response equals one that a task has read
// before, apart from the body. Otherwise the task goes on, as if it had made the last request.
//
// This is for the CPU's caches. What the kernel does for a request displaces most of what they hold, so that each line
// of code and data that the client needs for one has to be fetched again (docs/design/2026-11-28-plain-loads.md).
type plainLoad struct {
	timeout time.Duration
	// known are the latest responses that the loop may handle, by request. An entry is nil if there is none.
	known    []*plainResponse
	requests []plainRequest // in flight, by task
	buffer   *[response.BufferBytes]byte
	outcome  recorder.Outcome
}

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
	// repeats reports whether the loop may handle the response.
	repeats    bool
	generation int32     // of the socket
	fd, number int32     // of the socket and the connection
	secure     *tls.Conn // nil without TLS
	request    *request.Request
	// begin and written are the times at which it began and was written, from the stage's start.
	begin, written time.Duration
	// response is the response that it gets, or nil if the header section hasn't arrived.
	response *plainResponse
	made     int64 // number of requests that the loop has made in place of the task
	received int64 // number of bytes that have arrived of the response

	// firstByte and lastByte are the times at which the first and the last of them did.
	firstByte, lastByte time.Duration
	// err is the error of writing. Then sent is the number of bytes that were written, of what encrypt has returned, and rest are the others.
	err  error
	sent int
	rest []byte
}

// newPlainLoad returns the state of a loop with a number of tasks, or nil if the stage's load isn't plain.
func newPlainLoad(s *Stage, tasks int) *plainLoad {
	l := s.load
	if s.arrivals != nil || l.plan.ThinkTime != nil || len(s.amount.Profile) > 0 ||
		!l.plan.KeepAlive || len(l.plan.Pages) > 0 || l.jars != nil || !l.requests.Fixed() {
		return nil
	}
	return &plainLoad{
		timeout: l.timeout(), known: make([]*plainResponse, len(l.requests.Requests)), requests: make([]plainRequest, tasks),
		buffer: new([response.BufferBytes]byte), outcome: recorder.Outcome{Error: recorder.NoError, Reused: true},
	}
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

// repeat reads what has arrived of the response to a task's request, and sends the next request after its end. It returns false if
// the task must go on instead.
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
	if end-r.begin > p.timeout || !s.claim(end) {
		return false
	}
	next := r.request
	if len(p.known) > 1 {
		next = l.tasks[index].connection.choose()
	}
	text, err := next.Bytes, error(nil)
	if r.secure != nil {
		text, err = l.tasks[index].connection.encrypt(text)
	}
	n := 0
	if err == nil {
		n, err = send(int(r.fd), text)
	}
	written := s.now()

	o := &p.outcome
	o.Named = r.request.Named
	o.Ended, o.Total, o.Processing = end, end-r.begin, end-r.begin
	o.Waiting, o.Receiving = max(0, r.firstByte-r.written), end-r.firstByte
	o.Status, o.Encoding, o.Body, o.Received, o.Sent = r.response.status, r.response.encoding, r.response.body, r.received, int64(len(r.request.Bytes))
	s.recorder.Record(int(r.number), o)

	r.request, r.begin, r.written = next, end, written
	r.response, r.received = nil, 0
	r.made++
	if r.err = err; err != nil {
		r.sent, r.rest = n, text[n:]
	}
	return err == nil
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
			n, err = l.tasks[index].socket.poll(r.secure, p.buffer[:size])
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
		case r.received >= length:
			return r.received == length, false
		case int64(n) < size && r.secure == nil: // otherwise there may be another record
			return false, true
		}
	}
}

// writeAndRepeat writes a request and waits until there is something to read. Meanwhile the loop may go on with the load: then the
// connection's current request is the last one that the loop has made.
func (c *connection) writeAndRepeat(r *request.Request) (sent int, err error) {
	t, s := c.task, &c.task.socket
	p := &t.loop.plain.requests[t.index]
	*p = plainRequest{generation: t.generation, fd: int32(s.fd), number: int32(c.number), request: r, begin: c.begin}
	if secure, ok := c.transport.(*tlsTransport); ok {
		p.secure = secure.Conn
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
	if p.made > 0 {
		c.repeated, c.begin, c.last = p.request, p.begin, p.begin
		c.requests += p.made
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

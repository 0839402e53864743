package driver

import (
	"encoding/binary"
	"math"
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/load/recorder"
)

const (
	// receiveWindow is how much a server may send on a stream, and on a connection,
	// before it is told that it may go on: so much that it never waits, since a
	// body is only counted.
	receiveWindow = 1 << 30
	// initialWindow is what both sides begin with (RFC 9113, section 6.9.2).
	initialWindow = 65535
	// frameBytes is the longest payload of a frame that every server takes, and
	// that is taken from servers (section 6.5.2).
	frameBytes = 16384
	// frameHead is the length of a frame's head (section 4.1).
	frameHead = 9

	// queueBytes is how much may wait to be written before bodies wait as well.
	queueBytes = 64 << 10
	// mostReplies bounds the frames of a server that are to be answered and
	// couldn't be yet.
	mostReplies = 1000
	// remembered is how many given up streams are known of, of which frames may
	// still be under way.
	remembered = 256
)

// lastStream is the last number of a stream, after which a connection is worn out
// (section 5.1.1).
var lastStream uint32 = math.MaxInt32

// The types and flags of frames (RFC 9113, section 6).
const (
	frameData, frameHeaders, framePriority, frameReset, frameSettings = 0, 1, 2, 3, 4
	framePush, framePing, frameGoAway, frameWindow, frameContinuation = 5, 6, 7, 8, 9

	flagEndStream, flagAck, flagEndHeaders, flagPadded, flagPriority = 0x1, 0x1, 0x4, 0x8, 0x20
)

// The settings (section 6.5.2).
const (
	settingTable, settingPush, settingStreams = 1, 2, 3
	settingWindow, settingFrame, settingHead  = 4, 5, 6
)

// errorCode is a reason to end a stream or a connection (section 7).
type errorCode uint32

const (
	codeNone, codeProtocol, codeFlow, codeClosed    errorCode = 0, 1, 3, 5
	codeSize, codeCancel, codeCompression, codeCalm errorCode = 6, 8, 9, 11
	preface                                                   = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
)

// http2Connection is an open HTTP/2 connection. Who makes requests puts them in
// its queue and waits for its stream to end. What is in the queue is written by
// whoever comes first, for all: so requests that are made at the same time leave
// in one write.
type http2Connection struct {
	shared    *shared
	link      *connection
	transport transport
	table     *http2Table
	in        frameReader

	mu      sync.Mutex
	streams map[uint32]*http2Stream
	// next is the number of the next stream.
	next uint32
	// retired is whether no more requests are taken, broken whether nothing more is
	// read or written, answered whether there was a complete response.
	retired, broken, answered bool
	// given are the numbers of streams that were given up last.
	given   [remembered]uint32
	givenAt int

	// queue is what is to be written, spare the memory of one that was. marks are
	// the streams with something in the queue, leaving those with something in what
	// is being written; nil for those that have ended meanwhile.
	queue, spare           []byte
	marks, leaving         []*http2Stream
	writing                bool
	replies                int
	blocked                []*http2Stream
	sendWindow, peerWindow int64
	receiveWindow          int64
	fields                 fieldEncoder
	// extraSent and extraReceived are bytes that belong to no stream. The next
	// response to end has them.
	extraSent, extraReceived int64
	writeDeadline            time.Duration

	// timer watches over the timeouts of requests while watched.
	timer   *time.Timer
	watched bool
	// heard is when the server last sent anything.
	heard time.Duration
}

// newHTTP2Connection begins HTTP/2 on an open transport.
func newHTTP2Connection(s *shared, link *connection) *http2Connection {
	h := &http2Connection{
		shared: s, link: link, transport: link.transport, table: s.stage.load.table,
		streams: map[uint32]*http2Stream{}, next: 1,
		sendWindow: initialWindow, peerWindow: initialWindow, receiveWindow: receiveWindow,
	}
	h.fields.init(h.table)
	h.in.init(link.reader.space())
	h.timer = time.AfterFunc(math.MaxInt64, h.expire)
	h.timer.Stop()
	h.queue = append(h.queue, preface...)
	h.queue = appendFrameHead(h.queue, 3*6, frameSettings, 0, 0)
	h.queue = appendSetting(h.queue, settingPush, 0)
	h.queue = appendSetting(h.queue, settingWindow, receiveWindow)
	h.queue = appendSetting(h.queue, settingHead, mostHeadBytes)
	h.queue = appendFrameHead(h.queue, 4, frameWindow, 0, 0)
	h.queue = binary.BigEndian.AppendUint32(h.queue, receiveWindow-initialWindow)
	h.extraSent = int64(len(h.queue))
	return h
}

// start opens a stream and puts its request's head in the queue, with extra
// fields; false when the connection takes no more.
func (h *http2Connection) start(st *http2Stream, extra []byte, o *recorder.Outcome) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.retired || h.broken {
		return false
	}
	o.Reused = o.Reused || !o.Opened
	st.id, st.sendWindow = h.next, h.peerWindow
	h.streams[st.id] = st
	if h.next += 2; h.next > lastStream {
		h.retire()
	}
	begin := len(h.queue)
	flags := byte(flagEndHeaders)
	if len(st.request.text()) == 0 {
		flags |= flagEndStream
	}
	h.queue = appendFrameHead(h.queue, 0, frameHeaders, flags, st.id)
	h.queue = h.fields.append(h.queue, st.request, extra)
	h.queue = splitHead(h.queue, begin)
	st.sent = int64(len(h.queue) - begin)
	h.marks = append(h.marks, st)
	if !h.watched {
		h.watched = true
		h.timer.Reset(h.until(st.began))
	}
	return true
}

// splitHead sets the length of the frame with a header section that begins at
// begin and ends the bytes, and makes it several where it is too long for one.
// send sends what is in the queue, and the body of a stream's request as the
// server lets it.
// queueBody puts as much of a body in the queue as there is room for; 0 when its
// stream has ended.
// await waits until the stream has ended.
func (h *http2Connection) await(st *http2Stream) {
	for {
		// It may have ended while its body was being sent.
		h.mu.Lock()
		ended := st.ended
		h.mu.Unlock()
		if ended {
			return
		}
		<-st.wake
	}
}

// unblock wakes who waits to send a body. The lock must be held.
// flush writes the queue, unless somebody does so already.
// flushLater has the queue written without waiting for it. The lock must be held.
// write writes what is in the queue.
// expire gives up the requests whose time is over.
func (h *http2Connection) expire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	now, timeout := h.shared.stage.now(), h.timeout()
	earliest := time.Duration(math.MaxInt64)
	for _, st := range h.streams {
		if now-st.began <= timeout {
			earliest = min(earliest, st.began)
			continue
		}
		if h.heard <= st.began {
			h.retire() // whoever is at the other end, there may be a better one
		}
		h.giveUp(st, codeCancel, result.ErrorTimeout)
	}
	if h.watched = earliest < math.MaxInt64 && !h.broken; h.watched {
		h.timer.Reset(h.until(earliest))
	}
	h.flushLater()
}

func (h *http2Connection) timeout() time.Duration { return h.shared.stage.load.timeout() }

// slack is by how much later than its timeout a request may be given up. A
// response that is complete only in that time is late all the same.
func (h *http2Connection) slack() time.Duration {
	return min(h.timeout()/20, 50*time.Millisecond)
}

// until is how long it is until requests that began at begin are given up.
func (h *http2Connection) until(begin time.Duration) time.Duration {
	return begin + h.timeout() + h.slack() - h.shared.stage.now()
}

// giveUp ends a stream before its response has. The lock must be held.
func (h *http2Connection) giveUp(st *http2Stream, code errorCode, fault result.ErrorKind) {
	id := st.id
	h.close(st, fault)
	if !h.broken {
		h.reset(id, code)
	}
}

// reset tells the server that a stream is given up. The lock must be held.
func (h *http2Connection) reset(id uint32, code errorCode) {
	h.given[h.givenAt] = id
	h.givenAt = (h.givenAt + 1) % remembered
	h.reply(frameReset, 0, id, uint32(code))
}

// reply puts a frame of numbers in the queue. The lock must be held.
// close ends a stream. The lock must be held.
func (h *http2Connection) close(st *http2Stream, fault result.ErrorKind) {
	delete(h.streams, st.id)
	for _, marks := range [][]*http2Stream{h.marks, h.leaving} {
		for i := range marks {
			if marks[i] == st {
				marks[i] = nil // it is about to be another request's
			}
		}
	}
	st.response.fault = fault
	if fault == recorder.NoError {
		h.answered = true
	}
	st.sent += h.extraSent
	st.received += h.extraReceived
	h.extraSent, h.extraReceived = 0, 0
	st.ended = true
	st.rouse()
	if h.retired && len(h.streams) == 0 && !h.broken {
		h.breakUp()
	}
}

// retire has the connection take no more requests. The lock must be held.
func (h *http2Connection) retire() {
	if h.retired {
		return
	}
	h.retired = true
	h.shared.retire(h)
	if len(h.streams) == 0 && !h.broken {
		h.breakUp()
	}
}

// fail ends the connection, and with it all streams. The lock must be held.
func (h *http2Connection) fail(fault result.ErrorKind) {
	if !h.broken {
		_ = h.transport.SetLinger(0) // neither side keeps its ports
		h.breakUp()
	}
	for _, st := range h.streams {
		h.close(st, fault)
	}
}

// breakUp closes the transport, which ends the reader. The lock must be held.
func (h *http2Connection) breakUp() {
	h.broken, h.retired = true, true
	h.timer.Stop()
	h.unblock()
	_ = h.transport.Close() // what there was to say has been said
	h.shared.ended(h, h.answered)
}

// end ends the connection in good order, when no stream is open.
func (h *http2Connection) end() {
	h.mu.Lock()
	if !h.broken {
		h.reply(frameGoAway, 0, 0, 0, uint32(codeNone))
	}
	h.mu.Unlock()
	h.flush()
	if s, ok := h.transport.(*secured); ok {
		_ = s.CloseWrite() // the server may be gone as well
	}
	h.mu.Lock()
	if !h.broken {
		h.breakUp()
	}
	h.mu.Unlock()
}

// faultOf is the kind of error of a connection that broke. In TLS 1.3 a server
// that refuses the client's certificate says so when the client's handshake is
// over.
func (h *http2Connection) faultOf(err error) result.ErrorKind {
	fault := faultOf(err)
	if fault == result.ErrorTLS && h.answered {
		return result.ErrorReceive
	}
	return fault
}

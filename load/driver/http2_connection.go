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
	// receiveWindow is the flow-control window announced for each stream and for the
	// connection. It is so large that a server never waits, because bodies are only counted.
	receiveWindow = 1 << 30
	// initialWindow is the initial flow-control window of both sides (RFC 9113, section 6.9.2).
	initialWindow = 65535
	// frameBytes is the initial maximum payload of a frame in both directions (section 6.5.2).
	frameBytes = 16384
	// frameHeaderBytes is the length of a frame header (section 4.1).
	frameHeaderBytes = 9

	// queueBytes is the queue length from which bodies wait until it has been written.
	queueBytes = 64 << 10
	// maxReplies limits the replies to the server's frames that wait to be written.
	maxReplies = 1000
	// maxCanceled is the number of canceled streams to remember, because frames for them can
	// still arrive.
	maxCanceled = 256
)

// lastStream is the highest stream number. A connection takes no more requests once it is
// used (section 5.1.1).
var lastStream uint32 = math.MaxInt32

// The types and flags of frames (RFC 9113, section 6).
const (
	frameData, frameHeaders, framePriority, frameRSTStream, frameSettings          = 0, 1, 2, 3, 4
	framePushPromise, framePing, frameGoAway, frameWindowUpdate, frameContinuation = 5, 6, 7, 8, 9

	flagEndStream, flagAck, flagEndHeaders, flagPadded, flagPriority = 0x1, 0x1, 0x4, 0x8, 0x20
)

// The settings (section 6.5.2).
const (
	settingHeaderTableSize, settingEnablePush, settingMaxStreams = 1, 2, 3
	settingInitialWindow, settingMaxFrame, settingMaxHeaderList  = 4, 5, 6
)

// errorCode is a reason to close a stream or a connection (section 7).
type errorCode uint32

const (
	codeNoError, codeProtocolError, codeFlowControl, codeStreamClosed errorCode = 0, 1, 3, 5
	codeFrameSize, codeCancel, codeCompression, codeEnhanceYourCalm   errorCode = 6, 8, 9, 11
	preface                                                                     = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
)

// http2Connection is an open HTTP/2 connection. A stream appends its request to the queue
// and waits for the response. The first goroutine to flush writes the queue for all, so
// that requests made at the same time leave in one write.
type http2Connection struct {
	shared    *sharedConnection
	link      *connection
	transport transport
	table     *http2Table
	in        frameReader

	mu      sync.Mutex // guards the fields below
	streams map[uint32]*http2Stream
	// next is the number of the next stream.
	next uint32
	// retired reports whether new requests are refused, broken whether the transport is
	// closed, and answered whether there was a complete response.
	retired, broken, answered bool
	// canceled is a ring buffer with the numbers of the latest canceled streams.
	// canceledNext is the index to overwrite next.
	canceled     [maxCanceled]uint32
	canceledNext int

	// queue holds the bytes to write. spare is the buffer of the previous write, for reuse.
	// queuedStreams are the streams with bytes in the queue and writingStreams those with
	// bytes in the current write. An entry is nil if its stream has ended since.
	queue, spare                  []byte
	queuedStreams, writingStreams []*http2Stream
	writing                       bool
	replies                       int
	blocked                       []*http2Stream
	sendWindow, peerWindow        int64
	receiveWindow                 int64
	fields                        fieldEncoder
	// extraSent and extraReceived count bytes that belong to no stream. They are added to
	// the next stream that ends.
	extraSent, extraReceived int64
	writeDeadline            time.Duration

	// timer fires when the oldest request times out. It runs while watched is true.
	timer   *time.Timer
	watched bool
	// lastReceived is the time of the latest read, from the stage's start.
	lastReceived time.Duration
}

// newHTTP2Connection starts HTTP/2 on an open transport: it queues the preface, the
// settings and a window update.
func newHTTP2Connection(s *sharedConnection, link *connection) *http2Connection {
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
	h.queue = appendFrameHeader(h.queue, 3*6, frameSettings, 0, 0)
	h.queue = appendSetting(h.queue, settingEnablePush, 0)
	h.queue = appendSetting(h.queue, settingInitialWindow, receiveWindow)
	h.queue = appendSetting(h.queue, settingMaxHeaderList, maxHeadBytes)
	h.queue = appendFrameHeader(h.queue, 4, frameWindowUpdate, 0, 0)
	h.queue = binary.BigEndian.AppendUint32(h.queue, receiveWindow-initialWindow)
	h.extraSent = int64(len(h.queue))
	return h
}

// start opens a stream and queues its request's header section with the extra fields. It
// returns false if the connection takes no more requests.
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
	h.queue = appendFrameHeader(h.queue, 0, frameHeaders, flags, st.id)
	h.queue = h.fields.append(h.queue, st.request, extra)
	h.queue = splitHeaders(h.queue, begin)
	st.sent = int64(len(h.queue) - begin)
	h.queuedStreams = append(h.queuedStreams, st)
	if !h.watched {
		h.watched = true
		h.timer.Reset(h.until(st.began))
	}
	return true
}

// await waits until the stream has ended.
func (h *http2Connection) await(st *http2Stream) {
	for {
		// It may have ended while its body was sent.
		h.mu.Lock()
		ended := st.ended
		h.mu.Unlock()
		if ended {
			return
		}
		<-st.wake
	}
}

// expire cancels the requests that have timed out.
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
		if h.lastReceived <= st.began {
			h.retire() // nothing received since: a new connection may reach a server that responds
		}
		h.cancel(st, codeCancel, result.ErrorTimeout)
	}
	if h.watched = earliest < math.MaxInt64 && !h.broken; h.watched {
		h.timer.Reset(h.until(earliest))
	}
	h.flushLater()
}

func (h *http2Connection) timeout() time.Duration { return h.shared.stage.load.timeout() }

// slack returns the time beyond its timeout at which a request is canceled. A response
// that completes within the slack still counts as timed out.
func (h *http2Connection) slack() time.Duration {
	return min(h.timeout()/20, 50*time.Millisecond)
}

// until returns the time left until a request that began at begin is canceled.
func (h *http2Connection) until(begin time.Duration) time.Duration {
	return begin + h.timeout() + h.slack() - h.shared.stage.now()
}

// cancel ends a stream whose response is incomplete and resets it. h.mu must be held.
func (h *http2Connection) cancel(st *http2Stream, code errorCode, fault result.ErrorKind) {
	id := st.id
	h.close(st, fault)
	if !h.broken {
		h.reset(id, code)
	}
}

// reset queues a RST_STREAM frame for the stream. h.mu must be held.
func (h *http2Connection) reset(id uint32, code errorCode) {
	h.canceled[h.canceledNext] = id
	h.canceledNext = (h.canceledNext + 1) % maxCanceled
	h.reply(frameRSTStream, 0, id, uint32(code))
}

// close ends a stream. h.mu must be held.
func (h *http2Connection) close(st *http2Stream, fault result.ErrorKind) {
	delete(h.streams, st.id)
	for _, streams := range [][]*http2Stream{h.queuedStreams, h.writingStreams} {
		for i := range streams {
			if streams[i] == st {
				streams[i] = nil // the stream is about to be reused for another request
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
	st.notify()
	if h.retired && len(h.streams) == 0 && !h.broken {
		h.closeTransport()
	}
}

// retire makes the connection refuse new requests. It closes the transport if no stream
// is open. h.mu must be held.
func (h *http2Connection) retire() {
	if h.retired {
		return
	}
	h.retired = true
	h.shared.retire(h)
	if len(h.streams) == 0 && !h.broken {
		h.closeTransport()
	}
}

// fail closes the connection and ends all of its streams with fault. h.mu must be held.
func (h *http2Connection) fail(fault result.ErrorKind) {
	if !h.broken {
		_ = h.transport.SetLinger(0) // resets the connection, so that neither side keeps its port
		h.closeTransport()
	}
	for _, st := range h.streams {
		h.close(st, fault)
	}
}

// closeTransport closes the transport, which ends the reader. h.mu must be held.
func (h *http2Connection) closeTransport() {
	h.broken, h.retired = true, true
	h.timer.Stop()
	h.unblock()
	_ = h.transport.Close() // whatever had to be written has been
	h.shared.ended(h, h.answered)
}

// end closes the connection gracefully when no stream is open: with GOAWAY and, over TLS,
// close_notify.
func (h *http2Connection) end() {
	h.mu.Lock()
	if !h.broken {
		h.reply(frameGoAway, 0, 0, 0, uint32(codeNoError))
	}
	h.mu.Unlock()
	h.flush()
	if s, ok := h.transport.(*tlsTransport); ok {
		_ = s.CloseWrite() // the server may have closed its side already
	}
	h.mu.Lock()
	if !h.broken {
		h.closeTransport()
	}
	h.mu.Unlock()
}

// faultOf returns the kind of error of a broken connection.
func (h *http2Connection) faultOf(err error) result.ErrorKind {
	return faultAfterHandshake(faultOf(err), !h.answered)
}

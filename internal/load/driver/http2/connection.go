// Package http2 makes requests on the streams of HTTP/2 connections (RFC 9113, and RFC 7541 for header sections). It neither opens
// connections nor decides when requests are made.
package http2

import (
	"encoding/binary"
	"math"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/load/driver/fault"
	"github.com/assay-dev/assay/internal/load/driver/request"
	"github.com/assay-dev/assay/internal/load/driver/response"
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

	// goAwayWait limits the writing of a last frame to a server that broke the protocol.
	goAwayWait = 20 * time.Millisecond

	// queueBytes is the queue length from which bodies wait until it has been written.
	queueBytes = 64 << 10
	// maxReplies limits the replies to the server's frames that wait to be written.
	maxReplies = 1000
)

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
	codeNoError, codeProtocolError, codeFlowControl, codeRefused    errorCode = 0, 1, 3, 7
	codeFrameSize, codeCancel, codeCompression, codeEnhanceYourCalm errorCode = 6, 8, 9, 11
	preface                                                                   = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
)

// Config holds what a connection needs.
type Config struct {
	// Transport is the open connection. CloseNotify announces its end, as TLS does; it is nil without TLS.
	Transport   Transport
	CloseNotify func() error
	Table       *Table
	// Buffer is what the transport is read into. It must hold the longest frame.
	Buffer []byte
	// Start is the time that all times count from, Timeout the time that a request may take, and Slack the time beyond that at
	// which it is canceled.
	Start          time.Time
	Timeout, Slack time.Duration
	// Streams is the number of streams that are used at the same time.
	Streams int
	// LastStream is the highest stream number. A connection takes no more requests once it is used (section 5.1.1). It is 0 for the
	// highest that there is.
	LastStream uint32
	// Go runs a function in a goroutine.
	Go func(func())
	// Retired is called when the connection takes no more requests, Closed when it has closed the transport. answered reports
	// whether there was a complete response. Both may be called during any call of a method.
	Retired func()
	Closed  func(answered bool)
}

// Transport is a connection that frames are written to and read from.
type Transport interface {
	net.Conn
	// SetLinger is like the method of net.TCPConn.
	SetLinger(seconds int) error
}

// Connection is an open HTTP/2 connection. A stream appends its request to the queue
// and waits for the response. The first goroutine to flush writes the queue for all, so
// that requests made at the same time leave in one write.
type Connection struct {
	Config
	in frameReader

	mu      sync.Mutex // guards the fields below
	streams map[uint32]*Stream
	// next is the number of the next stream.
	next uint32
	// retired reports whether new requests are refused, broken whether the transport is
	// closed, and answered whether there was a complete response.
	retired, broken, answered bool
	// goAway is the fault of requests that the server's GOAWAY frame with an error leaves unanswered, or nil without one.
	goAway *fault.Fault
	// maxStreams is the number of concurrent streams that the server allows. waiting are the streams that wait to be opened because of
	// it, the first one first.
	maxStreams int64
	waiting    []*Stream
	// settled reports whether the server's first settings have arrived. Streams below lowered were opened before it allowed fewer than
	// were open.
	settled bool
	lowered uint32

	// queue holds the bytes to write. spare is the buffer of the previous write, for reuse.
	// queuedStreams are the streams with bytes in the queue and writingStreams those with
	// bytes in the current write. An entry is nil if its stream has ended since.
	queue, spare                  []byte
	queuedStreams, writingStreams []*Stream
	writing                       bool
	replies                       int
	blocked                       []*Stream
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

// New starts HTTP/2 on an open transport: it queues the preface, the settings and a window update. The caller must run
// serve in a goroutine.
func New(c Config) *Connection {
	h := &Connection{
		Config: c, streams: map[uint32]*Stream{}, next: 1,
		sendWindow: initialWindow, peerWindow: initialWindow, receiveWindow: receiveWindow, maxStreams: math.MaxInt64,
	}
	if h.LastStream == 0 {
		h.LastStream = math.MaxInt32
	}
	h.fields.init(h.Table)
	h.in.init(h.Buffer)
	h.timer = time.AfterFunc(math.MaxInt64, h.expire)
	h.timer.Stop()
	h.queue = append(h.queue, preface...)
	h.queue = appendFrameHeader(h.queue, 3*6, frameSettings, 0, 0)
	h.queue = appendSetting(h.queue, settingEnablePush, 0)
	h.queue = appendSetting(h.queue, settingInitialWindow, receiveWindow)
	h.queue = appendSetting(h.queue, settingMaxHeaderList, response.MaxHeadBytes)
	h.queue = appendFrameHeader(h.queue, 4, frameWindowUpdate, 0, 0)
	h.queue = binary.BigEndian.AppendUint32(h.queue, receiveWindow-initialWindow)
	h.extraSent = int64(len(h.queue))
	return h
}

// now returns the time since the start.
func (h *Connection) now() time.Duration { return time.Since(h.Start) }

// RoundTrip makes a request on a stream, which began at begin, and waits for the end of the response. extra holds header lines that
// the request has only this time. Fields of the response are kept in fields unless it is nil. RoundTrip returns false if the
// connection takes no more requests.
func (h *Connection) RoundTrip(st *Stream, r *request.Request, begin time.Duration, extra []byte, fields *response.Fields) bool {
	st.begin(r, begin, fields)
	for {
		if !h.start(st, extra) {
			return false
		}
		if st.id != 0 { // otherwise it has timed out before it was opened
			h.send(st, r)
			h.await(st)
		}
		if !st.refused {
			return true
		}
		sent, received := st.Sent, st.Received
		st.begin(r, begin, fields)
		st.Sent, st.Received = sent, received
	}
}

// start opens a stream and queues its request's header section with the extra fields, as soon as the server allows another stream. It
// returns false if the connection takes no more requests.
func (h *Connection) start(st *Stream, extra []byte) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.retired || h.broken {
		return false
	}
	if int64(len(h.streams)) < h.maxStreams && len(h.waiting) == 0 {
		h.open(st, extra)
		return true
	}
	st.extra = extra
	h.waiting = append(h.waiting, st)
	h.watch(st)
	for st.id == 0 && !st.ended {
		if h.retired || h.broken {
			h.waiting = slices.DeleteFunc(h.waiting, func(other *Stream) bool { return other == st })
			return false
		}
		h.mu.Unlock()
		<-st.wake
		h.mu.Lock()
	}
	return true
}

// admit opens streams that wait, as many as the server allows. h.mu must be held.
func (h *Connection) admit() {
	for len(h.waiting) > 0 && int64(len(h.streams)) < h.maxStreams && !h.retired && !h.broken {
		st := h.waiting[0]
		h.waiting = slices.Delete(h.waiting, 0, 1)
		h.open(st, st.extra)
		st.notify() // its goroutine writes the queue
	}
}

// notifyWaiting wakes the goroutines of the streams that wait to be opened, so that they go on with another connection. h.mu must be held.
func (h *Connection) notifyWaiting() {
	for _, st := range h.waiting {
		st.notify()
	}
}

// open opens a stream. h.mu must be held.
func (h *Connection) open(st *Stream, extra []byte) {
	st.id, st.sendWindow = h.next, h.peerWindow
	h.streams[st.id] = st
	if h.next += 2; h.next > h.LastStream {
		h.retire()
	}
	begin := len(h.queue)
	flags := byte(flagEndHeaders)
	if len(st.request.Body()) == 0 {
		flags |= flagEndStream
	}
	h.queue = appendFrameHeader(h.queue, 0, frameHeaders, flags, st.id)
	h.queue = h.fields.append(h.queue, st.request, extra)
	h.queue = splitHeaders(h.queue, begin)
	st.Sent += int64(len(h.queue) - begin)
	h.queuedStreams = append(h.queuedStreams, st)
	h.watch(st)
}

// watch makes the timer fire when a stream's request times out, or an earlier one. h.mu must be held.
func (h *Connection) watch(st *Stream) {
	if !h.watched {
		h.watched = true
		h.timer.Reset(h.until(st.began))
	}
}

// await waits until the stream has ended.
func (h *Connection) await(st *Stream) {
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
func (h *Connection) expire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	now, timeout := h.now(), h.Timeout
	earliest := time.Duration(math.MaxInt64)
	for _, st := range h.streams {
		if now-st.began <= timeout {
			earliest = min(earliest, st.began)
			continue
		}
		if h.lastReceived <= st.began {
			h.retire() // nothing received since: a new connection may reach a server that responds
		}
		h.cancel(st, codeCancel, errTimeout)
	}
	h.waiting = slices.DeleteFunc(h.waiting, func(st *Stream) bool {
		if now-st.began <= timeout {
			earliest = min(earliest, st.began)
			return false
		}
		st.Response.Fault, st.ended = errNoStream, true
		st.notify()
		return true
	})
	if h.watched = earliest < math.MaxInt64 && !h.broken; h.watched {
		h.timer.Reset(h.until(earliest))
	}
	h.flushLater()
}

// until returns the time left until a request that began at begin is canceled.
func (h *Connection) until(begin time.Duration) time.Duration {
	return begin + h.Timeout + h.Slack - h.now()
}

// cancel ends a stream whose response is incomplete and resets it. h.mu must be held.
func (h *Connection) cancel(st *Stream, code errorCode, f *fault.Fault) {
	id := st.id
	h.close(st, f)
	if !h.broken {
		h.reset(id, code)
	}
}

// reset queues a RST_STREAM frame for the stream. h.mu must be held.
func (h *Connection) reset(id uint32, code errorCode) {
	h.reply(frameRSTStream, 0, id, uint32(code))
}

// close ends a stream. h.mu must be held.
func (h *Connection) close(st *Stream, f *fault.Fault) {
	delete(h.streams, st.id)
	for _, streams := range [][]*Stream{h.queuedStreams, h.writingStreams} {
		for i := range streams {
			if streams[i] == st {
				streams[i] = nil // the stream is about to be reused for another request
			}
		}
	}
	st.Response.Fault = f
	if f == nil {
		h.answered = true
	}
	st.Sent += h.extraSent
	st.Received += h.extraReceived
	h.extraSent, h.extraReceived = 0, 0
	st.ended = true
	st.notify()
	if len(h.waiting) > 0 {
		h.admit()
	}
	if h.retired && len(h.streams) == 0 && !h.broken {
		h.closeTransport()
	}
}

// retire makes the connection refuse new requests. It closes the transport if no stream
// is open. h.mu must be held.
func (h *Connection) retire() {
	if h.retired {
		return
	}
	h.retired = true
	h.Retired()
	h.notifyWaiting()
	if len(h.streams) == 0 && !h.broken {
		h.closeTransport()
	}
}

// fail closes the connection and ends all of its streams with f. h.mu must be held.
func (h *Connection) fail(f *fault.Fault) {
	if !h.broken {
		_ = h.Transport.SetLinger(0) // resets the connection, so that neither side keeps its port
		h.closeTransport()
	}
	for _, st := range h.streams {
		h.close(st, f)
	}
}

// closeTransport closes the transport, which ends the reader. h.mu must be held.
func (h *Connection) closeTransport() {
	h.broken, h.retired = true, true
	h.timer.Stop()
	h.unblock()
	h.notifyWaiting()
	_ = h.Transport.Close() // whatever had to be written has been
	h.Closed(h.answered)
}

// End closes the connection gracefully when no stream is open: with GOAWAY and, over TLS,
// close_notify.
func (h *Connection) End() {
	h.mu.Lock()
	if !h.broken {
		h.reply(frameGoAway, 0, 0, 0, uint32(codeNoError))
	}
	h.mu.Unlock()
	h.flush()
	if h.CloseNotify != nil {
		_ = h.CloseNotify() // the server may have closed its side already
	}
	h.mu.Lock()
	if !h.broken {
		h.closeTransport()
	}
	h.mu.Unlock()
}

// faultOf returns the fault of a broken connection. If the server announced the end with an error, that is why it broke.
func (h *Connection) faultOf(err error) *fault.Fault {
	if h.goAway != nil {
		return h.goAway
	}
	return fault.AfterHandshake(fault.Broken(err), !h.answered)
}

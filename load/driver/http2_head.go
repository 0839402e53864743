package driver

import (
	"golang.org/x/net/http2/hpack"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/load/recorder"
)

// mostHeadBytes bounds a header section as RFC 9113 counts it, decompressed (section
// 6.5.2, SETTINGS_MAX_HEADER_LIST_SIZE).
const mostHeadBytes = 64 << 10

// http2Head is what a header section says.
type http2Head struct {
	// status is the response's; 0 for none.
	status int
	length int64 // the Content-Length; -1 without
}

// headDecoder reads header sections (RFC 7541; RFC 9113, section 8.2).
type headDecoder struct {
	decoder *hpack.Decoder
	// Of the current one: what it says, what is noted of it, its size, whether a
	// field has come that is no pseudo-field, and whether it can't stand.
	head    http2Head
	noted   *noted
	size    uint32
	regular bool
	wrong   bool
}

func (d *headDecoder) init() {
	d.decoder = hpack.NewDecoder(tableBytes, d.field)
	d.decoder.SetMaxStringLength(blockBytes)
}

// decode reads a header section. wrong is whether it can't stand, err whether
// the sections after it can't be read either.
func (d *headDecoder) decode(block []byte, n *noted) (head http2Head, wrong bool, err error) {
	d.head, d.noted, d.size, d.regular, d.wrong = http2Head{length: -1}, n, 0, false, false
	if _, err := d.decoder.Write(block); err != nil {
		return http2Head{}, false, err
	}
	if err := d.decoder.Close(); err != nil {
		return http2Head{}, false, err
	}
	return d.head, d.wrong, nil
}

// field takes in a field.
func (d *headDecoder) field(f hpack.HeaderField) {
	if d.size += f.Size(); d.size > mostHeadBytes {
		d.wrong = true
	}
	if d.wrong {
		return
	}
	if f.Name == ":status" {
		if d.regular || d.head.status != 0 || !d.takeStatus(f.Value) {
			d.wrong = true
		}
		return
	}
	d.regular = true
	switch f.Name {
	case "content-length":
		length, ok := parseLength([]byte(f.Value))
		if !ok || d.head.length >= 0 && d.head.length != length {
			d.wrong = true
		}
		d.head.length = length
	case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
		d.wrong = true // they are HTTP/1.1's (section 8.2.2)
	default:
		if !isFieldName(f.Name) || !isText([]byte(f.Value)) {
			d.wrong = true
			return
		}
		if d.noted != nil {
			d.noted.note([]byte(f.Name), []byte(f.Value))
		}
	}
}

func (d *headDecoder) takeStatus(value string) bool {
	if len(value) != 3 {
		return false
	}
	for _, digit := range []byte(value) {
		if digit < '0' || digit > '9' {
			return false
		}
		d.head.status = 10*d.head.status + int(digit-'0')
	}
	return d.head.status >= 100
}

// isFieldName is whether a field may have the name in HTTP/2: no capitals.
func isFieldName(name string) bool {
	for i := range len(name) {
		if c := name[i]; !tokenBytes[c] || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return name != ""
}

// takeHeaders takes in the beginning of a header section (section 6.2).
func (h *http2Connection) takeHeaders(next frame, payload []byte) errorCode {
	f := &h.in
	f.size = int64(frameHead + next.length)
	if next.has(flagPadded) {
		if len(payload) == 0 || int(payload[0]) >= len(payload) {
			return codeProtocol
		}
		payload = payload[1 : len(payload)-int(payload[0])]
	}
	if next.has(flagPriority) {
		if len(payload) < 5 {
			return codeProtocol
		}
		payload = payload[5:]
	}
	if st := h.streams[next.stream]; st != nil && st.received == 0 {
		st.firstByte = h.heard
	}
	f.blockEnds, f.continuations = next.has(flagEndStream), 0
	if next.has(flagEndHeaders) {
		return h.takeSection(next.stream, payload)
	}
	f.open = next.stream
	f.block = append(f.block[:0], payload...)
	return codeNone
}

// takeContinuation takes in more of a header section (section 6.10).
func (h *http2Connection) takeContinuation(next frame, payload []byte) errorCode {
	f := &h.in
	f.size += int64(frameHead + next.length)
	f.block = append(f.block, payload...)
	if f.continuations++; len(f.block) > blockBytes || f.continuations > mostContinuations {
		return codeCalm
	}
	if !next.has(flagEndHeaders) {
		return codeNone
	}
	f.open = 0
	return h.takeSection(next.stream, f.block)
}

// takeSection takes in a header section.
func (h *http2Connection) takeSection(id uint32, block []byte) errorCode {
	st, ok := h.find(id)
	if !ok {
		return codeClosed
	}
	var n *noted
	if st != nil && !st.headed {
		n = st.noted
	}
	head, wrong, err := h.in.head.decode(block, n)
	if err != nil {
		return codeCompression
	}
	if st == nil {
		h.extraReceived += h.in.size
		return codeNone
	}
	st.received += h.in.size
	fault := result.ErrorException
	if !wrong {
		fault = st.takeHead(&head, h.in.blockEnds)
	}
	switch {
	case fault != recorder.NoError:
		h.giveUp(st, codeProtocol, fault)
	case h.in.blockEnds:
		h.complete(st)
	}
	return codeNone
}

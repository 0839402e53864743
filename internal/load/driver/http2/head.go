package http2

import (
	"golang.org/x/net/http2/hpack"

	"github.com/assay-dev/assay/internal/load/driver/fault"
	"github.com/assay-dev/assay/internal/load/driver/response"
	"github.com/assay-dev/assay/internal/result"
)

// responseHead is the part of a header section that the reader needs.
type responseHead struct {
	// status is the status code, or 0 if there is none.
	status   int
	length   int64 // Content-Length, or -1 if there is none
	encoding result.Encoding
}

// headDecoder decodes header sections (RFC 7541; RFC 9113, section 8.2).
type headDecoder struct {
	decoder *hpack.Decoder
	last    repeatedHead
	// The fields below belong to the current section. regular reports whether a regular
	// field has been decoded, after which no pseudo-header field may come. wrong says why the section is malformed, nil if it
	// isn't.
	head    responseHead
	fields  *response.Fields
	size    uint32
	regular bool
	wrong   *fault.Fault
}

func (d *headDecoder) init() {
	d.decoder = hpack.NewDecoder(tableBytes, d.field)
	d.decoder.SetMaxStringLength(maxBlockBytes)
}

// decode decodes a header section and keeps fields in n unless it is nil. wrong says why it is malformed, nil if it isn't. An error means that later sections can't be decoded either.
func (d *headDecoder) decode(block []byte, n *response.Fields) (head responseHead, wrong *fault.Fault, err error) {
	if n == nil && d.last.repeats(block) {
		return d.last.head, d.last.wrong, nil
	}
	if err := d.catchUp(); err != nil {
		return responseHead{}, nil, err
	}
	if err := d.decodeFields(block, n); err != nil {
		return responseHead{}, nil, err
	}
	d.last.set(block, d.head, d.wrong)
	return d.head, d.wrong, nil
}

// catchUp tells the decoder the repetitions of the last section.
func (d *headDecoder) catchUp() error {
	for ; d.last.pending > 0; d.last.pending-- {
		if err := d.decodeFields(d.last.block, nil); err != nil {
			return err
		}
	}
	return nil
}

func (d *headDecoder) decodeFields(block []byte, n *response.Fields) error {
	d.head, d.fields, d.size, d.regular, d.wrong = responseHead{length: -1}, n, 0, false, nil
	if _, err := d.decoder.Write(block); err != nil {
		return err
	}
	return d.decoder.Close()
}

// field handles one decoded field.
func (d *headDecoder) field(f hpack.HeaderField) {
	if d.size += f.Size(); d.size > response.MaxHeadBytes {
		d.wrong = errLongHead
	}
	if d.wrong != nil {
		return
	}
	if f.Name == ":status" {
		if d.regular || d.head.status != 0 || !d.setStatus(f.Value) {
			d.wrong = errStatus
		}
		return
	}
	d.regular = true
	switch f.Name {
	case "content-length":
		length, ok := response.ParseLength([]byte(f.Value))
		if !ok || d.head.length >= 0 && d.head.length != length {
			d.wrong = errLength
		}
		d.head.length = length
	case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
		d.wrong = errConnectionField // connection-specific fields are malformed (section 8.2.2)
	case "content-encoding":
		d.head.encoding = response.AddEncoding(d.head.encoding, []byte(f.Value))
		fallthrough
	default:
		if !isFieldName(f.Name) || !response.IsText([]byte(f.Value)) {
			d.wrong = errField.With("%.40q", f.Name)
			return
		}
		if d.fields != nil {
			d.fields.Keep([]byte(f.Name), []byte(f.Value))
		}
	}
}

func (d *headDecoder) setStatus(value string) bool {
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

// isFieldName reports whether name is a valid field name in HTTP/2, which has no uppercase letters.
func isFieldName(name string) bool {
	for i := range len(name) {
		if c := name[i]; !response.TokenBytes[c] || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return name != ""
}

// handleHeaders handles a HEADERS frame (section 6.2).
func (h *Connection) handleHeaders(next frame, payload []byte) errorCode {
	f := &h.in
	f.size = int64(frameHeaderBytes + next.length)
	if next.has(flagPadded) {
		if len(payload) == 0 || int(payload[0]) >= len(payload) {
			return codeProtocolError
		}
		payload = payload[1 : len(payload)-int(payload[0])]
	}
	if next.has(flagPriority) {
		if len(payload) < 5 {
			return codeProtocolError
		}
		payload = payload[5:]
	}
	if st := h.streams[next.stream]; st != nil && st.Received == 0 {
		st.FirstByte = h.lastReceived
	}
	f.endStream, f.continuations = next.has(flagEndStream), 0
	if next.has(flagEndHeaders) {
		return h.handleFieldSection(next.stream, payload)
	}
	f.continued = next.stream
	f.block = append(f.block[:0], payload...)
	return codeNoError
}

// handleContinuation handles a CONTINUATION frame (section 6.10).
func (h *Connection) handleContinuation(next frame, payload []byte) errorCode {
	f := &h.in
	f.size += int64(frameHeaderBytes + next.length)
	f.block = append(f.block, payload...)
	if f.continuations++; len(f.block) > maxBlockBytes || f.continuations > maxContinuations {
		return codeEnhanceYourCalm
	}
	if !next.has(flagEndHeaders) {
		return codeNoError
	}
	f.continued = 0
	return h.handleFieldSection(next.stream, f.block)
}

// handleFieldSection handles a complete header or trailer section of a stream.
func (h *Connection) handleFieldSection(id uint32, block []byte) errorCode {
	st, ok := h.find(id)
	if !ok {
		return codeProtocolError
	}
	var n *response.Fields
	if st != nil && !st.hasHead {
		n = st.fields
	}
	head, wrong, err := h.in.head.decode(block, n)
	if err != nil {
		return codeCompression
	}
	if st == nil {
		h.extraReceived += h.in.size
		return codeNoError
	}
	st.Received += h.in.size
	failed := wrong
	if failed == nil {
		failed = st.handleHead(&head, h.in.endStream)
	}
	switch {
	case failed != nil:
		h.cancel(st, codeProtocolError, failed)
	case h.in.endStream:
		h.complete(st)
	}
	return codeNoError
}

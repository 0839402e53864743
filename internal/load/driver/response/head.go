package response

import (
	"bytes"
	"slices"

	"github.com/assay-dev/assay/internal/load/driver/fault"
	"github.com/assay-dev/assay/internal/result"
)

// protocol is the start of every response.
const protocol = "HTTP/1."

// maxLength limits a Content-Length, so that sums of lengths don't overflow.
const maxLength = 1 << 50

// head holds the parts of a response's header section that determine how to read on.
type head struct {
	status int
	// length is the Content-Length, or -1 if there is none.
	length int64
	// chunked reports whether the body has the chunked transfer coding.
	chunked bool
	// Persistent reports whether the server keeps the connection open, closes whether it
	// announced that it doesn't.
	persistent, closes bool
	// version10 reports whether the response is HTTP/1.0.
	version10 bool
	encoding  result.Encoding
}

// Fields holds the fields of a response that affect later requests, and the first Server field.
type Fields struct {
	Location, Server string
	// Cookies and challenges are the Set-Cookie and WWW-Authenticate fields.
	Cookies, Challenges []string
}

// Reset forgets all fields and keeps the memory.
func (n *Fields) Reset() {
	*n = Fields{Cookies: n.Cookies[:0], Challenges: n.Challenges[:0]}
}

// Keep stores a field if it is one of those.
func (n *Fields) Keep(name, value []byte) {
	switch {
	case equalFold(name, "location"):
		n.Location = string(value)
	case equalFold(name, "server"):
		if n.Server == "" {
			n.Server = string(value)
		}
	case equalFold(name, "set-cookie"):
		n.Cookies = append(n.Cookies, string(value))
	case equalFold(name, "www-authenticate"):
		n.Challenges = append(n.Challenges, string(value))
	}
}

// leadingEmptyLine returns the length of an empty line at the beginning of text, or 0.
func leadingEmptyLine(text []byte) int {
	switch {
	case len(text) > 0 && text[0] == '\n':
		return 1
	case len(text) > 1 && text[0] == '\r' && text[1] == '\n':
		return 2
	}
	return 0
}

// headLength returns the length of the header section at the beginning of text, with its empty line, or 0 if text has no end of it.
// The end begins at an index from on.
func headLength(text []byte, from int) int {
	for {
		i := bytes.IndexByte(text[from:], '\n')
		if i < 0 {
			return 0
		}
		from += i + 1
		if n := leadingEmptyLine(text[from:]); n > 0 {
			return from + n
		}
	}
}

// parseHead parses a status line and a header section with its empty line (RFC 9112, sections 4 and 5; RFC 9110, section 5), and keeps
// fields in n unless it is nil. The fault says what is malformed, or why the length of the body can't be known.
func parseHead(text []byte, n *Fields) (head, *fault.Fault) {
	line, rest := cutLine(text)
	h, failed := parseStatusLine(line)
	if failed != nil {
		return head{}, failed
	}
	for {
		if line, rest = cutField(rest); len(line) == 0 {
			break
		}
		name, value, failed := parseField(line)
		if failed == nil {
			failed = h.apply(name, value)
		}
		if failed != nil {
			return head{}, failed
		}
		if n != nil {
			n.Keep(name, value)
		}
	}
	// A message with both may be an attempt at request smuggling (RFC 9112, section 6.3).
	if h.chunked && h.length >= 0 {
		return head{}, errBothLengths
	}
	return h, nil
}

// parseStatusLine parses a line such as "HTTP/1.1 200 OK".
func parseStatusLine(line []byte) (head, *fault.Fault) {
	const version, status, reason = len(protocol), len(protocol) + 2, len(protocol) + 5
	if len(line) < reason || string(line[:version]) != protocol || line[version+1] != ' ' ||
		len(line) > reason && line[reason] != ' ' {
		return head{}, errStatusLine.With("%.60q", line)
	}
	h := head{length: -1}
	switch line[version] {
	case '0':
		h.version10 = true
	case '1':
		h.persistent = true
	default:
		return head{}, errStatusLine.With("%.60q", line)
	}
	for _, digit := range line[status:reason] {
		if digit < '0' || digit > '9' {
			return head{}, errStatusLine.With("%.60q", line)
		}
		h.status = 10*h.status + int(digit-'0')
	}
	if h.status < 100 {
		return head{}, errStatusLine.With("%.60q", line)
	}
	return h, checkText(line[reason:])
}

// apply handles a header field.
func (h *head) apply(name, value []byte) *fault.Fault {
	switch len(name) {
	case len("Content-Length"):
		if !equalFold(name, "content-length") {
			return nil
		}
		length, ok := ParseLength(value)
		switch {
		case !ok:
			return errLength.With("%.40q", value)
		case h.length >= 0 && h.length != length:
			return errLengths.With("%d and %d", h.length, length)
		}
		h.length = length
	case len("Transfer-Encoding"):
		if !equalFold(name, "transfer-encoding") {
			return nil
		}
		// The client accepts no other coding, and HTTP/1.0 has no transfer codings.
		if h.chunked || !equalFold(value, "chunked") || h.version10 {
			return errCoding.With("%.40q in HTTP/1.%d", value, map[bool]int{false: 1}[h.version10])
		}
		h.chunked = true
	case len("Content-Encoding"):
		if equalFold(name, "content-encoding") {
			h.encoding = AddEncoding(h.encoding, value)
		}
	case len("Connection"):
		if equalFold(name, "connection") {
			h.applyConnection(value)
		}
	}
	return nil
}

// AddEncoding returns the coding of a body that is encoded with before and by what a Content-Encoding field says.
func AddEncoding(before result.Encoding, value []byte) result.Encoding {
	added := result.EncodingOther
	if i := slices.IndexFunc(result.EncodingNames[:], func(name string) bool { return equalFold(value, name) }); i >= 0 {
		added = result.Encoding(i)
	}
	switch {
	case added == result.EncodingNone || len(value) == 0:
		return before
	case before != result.EncodingNone:
		return result.EncodingOther
	case equalFold(value, "x-gzip"):
		return result.EncodingGzip
	}
	return added
}

// applyConnection handles the options of a Connection field (RFC 9112, section 9.3).
func (h *head) applyConnection(value []byte) {
	for len(value) > 0 {
		option, rest, _ := bytes.Cut(value, []byte(","))
		switch option = trimSpace(option); {
		case equalFold(option, "close"):
			h.persistent, h.closes = false, true
		case equalFold(option, "keep-alive"):
			h.persistent = !h.closes
		}
		value = rest
	}
}

// cutLine splits text after its first line, which ends with LF or CR LF (RFC 9112, section 2.2).
func cutLine(text []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(text, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), rest
}

// cutField splits text after its first field line. A line that begins with a space or a tab continues the one before: each such fold is
// replaced by a space (RFC 9112, section 5.2).
func cutField(text []byte) (line, rest []byte) {
	line, rest = cutLine(text)
	if len(line) == 0 || len(rest) == 0 || rest[0] != ' ' && rest[0] != '\t' {
		return line, rest
	}
	line = bytes.Clone(line)
	for len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t') {
		var more []byte
		more, rest = cutLine(rest)
		line = append(append(line, ' '), trimSpace(more)...)
	}
	return line, rest
}

// parseField parses a line such as "Name: value".
func parseField(line []byte) (name, value []byte, failed *fault.Fault) {
	i := bytes.IndexByte(line, ':')
	if i < 0 {
		if failed := checkText(line); failed != nil {
			return nil, nil, failed
		}
		return nil, nil, errNoColon
	}
	for _, c := range line[:i] {
		if !TokenBytes[c] {
			return nil, nil, nameFault(line[:i], c)
		}
	}
	if i == 0 {
		return nil, nil, errName.With("empty")
	}
	if failed := checkText(line[i+1:]); failed != nil {
		return nil, nil, failed.With("in %.40q", line[:i])
	}
	return line[:i], trimSpace(line[i+1:]), nil
}

// nameFault returns the fault of a field's name with a byte that names don't have.
func nameFault(name []byte, wrong byte) *fault.Fault {
	if failed := checkText(name); failed != nil {
		return failed
	}
	if wrong == ' ' || wrong == '\t' {
		return errSpaceInName.With("%.40q", name)
	}
	return errName.With("%.40q", name)
}

// checkText returns the fault of text with a control character other than a tab.
func checkText(text []byte) *fault.Fault {
	for _, c := range text {
		if c < ' ' && c != '\t' || c == 0x7f {
			switch c {
			case '\r':
				return errBareCR
			case 0:
				return errNUL
			}
			return errControl
		}
	}
	return nil
}

// IsText reports whether text has no control characters other than tabs.
func IsText(text []byte) bool { return checkText(text) == nil }

// ParseLength parses a Content-Length.
func ParseLength(value []byte) (int64, bool) {
	if len(value) == 0 {
		return 0, false
	}
	var length int64
	for _, digit := range value {
		if digit < '0' || digit > '9' {
			return 0, false
		}
		if length = 10*length + int64(digit-'0'); length > maxLength {
			return 0, false
		}
	}
	return length, true
}

// TokenBytes holds the bytes that a token such as a field name may contain (RFC 9110,
// section 5.6.2).
var TokenBytes = func() (set [256]bool) {
	for c := '0'; c <= '9'; c++ {
		set[c] = true
	}
	for c := 'a'; c <= 'z'; c++ {
		set[c], set[c-'a'+'A'] = true, true
	}
	for _, c := range "!#$%&'*+-.^_`|~" {
		set[c] = true
	}
	return set
}()

// equalFold reports whether text equals lower, ignoring the case of ASCII letters.
func equalFold(text []byte, lower string) bool {
	if len(text) != len(lower) {
		return false
	}
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// trimSpace removes leading and trailing spaces and tabs.
func trimSpace(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t') {
		text = text[1:]
	}
	for len(text) > 0 && (text[len(text)-1] == ' ' || text[len(text)-1] == '\t') {
		text = text[:len(text)-1]
	}
	return text
}

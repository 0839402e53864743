package response

import "bytes"

// protocol is the start of every response.
const protocol = "HTTP/1."

// headEnd is the end of a header section.
var headEnd = []byte("\r\n\r\n")

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
}

// Fields holds the fields of a response that affect later requests.
type Fields struct {
	Location string
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
	case equalFold(name, "set-cookie"):
		n.Cookies = append(n.Cookies, string(value))
	case equalFold(name, "www-authenticate"):
		n.Challenges = append(n.Challenges, string(value))
	}
}

// parseHead parses a status line and a header section with its empty line (RFC 9112,
// sections 4 and 5; RFC 9110, section 5), and keeps fields in n unless it is nil. It
// returns false if they are malformed or don't determine the length of the body.
func parseHead(text []byte, n *Fields) (head, bool) {
	line, rest, ok := cutLine(text)
	if !ok {
		return head{}, false
	}
	h, ok := parseStatusLine(line)
	if !ok {
		return head{}, false
	}
	for {
		if line, rest, ok = cutLine(rest); !ok {
			return head{}, false
		}
		if len(line) == 0 {
			break
		}
		name, value, ok := parseField(line)
		if !ok || !h.apply(name, value) {
			return head{}, false
		}
		if n != nil {
			n.Keep(name, value)
		}
	}
	// A message with both may be an attempt at request smuggling (RFC 9112, section 6.3).
	return h, !h.chunked || h.length < 0
}

// parseStatusLine parses a line such as "HTTP/1.1 200 OK".
func parseStatusLine(line []byte) (head, bool) {
	const version, status, reason = len(protocol), len(protocol) + 2, len(protocol) + 5
	if len(line) < reason || string(line[:version]) != protocol || line[version+1] != ' ' ||
		len(line) > reason && line[reason] != ' ' {
		return head{}, false
	}
	h := head{length: -1}
	switch line[version] {
	case '0':
		h.version10 = true
	case '1':
		h.persistent = true
	default:
		return head{}, false
	}
	for _, digit := range line[status:reason] {
		if digit < '0' || digit > '9' {
			return head{}, false
		}
		h.status = 10*h.status + int(digit-'0')
	}
	return h, h.status >= 100 && IsText(line[reason:])
}

// apply handles a header field. It returns false if the field is invalid.
func (h *head) apply(name, value []byte) bool {
	switch len(name) {
	case len("Content-Length"):
		if !equalFold(name, "content-length") {
			return true
		}
		length, ok := ParseLength(value)
		if !ok || h.length >= 0 && h.length != length {
			return false
		}
		h.length = length
	case len("Transfer-Encoding"):
		if !equalFold(name, "transfer-encoding") {
			return true
		}
		// The client accepts no other coding, and HTTP/1.0 has no transfer codings.
		if h.chunked || !equalFold(value, "chunked") || h.version10 {
			return false
		}
		h.chunked = true
	case len("Connection"):
		if equalFold(name, "connection") {
			h.applyConnection(value)
		}
	}
	return true
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

// cutLine splits text after its first line, which must end with CR LF. Neither CR nor LF
// may occur alone.
func cutLine(text []byte) (line, rest []byte, ok bool) {
	i := bytes.IndexByte(text, '\n')
	if i < 1 || bytes.IndexByte(text[:i], '\r') != i-1 {
		return nil, nil, false
	}
	return text[:i-1], text[i+1:], true
}

// parseField parses a line such as "Name: value". It doesn't support folded lines, which
// are obsolete since RFC 7230 (section 3.2.4).
func parseField(line []byte) (name, value []byte, ok bool) {
	i := bytes.IndexByte(line, ':')
	if i < 1 {
		return nil, nil, false
	}
	for _, c := range line[:i] {
		if !TokenBytes[c] {
			return nil, nil, false
		}
	}
	if !IsText(line[i+1:]) {
		return nil, nil, false
	}
	return line[:i], trimSpace(line[i+1:]), true
}

// IsText reports whether text has no control characters other than tabs.
func IsText(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

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

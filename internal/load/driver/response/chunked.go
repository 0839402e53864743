package response

import (
	"bytes"

	"github.com/assay-dev/assay/internal/load/driver/fault"
)

const (
	// maxChunkLine limits the line that starts a chunk, including its extensions.
	maxChunkLine = 4 << 10
	// maxChunkDigits limits a chunk's size to 60 bits.
	maxChunkDigits = 15
)

// readChunks reads a body with the chunked transfer coding and its trailer section (RFC
// 9112, section 7.1).
func (r *Reader) readChunks() (int64, *fault.Fault) {
	var body int64
	for {
		line, failed := r.readLine(maxChunkLine, errLongChunkLine)
		if failed != nil {
			return body, failed
		}
		size, ok := parseChunkSize(line)
		if !ok {
			return body, errChunkSize.With("%.40q", line)
		}
		if size == 0 {
			return body, r.readTrailer()
		}
		read, failed := r.skip(size, 0)
		body += read
		if failed == fault.Closed {
			failed = errCutChunk
		}
		if failed != nil {
			return body, failed
		}
		if line, failed = r.readLine(len("\r\n"), errAfterChunk); failed == nil && len(line) != 0 {
			failed = errAfterChunk
		}
		if failed != nil {
			return body, failed
		}
	}
}

// readTrailer reads a trailer section including its empty line.
func (r *Reader) readTrailer() *fault.Fault {
	for remaining, fields := MaxHeadBytes, 0; ; fields++ {
		line, failed := r.readLine(remaining, errLongHead)
		switch {
		case failed != nil:
			return failed
		case len(line) == 0:
			return nil
		case fields > 0 && (line[0] == ' ' || line[0] == '\t'): // continues the field before
			failed = checkText(line)
		default:
			_, _, failed = parseField(line)
		}
		if failed != nil {
			return failed
		}
		remaining -= len(line) + len("\r\n")
	}
}

// readLine reads a line of at most limit bytes including CR LF, and returns it without them. The line is valid until the next read. LF
// alone doesn't end it: the leniency of RFC 9112, section 2.2, isn't for the chunked coding.
func (r *Reader) readLine(limit int, tooLong *fault.Fault) ([]byte, *fault.Fault) {
	searched := 0
	for {
		available := r.buffer[r.from:r.to]
		if i := bytes.IndexByte(available[searched:], '\n'); i >= 0 {
			end := searched + i
			if end >= limit {
				return nil, tooLong
			}
			r.from += end + 1
			switch cr := bytes.IndexByte(available[:end], '\r'); {
			case cr < 0:
				return nil, errBareLF
			case cr != end-1:
				return nil, errBareCR
			}
			return available[:end-1], nil
		}
		searched = len(available)
		if searched >= limit {
			return nil, tooLong
		}
		if failed := r.fill(); failed != nil {
			if failed == fault.Closed {
				failed = errCutChunk
			}
			return nil, failed
		}
	}
}

// parseChunkSize parses a chunk's size and ignores extensions.
func parseChunkSize(line []byte) (int64, bool) {
	digits, _, _ := bytes.Cut(line, []byte(";"))
	digits = bytes.TrimRight(digits, " \t")
	if len(digits) == 0 || len(digits) > maxChunkDigits {
		return 0, false
	}
	var size int64
	for _, c := range digits {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		size = 16*size + int64(c)
	}
	return size, true
}

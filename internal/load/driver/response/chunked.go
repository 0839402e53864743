package response

import (
	"bytes"

	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/result"
)

const (
	// maxChunkLine limits the line that starts a chunk, including its extensions.
	maxChunkLine = 4 << 10
	// maxTrailer limits a trailer section.
	maxTrailer = BufferBytes
	// maxChunkDigits limits a chunk's size to 60 bits.
	maxChunkDigits = 15
)

// readChunks reads a body with the chunked transfer coding and its trailer section (RFC
// 9112, section 7.1).
func (r *Reader) readChunks() (int64, result.ErrorKind) {
	var body int64
	for {
		line, fault := r.readLine(maxChunkLine)
		if fault != recorder.NoError {
			return body, fault
		}
		size, ok := parseChunkSize(line)
		if !ok {
			return body, result.ErrorException
		}
		if size == 0 {
			return body, r.readTrailer()
		}
		read, fault := r.skip(size, 0)
		body += read
		if fault != recorder.NoError {
			return body, fault
		}
		if line, fault = r.readLine(len("\r\n")); fault != recorder.NoError {
			return body, fault
		}
		if len(line) != 0 {
			return body, result.ErrorException
		}
	}
}

// readTrailer reads a trailer section including its empty line.
func (r *Reader) readTrailer() result.ErrorKind {
	for remaining := maxTrailer; remaining > 0; {
		line, fault := r.readLine(remaining)
		if fault != recorder.NoError {
			return fault
		}
		if len(line) == 0 {
			return recorder.NoError
		}
		if _, _, ok := parseField(line); !ok {
			return result.ErrorException
		}
		remaining -= len(line) + len("\r\n")
	}
	return result.ErrorException
}

// readLine reads a line of at most limit bytes including CR LF, and returns it without
// them. The line is valid until the next read.
func (r *Reader) readLine(limit int) ([]byte, result.ErrorKind) {
	searched := 0
	for {
		available := r.buffer[r.from:r.to]
		if i := bytes.IndexByte(available[searched:], '\n'); i >= 0 {
			length := searched + i + 1
			r.from += length
			line, _, ok := cutLine(available[:length])
			if !ok || length > limit {
				return nil, result.ErrorException
			}
			return line, recorder.NoError
		}
		if len(available) >= limit {
			return nil, result.ErrorException
		}
		searched = len(available)
		if fault := r.fill(); fault != recorder.NoError {
			return nil, fault
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

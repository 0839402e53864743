package result

import (
	"fmt"
	"iter"
)

// Encoding is the content coding of a response (RFC 9110, section 8.4.1).
type Encoding uint8

// The content codings. Those with a registered name of their own are counted apart.
const (
	// EncodingNone: the body isn't encoded.
	EncodingNone Encoding = iota
	EncodingGzip
	EncodingBrotli
	EncodingDeflate
	EncodingZstandard
	// EncodingOther: any other coding, or several.
	EncodingOther
	// EncodingKinds is the number of codings.
	EncodingKinds
)

// EncodingNames are the names of the codings in a Content-Encoding field, in lowercase.
var EncodingNames = [EncodingKinds]string{"identity", "gzip", "br", "deflate", "zstd", "other"}

// Encodings counts complete responses whose bodies are encoded by the name of the coding.
type Encodings map[string]int64

// All yields the codings that occurred with their counts, in the order of EncodingNames.
func (e Encodings) All() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for _, name := range EncodingNames {
			if n := e[name]; n > 0 && !yield(name, n) {
				return
			}
		}
	}
}

// Check returns an error for counts that contradict c. No counts don't.
func (e Encodings) Check(c *Counts) error {
	var known, all int64
	for _, n := range e.All() {
		if n > c.Requests {
			return fmt.Errorf("content encodings: %d responses to %d requests", n, c.Requests)
		}
		known, all = known+1, all+n
	}
	if known != int64(len(e)) || all > c.Requests || e[EncodingNames[EncodingNone]] > 0 {
		return fmt.Errorf("content encodings: %d responses with %d known codings of %d to %d requests", all, known, len(e), c.Requests)
	}
	return nil
}

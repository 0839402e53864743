package artifact

import (
	"bytes"
	"fmt"
)

// Bounds of the JSON that Decode reads. What a value of it takes in memory can be a thousand times its
// length: an empty object may stand for a client.
const (
	// maxDecoded bounds its length in bytes.
	maxDecoded = 32 << 20
	// maxDepth bounds how deep its objects and arrays are nested. A result has less than 10 levels.
	maxDepth = 32
	// maxElements bounds the number of its objects and arrays. A result of 1,000 clients has
	// some 40,000, and its series up to maxSeriesElements.
	maxElements = 100_000
	// maxEncodedHistograms bounds the histograms. Checking one takes some 200 kB for a moment.
	maxEncodedHistograms = 2 * maxHistograms
)

// bounds are those of a kind of artifact: the length of its JSON in bytes, and the numbers of its objects and arrays
// and of its histograms.
type bounds struct{ decoded, elements, histograms int }

// A full result has up to 7 histograms of each of 1,000 clients and of each level and step.
var (
	configMapBounds = bounds{maxDecoded, maxElements, maxEncodedHistograms}
	fullBounds      = bounds{256 << 20, 200_000, 20_000}
)

// check returns an error for JSON that isn't worth decoding. It accepts whatever else is wrong with it.
func (b *bounds) check(plain []byte) error {
	if n := bytes.Count(plain, []byte(`"hdr"`)); n > b.histograms {
		return fmt.Errorf("%d histograms, at most %d are read", n, b.histograms)
	}
	return CheckNesting(plain, b.elements)
}

// CheckNesting returns an error for JSON that is nested too deep, or has more objects and arrays than the given
// number. It accepts whatever else is wrong with it.
func CheckNesting(plain []byte, maxElements int) error {
	depth, elements, inString := 0, 0, false
	for i := 0; i < len(plain); i++ {
		switch c := plain[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
			elements++
		case c == '}' || c == ']':
			depth--
		}
		if depth > maxDepth {
			return fmt.Errorf("more than %d levels of nesting", maxDepth)
		}
		if elements > maxElements {
			return fmt.Errorf("more than %d objects and arrays", maxElements)
		}
	}
	return nil
}

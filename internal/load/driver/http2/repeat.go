package http2

import "github.com/assay-dev/assay/internal/load/driver/fault"

// repeatedHead is the last header section of a connection. Servers send the same bytes again and again: until
// the date changes, a head differs only in what its response is about. Decoding such a section costs
// more than anything else that the client does itself for a response.
//
// The outcome is the same again if the section doesn't refer to the dynamic table, or doesn't change that. Nothing
// else has been decoded in between. Sections that add to the table must still be told to the decoder, but only before it
// decodes another one, and only as often as it takes to fill the table: what was there before is evicted then.
type repeatedHead struct {
	block []byte
	head  responseHead
	wrong *fault.Fault

	examined   bool // the fields below are set
	repeatable bool
	most       int // how often the section has to be decoded at most until only it is in the table
	pending    int // how often it was received since, and not decoded
}

// set remembers a section that was decoded.
func (r *repeatedHead) set(block []byte, head responseHead, wrong *fault.Fault) {
	*r = repeatedHead{block: append(r.block[:0], block...), head: head, wrong: wrong}
}

// repeats reports whether a section is the last one again, with the same outcome.
func (r *repeatedHead) repeats(block []byte) bool {
	if len(block) == 0 || string(block) != string(r.block) {
		return false
	}
	if !r.examined {
		added, refers, ok := examineFields(block)
		r.examined, r.repeatable = true, ok && (added == 0 || !refers)
		if added > 0 {
			r.most = tableBytes/(added*fieldOverhead) + 1
		}
	}
	if r.repeatable {
		r.pending = min(r.pending+1, r.most)
	}
	return r.repeatable
}

// fieldOverhead is what a field takes in the dynamic table beside its name and value (RFC 7541, section 4.1).
const fieldOverhead = 32

// examineFields examines how the fields of a section are represented (RFC 7541, section 6): how many are added to the dynamic
// table, and whether any refers to that. It isn't ok if the section changes the table's size, or is malformed.
func examineFields(block []byte) (added int, refers, ok bool) {
	for len(block) > 0 {
		first := block[0]
		bits, literal := 4, true // a literal that isn't added, or is never to be
		switch {
		case first&0x80 != 0:
			bits, literal = 7, false
		case first&0x40 != 0:
			bits = 6
			added++
		case first&0x20 != 0:
			return 0, false, false
		}
		var index, length int
		if index, block, ok = readInteger(block, bits); !ok {
			return 0, false, false
		}
		refers = refers || index > staticFields
		texts := 1
		switch {
		case !literal:
			texts = 0
		case index == 0:
			texts = 2
		}
		for range texts {
			if length, block, ok = readInteger(block, 7); !ok || length > len(block) {
				return 0, false, false
			}
			block = block[length:]
		}
	}
	return added, refers, true
}

// readInteger reads an integer with a prefix of the given number of bits (section 5.1), and returns what follows it.
func readInteger(b []byte, bits int) (n int, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, nil, false
	}
	limit := 1<<bits - 1
	if n = int(b[0]) & limit; n < limit {
		return n, b[1:], true
	}
	for i, shift := 1, 0; i < len(b) && shift <= 21; i, shift = i+1, shift+7 {
		n += int(b[i]&0x7f) << shift
		if b[i]&0x80 == 0 {
			return n, b[i+1:], true
		}
	}
	return 0, nil, false
}

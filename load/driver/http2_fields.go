package driver

import (
	"bytes"
	"strings"

	"golang.org/x/net/http2/hpack"
)

const (
	// tableBytes is the size of HPACK's dynamic table that both sides begin with
	// (RFC 7541, section 4.2; RFC 9113, section 6.5.2).
	tableBytes = 4096
	// staticFields is the number of fields in HPACK's static table; those of the
	// dynamic one come after it (RFC 7541, section 2.3.3).
	staticFields = 61

	pathField = ":path"
	// pathPlace is that of a path's name in the static table, pseudoFields the number
	// of fields beside it that come before all others (RFC 9113, section 8.3.1).
	pathPlace, pseudoFields = 4, 3

	indexedField = 0x80 // begins a field that is in a table (section 6.1)
	addedField   = 0x40 // begins a field that is added to the dynamic one (section 6.2.1)
	emptiedTable = 0x20 // leaves the dynamic table without room (section 6.3)
)

// http2Table is the fields of a load's requests. All that aren't in HPACK's own
// table are put into a connection's the first time that they are sent there, if
// it has room for all of them; then they are a byte or two each.
type http2Table struct {
	scheme string
	fields []http2Field
	size   uint32
	places map[hpack.HeaderField]int
}

// http2Field is a field as it is sent: in full, in full to be added to the table,
// or, where HPACK's own table has it, as its place there, for which both are the
// same.
type http2Field struct {
	plain, added []byte
	static       bool
}

func newHTTP2Table(scheme string) *http2Table {
	return &http2Table{scheme: scheme, places: map[hpack.HeaderField]int{}}
}

// take makes a request one that can be sent over HTTP/2, or, without its path, all
// that differ from it by that alone.
func (t *http2Table) take(r *request, withPath bool) {
	for _, f := range fieldsOf(r, t.scheme) {
		if f.Name == pathField && !withPath {
			continue
		}
		place, known := t.places[f]
		if !known {
			place = len(t.fields)
			t.places[f] = place
			field := encodeField(f)
			t.fields = append(t.fields, field)
			if !field.static {
				t.size += f.Size()
			}
		}
		r.fieldPlaces = append(r.fieldPlaces, place)
	}
}

// fieldsOf are the fields of a request (RFC 9113, section 8.3.1), as its text for
// HTTP/1.1 has them.
func fieldsOf(r *request, scheme string) []hpack.HeaderField {
	head, lines, _ := strings.Cut(string(r.bytes[:r.fields]), "\r\n")
	method, rest, _ := strings.Cut(head, " ")
	path, _, _ := strings.Cut(rest, " ")
	fields := []hpack.HeaderField{
		{Name: ":method", Value: method}, {Name: ":scheme", Value: scheme}, {Name: ":authority", Value: r.host}, {Name: pathField, Value: path},
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(lines, "\r\n"), "\r\n") {
		name, value, _ := strings.Cut(line, ":")
		switch name = strings.ToLower(name); name {
		case "host", "connection":
		default:
			fields = append(fields, hpack.HeaderField{Name: name, Value: strings.TrimSpace(value)})
		}
	}
	return fields
}

// encodeField encodes a field both ways.
func encodeField(f hpack.HeaderField) http2Field {
	encode := func(room uint32) []byte {
		var b bytes.Buffer
		e := hpack.NewEncoder(&b)
		if room < tableBytes {
			e.SetMaxDynamicTableSize(room)
			_ = e.WriteField(hpack.HeaderField{Name: ":method", Value: "GET"}) // what the change is said with
			b.Reset()
		}
		_ = e.WriteField(f) // a buffer takes everything
		return b.Bytes()
	}
	field := http2Field{plain: encode(0), added: encode(tableBytes)}
	field.static = field.plain[0]&indexedField != 0
	return field
}

// fieldEncoder encodes the fields of a connection's requests (RFC 7541).
type fieldEncoder struct {
	table *http2Table
	// added are, by the load's fields, how many were in the connection's table once
	// the field was; 0 where it isn't. count is how many are in it.
	added []uint32
	count uint32
	// full is whether the load's fields have no room there, empty whether that is to
	// be said.
	full, empty bool
}

func (e *fieldEncoder) init(t *http2Table) {
	e.table, e.added = t, make([]uint32, len(t.fields))
	e.full = t.size > tableBytes
}

// limit takes in how large a table the server will have.
func (e *fieldEncoder) limit(size uint32) {
	if size < tableBytes {
		e.full, e.empty = true, true
	}
}

// append appends a request's header section, with extra fields: lines of
// HTTP/1.1.
func (e *fieldEncoder) append(b []byte, r *request, extra []byte) []byte {
	if e.empty {
		b, e.empty = append(b, emptiedTable), false
	}
	if r.fieldPlaces == nil { // a redirect has led to it
		for _, f := range fieldsOf(r, e.table.scheme) {
			b = appendField(b, f.Name, f.Value)
		}
	}
	for i, place := range r.fieldPlaces {
		if i == pseudoFields && r.ownPath != "" {
			b = appendText(append(b, pathPlace), r.ownPath)
		}
		switch f := &e.table.fields[place]; {
		case f.static || e.full:
			b = append(b, f.plain...)
		case e.added[place] > 0:
			b = appendInteger(b, indexedField, 7, staticFields+1+e.count-e.added[place])
		default:
			b = append(b, f.added...)
			e.count++
			e.added[place] = e.count
		}
	}
	for len(extra) > 0 {
		line, rest, _ := bytes.Cut(extra, []byte("\r\n"))
		name, value, _ := strings.Cut(string(line), ": ")
		b = appendField(b, strings.ToLower(name), value)
		extra = rest
	}
	return b
}

// appendField appends a field in full that stays out of the table (section
// 6.2.2).
func appendField(b []byte, name, value string) []byte {
	return appendText(appendText(append(b, 0), name), value)
}

// appendText appends a string in Huffman's code (section 5.2).
func appendText(b []byte, text string) []byte {
	return hpack.AppendHuffmanString(appendInteger(b, 0x80, 7, uint32(hpack.HuffmanEncodeLength(text))), text)
}

// appendInteger appends a number in so many bits of a byte, and in more bytes
// where it doesn't fit (section 5.1).
func appendInteger(b []byte, first byte, bits int, n uint32) []byte {
	most := uint32(1)<<bits - 1
	if n < most {
		return append(b, first|byte(n))
	}
	b = append(b, first|byte(most))
	for n -= most; n >= 0x80; n >>= 7 {
		b = append(b, 0x80|byte(n))
	}
	return append(b, byte(n))
}

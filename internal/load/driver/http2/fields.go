package http2

import (
	"bytes"
	"strings"

	"golang.org/x/net/http2/hpack"

	"github.com/assay-dev/assay/internal/load/driver/request"
)

const (
	// tableBytes is the initial size of HPACK's dynamic table (RFC 7541, section 4.2; RFC
	// 9113, section 6.5.2).
	tableBytes = 4096
	// staticFields is the number of fields in HPACK's static table. The dynamic table's
	// indexes start after it (RFC 7541, section 2.3.3).
	staticFields = 61

	pathField = ":path"
	// pathIndex is the index of :path in the static table. pseudoFields is the number of other
	// pseudo-header fields, which come before all regular fields (RFC 9113, section 8.3.1).
	pathIndex, pseudoFields = 4, 3

	indexedPrefix    = 0x80 // starts an indexed field (section 6.1)
	addedPrefix      = 0x40 // starts a field that is added to the dynamic table (section 6.2.1)
	emptyTablePrefix = 0x20 // sets the dynamic table's size to 0 (section 6.3)
)

// Table holds the header fields of a load's requests. A connection adds those that
// aren't in HPACK's static table to its dynamic table when it first sends them, if all of
// them fit. From then on each takes one or two bytes.
type Table struct {
	scheme  string
	fields  []tableField
	size    uint32
	indexes map[hpack.HeaderField]int
}

// tableField holds the encodings of a field: plain leaves the dynamic table alone, added adds the
// field to it. Both are the same for a field in HPACK's static table, where they are its index.
type tableField struct {
	plain, added []byte
	static       bool
}

// NewTable returns the encodings of the fields of requests with a scheme.
func NewTable(scheme string) *Table {
	return &Table{scheme: scheme, indexes: map[hpack.HeaderField]int{}}
}

// Add adds a request's fields to the table and sets the request's fieldIndexes. Without
// withPath it omits the path, for requests that differ in their path only.
func (t *Table) Add(r *request.Request, withPath bool) {
	for _, f := range requestFields(r, t.scheme) {
		if f.Name == pathField && !withPath {
			continue
		}
		index, known := t.indexes[f]
		if !known {
			index = len(t.fields)
			t.indexes[f] = index
			field := encodeField(f)
			t.fields = append(t.fields, field)
			if !field.static {
				t.size += f.Size()
			}
		}
		r.FieldIndexes = append(r.FieldIndexes, index)
	}
}

// requestFields returns the header fields of a request (RFC 9113, section 8.3.1), derived
// from its HTTP/1.1 text.
func requestFields(r *request.Request, scheme string) []hpack.HeaderField {
	head, lines, _ := strings.Cut(string(r.Bytes[:r.Fields]), "\r\n")
	method, rest, _ := strings.Cut(head, " ")
	path, _, _ := strings.Cut(rest, " ")
	fields := []hpack.HeaderField{
		{Name: ":method", Value: method}, {Name: ":scheme", Value: scheme}, {Name: ":authority", Value: r.Host}, {Name: pathField, Value: path},
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

// encodeField encodes a field for both uses.
func encodeField(f hpack.HeaderField) tableField {
	encode := func(room uint32) []byte {
		var b bytes.Buffer
		e := hpack.NewEncoder(&b)
		if room < tableBytes {
			e.SetMaxDynamicTableSize(room)
			_ = e.WriteField(hpack.HeaderField{Name: ":method", Value: "GET"}) // this write carries the size update, which is discarded
			b.Reset()
		}
		_ = e.WriteField(f) // a bytes.Buffer returns no errors
		return b.Bytes()
	}
	field := tableField{plain: encode(0), added: encode(tableBytes)}
	field.static = field.plain[0]&indexedPrefix != 0
	return field
}

// fieldEncoder encodes the header fields of a connection's requests (RFC 7541).
type fieldEncoder struct {
	table *Table
	// added holds, for each of the load's fields, the number of entries in the connection's
	// dynamic table just after the field was added, or 0 if it hasn't been. count is the
	// current number of entries.
	added []uint32
	count uint32
	// full reports whether the dynamic table isn't used, because the load's fields don't fit.
	// announceEmpty reports whether the server must still be told that the table is empty.
	full, announceEmpty bool
}

func (e *fieldEncoder) init(t *Table) {
	e.table, e.added = t, make([]uint32, len(t.fields))
	e.full = t.size > tableBytes
}

// setTableSize handles the server's limit for the dynamic table. The table stays unused
// if the limit is below its initial size.
func (e *fieldEncoder) setTableSize(size uint32) {
	if size < tableBytes {
		e.full, e.announceEmpty = true, true
	}
}

// append appends the encoded header section of a request. extra holds further fields as
// HTTP/1.1 header lines.
func (e *fieldEncoder) append(b []byte, r *request.Request, extra []byte) []byte {
	if e.announceEmpty {
		b, e.announceEmpty = append(b, emptyTablePrefix), false
	}
	if r.FieldIndexes == nil { // a redirect made this request
		for _, f := range requestFields(r, e.table.scheme) {
			b = appendField(b, f.Name, f.Value)
		}
	}
	for i, index := range r.FieldIndexes {
		if i == pseudoFields && r.OwnPath != "" {
			b = appendText(append(b, pathIndex), r.OwnPath)
		}
		switch f := &e.table.fields[index]; {
		case f.static || e.full:
			b = append(b, f.plain...)
		case e.added[index] > 0:
			b = appendInteger(b, indexedPrefix, 7, staticFields+1+e.count-e.added[index])
		default:
			b = append(b, f.added...)
			e.count++
			e.added[index] = e.count
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

// appendField appends a literal field that isn't added to the dynamic table (section 6.2.2).
func appendField(b []byte, name, value string) []byte {
	return appendText(appendText(append(b, 0), name), value)
}

// appendText appends a Huffman-encoded string (section 5.2).
func appendText(b []byte, text string) []byte {
	return hpack.AppendHuffmanString(appendInteger(b, 0x80, 7, uint32(hpack.HuffmanEncodeLength(text))), text)
}

// appendInteger appends an integer with a prefix of the given number of bits (section 5.1).
func appendInteger(b []byte, first byte, bits int, n uint32) []byte {
	limit := uint32(1)<<bits - 1
	if n < limit {
		return append(b, first|byte(n))
	}
	b = append(b, first|byte(limit))
	for n -= limit; n >= 0x80; n >>= 7 {
		b = append(b, 0x80|byte(n))
	}
	return append(b, byte(n))
}

package artifact

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"
)

// Bounds of the JSON that is decoded.
const (
	// maxDecoded bounds its length in bytes.
	maxDecoded = 32 << 20
	// maxDepth bounds how deep its objects and arrays are nested. A result has less than 10 levels.
	maxDepth = 32
	// maxMemory bounds what its values take in memory, in bytes: see CheckSize. A result of 1,000 clients with the longest series has
	// some 30 MB.
	maxMemory = 64 << 20
	// maxEncodedHistograms bounds the histograms. Checking one takes some 200 kB for a moment.
	maxEncodedHistograms = 2 * maxHistograms
)

// bounds are those of a kind of artifact: the length of its JSON and the memory of its values in bytes, and the number of its
// histograms.
type bounds struct{ decoded, memory, histograms int }

// A full result has up to 7 histograms of each of 1,000 clients and of each level and step.
var (
	configMapBounds = bounds{maxDecoded, maxMemory, maxEncodedHistograms}
	fullBounds      = bounds{256 << 20, 512 << 20, 20_000}
)

// check returns an error for JSON that isn't worth decoding into the type of v. It accepts whatever else is wrong with it.
func (b *bounds) check(plain []byte, v any) error {
	if n := bytes.Count(plain, []byte(`"hdr"`)); n > b.histograms {
		return fmt.Errorf("%d histograms, at most %d are read", n, b.histograms)
	}
	_, err := checkSize(bytes.NewReader(plain), reflect.TypeOf(v), b.memory)
	return err
}

// CheckSize returns an error for JSON that is nested too deep, or whose values would take more than 64 MiB as those of the type of v. An object of
// two bytes may stand for a client of kilobytes: each element of an array, value of a map and value behind a pointer counts with the size of
// its type. CheckSize accepts whatever else is wrong with the JSON.
func CheckSize(plain []byte, v any) error {
	_, err := checkSize(bytes.NewReader(plain), reflect.TypeOf(v), maxMemory)
	return err
}

// Size returns about how many bytes decoding an artifact into the type of v takes: the length of its JSON, and its values as CheckSize
// counts them. Size itself holds neither. It returns an error for an artifact that is malformed or too large.
func Size(data []byte, v any) (int64, error) {
	plain, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return 0, fmt.Errorf("unpack result: %w", err)
	}
	limited := &io.LimitedReader{R: plain, N: maxDecoded + 1}
	values, err := checkSize(limited, reflect.TypeOf(v), maxMemory)
	if err != nil {
		return 0, fmt.Errorf("unpack result: %w", err)
	}
	if limited.N == 0 {
		return 0, fmt.Errorf("unpack result: more than %d bytes", maxDecoded)
	}
	return maxDecoded + 1 - limited.N + int64(values), nil
}

// shape holds the memory that a value of a type takes.
type shape struct {
	// inline is the size of the type, behind that of what a pointer of it points to.
	inline, behind int
	// fields are those of a struct, by their names in lower case: names of JSON are compared without their case.
	fields map[string]*shape
	// elem is that of the elements of an array or of the values of a map; nil if the type has none.
	elem *shape
	// isMap reports whether objects of the JSON are maps.
	isMap bool
}

// Values that aren't decoded take nothing. Those of a type that decodes itself, or of an interface, take as much as one in a map.
const perValue = 128

var (
	ignored = &shape{isMap: true}
	untyped = &shape{inline: perValue, isMap: true}
	shapes  sync.Map // from reflect.Type
)

func init() { ignored.elem, untyped.elem = ignored, untyped }

// shapeOf returns the shape of a type. Its types may contain themselves.
func shapeOf(t reflect.Type, known map[reflect.Type]*shape) *shape {
	if s := known[t]; s != nil {
		return s
	}
	s := &shape{inline: int(t.Size())} //nolint:gosec // the size of a type
	known[t] = s
	pointer := reflect.PointerTo(t)
	switch {
	case t.Kind() == reflect.Pointer:
		of := shapeOf(t.Elem(), known)
		s.behind, s.fields, s.elem, s.isMap = of.inline+of.behind, of.fields, of.elem, of.isMap
	case t.Kind() == reflect.Interface, pointer.Implements(reflect.TypeFor[json.Unmarshaler]()), pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		s.elem, s.isMap = untyped, true
	case t.Kind() == reflect.Struct:
		s.fields = map[string]*shape{}
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() && name != "-" && (!f.Anonymous || name != "") {
				if name == "" {
					name = f.Name
				}
				s.fields[strings.ToLower(name)] = shapeOf(f.Type, known)
			}
		}
	case t.Kind() == reflect.Map:
		s.elem, s.isMap = shapeOf(t.Elem(), known), true
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Array:
		s.elem = shapeOf(t.Elem(), known)
	}
	return s
}

// frame is an object or an array of which a part was read.
type frame struct {
	of, value *shape // of the whole, and of the value that comes next
	object    bool
	key       bool // comes next
}

// take returns what the next value takes.
func (f *frame) take() int {
	switch {
	case !f.object:
		return 2*f.value.inline + f.value.behind // an array that grows is copied
	case f.of.isMap && f.of != ignored:
		return f.value.inline + f.value.behind + perValue
	}
	return f.value.behind
}

// open returns the frame of the next value, an object or an array.
func (f *frame) open(object bool) frame {
	of := f.value
	next := frame{of: of, value: ignored, object: object, key: object}
	if of.elem != nil && of.isMap == object || of.elem == untyped {
		next.value = of.elem
	}
	return next
}

// maxName is longer than the name of any field, in bytes.
const maxName = 128

// name reads a name of an object. Names of fields are in ASCII and have no escapes: others may be the same to the decoder, which compares
// them without their case.
func (f *frame) name(text []byte, odd bool) error {
	f.key = false
	switch {
	case f.of.isMap:
	case odd:
		return errors.New("a name of a field has an escape, or isn't in ASCII")
	default:
		if f.value = f.of.fields[strings.ToLower(string(text))]; f.value == nil {
			f.value = ignored
		}
	}
	return nil
}

// text is a string of the JSON.
type text struct {
	length int
	begin  [maxName]byte
	// odd reports that it has an escape, or isn't in ASCII.
	odd bool
}

// read reads the string from behind its first quote.
func (t *text) read(plain *bufio.Reader) error {
	t.length, t.odd = 0, false
	for escaped := false; ; t.length++ {
		c, err := plain.ReadByte()
		if err != nil || c == '"' && !escaped {
			return err
		}
		escaped = c == '\\' && !escaped
		t.odd = t.odd || c == '\\' || c >= utf8.RuneSelf
		if t.length < maxName {
			t.begin[t.length] = c
		}
	}
}

// delimiters end a number or a word.
var delimiters = func() (all [256]bool) {
	for _, c := range " \t\r\n,:{}[]\"" {
		all[c] = true
	}
	return all
}()

// checkSize returns what the values of JSON take, in bytes. It holds nothing but the names of the fields that it is in.
func checkSize(plain io.Reader, t reflect.Type, limit int) (memory int, err error) {
	root, ok := shapes.Load(t)
	if !ok {
		root, _ = shapes.LoadOrStore(t, shapeOf(t, map[reflect.Type]*shape{}))
	}
	from := bufio.NewReader(plain)
	stack := []frame{{value: root.(*shape), of: ignored}}
	var next text
	for {
		c, err := from.ReadByte()
		f := &stack[len(stack)-1]
		switch {
		case err != nil:
		case c == ' ', c == '\t', c == '\n', c == '\r', c == ':':
		case c == ',':
			f.key = f.object
		case c == '}', c == ']':
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
		case c == '{', c == '[':
			memory += f.take()
			if stack = append(stack, f.open(c == '{')); len(stack) > maxDepth+1 {
				return memory, fmt.Errorf("more than %d levels of nesting", maxDepth)
			}
		case c == '"':
			switch err = next.read(from); {
			case !f.object || !f.key:
				memory += f.take() + next.length
			case err == nil:
				err = f.name(next.begin[:min(next.length, maxName)], next.odd)
			}
		default: // a number or a word
			memory += f.take()
			for err == nil && !delimiters[c] {
				c, err = from.ReadByte()
			}
			if err == nil {
				err = from.UnreadByte()
			}
		}
		switch {
		case memory > limit:
			return memory, fmt.Errorf("its values would take more than %d MiB of memory", limit>>20)
		case errors.Is(err, io.EOF):
			return memory, nil
		case err != nil:
			return memory, err
		}
	}
}

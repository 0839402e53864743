package artifact

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
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
	return checkSize(plain, reflect.TypeOf(v), b.memory)
}

// CheckSize returns an error for JSON that is nested too deep, or whose values would take more than 64 MiB as those of the type of v. An object of
// two bytes may stand for a client of kilobytes: each element of an array, value of a map and value behind a pointer counts with the size of
// its type. CheckSize accepts whatever else is wrong with the JSON.
func CheckSize(plain []byte, v any) error { return checkSize(plain, reflect.TypeOf(v), maxMemory) }

// shape is what a value of a type takes.
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

// name reads a name of an object.
func (f *frame) name(text []byte) error {
	f.key = false
	switch {
	case f.of.isMap:
	case bytes.IndexByte(text, '\\') >= 0:
		return errors.New("a name of a field has an escape")
	default:
		if f.value = f.of.fields[strings.ToLower(string(text))]; f.value == nil {
			f.value = ignored
		}
	}
	return nil
}

// delimiters end a number or a word.
var delimiters = func() (all [256]bool) {
	for _, c := range " \t\r\n,:{}[]\"" {
		all[c] = true
	}
	return all
}()

func checkSize(plain []byte, t reflect.Type, limit int) error {
	root, ok := shapes.Load(t)
	if !ok {
		root, _ = shapes.LoadOrStore(t, shapeOf(t, map[reflect.Type]*shape{}))
	}
	stack := []frame{{value: root.(*shape), of: ignored}}
	memory := 0
	for i := 0; i < len(plain); i++ {
		f := &stack[len(stack)-1]
		switch c := plain[i]; c {
		case ' ', '\t', '\n', '\r', ':':
		case ',':
			f.key = f.object
		case '}', ']':
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
		case '{', '[':
			memory += f.take()
			if stack = append(stack, f.open(c == '{')); len(stack) > maxDepth+1 {
				return fmt.Errorf("more than %d levels of nesting", maxDepth)
			}
		case '"':
			begin := i + 1
			for i++; i < len(plain) && plain[i] != '"'; i++ {
				if plain[i] == '\\' {
					i++
				}
			}
			text := plain[begin:min(i, len(plain))]
			if f.object && f.key {
				if err := f.name(text); err != nil {
					return err
				}
				continue
			}
			memory += f.take() + len(text)
		default: // a number or a word
			memory += f.take()
			for i+1 < len(plain) && !delimiters[plain[i+1]] {
				i++
			}
		}
		if memory > limit {
			return fmt.Errorf("its values would take more than %d MiB of memory", limit>>20)
		}
	}
	return nil
}

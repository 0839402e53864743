package artifact_test

import (
	"bytes"
	"compress/gzip"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/result"
)

// hostile calls add with a document for each array and map of a type: with many elements that are as small as they can be.
func hostile(t reflect.Type, before, after string, depth int, add func(string)) {
	pointer := reflect.PointerTo(t)
	own := pointer.Implements(reflect.TypeFor[json.Unmarshaler]()) || pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
	switch {
	case depth > 6:
	case t.Kind() == reflect.Pointer:
		hostile(t.Elem(), before, after, depth, add)
	case own || t.Kind() == reflect.Map:
		var all strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&all, `"%d":{},`, i)
		}
		add(before + "{" + all.String() + `"":{}}` + after)
		if !own {
			hostile(t.Elem(), before+`{"a":`, "}"+after, depth+1, add)
		}
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		for _, element := range []string{"{},", "0,"} {
			add(before + "[" + strings.Repeat(element, 125_000) + strings.TrimSuffix(element, ",") + "]" + after)
		}
		hostile(t.Elem(), before+"[", "]"+after, depth+1, add)
	case t.Kind() == reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() && name != "" && name != "-" {
				hostile(f.Type, before+`{"`+strings.ToUpper(name)+`":`, "}"+after, depth+1, add)
			}
		}
	}
}

// packed returns a document as an artifact.
func packed(t *testing.T, document string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(document)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestSmallArtifactsTakeLittleMemory decodes artifacts of some hundred bytes that unpack to many elements, for each array and map that a kind of artifact
// has: what is allocated is bounded, by refusing those that would take more.
func TestSmallArtifactsTakeLittleMemory(t *testing.T) {
	const most = 256 << 20 // four times what values may take: the JSON and slices that grow are allocated too
	for kind, decode := range map[reflect.Type]func([]byte) error{
		reflect.TypeFor[result.Result](): func(data []byte) error { _, err := artifact.Decode(data); return err },
		reflect.TypeFor[benchmark.Round](): func(data []byte) error {
			_, err := benchmark.DecodeRound(data)
			return err
		},
	} {
		documents, refused := 0, 0
		hostile(kind, "", "}", 0, func(document string) {
			data := packed(t, `{"schemaVersion":1,`+strings.TrimSuffix(strings.TrimPrefix(document, "{"), "}"))
			documents++
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			size, refusal := artifact.Size(data, reflect.New(kind).Elem().Interface())
			runtime.ReadMemStats(&after)
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 || refusal == nil && size < int64(len(document)) {
				t.Errorf("%s: finding the size %d of %d bytes allocates %d kB: %.120s", kind, size, len(data), allocated>>10, document)
			}
			runtime.ReadMemStats(&before)
			err := decode(data)
			runtime.ReadMemStats(&after)
			if tooLarge := err != nil && (strings.Contains(err.Error(), "of memory") || strings.Contains(err.Error(), "more than")); tooLarge != (refusal != nil) {
				t.Errorf("%s: the size is refused with %v, the artifact with %v: %.120s", kind, refusal, err, document)
			}
			if err != nil && strings.Contains(err.Error(), "of memory") {
				refused++
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > most {
				t.Errorf("%s: %d bytes allocate %d MiB (%v): %.120s", kind, len(data), allocated>>20, err, document)
			}
		})
		t.Logf("%s: %d documents, %d refused", kind, documents, refused)
		if documents < 50 || refused == 0 {
			t.Errorf("%s: %d documents, %d refused", kind, documents, refused)
		}
	}
}

package session

import (
	"bytes"
	"encoding"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
)

// encoded returns a value as it is sent.
func encoded(t testing.TB, v any) []byte {
	t.Helper()
	data, err := Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// populate gives every field below v a value of its own, so that a field that is
// lost on the way fails the test.
func populate(v reflect.Value, next *int64) {
	*next++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if _, ok := v.Field(i).Interface().(encoding.BinaryMarshaler); !ok {
				populate(v.Field(i), next)
			}
		}
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*result.Histogram]() {
			h := result.NewHistogram()
			h.Record(*next)
			v.Set(reflect.ValueOf(h))
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		populate(v.Elem(), next)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			populate(v.Index(i), next)
		}
	case reflect.Array:
		for i := range v.Len() {
			populate(v.Index(i), next)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		element := reflect.New(v.Type().Elem()).Elem()
		populate(element, next)
		key := reflect.New(v.Type().Key()).Elem()
		populate(key, next)
		v.SetMapIndex(key, element)
	case reflect.Int, reflect.Int64:
		v.SetInt(math.MinInt64 + *next)
	case reflect.Uint64, reflect.Uint8:
		v.SetUint(math.MaxUint64 - uint64(*next))
	case reflect.Float64:
		v.SetFloat(float64(*next) / 3)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *next))
	default:
		panic(v.Kind())
	}
}

// comesAcross checks that no field of a T is lost on the way, also if there is one that the type doesn't have.
func comesAcross[T any](t *testing.T) {
	t.Helper()
	var want T
	next := int64(0)
	populate(reflect.ValueOf(&want).Elem(), &next)
	data := append([]byte(`{"another":{"field":[1]},`), encoded(t, &want)[1:]...)
	got, err := decode("value", data, MaxMessageBytes, func(*T) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	same := cmp.Comparer(func(a, b *result.Histogram) bool { return a.Count() == b.Count() && a.Sum() == b.Sum() })
	if diff := cmp.Diff(&want, got, same); diff != "" {
		t.Errorf("%T (-want +got):\n%s", want, diff)
	}
}

// TestValuesKeepEverything checks that every field of what is sent as JSON comes across.
func TestValuesKeepEverything(t *testing.T) {
	comesAcross[Plan](t)
	comesAcross[Watch](t)
	comesAcross[ProbeResult](t)
	comesAcross[ScriptMetrics](t)
	comesAcross[result.ScriptSummary](t)
	comesAcross[result.Totals](t)
}

// TestTextsAreSentAsUTF8 checks that invalid UTF-8 is replaced.
func TestTextsAreSentAsUTF8(t *testing.T) {
	p := &Plan{Host: "caf\xe9", Script: &Script{File: "a", Segment: "0:1", Sequence: "0,1", Tags: map[string]string{"a": "\xff"}}}
	got, err := DecodePlan(encoded(t, p))
	if err != nil || got.Host != "caf\uFFFD" || got.Script.Tags["a"] != "\uFFFD" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestValuesThatTakeMemory decodes values of 4 MiB that would take many times their size, and others that aren't values.
// What is allocated is bounded by their size.
func TestValuesThatTakeMemory(t *testing.T) {
	repeated := func(before, part, after string) []byte {
		return []byte(before + strings.Repeat(part, (MaxMessageBytes-len(before)-len(after)-len(part))/len(part)) + strings.TrimSuffix(part, ",") + after)
	}
	for name, test := range map[string]struct {
		data []byte
		want string // empty if the value is taken
	}{
		"objects":               {repeated(`{"levels":[`, "{},", "]}"), "more than 10000 parts"},
		"objects in objects":    {repeated(`{"script":{"metrics":[`, "{},", "]}}"), "more than 10000 parts"},
		"numbers":               {repeated(`{"tool":{"percentilesMicroseconds":[`, "1,", "]}}"), "more than 10000 parts"},
		"entries":               {repeated(`{"errors":{`, `"a":1,`, "}}"), "more than 10000 parts"},
		"a field again":         {repeated(`{`, `"levels":[],`, "}"), "more than 10000 parts"},
		"unknown fields":        {repeated(`{"x":[`, "{},", "]}"), "more than 10000 parts"},
		"lists in lists":        {repeated(``, "[", "]"), "nested too deep"},
		"objects in each other": {repeated(``, `{"x":`, "}"), "nested too deep"},
		"a text":                {repeated(`{"x":"`, `[`, `"}`), ""},
		"a text with escapes":   {repeated(`{"x":"`, `\"{`, `"}`), ""},
		"an open text":          {repeated(`{"x":"`, `,`, ``), "unexpected end"},
		"an escape at the end":  {[]byte(`{"x":"\`), "escape code"},
		"no JSON":               {[]byte("\xff"), "invalid character"},
		"two values":            {[]byte("{}{}"), "after top-level value"},
		"too long":              {bytes.Repeat([]byte(" "), MaxMessageBytes+1), "totals of 4194305 bytes"},
		"nothing":               {nil, "no totals"},
		"a list":                {[]byte("[]"), "cannot unmarshal"},
		"another type":          {[]byte(`{"requests":"x"}`), "cannot unmarshal"},
		"a large number":        {[]byte(`{"requests":9223372036854775808}`), "cannot unmarshal"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := DecodeTotals(test.data)
			runtime.ReadMemStats(&after)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if got, most := after.TotalAlloc-before.TotalAlloc, uint64(3*MaxMessageBytes); got > most {
				t.Errorf("%d bytes were allocated for %d, want at most %d", got, len(test.data), most)
			}
		})
	}
}

// BenchmarkPlan sends and receives the plan of a client, with ten kinds of requests.
func BenchmarkPlan(b *testing.B) {
	p := &Plan{Connections: 1, TimeoutMicroseconds: 1, Measurement: Amount{Requests: 1}}
	for i := range 10 {
		p.Requests = append(p.Requests, PlannedRequest{Path: fmt.Sprint("/", i), Headers: []Header{{"Accept", "text/html"}}, Weight: 1, Length: 1000})
	}
	for b.Loop() {
		if _, err := DecodePlan(encoded(b, p)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTotals sends and receives the totals of a client, with four phases of 100,000 requests.
func BenchmarkTotals(b *testing.B) {
	random, t := rand.New(rand.NewPCG(1, 2)), &result.Totals{}
	t.Requests = 100_000
	for p := result.Processing; p <= result.Total; p++ {
		for range t.Requests {
			t.Latencies.Of(p).Record(int64(1000 + random.ExpFloat64()*5000))
		}
	}
	t.Latencies.Pack()
	for b.Loop() {
		if _, err := DecodeTotals(encoded(b, t)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(encoded(b, t))), "B/message")
}

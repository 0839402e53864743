package limit

import (
	"bytes"
	"runtime"
	"testing"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// field returns an encoded field of bytes.
func field(number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), value)
}

// repeated returns a part of a message as often as it fits into a message, less some room for what
// is around it.
func repeated(part []byte) []byte { return bytes.Repeat(part, (session.MaxMessageBytes-64)/len(part)) }

// TestMessagesThatTakeMemory decodes messages of 4 MiB that take many times their size if they are
// decoded as they are. What is allocated is bounded by the size of the message.
func TestMessagesThatTakeMemory(t *testing.T) {
	const (
		hello, sample, server, failure = 3, 7, 9, 12
		counts, usage, sketches        = 4, 7, 10
		starts, backends, inner        = 4, 5, 2
	)
	number := protowire.AppendVarint(protowire.AppendTag(nil, usage, protowire.VarintType), 0)
	tests := map[string]struct {
		wire    []byte
		refused bool
	}{
		"messages":               {field(server, repeated(field(backends, nil))), true},
		"messages in messages":   {field(server, repeated(field(backends, field(inner, nil)))), true},
		"messages in one":        {field(hello, repeated(field(starts, nil))), true},
		"a message again":        {repeated(field(sample, nil)), true},
		"packed numbers":         {field(sample, field(counts, repeated([]byte{0}))), true},
		"numbers":                {field(sample, repeated(number)), true},
		"bytes":                  {field(sample, repeated(field(sketches, nil))), true},
		"unknown fields":         {repeated(field(99, nil)), true},
		"unknown fields within":  {field(sample, repeated(field(99, nil))), true},
		"unknown groups":         {repeated(protowire.AppendTag(nil, 99, protowire.StartGroupType)), true},
		"a text":                 {field(failure, field(1, repeated([]byte("x")))), false},
		"a text again":           {field(failure, repeated(field(1, []byte("x")))), false},
		"a large unknown field":  {field(99, repeated([]byte("x"))), false},
		"messages within bounds": {field(server, bytes.Repeat(field(backends, nil), maxParts-2)), false},
		"as many packed numbers": {field(sample, field(usage, make([]byte, maxParts-2))), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if len(test.wire) > session.MaxMessageBytes {
				t.Fatalf("gRPC rejects %d bytes", len(test.wire))
			}
			data := mem.BufferSlice{mem.SliceBuffer(test.wire)}
			codec := Codec()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := codec.Unmarshal(data, &sessionpb.PodMessage{})
			runtime.ReadMemStats(&after)
			if (err != nil) != test.refused {
				t.Errorf("error %v", err)
			}
			if got, most := after.TotalAlloc-before.TotalAlloc, uint64(3*session.MaxMessageBytes); got > most {
				t.Errorf("%d bytes were allocated for %d, want at most %d", got, len(test.wire), most)
			}
		})
	}
}

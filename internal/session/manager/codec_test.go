package manager

import (
	"bytes"
	"runtime"
	"testing"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

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
		totals, measure, levels, failure, script = 6, 2, 9, 10, 20
		counts, latencies, metrics, usage        = 1, 2, 3, 5
	)
	number := protowire.AppendVarint(protowire.AppendTag(nil, usage, protowire.VarintType), 0)
	tests := map[string]struct {
		into    proto.Message
		wire    []byte
		refused bool
	}{
		"messages":                {&sessionpb.PodMessage{}, field(totals, repeated(field(levels, nil))), true},
		"messages in messages":    {&sessionpb.PodMessage{}, field(totals, repeated(field(levels, field(measure-1, nil)))), true},
		"messages in one":         {&sessionpb.PodMessage{}, field(totals, field(script, repeated(field(metrics, nil)))), true},
		"histograms":              {&sessionpb.PodMessage{}, field(totals, field(measure, repeated(field(latencies, nil)))), true},
		"a message again":         {&sessionpb.PodMessage{}, repeated(field(totals, nil)), true},
		"packed numbers":          {&sessionpb.PodMessage{}, field(totals, field(measure, field(counts, field(1, repeated([]byte{0}))))), true},
		"numbers":                 {&sessionpb.PodMessage{}, field(totals, repeated(number)), true},
		"unknown fields":          {&sessionpb.PodMessage{}, repeated(field(99, nil)), true},
		"unknown fields within":   {&sessionpb.PodMessage{}, field(totals, repeated(field(99, nil))), true},
		"unknown groups":          {&sessionpb.PodMessage{}, repeated(protowire.AppendTag(nil, 99, protowire.StartGroupType)), true},
		"entries of a map":        {&sessionpb.Plan{}, repeated(field(9, nil)), true},
		"texts":                   {&sessionpb.Script{}, repeated(field(5, nil)), true},
		"a text":                  {&sessionpb.PodMessage{}, field(failure, field(1, repeated([]byte("x")))), false},
		"a text again":            {&sessionpb.PodMessage{}, field(failure, repeated(field(1, []byte("x")))), false},
		"a large unknown field":   {&sessionpb.PodMessage{}, field(99, repeated([]byte("x"))), false},
		"messages within bounds":  {&sessionpb.PodMessage{}, field(totals, bytes.Repeat(field(levels, nil), maxParts-2)), false},
		"as many packed numbers":  {&sessionpb.PodMessage{}, field(totals, field(usage, make([]byte, maxParts-2))), false},
		"histograms in a message": {&sessionpb.PodMessage{}, field(totals, field(measure, bytes.Repeat(field(latencies, nil), maxParts-3))), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if len(test.wire) > session.MaxMessageBytes {
				t.Fatalf("gRPC rejects %d bytes", len(test.wire))
			}
			data := mem.BufferSlice{mem.SliceBuffer(test.wire)}
			codec := newBoundedCodec()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := codec.Unmarshal(data, test.into)
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

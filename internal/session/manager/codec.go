package manager

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// maxParts bounds the messages within a pod's message. An empty one takes 2 bytes
// on the wire but more than a hundred in memory. Totals have some hundreds.
const maxParts = 10_000

// boundedCodec is gRPC's codec for protobuf, but rejects messages with more than maxParts.
type boundedCodec struct{ encoding.CodecV2 }

func newBoundedCodec() boundedCodec { return boundedCodec{encoding.GetCodecV2(encodingproto.Name)} }

// Unmarshal decodes a message.
func (boundedCodec) Unmarshal(data mem.BufferSlice, v any) error {
	buffer := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer buffer.Free()
	m, encoded := v.(proto.Message), buffer.ReadOnlyData()
	if partsLeft(encoded, m.ProtoReflect().Descriptor(), maxParts) <= 0 {
		return fmt.Errorf("more than %d parts", maxParts)
	}
	return proto.Unmarshal(encoded, m)
}

// partsLeft returns left minus the number of messages within an encoded message, or
// 0 if that is negative. It ignores what can't be decoded.
func partsLeft(encoded []byte, d protoreflect.MessageDescriptor, left int) int {
	for len(encoded) > 0 && left > 0 {
		number, kind, n := protowire.ConsumeTag(encoded)
		if n < 0 {
			return left
		}
		size := protowire.ConsumeFieldValue(number, kind, encoded[n:])
		if size < 0 {
			return left
		}
		if field := d.Fields().ByNumber(number); field != nil && field.Message() != nil && kind == protowire.BytesType {
			inner, _ := protowire.ConsumeBytes(encoded[n:])
			left = partsLeft(inner, field.Message(), left-1)
		}
		encoded = encoded[n+size:]
	}
	return left
}

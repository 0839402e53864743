// Package limit bounds what pods can make the manager hold, whatever they send: the connections of an address, the bytes
// of messages that are partly received, and the parts of a message. It knows of runs no more than their names.
package limit

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// maxParts bounds the parts of a pod's message: the messages within it, the elements of its lists
// and maps, and its unknown fields. An empty message takes 2 bytes on the wire but more than a
// hundred in memory. Totals have some hundreds of parts.
const maxParts = 10_000

type boundedCodec struct{ encoding.CodecV2 }

// Codec returns gRPC's codec for protobuf, but rejects messages with more than maxParts.
func Codec() encoding.CodecV2 { return boundedCodec{encoding.GetCodecV2(encodingproto.Name)} }

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

// partsLeft returns left minus the number of parts of an encoded message. It stops counting at 0, and
// at what can't be decoded.
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
		field, value := d.Fields().ByNumber(number), encoded[n:n+size]
		switch {
		case field == nil:
			left--
		case field.Message() != nil && kind == protowire.BytesType: // a map's entry too
			inner, _ := protowire.ConsumeBytes(value)
			left = partsLeft(inner, field.Message(), left-1)
		case field.IsList() && kind == protowire.BytesType && packable(field.Kind()):
			inner, _ := protowire.ConsumeBytes(value)
			left -= packed(inner, field.Kind())
		case field.IsList():
			left--
		}
		encoded = encoded[n+size:]
	}
	return left
}

// packable reports whether a list of a kind may be packed: all but texts and messages.
func packable(kind protoreflect.Kind) bool {
	return kind != protoreflect.StringKind && kind != protoreflect.BytesKind && kind != protoreflect.MessageKind && kind != protoreflect.GroupKind
}

// packed returns the number of elements in a packed list.
func packed(list []byte, kind protoreflect.Kind) int {
	switch kind {
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return len(list) / 4
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return len(list) / 8
	}
	n := 0
	for _, b := range list {
		if b < 0x80 { // the last byte of a number
			n++
		}
	}
	return n
}

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// layer is an uncompressed layer that is generated each time it is read. Archives
// stay on one machine, where compression costs more time than it saves.
type layer struct {
	pieces []piece
	digest v1.Hash
	size   int64
}

func newLayer(pieces []piece) (v1.Layer, error) {
	digest := sha256.New()
	counter := &countingWriter{}
	if err := writeLayer(io.MultiWriter(digest, counter), pieces); err != nil {
		return nil, fmt.Errorf("layer: %w", err)
	}
	return &layer{
		pieces: pieces,
		digest: v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(digest.Sum(nil))},
		size:   counter.n,
	}, nil
}

func (l *layer) Digest() (v1.Hash, error)             { return l.digest, nil }
func (l *layer) DiffID() (v1.Hash, error)             { return l.digest, nil }
func (l *layer) Size() (int64, error)                 { return l.size, nil }
func (l *layer) MediaType() (types.MediaType, error)  { return types.DockerUncompressedLayer, nil }
func (l *layer) Uncompressed() (io.ReadCloser, error) { return l.Compressed() }

func (l *layer) Compressed() (io.ReadCloser, error) {
	reader, writer := io.Pipe()
	go func() { writer.CloseWithError(writeLayer(writer, l.pieces)) }()
	return reader, nil
}

type countingWriter struct{ n int64 }

func (w *countingWriter) Write(p []byte) (int, error) {
	w.n += int64(len(p))
	return len(p), nil
}

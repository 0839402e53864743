// Package artifact has the format in which full results are kept outside the status
// of a run: gzip-compressed JSON with a schema version, bounded in size. It is
// independent of Kubernetes and of where the bytes are stored.
//
// A result has two forms. Encode makes one that fits in a ConfigMap, EncodeFull one for a bucket, which has every histogram.
//
// The JSON is that of result.Result, whose fields have comments. If the target's pod has several
// containers, "server" is the one that clients talk to. "backends" are those behind it, each with
// its "name" and the fields of "server". "environment.backends" has the conditions of each, by
// "name". Each point of "series" has "backendCPUMicroseconds", an object of CPU times by name. A
// target of one container has none of the three.
package artifact

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// Key is the key of a ConfigMap's binaryData under which a result is kept.
	Key = "result.json.gz"

	// ConfigMapLimit is the largest size of an encoded result in a ConfigMap, in bytes. The API
	// server rejects objects whose data is larger than 1 MiB (MaxSecretSize and the like in
	// k8s.io/kubernetes/pkg/apis/core). etcd rejects requests larger than 1.5 MiB, which contain
	// binaryData without base64. 900 KiB leaves room for names and labels.
	ConfigMapLimit = 900 << 10

	// FullLimit is the largest size of a full result, which is an object in a bucket, in bytes.
	FullLimit = 64 << 20
)

// Identity identifies the bytes of a stored artifact.
type Identity struct {
	// SizeBytes is their number.
	SizeBytes int64
	// SHA256 is their SHA-256 in hexadecimal.
	SHA256 string
}

// Identify returns the identity of an artifact.
func Identify(data []byte) Identity {
	sum := sha256.Sum256(data)
	return Identity{SizeBytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
}

// ErrTooLarge means that a result does not fit even without everything that may be omitted.
var ErrTooLarge = errors.New("the result does not fit")

// Pack is the inverse of Unpack: it returns v as gzip-compressed JSON of at most limit bytes. The same value always gives
// the same bytes: the gzip header has neither time nor name. The error is ErrTooLarge if it is larger: as soon as that is
// known, because compressing takes most of the time.
func Pack(v any, limit int) ([]byte, error) {
	out := &limited{limit: limit}
	w, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if err := json.NewEncoder(w).Encode(v); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// limited is a buffer of at most limit bytes.
type limited struct {
	bytes.Buffer
	limit int
}

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.limit-l.Len() {
		return 0, ErrTooLarge
	}
	return l.Buffer.Write(p)
}

// DecodeFull is the inverse of EncodeFull. It rejects what Decode rejects, with higher bounds.
func DecodeFull(data []byte) (*result.Result, error) { return decode(data, &fullBounds) }

// Decode is the inverse of Encode, but for what Encode has omitted. It rejects other schema versions
// than its own, and JSON that is longer, deeper nested or takes more memory than any result.
func Decode(data []byte) (*result.Result, error) { return decode(data, &configMapBounds) }

func decode(data []byte, b *bounds) (*result.Result, error) {
	plain, err := unpack(data, b.decoded)
	if err != nil {
		return nil, err
	}
	if err := b.check(plain, result.Result{}); err != nil {
		return nil, fmt.Errorf("decode result: %w", err)
	}
	var schema struct {
		Version int `json:"schemaVersion"`
	}
	if err := json.Unmarshal(plain, &schema); err != nil {
		return nil, fmt.Errorf("decode result: %w", err)
	}
	if schema.Version != result.SchemaVersion {
		return nil, fmt.Errorf("decode result: its schema version is %d, this program reads %d: use the version of Assay that wrote it",
			schema.Version, result.SchemaVersion)
	}
	var r result.Result
	if err := json.Unmarshal(plain, &r); err != nil {
		return nil, fmt.Errorf("decode result: %w", err)
	}
	return &r, nil
}

// Unpack returns the JSON of an artifact, of at most 32 MiB.
func Unpack(data []byte) ([]byte, error) { return unpack(data, maxDecoded) }

func unpack(data []byte, limit int) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpack result: %w", err)
	}
	// The trailer has the length: a buffer that grows would take more than twice that.
	length := min(int64(binary.LittleEndian.Uint32(data[len(data)-4:])), int64(limit))
	plain := bytes.NewBuffer(make([]byte, 0, length+bytes.MinRead))
	if _, err := plain.ReadFrom(io.LimitReader(r, int64(limit)+1)); err != nil {
		return nil, fmt.Errorf("unpack result: %w", err)
	}
	if plain.Len() > limit {
		return nil, fmt.Errorf("unpack result: more than %d bytes", limit)
	}
	return plain.Bytes(), nil
}

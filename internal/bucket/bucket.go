// Package bucket stores results as objects in buckets: S3 and what is compatible with it, Google Cloud Storage, Azure
// Blob Storage, and directories. It knows neither what the objects contain nor which run they belong to, except for
// their keys.
//
// An object is created and never replaced. Its key has the digest of its content, so that storing the same content
// again finds it stored, and other content under the key is an error.
package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// MaxSize bounds an object in bytes.
const MaxSize = 64 << 20

// ErrOther reports that the object under a key is not the one that belongs there.
var ErrOther = errors.New("the object under the key is another one")

// Digest identifies the content of an object.
type Digest struct {
	// Size is its length in bytes.
	Size int64
	// SHA256 is its SHA-256 in hexadecimal.
	SHA256 string
}

// DigestOf returns the digest of data.
func DigestOf(data []byte) Digest {
	sum := sha256.Sum256(data)
	return Digest{Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
}

// Prefix returns the beginning of the keys of a run's objects. No two runs have the same, and none is the beginning of
// another's.
func Prefix(namespace, name, uid string) string { return namespace + "/" + name + "-" + uid + "/" }

// Bucket is an open bucket. It is safe for concurrent use.
type Bucket struct {
	blobs *blob.Bucket
	name  string
}

// Close releases the connections of the bucket.
func (b *Bucket) Close() error { return b.blobs.Close() }

// Put creates an object. It succeeds if the object exists already with the same content, and returns an error that
// wraps ErrOther if it exists with other content. The object is never visible in part: if Put fails, it is there as a
// whole or not at all.
func (b *Bucket) Put(ctx context.Context, key string, data []byte) error {
	if len(data) > MaxSize {
		return fmt.Errorf("put object %s into bucket %s: it has %d bytes, must be at most %d", key, b.name, len(data), MaxSize)
	}
	err := b.blobs.Upload(ctx, key, bytes.NewReader(data), &blob.WriterOptions{IfNotExist: true, ContentType: "application/gzip"})
	if err == nil {
		return nil
	}
	// A server that has an object refuses it with an answer, or closes the connection while the content is on its way.
	// What decides is therefore what is stored.
	_, stored := b.Get(ctx, key, DigestOf(data))
	exists := gcerrors.Code(err) == gcerrors.FailedPrecondition || gcerrors.Code(err) == gcerrors.AlreadyExists
	if stored == nil || errors.Is(stored, ErrOther) || exists {
		return stored
	}
	return fmt.Errorf("put object %s into bucket %s: %w", key, b.name, explain(ctx, err))
}

// Get returns the content of an object. The error wraps ErrOther if its digest is not the given one. No more is read
// than the digest's size.
func (b *Bucket) Get(ctx context.Context, key string, want Digest) ([]byte, error) {
	data, err := b.read(ctx, key, want)
	if err != nil {
		return nil, fmt.Errorf("get object %s from bucket %s: %w", key, b.name, err)
	}
	return data, nil
}

func (b *Bucket) read(ctx context.Context, key string, want Digest) ([]byte, error) {
	if want.Size < 0 || want.Size > MaxSize {
		return nil, fmt.Errorf("its size is given as %d bytes, must be at most %d", want.Size, MaxSize)
	}
	r, err := b.blobs.NewReader(ctx, key, nil)
	if err != nil {
		return nil, explain(ctx, err)
	}
	defer func() { _ = r.Close() }()
	if r.Size() != want.Size {
		return nil, fmt.Errorf("%w: it has %d bytes, not %d", ErrOther, r.Size(), want.Size)
	}
	data, err := io.ReadAll(io.LimitReader(r, want.Size+1))
	if err != nil {
		return nil, explain(ctx, err)
	}
	if got := DigestOf(data); got != want {
		return nil, fmt.Errorf("%w: its SHA-256 is %s, not %s", ErrOther, got.SHA256, want.SHA256)
	}
	return data, nil
}

// DeleteAll deletes all objects whose keys begin with prefix, and returns their number. Objects that are gone
// meanwhile are no error.
func (b *Bucket) DeleteAll(ctx context.Context, prefix string) (int, error) {
	deleted := 0
	list := b.blobs.List(&blob.ListOptions{Prefix: prefix})
	for {
		object, err := list.Next(ctx)
		if err == io.EOF { //nolint:errorlint // a wrapped one is a lost connection
			return deleted, nil
		}
		if err == nil {
			err = b.blobs.Delete(ctx, object.Key)
		}
		switch {
		case err == nil:
			deleted++
		case gcerrors.Code(err) != gcerrors.NotFound || object == nil:
			return deleted, fmt.Errorf("delete objects %s* from bucket %s: %w", prefix, b.name, explain(ctx, err))
		}
	}
}

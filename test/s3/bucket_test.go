package s3

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/bucket"
	"github.com/assay-dev/assay/test/objectstore"
)

// open opens the bucket results at an address, with the server's credentials.
func open(t *testing.T, address string) *bucket.Bucket {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", accessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secretKey)
	return openURL(t, objectstore.URL(address, objectstore.Bucket))
}

func openURL(t *testing.T, address string) *bucket.Bucket {
	t.Helper()
	b, err := bucket.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// object returns content of the given size, its key and its digest.
func object(size int) (data []byte, key string, digest bucket.Digest) {
	data = make([]byte, size)
	random := rand.NewChaCha8([32]byte{byte(size)})
	_, _ = random.Read(data)
	digest = bucket.DigestOf(data)
	return data, bucket.Prefix("default", "static", "1234") + digest.SHA256, digest
}

func TestObjects(t *testing.T) {
	s := newServer(t)
	b := open(t, s.Address)
	for name, size := range map[string]int{"empty": 0, "in one part": 3 << 20, "in several parts": 20 << 20} {
		t.Run(name, func(t *testing.T) {
			data, key, digest := object(size)
			for range 2 { // the second time it is there already
				if err := b.Put(t.Context(), key, data); err != nil {
					t.Fatal(err)
				}
			}
			got, err := b.Get(t.Context(), key, digest)
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("got %d bytes, %v", len(got), err)
			}
			if _, err := b.Get(t.Context(), key, bucket.Digest{Size: digest.Size, SHA256: strings.Repeat("0", 64)}); !errors.Is(err, bucket.ErrOther) {
				t.Errorf("with another digest: %v", err)
			}
		})
	}
	if n, err := b.DeleteAll(t.Context(), bucket.Prefix("default", "static", "123")); n != 0 || err != nil {
		t.Errorf("another run's objects: deleted %d, %v", n, err)
	}
	for _, want := range []int{3, 0} {
		if n, err := b.DeleteAll(t.Context(), bucket.Prefix("default", "static", "1234")); n != want || err != nil {
			t.Errorf("deleted %d, %v; want %d", n, err, want)
		}
	}
}

func TestNeverReplaces(t *testing.T) {
	b := open(t, newServer(t).Address)
	for name, size := range map[string]int{"in one part": 1 << 20, "in several parts": 20 << 20} {
		t.Run(name, func(t *testing.T) {
			data, key, _ := object(size)
			other := bytes.Clone(data)
			other[size/2]++
			if err := b.Put(t.Context(), key, other); err != nil {
				t.Fatal(err)
			}
			if err := b.Put(t.Context(), key, data); !errors.Is(err, bucket.ErrOther) {
				t.Errorf("put: %v", err)
			}
			if got, err := b.Get(t.Context(), key, bucket.DigestOf(other)); err != nil || !bytes.Equal(got, other) {
				t.Errorf("the object that was there: %d bytes, %v", len(got), err)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	s := newServer(t)
	data, key, digest := object(1000)
	for name, tc := range map[string]struct{ access, secret, bucket, want string }{
		"no such bucket":     {accessKey, secretKey, "nowhere", "not found: NoSuchBucket"},
		"another secret":     {accessKey, "an0ther", "results", "access denied: SignatureDoesNotMatch"},
		"another access key": {"somebody", secretKey, "results", "No user exists with the provided access key ID"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("AWS_ACCESS_KEY_ID", tc.access)
			t.Setenv("AWS_SECRET_ACCESS_KEY", tc.secret)
			b := openURL(t, objectstore.URL(s.Address, tc.bucket))
			err := b.Put(t.Context(), key, data)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), tc.secret) {
				t.Errorf("put: %v, want %q", err, tc.want)
			}
		})
	}
	b := open(t, s.Address)
	if _, err := b.Get(t.Context(), key, digest); !errors.Is(err, bucket.ErrNotFound) {
		t.Errorf("get: %v", err)
	}
}

// TestKilledInMidWrite kills the server when it has received half of an object. After its restart nothing of the object
// is visible, and it can be stored as if nothing had happened.
func TestKilledInMidWrite(t *testing.T) {
	for name, size := range map[string]int{"in one part": 8 << 20, "in several parts": 24 << 20} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			p := newProxy(t, s)
			struck := p.KillAfter(size/2, "")
			b := open(t, p.Address())
			data, key, digest := object(size)
			if err := b.Put(t.Context(), key, data); err == nil || errors.Is(err, bucket.ErrOther) {
				t.Fatalf("put while the server was killed: %v", err)
			}
			<-struck
			if _, err := b.Get(t.Context(), key, digest); err == nil {
				t.Error("got an object from a server that is gone")
			}
			restart(t, s)
			if _, err := b.Get(t.Context(), key, digest); !errors.Is(err, bucket.ErrNotFound) {
				t.Errorf("get after the restart: %v", err)
			}
			if n, err := b.DeleteAll(t.Context(), ""); n != 0 || err != nil {
				t.Errorf("%d objects are visible, %v", n, err)
			}
			if err := b.Put(t.Context(), key, data); err != nil {
				t.Fatalf("put after the restart: %v", err)
			}
			if got, err := b.Get(t.Context(), key, digest); err != nil || !bytes.Equal(got, data) {
				t.Errorf("got %d bytes after the restart, %v", len(got), err)
			}
		})
	}
}

// TestKilledBeforeItAnswers kills the server when it has stored an object, before the client knows. Storing it again
// succeeds: it is the same.
func TestKilledBeforeItAnswers(t *testing.T) {
	s := newServer(t)
	p := newProxy(t, s)
	struck := p.KillOnAnswer()
	b := open(t, p.Address())
	data, key, digest := object(1 << 20)
	if err := b.Put(t.Context(), key, data); err == nil {
		t.Fatal("put succeeded although the server was killed")
	}
	<-struck
	restart(t, s)
	if got, err := b.Get(t.Context(), key, digest); err != nil || !bytes.Equal(got, data) {
		t.Errorf("get after the restart: %d bytes, %v", len(got), err)
	}
	if err := b.Put(t.Context(), key, data); err != nil {
		t.Errorf("put after the restart: %v", err)
	}
}

// TestSilentServer has a server that accepts connections and never answers.
func TestSilentServer(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	b := open(t, listener.Addr().String())
	data, key, _ := object(1000)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := b.Put(ctx, key, data); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no answer in time") {
		t.Errorf("put: %v", err)
	}
}

// TestLostConnections has a server that closes every connection. That isn't the end of a list.
func TestLostConnections(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			_ = connection.Close()
		}
	}()
	if n, err := open(t, listener.Addr().String()).DeleteAll(t.Context(), "ns/run-1/"); err == nil {
		t.Errorf("deleted %d objects of a server that doesn't answer", n)
	}
}

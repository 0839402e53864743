package manager

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// zeros are an endless body.
type zeros struct{}

// Read implements io.Reader.
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// framed returns the gRPC frame of a message of so many bytes, with those that are given.
func framed(size int, data []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(size)), data...)
}

// stall opens a session, sends a message but for its last byte, and nothing more until the test ends.
func stall(t *testing.T, b *bench, i Identity, first []byte, size int) (ended chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	more, forever := io.Pipe()
	body := io.MultiReader(bytes.NewReader(first), bytes.NewReader(framed(size, nil)), io.LimitReader(zeros{}, int64(size)-1), more)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+b.address+sessionpb.Sessions_Join_FullMethodName, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/grpc")
	request.Header.Set("Te", "trailers")
	request.Header.Set("Authorization", "Bearer "+token(i))
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP2(true)
	ended = make(chan error, 1)
	go func() {
		response, err := transport.RoundTrip(request)
		if err == nil {
			_, err = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
		ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		_ = forever.Close()
		transport.CloseIdleConnections()
	})
	return ended
}

// TestPartlyReceivedMessages has pods send messages of 4 MiB that never end. The memory for those of
// a run and for those of all runs is bounded, and another run's pod is served.
func TestPartlyReceivedMessages(t *testing.T) {
	greeting, err := proto.Marshal(hello(&sessionpb.Hello{Role: client}))
	if err != nil {
		t.Fatal(err)
	}
	first := framed(len(greeting), greeting)
	// The bounds are those of limit.ReceiveLimiter.
	const pods, mostOfARun, most, small = 32, 2, 8, 128 << 10
	for _, test := range []struct{ runs, large int }{{1, mostOfARun}, {pods, most}} {
		t.Run(fmt.Sprintf("%d runs", test.runs), func(t *testing.T) {
			b := newBench(t)
			before := heap()
			var ended <-chan error
			for i := range pods {
				ended = stall(t, b, clientOf(fmt.Sprint("run", i%test.runs), i), first, session.MaxMessageBytes)
			}
			for deadline := time.Now().Add(2 * time.Minute); ; <-time.After(10 * time.Millisecond) {
				large, smallest, waiting := b.receiving.Held()
				complete := large == 0 || smallest > session.MaxMessageBytes-small // some came together with Hello
				select {
				case err := <-ended:
					t.Fatalf("the last session ended: %v; %d large messages of at least %d bytes, %d wait", err, large, smallest, waiting)
				default:
				}
				if large == test.large && complete && waiting == pods-large {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("%d large messages of at least %d bytes, %d wait", large, smallest, waiting)
				}
			}
			// gRPC's buffers of a frame are larger than the frame. The other end is in this process, too.
			if grown, limit := heap()-before, int64(test.large*2*(session.MaxMessageBytes+4*small)+pods*4*small); grown > limit {
				t.Errorf("%d MiB are in use, want at most %d", grown>>20, limit>>20)
			} else {
				t.Logf("%d MiB are in use for %d MiB that were sent", grown>>20, pods*session.MaxMessageBytes>>20)
			}
			other := b.dial(token(clientOf("other", 0)))
			other.send(hello(&sessionpb.Hello{Role: client}))
			until(t, other, welcome)
			reason := &sessionpb.Failure{Reason: "planted"}
			if test.large < most {
				reason.Reason += strings.Repeat(" ", session.MaxMessageBytes-100)
			}
			other.send(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_Failure{Failure: reason}})
			b.await("other", "failed", func(o session.Observation) bool { return o.Clients[0].Failure != "" })
		})
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestLargeFirstMessage sends a first message that is larger than a Hello can be.
func TestLargeFirstMessage(t *testing.T) {
	b := newBench(t)
	if err := <-stall(t, b, clientOf("run", 0), nil, session.MaxMessageBytes); err == nil {
		t.Error("the session ended without an error")
	}
	b.dial(token(clientOf("run", 0))).send(hello(&sessionpb.Hello{Role: client}))
	b.await("run", "connected", func(o session.Observation) bool { return len(o.Clients) == 1 && o.Clients[0].Connected })
}

package manager

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
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

// held returns the number of large messages, how many of them have arrived as far as they were sent,
// and the number of connections that wait.
func (in *intake) held() (large, complete, waiting int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, c := range in.large {
		if c.pending > session.MaxMessageBytes-smallIntake { // some came together with Hello
			complete++
		}
	}
	return len(in.large), complete, len(in.waiting)
}

// TestPartlyReceivedMessages has pods send messages of 4 MiB that never end. The memory for those of
// a run and for those of all runs is bounded, and another run's pod is served.
func TestPartlyReceivedMessages(t *testing.T) {
	greeting, err := proto.Marshal(hello(&sessionpb.Hello{Role: client}))
	if err != nil {
		t.Fatal(err)
	}
	first := framed(len(greeting), greeting)
	const pods = 32
	for _, test := range []struct{ runs, large int }{{1, maxRunLarge}, {pods, maxLarge}} {
		t.Run(fmt.Sprintf("%d runs", test.runs), func(t *testing.T) {
			b := newBench(t)
			before := heap()
			var ended <-chan error
			for i := range pods {
				ended = stall(t, b, clientOf(fmt.Sprint("run", i%test.runs), i), first, session.MaxMessageBytes)
			}
			for deadline := time.Now().Add(2 * time.Minute); ; <-time.After(10 * time.Millisecond) {
				large, complete, waiting := b.intake.held()
				select {
				case err := <-ended:
					t.Fatalf("the last session ended: %v; %d large messages, %d of them complete, %d wait; %+v", err, large, complete, waiting, b.intake.large)
				default:
				}
				if large == test.large && complete == large && waiting == pods-large {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("%d large messages, %d of them complete, %d wait", large, complete, waiting)
				}
			}
			// gRPC's buffers of a frame are larger than the frame. The other end is in this process, too.
			if grown, most := heap()-before, int64(test.large*2*messageIntake+pods*4*smallIntake); grown > most {
				t.Errorf("%d MiB are in use, want at most %d", grown>>20, most>>20)
			} else {
				t.Logf("%d MiB are in use for %d MiB that were sent", grown>>20, pods*session.MaxMessageBytes>>20)
			}
			other := b.dial(token(clientOf("other", 0)))
			other.send(hello(&sessionpb.Hello{Role: client}))
			until(t, other, welcome)
			reason := &sessionpb.Failure{Reason: "planted"}
			if test.large < maxLarge {
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

// TestIntakeOfAConnection sends frames of several sizes until the connection ends, at each stage of a
// session.
func TestIntakeOfAConnection(t *testing.T) {
	for _, limit := range []int{smallIntake, helloIntake, messageIntake} {
		for _, size := range []int{0, 1, 1000, 16 << 10} {
			t.Run(fmt.Sprintf("%d by %d", limit, size), func(t *testing.T) {
				near, far := net.Pipe()
				conn := newIntake().newConn(near)
				if limit > smallIntake {
					conn.assign("run", limit)
				}
				go func() {
					_, _ = io.WriteString(far, http2.ClientPreface)
					framer := http2.NewFramer(far, nil)
					for framer.WriteData(1, false, make([]byte, size)) == nil {
					}
				}()
				n, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{conn}, make([]byte, 100))
				if !errors.Is(err, errIntake) {
					t.Error(err)
				}
				frame := int64(frameHeaderBytes + size)
				want := int64(limit) * frame / (frame + frameIntake)
				if n > want+frame+24 || n < want-frame-1000 {
					t.Errorf("%d bytes arrived, want %d", n, want)
				}
				if err := conn.Close(); err != nil {
					t.Error(err)
				}
				if _, _, waiting := conn.intake.held(); len(conn.intake.large) != 0 || waiting != 0 {
					t.Errorf("%d large messages, %d wait", len(conn.intake.large), waiting)
				}
			})
		}
	}
}

// TestTurnsOfLargeMessages has a run with many connections wait before others.
func TestTurnsOfLargeMessages(t *testing.T) {
	in := newIntake()
	begin := func(run string) (*sessionConn, <-chan struct{}) {
		near, far := net.Pipe()
		c := in.newConn(near)
		t.Cleanup(func() { _, _ = c.Close(), far.Close() }) // else its timer would, in another test
		c.assign(run, messageIntake)
		wait, _ := c.add(smallIntake + 1)
		return c, wait
	}
	turn := func(wait <-chan struct{}) bool {
		select {
		case <-wait:
			return true
		default:
			return false
		}
	}
	var first []*sessionConn
	for i := range maxLarge { // as many as there may be, two of each run
		c, wait := begin(fmt.Sprint("run", i/2))
		if !turn(wait) {
			t.Fatalf("message %d waits", i)
		}
		first = append(first, c)
	}
	_, greedy := begin("run1")
	_, fresh := begin("other")
	gone, _ := begin("gone")
	if turn(greedy) || turn(fresh) {
		t.Fatal("too many large messages")
	}
	first[2].received(messageIntake) // of run1
	if turn(greedy) || !turn(fresh) {
		t.Error("a run with a large message was served before one without")
	}
	gone.received(messageIntake) // its message was complete
	first[0].received(messageIntake)
	if !turn(greedy) {
		t.Error("the last one waits")
	}
	if len(in.waiting) != 0 || len(in.large) != maxLarge {
		t.Errorf("%d wait, %d are large", len(in.waiting), len(in.large))
	}
}

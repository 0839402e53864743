package manager

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// flood is a pod's end of a session, frame by frame, which takes next to no memory itself.
type flood struct {
	tb     testing.TB
	out    *bufio.Writer
	framer *http2.Framer
}

func (b *bench) flood(i Identity) *flood {
	b.t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(b.pem)
	conn, err := tls.Dial("tcp", b.address, &tls.Config{ServerName: session.ServerName, RootCAs: roots, MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"}})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = conn.Close() })
	out := bufio.NewWriter(conn)
	f := &flood{tb: b.t, out: out, framer: http2.NewFramer(out, conn)}
	_, err = out.WriteString(http2.ClientPreface)
	f.must(err)
	f.must(f.framer.WriteSettings())
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for _, field := range [][2]string{
		{":method", "POST"}, {":scheme", "https"}, {":path", sessionpb.Sessions_Join_FullMethodName}, {":authority", session.ServerName},
		{"content-type", "application/grpc"}, {"te", "trailers"}, {"authorization", "Bearer " + token(i)},
	} {
		f.must(encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}))
	}
	f.must(f.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndHeaders: true}))
	f.data(encoded(f.tb, hello(&sessionpb.Hello{Role: client, Instance: 1})), http2MaxFrame)
	return f
}

const http2MaxFrame = 16 << 10

// encoded returns a message as gRPC sends it.
func encoded(tb testing.TB, m *sessionpb.PodMessage) []byte {
	tb.Helper()
	message, err := proto.Marshal(m)
	if err != nil {
		tb.Fatal(err)
	}
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

func (f *flood) must(err error) {
	f.tb.Helper()
	if err != nil {
		f.tb.Fatal(err)
	}
}

// data sends bytes in frames of a size.
func (f *flood) data(all []byte, frame int) {
	f.tb.Helper()
	for len(all) > 0 {
		n := min(frame, len(all))
		f.must(f.framer.WriteData(1, false, all[:n]))
		all = all[n:]
	}
	f.must(f.out.Flush())
}

// read waits until the manager has taken everything that was sent off the connection.
func (f *flood) read() {
	f.tb.Helper()
	f.must(f.framer.WritePing(false, [8]byte{1}))
	f.must(f.out.Flush())
	for {
		frame, err := f.framer.ReadFrame()
		f.must(err)
		if ping, ok := frame.(*http2.PingFrame); ok && ping.IsAck() && ping.Data == [8]byte{1} {
			return
		}
	}
}

// TestOneMessageInTinyFrames sends the first part of the largest message in frames of one byte, one by one, so
// that the manager reads each for itself. Each is kept until the message is complete.
func TestOneMessageInTinyFrames(t *testing.T) {
	const sent, most = 24 << 10, 64 // less than the manager takes in such frames, and bytes of memory for each byte
	b := newBench(t)
	f := b.flood(clientOf("run", 0))
	b.await("run", "joined", joined(1))
	f.data(binary.BigEndian.AppendUint32([]byte{0}, session.MaxMessageBytes), http2MaxFrame)
	before, _ := memoryUsed()
	for range sent {
		f.data([]byte{0}, 1)
	}
	f.read()
	if after, _ := memoryUsed(); after-before > most*sent {
		t.Errorf("%d bytes of a message take %d bytes of memory", sent, after-before)
	}
}

// BenchmarkBacklog reports the manager's memory per session while clients send faster than it handles
// their messages: as much as flow control lets them, in frames of the size of a sample second and in tiny ones.
func BenchmarkBacklog(b *testing.B) {
	for _, frame := range []int{6000, 1} {
		b.Run(fmt.Sprintf("frames of %d B", frame), func(b *testing.B) {
			const sessions = 50
			sent := make([]byte, 60_000) // less than the window: nothing has to be waited for
			message := encoded(b, &sessionpb.PodMessage{Message: &sessionpb.PodMessage_Ping{Ping: &sessionpb.Ping{Sent: 1}}})
			for i := 0; i+len(message) <= len(sent); i += len(message) {
				copy(sent[i:], message)
			}
			for b.Loop() {
				m := newBench(b)
				before, stacks := memoryUsed()
				var floods []*flood
				for i := range sessions {
					floods = append(floods, m.flood(clientOf("run", i)))
				}
				m.await("run", "joined", joined(sessions))
				r := m.of("run")
				r.mu.Lock() // the manager handles no message
				for _, f := range floods {
					f.data(sent, frame)
					f.read()
				}
				heap, stacksNow := memoryUsed()
				r.mu.Unlock()
				b.ReportMetric(float64(heap-before)/sessions, "heap-B/session")
				b.ReportMetric(float64(stacksNow-stacks)/sessions, "stack-B/session")
				m.kill()
			}
		})
	}
}

func memoryUsed() (heap, stacks int64) {
	runtime.GC()
	runtime.GC() // pools keep what they have for one
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc), int64(stats.StackInuse)
}

func joined(n int) func(session.Observation) bool {
	return func(o session.Observation) bool { return len(o.Clients) == n }
}

package driver

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/load/driver/response"
	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/result"
)

// TestSlowResponses checks responses with long delays, before and within the response.
func TestSlowResponses(t *testing.T) { inBothModes(t, testSlowResponses) }

func testSlowResponses(t *testing.T) {
	const delay = 1100 * time.Millisecond
	server := testserver.New(t, func(testserver.Request) testserver.Answer {
		return testserver.Answer{Parts: []string{"HTTP/1.1 200 OK\r\nContent-Le", "ngth: 4\r\n\r\nab", "cd"}, Pause: delay, Delay: delay}
	})
	got := drive(t, plan(2, 2, "/"), server.Address())
	if got.Succeeded() != 2 || got.Connections != 2 {
		t.Errorf("counts %+v", got.Counts)
	}
	for _, o := range got.outcomes {
		// The client may see the first byte late: only then is the rest received in less than two delays.
		if o.Waiting < delay || o.Waiting+o.Receiving < 3*delay {
			t.Errorf("waiting %v, receiving %v", o.Waiting, o.Receiving)
		}
	}
}

// TestLongTimeouts checks that requests time out neither early nor late.
func TestLongTimeouts(t *testing.T) { inBothModes(t, testLongTimeouts) }

func testLongTimeouts(t *testing.T) {
	const timeout = 1100 * time.Millisecond
	for name, answer := range map[string]testserver.Answer{
		"no response":         {Then: testserver.Hang},
		"no rest of the body": {Parts: []string{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"}, Then: testserver.Hang},
	} {
		t.Run(name, func(t *testing.T) {
			server := testserver.New(t, func(testserver.Request) testserver.Answer { return answer })
			p := plan(2, 2, "/")
			p.TimeoutMicroseconds = timeout.Microseconds()
			got := drive(t, p, server.Address())
			if got.Errors[result.ErrorTimeout] != 2 || got.Errors.Total() != 2 {
				t.Errorf("errors %v", got.Errors)
			}
			for _, o := range got.outcomes {
				if o.Total < timeout || o.Total > timeout+time.Second {
					t.Errorf("timed out after %v", o.Total)
				}
			}
		})
	}
}

// TestLongBodies checks that long bodies, which are discarded unread, are still
// checked for their length.
func TestLongBodies(t *testing.T) { inBothModes(t, testLongBodies) }

func testLongBodies(t *testing.T) {
	const length = 10*response.BufferBytes + 1
	body := strings.Repeat("x", length)
	head := "HTTP/1.1 200 OK\r\nContent-Length: 327681\r\n\r\n"
	for name, test := range map[string]struct {
		answer testserver.Answer
		want   result.ErrorKind
	}{
		"as promised":   {testserver.Text(length, testserver.Stay, head+body), recorder.NoError},
		"in two parts":  {testserver.Text(length, testserver.Stay, head, body), recorder.NoError},
		"one byte less": {text(testserver.Close, head+body[1:]), result.ErrorLength},
		"in chunks":     {testserver.Text(length, testserver.Stay, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50001\r\n"+body+"\r\n0\r\n\r\n"), recorder.NoError},
		"chunk one byte longer": {
			text(testserver.Stay, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50001\r\n"+body+"x\r\n0\r\n\r\n"), result.ErrorException,
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := testserver.New(t, func(testserver.Request) testserver.Answer { return test.answer })
			const requests = 6
			got := drive(t, plan(1, requests, "/"), server.Address())
			var want result.ErrorCounts
			if test.want != recorder.NoError {
				want[test.want] = requests
			}
			if got.Errors != want {
				t.Errorf("errors %v, want %v", got.Errors, want)
			}
			server.Stop()
			if sent := server.Seen().BytesSent; test.want == recorder.NoError && (got.BytesReceived != sent || got.BodyBytes != requests*length) {
				t.Errorf("%d bytes received, %d of bodies; the server sent %d", got.BytesReceived, got.BodyBytes, sent)
			}
		})
	}
}

func TestBothFamilies(t *testing.T) { inBothModes(t, testBothFamilies) }

func testBothFamilies(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("can't listen on %s: %v", address, err)
			continue
		}
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				go answer(conn)
			}
		}()
		got := drive(t, plan(2, 4, "/"), listener.Addr().String())
		_ = listener.Close()
		// One connection may take all requests before the other has started.
		if got.Succeeded() != 4 || got.Connections < 1 || got.Connections > 2 || got.KeepAlive != 4-got.Connections {
			t.Errorf("%s: counts %+v", address, got.Counts)
		}
	}
}

package driver

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/result"
)

// faults are responses and how the client classifies them: the kind of error, and
// whether the connection is kept.
var faults = map[string]struct {
	answer testserver.Answer
	want   result.ErrorKind
	kept   bool
}{
	"fine":                          {testserver.OK(5), recorder.NoError, true},
	"slow head":                     {testserver.Answer{Parts: []string{"HTTP/1.1 2", "00 OK\r\nContent-Le", "ngth: 2\r\n\r", "\nok"}, Pause: time.Millisecond}, recorder.NoError, true},
	"slow body":                     {testserver.Answer{Parts: []string{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "o", "k"}, Pause: time.Millisecond}, recorder.NoError, true},
	"interim responses":             {text(testserver.Stay, "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), recorder.NoError, true},
	"storm of interim responses":    {text(testserver.Close, strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 1000)), result.ErrorException, false},
	"switched protocols":            {text(testserver.Stay, "HTTP/1.1 101 Switching Protocols\r\n\r\n"), result.ErrorException, false},
	"body until the end":            {text(testserver.Close, "HTTP/1.1 200 OK\r\n\r\nall of this"), recorder.NoError, false},
	"HTTP/1.0":                      {text(testserver.Close, "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"), recorder.NoError, false},
	"HTTP/1.0 keep-alive":           {text(testserver.Stay, "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nok"), recorder.NoError, true},
	"announced but not closed":      {text(testserver.Hang, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"), recorder.NoError, false},
	"error status":                  {testserver.Status("503 Service Unavailable"), result.ErrorStatus, true},
	"not found":                     {testserver.Status("404 Not Found"), result.ErrorStatus, true},
	"not modified":                  {text(testserver.Stay, "HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n"), recorder.NoError, true},
	"closed at once":                {testserver.Answer{Then: testserver.Close}, result.ErrorReceive, false},
	"reset at once":                 {testserver.Answer{Then: testserver.Reset}, result.ErrorReceive, false},
	"half-closed at once":           {testserver.Answer{Then: testserver.HalfClose}, result.ErrorReceive, false},
	"half-closed in the head":       {text(testserver.HalfClose, "HTTP/1.1 200 OK\r\nContent-"), result.ErrorReceive, false},
	"half-closed in the body":       {text(testserver.HalfClose, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort"), result.ErrorLength, false},
	"half-closed after the body":    {text(testserver.HalfClose, "HTTP/1.1 200 OK\r\n\r\nall of this"), recorder.NoError, false},
	"reset in the status line":      {text(testserver.Reset, "HTTP/1.1 2"), result.ErrorReceive, false},
	"reset in the head":             {text(testserver.Reset, "HTTP/1.1 200 OK\r\nContent-"), result.ErrorReceive, false},
	"reset after interim":           {text(testserver.Reset, "HTTP/1.1 100 Continue\r\n\r\n"), result.ErrorReceive, false},
	"reset before the body":         {text(testserver.Reset, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"), result.ErrorReceive, false},
	"reset in the body":             {text(testserver.Reset, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort"), result.ErrorReceive, false},
	"reset in a chunk":              {text(testserver.Reset, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"), result.ErrorReceive, false},
	"reset in the trailer":          {text(testserver.Reset, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Su"), result.ErrorReceive, false},
	"reset instead of the end":      {text(testserver.Reset, "HTTP/1.1 200 OK\r\n\r\nhello"), result.ErrorReceive, false},
	"closed in the head":            {text(testserver.Close, "HTTP/1.1 200 OK\r\nContent-"), result.ErrorReceive, false},
	"closed in a chunk":             {text(testserver.Close, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"), result.ErrorReceive, false},
	"closed before the last chunk":  {text(testserver.Close, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"), result.ErrorReceive, false},
	"body shorter than promised":    {text(testserver.Close, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort"), result.ErrorLength, false},
	"body longer than promised":     {text(testserver.Stay, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nlonger"), result.ErrorLength, false},
	"longer, and the end announced": {testserver.Answer{Parts: []string{"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", "and on"}, Then: testserver.Close}, result.ErrorLength, false},
	"unrequested response":          {text(testserver.Stay, "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"), result.ErrorException, false},
	"garbage":                       {text(testserver.Stay, "\x16\x03\x01 this is no HTTP"), result.ErrorException, false},
	"another protocol":              {text(testserver.Stay, "SSH-2.0-OpenSSH_9.2\r\n"), result.ErrorException, false},
	"HTTP/2":                        {text(testserver.Stay, "HTTP/2 200 OK\r\n\r\n"), result.ErrorException, false},
	"bad chunk size":                {text(testserver.Stay, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n"), result.ErrorException, false},
	"chunk too long":                {text(testserver.Stay, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n"), result.ErrorException, false},
	"two lengths":                   {text(testserver.Stay, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!"), result.ErrorException, false},
	"length and chunks":             {text(testserver.Stay, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), result.ErrorException, false},
	"endless head":                  {text(testserver.Stay, "HTTP/1.1 200 OK\r\n"+strings.Repeat("X-More: and more\r\n", 4000)), result.ErrorException, false},
	"lines that end with LF":        {text(testserver.Stay, "HTTP/1.1 200 OK\nContent-Length: 2\n\nok"), recorder.NoError, true},
	"a folded header":               {text(testserver.Stay, "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length:\r\n\t2\r\n\r\nok"), recorder.NoError, true},
	"40 KiB of headers":             {text(testserver.Stay, "HTTP/1.1 200 OK\r\n"+strings.Repeat("X: "+strings.Repeat("x", 1019)+"\r\n", 40)+"Content-Length: 2\r\n\r\nok"), recorder.NoError, true},
	"an empty line first":           {text(testserver.Stay, "\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), recorder.NoError, true},
	"no reason, other letters":      {text(testserver.Stay, "HTTP/1.1 200\r\ncONTENT-length:2\r\nx-!#$%&'*+.^_`|~:\r\n\r\nok"), recorder.NoError, true},
	"Connection: Close":             {text(testserver.Close, "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nok"), recorder.NoError, false},
	"chunks with all there is":      {text(testserver.Stay, "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n2;a=\"b\";c\r\nok\r\n0;d\r\nX-Sum: 1\r\n 2\r\n\r\n"), recorder.NoError, true},
	"bare CR":                       {text(testserver.Stay, "HTTP/1.1 200 OK\r\nX: a\rb\r\nContent-Length: 0\r\n\r\n"), result.ErrorException, false},
	"NUL":                           {text(testserver.Stay, "HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 0\r\n\r\n"), result.ErrorException, false},
	"a space before the colon":      {text(testserver.Stay, "HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n"), result.ErrorException, false},
	"no colon":                      {text(testserver.Stay, "HTTP/1.1 200 OK\r\nContent-Length 0\r\n\r\n"), result.ErrorException, false},
	"LF after a chunk's size":       {text(testserver.Stay, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nok\r\n0\r\n\r\n"), result.ErrorException, false},
	"unknown coding":                {text(testserver.Stay, "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), result.ErrorException, false},
	"a record of TLS":               {text(testserver.Stay, "\x15\x03\x03\x00\x02\x02\x28"), result.ErrorException, false},
	"endless trailer":               {text(testserver.Stay, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"+strings.Repeat("X-More: and more\r\n", 4000)), result.ErrorException, false},
	"endless chunk extension":       {text(testserver.Stay, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;"+strings.Repeat("x", 100_000)), result.ErrorException, false},
}

func text(then testserver.Ending, parts ...string) testserver.Answer {
	return testserver.Text(0, then, parts...)
}

func TestErrorKinds(t *testing.T) { inBothModes(t, testErrorKinds) }

func testErrorKinds(t *testing.T) {
	for name, test := range faults {
		t.Run(name, func(t *testing.T) {
			server := testserver.New(t, func(testserver.Request) testserver.Answer { return test.answer })
			const requests = 3
			got := drive(t, plan(1, requests, "/"), server.Address())

			var want result.ErrorCounts
			if test.want != recorder.NoError {
				want[test.want] = requests
			}
			if got.Errors != want {
				t.Errorf("errors %v, want %v", got.Errors, want)
			}
			checkCause(t, "HTTP/1.1", name, got)
			connections := int64(requests)
			if test.kept {
				connections = 1
			}
			if got.Connections != connections || got.KeepAlive != requests-connections {
				t.Errorf("%d connections and %d requests kept alive, want %d and %d",
					got.Connections, got.KeepAlive, connections, requests-connections)
			}
			if timed := got.Latencies.Get(result.Total).Count(); timed != got.Succeeded() {
				t.Errorf("%d requests were timed, %d succeeded", timed, got.Succeeded())
			}
			eventually(t, func() bool { return server.Open() == 0 }, "the connections to be closed")
		})
	}
}

// TestNoSilentRetry has the server close the connection between two requests. The
// next request on it must fail and must not be retried.
func TestNoSilentRetry(t *testing.T) { inBothModes(t, testNoSilentRetry) }

func testNoSilentRetry(t *testing.T) {
	for name, then := range map[string]testserver.Ending{
		"closed": testserver.Close, "half-closed": testserver.HalfClose, "reset": testserver.Reset,
	} {
		t.Run(name, func(t *testing.T) {
			server := testserver.New(t, func(testserver.Request) testserver.Answer {
				answer := testserver.OK(3)
				answer.Then = then // without announcing it
				return answer
			})
			got := drive(t, plan(1, 10, "/"), server.Address())
			if got.Requests != 10 || got.Succeeded() != 5 || got.Errors[result.ErrorReceive] != 5 || got.Connections != 5 {
				t.Errorf("counts %+v", got.Counts)
			}
			if seen := server.Seen(); seen.Requests != 5 {
				t.Errorf("the server received %d requests", seen.Requests)
			}
		})
	}
}

func TestExpectedLength(t *testing.T) {
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		if r.Path == "/failing" {
			return testserver.Status("500 Internal Server Error")
		}
		return testserver.OK(5)
	})
	for _, test := range []struct {
		path   string
		length int64
		want   result.ErrorKind
	}{
		{"/", 5, recorder.NoError},
		{"/", -1, recorder.NoError},
		{"/", 6, result.ErrorLength},
		{"/", 0, result.ErrorLength},
		{"/failing", 5, result.ErrorStatus},
	} {
		p := plan(1, 2, test.path)
		p.Requests[0].Length = test.length
		got := drive(t, p, server.Address())
		var want result.ErrorCounts
		if test.want != recorder.NoError {
			want[test.want] = 2
		}
		if got.Errors != want || got.Connections != 1 {
			t.Errorf("%s, expecting %d bytes: errors %v on %d connections", test.path, test.length, got.Errors, got.Connections)
		}
	}
}

func TestTimeouts(t *testing.T) { inBothModes(t, testTimeouts) }

func testTimeouts(t *testing.T) {
	for name, answer := range map[string]testserver.Answer{
		"no response":           {Then: testserver.Hang},
		"no rest of the head":   {Parts: []string{"HTTP/1.1 200 OK\r\n"}, Then: testserver.Hang},
		"no rest of the body":   {Parts: []string{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"}, Then: testserver.Hang},
		"no end of the body":    {Parts: []string{"HTTP/1.1 200 OK\r\n\r\nhe"}, Then: testserver.Hang},
		"interim now and then":  {Parts: slices.Repeat([]string{"HTTP/1.1 103 Early Hints\r\n\r\n"}, 99), Pause: 5 * time.Millisecond},
		"a chunk now and then":  {Parts: append([]string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"}, slices.Repeat([]string{"1\r\nx\r\n"}, 1000)...), Pause: 5 * time.Millisecond},
		"a byte now and then":   {Parts: strings.Split("HTTP/1.1 200 OK\r\n"+strings.Repeat("X: y\r\n", 1000), ""), Pause: 5 * time.Millisecond},
		"complete but too late": {Parts: []string{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"}, Delay: 103 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			server := testserver.New(t, func(testserver.Request) testserver.Answer { return answer })
			p := plan(2, 4, "/")
			p.TimeoutMicroseconds = 100_000
			got := drive(t, p, server.Address())
			if got.Errors[result.ErrorTimeout] != 4 || got.Errors.Total() != 4 {
				t.Errorf("errors %v", got.Errors)
			}
			for _, o := range got.outcomes {
				if o.Total < 100*time.Millisecond {
					t.Errorf("timed out after %v", o.Total)
				}
			}
			eventually(t, func() bool { return server.Open() == 0 }, "the connections to be closed")
		})
	}
}

// TestServerThatDoesNotAccept checks a server that doesn't accept connections.
// Connections in its backlog get no response, the others can't be opened.
func TestServerThatDoesNotAccept(t *testing.T) { inBothModes(t, testServerThatDoesNotAccept) }

func testServerThatDoesNotAccept(t *testing.T) {
	p := plan(4, 8, "/")
	p.TimeoutMicroseconds = 100_000
	got := drive(t, p, unaccepting(t))
	if got.Errors[result.ErrorTimeout] != 8 || got.Errors.Total() != 8 || got.Connections < 1 || got.Connections > 7 {
		t.Errorf("counts %+v", got.Counts)
	}
}

// TestStopEndsConnecting checks that Stop doesn't wait for connections that are
// being opened.
func TestStopEndsConnecting(t *testing.T) { inBothModes(t, testStopEndsConnecting) }

func testStopEndsConnecting(t *testing.T) {
	p := plan(8, 1000, "/")
	p.TimeoutMicroseconds = time.Hour.Microseconds()
	load := newLoad(t, &p, unaccepting(t), Access{})
	stage := load.NewStage(p.Measurement, recorder.New(1))
	go stage.Run(0, 1)
	files := descriptors(t)
	stage.Begin(time.Now())
	eventually(t, func() bool { return descriptors(t) >= files+p.Connections }, "the connections to be opened")
	stage.Stop()
	await(t, stage.Done(), "the connections to be given up")
}

// unaccepting returns the address of a socket that listens and accepts nothing.
func unaccepting(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(name.(*syscall.SockaddrInet4).Port))
}

// TestRefusedConnectionsArePaced checks the backoff: an address that nobody
// listens on refuses at once, and the attempts must not become a flood.
func TestRefusedConnectionsArePaced(t *testing.T) { inBothModes(t, testRefusedConnectionsArePaced) }

func testRefusedConnectionsArePaced(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	got := drive(t, plan(1, 6, "/"), address)
	checkCause(t, "nobody", "", got)
	if got.Errors[result.ErrorConnect] != 6 || got.Requests != 6 || got.Connections != 0 || got.BytesSent != 0 {
		t.Errorf("counts %+v", got.Counts)
	}
	if atLeast := (10 + 20 + 40 + 80 + 100) * time.Millisecond; got.elapsed < atLeast {
		t.Errorf("6 refused connections within %v, want at least %v", got.elapsed, atLeast)
	}
}

// Package probe asks a target before the load: whether it answers, and what it
// shows of itself. It makes no load and measures nothing.
package probe

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls"
)

const (
	// Timeout is how long an answer may take where nothing else is asked for.
	Timeout = 2 * time.Second

	// The time between two questions doubles from shortestPause to longestPause.
	shortestPause = 20 * time.Millisecond
	longestPause  = 200 * time.Millisecond
	// headBytes bounds an answer's head.
	headBytes = 64 << 10
	// bodyBytes is how much of a body is read to count it. The agent has little
	// CPU time; the length of a longer body is what the server says it is.
	bodyBytes = 1 << 20
	// mostInterim bounds the interim answers (1xx) before the answer.
	mostInterim = 10
)

// Question is what a target is asked.
type Question struct {
	// Address is the target's address and port.
	Address string
	// Path is the path and query to GET.
	Path string
	// Host is the Host header; empty for the address.
	Host string
	// UserAgent is what the pod calls itself.
	UserAgent string
	// As is a request that is made instead of a GET, whose answer may have any
	// status; nil for a GET. Its path and host are those above.
	As *session.PlannedRequest
	// TLS is how TLS is spoken; nil for none.
	TLS *tls.Config
	// Timeout is how long an answer may take.
	Timeout time.Duration
	// Streams has the question be asked in HTTP/2, of a server that allows so many
	// concurrent requests on a connection; 0 for HTTP/1.1.
	Streams int
}

// Until asks until the target answers with success, a status from 200 to 399,
// with growing pauses in between. Each time that it sees something else instead
// it calls silent with the reason. The only error is the context's.
func Until(ctx context.Context, q *Question, silent func(reason string)) (*session.ProbeResult, error) {
	last := ""
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		evidence, err := Ask(ctx, q)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			return evidence, nil
		}
		if reason := err.Error(); reason != last {
			last = reason
			silent(reason)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
}

// Ask asks once, on a connection of its own, and follows no redirect. The error
// of anything but success names what was asked for, what was seen, and where
// it can, what to change; it is the same each time that the same is seen.
func Ask(ctx context.Context, q *Question) (*session.ProbeResult, error) {
	evidence, err := (&attempt{Question: q}).ask(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", q.method(), q.Path, err)
	}
	return evidence, nil
}

// attempt is a question being asked.
type attempt struct {
	*Question
	// requested is whether the target asked for a certificate of the client.
	requested bool
}

func (q *attempt) ask(ctx context.Context) (*session.ProbeResult, error) {
	ctx, cancel := context.WithTimeout(ctx, q.Timeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", q.Address)
	if err != nil {
		return nil, q.plain(err)
	}
	defer func() { _ = conn.Close() }() // what matters has been read
	// Whatever it waits for ends with the context.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var negotiated *result.Handshake
	if q.TLS != nil {
		config := targettls.Requested(q.TLS, &q.requested)
		if q.Streams > 0 {
			config = targettls.HTTP2(config)
		}
		secure := tls.Client(conn, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, q.handshakeError(err)
		}
		state := secure.ConnectionState()
		negotiated = targettls.Evidence(&state)
		negotiated.CertificateRequested = q.requested
		if q.Streams > 0 && state.NegotiatedProtocol != targettls.ProtocolHTTP2 {
			return nil, q.noHTTP2()
		}
		conn = secure
	}
	exchange := q.exchange
	if q.Streams > 0 {
		exchange = q.exchangeHTTP2
	}
	evidence, err := exchange(ctx, conn)
	if err != nil {
		return nil, err
	}
	evidence.TLS = negotiated
	return evidence, nil
}

// exchange sends the request and reads the answer.
func (q *attempt) exchange(ctx context.Context, conn net.Conn) (*session.ProbeResult, error) {
	request, err := q.request(ctx)
	if err != nil {
		return nil, err
	}
	request.Close = true
	// Whoever doesn't want to be asked may say why before it closes: the answer is
	// read even if the request can't be written.
	unsent := request.Write(conn)

	limited := &io.LimitedReader{R: conn, N: headBytes}
	answer, err := readHead(bufio.NewReader(limited), request)
	switch {
	case err != nil && limited.N == 0:
		return nil, fmt.Errorf("the answer's head is longer than %d bytes", headBytes)
	case err != nil && errors.Is(err, io.EOF) && unsent != nil:
		return nil, q.plain(unsent)
	case err != nil:
		return nil, q.plain(err)
	}
	defer func() { _ = answer.Body.Close() }()
	limited.N = math.MaxInt64
	return q.read(answer)
}

// read reads what an answer shows.
func (q *attempt) read(answer *http.Response) (*session.ProbeResult, error) {
	if q.As == nil && (answer.StatusCode < 200 || answer.StatusCode > 399) {
		return nil, fmt.Errorf("answered with %s", answer.Status)
	}
	length, err := io.Copy(io.Discard, io.LimitReader(answer.Body, bodyBytes))
	if err != nil {
		return nil, q.plain(err)
	}
	if length == bodyBytes {
		length = answer.ContentLength
	}
	return &session.ProbeResult{Software: answer.Header.Get("Server"), DocumentLength: length}, nil
}

// method is that of the request.
func (q *Question) method() string {
	if q.As == nil || q.As.Method == "" {
		return http.MethodGet
	}
	return q.As.Method
}

// request is the question as it's sent.
func (q *Question) request(ctx context.Context) (*http.Request, error) {
	var body io.Reader
	if q.As != nil && len(q.As.Body) > 0 {
		body = bytes.NewReader(q.As.Body)
	}
	scheme := "http"
	if q.TLS != nil {
		scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, q.method(), scheme+"://"+q.Address+q.Path, body)
	if err != nil {
		return nil, fmt.Errorf("it can't be asked for: %w", err)
	}
	request.Host = session.HostHeader(q.Host, q.Address, q.TLS != nil)
	request.Header.Set("User-Agent", q.UserAgent)
	request.Header.Set("Accept", "*/*")
	if q.As != nil {
		for _, h := range q.As.Headers {
			request.Header.Set(h.Name, h.Value)
		}
	}
	return request, nil
}

// readHead reads an answer up to its body, and passes over interim ones.
func readHead(reader *bufio.Reader, request *http.Request) (*http.Response, error) {
	for range mostInterim {
		answer, err := http.ReadResponse(reader, request)
		if err != nil || answer.StatusCode >= 200 || answer.StatusCode == http.StatusSwitchingProtocols {
			return answer, err
		}
	}
	return nil, errors.New("interim answers without end")
}

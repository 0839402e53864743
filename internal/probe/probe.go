// Package probe sends probes to a target before the load: whether it responds, and what the
// response and the TLS handshake show. It measures nothing.
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
	// Timeout is the default timeout of a probe.
	Timeout = 2 * time.Second

	// The interval between two probes doubles from minInterval to maxInterval.
	minInterval = 20 * time.Millisecond
	maxInterval = 200 * time.Millisecond
	// maxHeadBytes limits the head of a response.
	maxHeadBytes = 64 << 10
	// maxBodyBytes is the part of a body that is read to count it. The agent has little CPU time;
	// the length of a longer body is its Content-Length.
	maxBodyBytes = 1 << 20
	// maxInterim limits the number of interim responses (1xx).
	maxInterim = 10
)

// Request is the request that a probe sends.
type Request struct {
	// Address is the target's address and port.
	Address string
	// Path is the path and query to GET.
	Path string
	// Host is the Host header, or empty for the address.
	Host string
	// UserAgent is the User-Agent header.
	UserAgent string
	// As is sent instead of a GET, without its path and host. The response may have any status.
	As *session.PlannedRequest
	// TLS is the TLS configuration, or nil for no TLS.
	TLS *tls.Config
	// Timeout is the timeout of the probe.
	Timeout time.Duration
	// Streams is the number of streams that an HTTP/2 server must allow. Zero means HTTP/1.1.
	Streams int
}

// Until sends probes until one succeeds: until a response has a status from 200 to
// 399. It calls failed with the reason whenever a probe fails for another reason than the one
// before. The only error is that of ctx.
func Until(ctx context.Context, r *Request, failed func(reason string)) (*session.ProbeResult, error) {
	last := ""
	for interval := minInterval; ; interval = min(2*interval, maxInterval) {
		result, err := Once(ctx, r)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			return result, nil
		}
		if reason := err.Error(); reason != last {
			last = reason
			failed(reason)
		}
		select {
		case <-time.After(interval):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Once sends one probe, on a connection of its own, and follows no redirect. The error names the
// request, what happened and, if known, what to change. The same failure has the same error.
func Once(ctx context.Context, r *Request) (*session.ProbeResult, error) {
	result, err := (&attempt{Request: r}).send(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method(), r.Path, err)
	}
	return result, nil
}

type attempt struct {
	*Request
	// requested reports whether the target requested a client certificate.
	requested bool
}

func (q *attempt) send(ctx context.Context) (*session.ProbeResult, error) {
	ctx, cancel := context.WithTimeout(ctx, q.Timeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", q.Address)
	if err != nil {
		return nil, q.plain(err)
	}
	defer func() { _ = conn.Close() }() // what matters has been read
	// When ctx is done, pending reads and writes fail.
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
		negotiated = targettls.Handshake(&state)
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
	result, err := exchange(ctx, conn)
	if err != nil {
		return nil, err
	}
	result.TLS = negotiated
	return result, nil
}

func (q *attempt) exchange(ctx context.Context, conn net.Conn) (*session.ProbeResult, error) {
	request, err := q.httpRequest(ctx)
	if err != nil {
		return nil, err
	}
	request.Close = true
	// A server may send a response and close the connection before it has read the request: read
	// the response even if the request can't be written.
	unsent := request.Write(conn)

	limited := &io.LimitedReader{R: conn, N: maxHeadBytes}
	response, err := readHead(bufio.NewReader(limited), request)
	switch {
	case err != nil && limited.N == 0:
		return nil, fmt.Errorf("the response's head is longer than %d bytes", maxHeadBytes)
	case err != nil && errors.Is(err, io.EOF) && unsent != nil:
		return nil, q.plain(unsent)
	case err != nil:
		return nil, q.plain(err)
	}
	defer func() { _ = response.Body.Close() }()
	limited.N = math.MaxInt64
	return q.read(response)
}

func (q *attempt) read(response *http.Response) (*session.ProbeResult, error) {
	if q.As == nil && (response.StatusCode < 200 || response.StatusCode > 399) {
		return nil, fmt.Errorf("answered with %s", response.Status)
	}
	length, err := io.Copy(io.Discard, io.LimitReader(response.Body, maxBodyBytes))
	if err != nil {
		return nil, q.plain(err)
	}
	if length == maxBodyBytes {
		length = response.ContentLength
	}
	return &session.ProbeResult{Software: response.Header.Get("Server"), DocumentLength: length}, nil
}

func (q *Request) method() string {
	if q.As == nil || q.As.Method == "" {
		return http.MethodGet
	}
	return q.As.Method
}

func (q *Request) httpRequest(ctx context.Context) (*http.Request, error) {
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
		return nil, fmt.Errorf("make the request: %w", err)
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

// readHead reads the head of a response. It skips interim responses.
func readHead(reader *bufio.Reader, request *http.Request) (*http.Response, error) {
	for range maxInterim {
		response, err := http.ReadResponse(reader, request)
		if err != nil || response.StatusCode >= 200 || response.StatusCode == http.StatusSwitchingProtocols {
			return response, err
		}
	}
	return nil, errors.New("too many interim responses (1xx)")
}

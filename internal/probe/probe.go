// Package probe sends probes to a target before the load: whether it responds, and what the
// response and the TLS handshake show. It measures nothing. It writes requests and reads responses
// with the packages of the load, so that both accept the same.
package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/load/driver/http2"
	"github.com/assay-dev/assay/internal/load/driver/request"
	"github.com/assay-dev/assay/internal/load/driver/response"
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
	// maxBodyBytes is the part of a body that is read to count it. The agent has little CPU time;
	// the length of a longer body is its Content-Length.
	maxBodyBytes = 1 << 20
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
	result, err := exchange(conn)
	if err != nil {
		return nil, err
	}
	result.TLS = negotiated
	return result, nil
}

// exchange makes the request in HTTP/1.1.
func (q *attempt) exchange(conn net.Conn) (*session.ProbeResult, error) {
	r, _, err := q.request()
	if err != nil {
		return nil, err
	}
	remembered := &rememberingConn{Conn: conn}
	// A server may send a response and close the connection before it has read the request: read
	// the response even if the request can't be written.
	_, unsent := conn.Write(r.Bytes)
	if unsent == nil {
		_, unsent = conn.Write(r.LongBody)
	}
	reader := response.Reader{Fields: &response.Fields{}, Limit: maxBodyBytes}
	reader.Attach(remembered, time.Now())
	got := reader.Read(r.NoBody)
	reader.Release()
	if got.Fault != nil && unsent != nil && errors.Is(remembered.failed, io.EOF) {
		return nil, q.plain(unsent)
	}
	return q.read(&got, reader.Fields, remembered.failed)
}

// read returns what a response shows. failed is the error with which the connection broke, if it did.
func (q *attempt) read(got *response.Response, fields *response.Fields, failed error) (*session.ProbeResult, error) {
	switch f := got.Fault; {
	case f == nil:
	case f.Is(result.ErrorTimeout):
		return nil, fmt.Errorf("no response within %s", q.Timeout)
	case f.Is(result.ErrorException), failed == nil:
		return nil, errors.New(f.Text())
	default:
		return nil, q.plain(failed)
	}
	if q.As == nil && (got.Status < 200 || got.Status > 399) {
		return nil, fmt.Errorf("answered with %s", strings.TrimSpace(fmt.Sprintf("%d %s", got.Status, http.StatusText(got.Status))))
	}
	return &session.ProbeResult{Software: fields.Server, DocumentLength: got.Body}, nil
}

// rememberingConn is a connection that remembers the error of the last read.
type rememberingConn struct {
	net.Conn
	failed error
}

// Read implements net.Conn.
func (c *rememberingConn) Read(b []byte) (n int, err error) {
	n, err = c.Conn.Read(b)
	if n == 0 {
		c.failed = err
	}
	return n, err
}

func (q *Request) method() string {
	if q.As == nil || q.As.Method == "" {
		return http.MethodGet
	}
	return q.As.Method
}

// request returns the request as the load would make it, and its header fields for HTTP/2.
func (q *Request) request() (*request.Request, *http2.Table, error) {
	var planned session.PlannedRequest
	if q.As != nil {
		planned = *q.As
	}
	planned.Path, planned.Weight, planned.Host = q.Path, 1, session.HostHeader(q.Host, q.Address, q.TLS != nil)
	if !slices.ContainsFunc(planned.Headers, func(h session.Header) bool { return strings.EqualFold(h.Name, "User-Agent") }) {
		planned.Headers = append(slices.Clone(planned.Headers), session.Header{Name: "User-Agent", Value: q.UserAgent})
	}
	table, index := (*http2.Table)(nil), (func(*request.Request, bool))(nil)
	if q.Streams > 0 {
		table = http2.NewTable(map[bool]string{false: "http", true: "https"}[q.TLS != nil])
		index = table.Add
	}
	set, err := request.NewSet(&session.Plan{Requests: []session.PlannedRequest{planned}}, q.Address, nil, index)
	if err != nil {
		return nil, nil, fmt.Errorf("make the request: %w", err)
	}
	return set.Requests[0], table, nil
}

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
	"strconv"
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
	// Probe is what is sent, and what counts as success.
	Probe session.Probe
	// Host is the Host header of requests that have none of their own, or empty for the address.
	Host string
	// UserAgent is the User-Agent header of requests that have none of their own.
	UserAgent string
	// Credentials are those for the probe's authentication, or nil.
	Credentials *request.Credentials
	// TLS is the TLS configuration, or nil for no TLS.
	TLS *tls.Config
	// Timeout is the timeout of the probe.
	Timeout time.Duration
	// Streams is the number of streams that an HTTP/2 server must allow. Zero means HTTP/1.1.
	Streams int
}

// Each returns a request like r for each probe.
func (r *Request) Each(probes []session.Probe) []*Request {
	var all []*Request
	for _, p := range probes {
		q := *r
		q.Probe = p
		if p.Port > 0 {
			host, _, _ := net.SplitHostPort(r.Address) // has been checked
			q.Address, q.Host, q.TLS, q.Streams = net.JoinHostPort(host, strconv.Itoa(p.Port)), "", nil, 0
		}
		all = append(all, &q)
	}
	return all
}

// Until sends each request until it succeeds, one after the other, and returns the result of the last. It calls failed with the
// reason whenever a probe fails for another reason than the one before. The only error is that of ctx.
func Until(ctx context.Context, all []*Request, failed func(reason string)) (result *session.ProbeResult, err error) {
	for _, r := range all {
		if result, err = until(ctx, r, failed); err != nil {
			return nil, err
		}
	}
	return result, nil
}

func until(ctx context.Context, r *Request, failed func(reason string)) (*session.ProbeResult, error) {
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
		return nil, fmt.Errorf("%s: %w", &r.Probe, err)
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
	return q.read(r, &got, reader.Fields, remembered.failed)
}

// read returns what a response shows. failed is the error with which the connection broke, if it did.
func (q *attempt) read(r *request.Request, got *response.Response, fields *response.Fields, failed error) (*session.ProbeResult, error) {
	switch f := got.Fault; {
	case f == nil:
	case f.Is(result.ErrorTimeout):
		return nil, fmt.Errorf("no response within %s", q.Timeout)
	case f.Is(result.ErrorException), failed == nil:
		return nil, errors.New(f.Text())
	default:
		return nil, q.plain(failed)
	}
	succeeds := r.Succeeds(got.Status) || r.Planned.Follow && request.IsRedirect(got.Status)
	if !succeeds && !q.Probe.AnyStatus {
		return nil, q.refused(r, got.Status, fields.Server)
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

// refused returns the error of a response with a status that is no success: what was sent to whom, and who answered. Values of
// headers may be secret.
func (q *attempt) refused(r *request.Request, status int, software string) error {
	sent := "Host: " + r.Host
	for _, h := range q.Probe.Request.Headers {
		sent += ", " + h.Name
	}
	if q.Probe.Authentication != "" {
		sent += ", Authorization"
	}
	if software != "" {
		software = fmt.Sprintf(" by %.60q", software)
	}
	return fmt.Errorf("answered with %s%s (sent to %s with %s)",
		strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status))), software, q.Address, sent)
}

// request returns the request as the load would make it, and its header fields for HTTP/2.
func (r *Request) request() (*request.Request, *http2.Table, error) {
	planned := r.Probe.Request
	planned.Weight = max(1, planned.Weight)
	if !slices.ContainsFunc(planned.Headers, func(h session.Header) bool { return strings.EqualFold(h.Name, "User-Agent") }) {
		planned.Headers = append(slices.Clone(planned.Headers), session.Header{Name: "User-Agent", Value: r.UserAgent})
	}
	table, index := (*http2.Table)(nil), (func(*request.Request, bool))(nil)
	if r.Streams > 0 {
		table = http2.NewTable(map[bool]string{false: "http", true: "https"}[r.TLS != nil])
		index = table.Add
	}
	set, err := request.NewSet(&session.Plan{
		Requests: []session.PlannedRequest{planned}, Host: session.HostHeader(r.Host, r.Address, r.TLS != nil), Authentication: r.Probe.Authentication,
	}, r.Address, r.Credentials, index)
	if err != nil {
		return nil, nil, fmt.Errorf("make the request: %w", err)
	}
	return set.Requests[0], table, nil
}

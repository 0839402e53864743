package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// attack is a kind of attack.
type attack struct {
	name string
	// refused are the outcomes with which a manager withstands it. A rejected pod's further attempts
	// end with FailedPrecondition.
	refused []string
	attempt func(ctx context.Context, t *target, token string) (outcome string, err error)
}

// attacks lists all kinds.
var attacks = []attack{
	{"half-open TLS handshakes", []string{"closed", "open"}, halfOpen},
	{"connections without a call", []string{"closed", "open"}, idle},
	{"calls without Hello", []string{"DeadlineExceeded", "ResourceExhausted"}, withoutHello},
	{"large headers", []string{"Internal", "Unavailable", "ResourceExhausted"}, largeHeaders},
	{"no token", []string{"Unauthenticated"}, withToken(func(string) string { return "" })},
	{"a made-up token", []string{"Unauthenticated", "ResourceExhausted"}, withToken(func(string) string { return rename("x") })},
	{"a token for another pod", []string{"Unauthenticated", "ResourceExhausted"}, withToken(anotherPod)},
	{"a token without its signature", []string{"Unauthenticated", "ResourceExhausted"}, withToken(unsigned)},
	{"the agent's role", []string{"FailedPrecondition"}, withHello(&sessionpb.Hello{Role: sessionpb.Role_ROLE_AGENT})},
	{"another method", []string{"InvalidArgument", "FailedPrecondition"}, withHello(nil)},
	{"thousands of starts", []string{"Unavailable", "Internal", "InvalidArgument", "FailedPrecondition"}, withHello(&sessionpb.Hello{Role: sessionpb.Role_ROLE_CLIENT, Starts: make([]*sessionpb.Start, 1_000_000)})},
	{"another start", []string{"InvalidArgument", "FailedPrecondition"}, withHello(&sessionpb.Hello{Role: sessionpb.Role_ROLE_CLIENT, Starts: []*sessionpb.Start{{Stage: 77, At: -1}}})},
	{"a list of 10^10 CPUs", []string{"accepted", "FailedPrecondition"}, withMessage(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_Ready{Ready: &sessionpb.Ready{Cpus: "0-9999999999"}}})},
	{"a text of 4 MB", []string{"accepted", "FailedPrecondition"}, withMessage(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_ProbeFailed{ProbeFailed: &sessionpb.ProbeFailed{Reason: strings.Repeat("x", 4_000_000)}}})},
	{"a message of 8 MB", []string{"ResourceExhausted", "FailedPrecondition"}, withBytes(make([]byte, 8<<20))},
	{"bytes that are no message", []string{"Internal", "FailedPrecondition"}, withBytes([]byte("\xff\xff\xff"))},
	{"a message without content", []string{"InvalidArgument", "FailedPrecondition"}, withBytes(nil)},
	{"millions of empty messages", []string{"Internal", "FailedPrecondition"}, withBytes(field(9, bytes.Repeat(field(5, nil), 2_000_000)))},
	{"millions of numbers", []string{"Internal", "FailedPrecondition"}, withBytes(field(7, field(7, make([]byte, 4_000_000))))},
	{"millions of objects", []string{"InvalidArgument", "FailedPrecondition"}, withTotals(`{"script":{"metrics":[` + strings.Repeat("{},", 1_000_000) + "{}]}}")},
	{"millions of lists in each other", []string{"InvalidArgument", "FailedPrecondition"}, withTotals(strings.Repeat("[", 4_000_000))},
	{"setup data that is nested deeply", []string{"InvalidArgument", "FailedPrecondition"}, withMessage(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_ScriptState{ScriptState: &sessionpb.ScriptState{SetupData: bytes.Repeat([]byte("["), session.MaxSetupBytes)}}})},
	{"a histogram that isn't one", []string{"InvalidArgument", "FailedPrecondition"}, withTotals(`{"requests":1,"latencies":{"total":{"hdr":"` + strings.Repeat("A", 100) + `","count":1}}}`)},
	{"requests without end", []string{"InvalidArgument", "FailedPrecondition"}, withTotals(`{"requests":1125899906842624,"errors":{"connect":1125899906842624}}`)},
	{"a sketch with a bin near 2^31", []string{"InvalidArgument", "FailedPrecondition"}, withTotals(fmt.Sprintf(`{"script":{"metrics":[{"name":"m","kind":"trend","samples":1,"values":%q}]}}`,
		base64.StdEncoding.EncodeToString([]byte("\x05\x01\xfe\xff\xff\xff\x0f\x02"))))},
	{"totals from the future", []string{"InvalidArgument", "FailedPrecondition"}, withTotals(`{"startedAtMicroseconds":1,"endedAtMicroseconds":4611686018427387904}`)},
	{"thousands of pings", []string{"accepted", "Unavailable", "InvalidArgument", "FailedPrecondition"}, pings},
	{"a call that is broken off", []string{"Canceled"}, brokenOff},
}

func halfOpen(ctx context.Context, t *target, _ string) (string, error) {
	return hold(ctx, func() (net.Conn, error) { return net.Dial("tcp", t.address) })
}

func idle(ctx context.Context, t *target, _ string) (string, error) {
	return hold(ctx, func() (net.Conn, error) { return tls.Dial("tcp", t.address, t.tlsConfig()) })
}

// hold opens a hundred connections at once, and reports whether the manager closes the last one within
// a moment. It returns when the manager has closed all of them: until then it refuses others of this address.
func hold(ctx context.Context, dial func() (net.Conn, error)) (string, error) {
	var last net.Conn
	bound, _ := ctx.Deadline()
	for range 100 {
		conn, err := dial()
		if err != nil {
			return "closed", nil
		}
		defer func() {
			_ = conn.(interface{ CloseWrite() error }).CloseWrite()
			_ = conn.SetReadDeadline(bound)
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
		}()
		last = conn
	}
	ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if closedByPeer(ctx, last) {
		return "closed", nil
	}
	return "open", nil
}

// withoutHello opens more streams than a pod may have, and returns how the first of them ends.
func withoutHello(ctx context.Context, t *target, token string) (string, error) {
	ends := make(chan string, 8)
	for range cap(ends) {
		conn, err := t.connect()
		if err != nil {
			return "", err
		}
		defer func() { _ = conn.Close() }()
		stream, err := call(ctx, conn, token)
		if err != nil {
			return outcomeOf(err), nil
		}
		go func() {
			var data []byte
			ends <- outcomeOf(stream.RecvMsg(&data))
		}()
	}
	return <-ends, nil
}

func largeHeaders(ctx context.Context, t *target, token string) (string, error) {
	return t.converse(ctx, token, [][]byte{hello(nil)}, "x-large", strings.Repeat("x", 64<<10))
}

func brokenOff(ctx context.Context, t *target, token string) (string, error) {
	conn, err := t.connect()
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	for range 20 {
		ctx, cancel := context.WithCancel(ctx)
		stream, err := call(ctx, conn, token)
		cancel()
		if err == nil {
			var data []byte
			_ = stream.RecvMsg(&data)
		}
	}
	return "Canceled", nil
}

func pings(ctx context.Context, t *target, token string) (string, error) {
	ping := encode(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_Ping{Ping: &sessionpb.Ping{Sent: 1}}})
	messages := [][]byte{hello(nil)}
	for range 5000 {
		messages = append(messages, ping)
	}
	return t.converse(ctx, token, messages)
}

// withToken calls with another token than the pod's.
func withToken(change func(string) string) func(context.Context, *target, string) (string, error) {
	return func(ctx context.Context, t *target, token string) (string, error) {
		return t.converse(ctx, change(token), [][]byte{hello(nil)})
	}
}

// withHello begins with a Hello, or with another message if it is nil.
func withHello(h *sessionpb.Hello) func(context.Context, *target, string) (string, error) {
	first := encode(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_Ready{}})
	if h != nil {
		first = hello(h)
	}
	return func(ctx context.Context, t *target, token string) (string, error) {
		return t.converse(ctx, token, [][]byte{first})
	}
}

// withBytes sends bytes after a Hello with the start of the measurement.
func withBytes(data []byte) func(context.Context, *target, string) (string, error) {
	return func(ctx context.Context, t *target, token string) (string, error) {
		return t.converse(ctx, token, [][]byte{hello(nil), data})
	}
}

func withMessage(m *sessionpb.PodMessage) func(context.Context, *target, string) (string, error) {
	return withBytes(encode(m))
}

// withTotals sends a client's totals, which are JSON.
func withTotals(totals string) func(context.Context, *target, string) (string, error) {
	return withMessage(&sessionpb.PodMessage{Number: 1, Message: &sessionpb.PodMessage_ClientTotals{ClientTotals: &sessionpb.ClientTotals{Totals: []byte(totals)}}})
}

// hello returns an encoded Hello. Without one, it is that of a client whose measurement began a
// minute ago.
func hello(h *sessionpb.Hello) []byte {
	if h == nil {
		at := time.Now().Add(-time.Minute).Truncate(time.Hour).UnixMicro()
		h = &sessionpb.Hello{Role: sessionpb.Role_ROLE_CLIENT, Starts: []*sessionpb.Start{{Stage: sessionpb.Stage_STAGE_MEASUREMENT, At: at}}}
	}
	h.Protocol = session.ProtocolVersion
	return encode(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_Hello{Hello: h}})
}

// field returns an encoded field of bytes.
func field(number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), value)
}

// rename returns a token that claims to be that of a pod with the given UID.
func rename(uid string) string {
	claims := fmt.Sprintf(`{"aud":[%q],"exp":%d,"kubernetes.io":{"pod":{"name":%[3]q,"uid":%[3]q}}}`, session.Audience, time.Now().Add(time.Hour).Unix(), uid)
	return "eyJhbGciOiJub25lIn0." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + "."
}

// anotherPod returns a token with the pod's own signature, but the claims of another.
func anotherPod(token string) string {
	parts := strings.Split(rename("another-pod"), ".")
	own := strings.Split(token, ".")
	return parts[0] + "." + parts[1] + "." + own[len(own)-1]
}

func unsigned(token string) string {
	if at := strings.LastIndexByte(token, '.'); at >= 0 {
		return token[:at+1]
	}
	return "x" + token
}

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// attemptTimeout bounds an attempt. It is longer than any timeout of the manager.
const attemptTimeout = 20 * time.Second

// target is the manager that is attacked.
type target struct {
	address string
	roots   *x509.CertPool
	// newToken returns a pod's token for an attempt, and what to do after it.
	newToken func() (token string, done func(), err error)
}

// identified returns a manager whose certificate a CA has issued.
func identified(address string, pem []byte) (*target, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("there is no CA certificate")
	}
	return &target{address: address, roots: roots}, nil
}

func (t *target) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: session.ServerName, RootCAs: t.roots, MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"}}
}

// connect returns a connection for calls.
func (t *target) connect() (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///"+t.address, grpc.WithTransportCredentials(credentials.NewTLS(t.tlsConfig())),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{})), grpc.WithDisableServiceConfig(), grpc.WithNoProxy())
}

// rawCodec sends and receives bytes as they are.
type rawCodec struct{}

// Name implements encoding.CodecV2.
func (rawCodec) Name() string { return "proto" }

// Marshal implements encoding.CodecV2.
func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

// Unmarshal implements encoding.CodecV2.
func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

// call opens a stream with a token.
func call(ctx context.Context, conn *grpc.ClientConn, token string, headers ...string) (grpc.ClientStream, error) {
	ctx = metadata.AppendToOutgoingContext(ctx, append([]string{"authorization", "Bearer " + token}, headers...)...)
	return conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, sessionpb.Sessions_Join_FullMethodName)
}

// converse sends messages, then a ping, and returns how the manager ended the stream, or "accepted" if
// it has answered the ping.
func (t *target) converse(ctx context.Context, token string, messages [][]byte, headers ...string) (string, error) {
	conn, err := t.connect()
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	stream, err := call(ctx, conn, token, headers...)
	if err != nil {
		return outcomeOf(err), nil
	}
	for _, m := range append(messages, encode(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_Ping{Ping: &sessionpb.Ping{Sent: 1}}})) {
		if stream.SendMsg(m) != nil {
			break // the reason is received
		}
	}
	if err := awaitPong(stream); err != nil {
		return outcomeOf(err), nil
	}
	return "accepted", nil
}

// awaitPong waits until the manager answers a ping, or ends the stream.
func awaitPong(stream grpc.ClientStream) error {
	for {
		var data []byte
		if err := stream.RecvMsg(&data); err != nil {
			return err
		}
		var answer sessionpb.ManagerMessage
		if err := proto.Unmarshal(data, &answer); err != nil {
			return err
		}
		if answer.GetPong() != nil {
			return nil
		}
	}
}

// outcomeOf returns the name of a call's end.
func outcomeOf(err error) string { return status.Code(err).String() }

func encode(m proto.Message) []byte {
	data, err := proto.Marshal(m)
	if err != nil {
		panic(err) // the program made it
	}
	return data
}

// closedByPeer reports whether the manager closes a connection that sends nothing.
func closedByPeer(ctx context.Context, conn net.Conn) bool {
	deadline, _ := ctx.Deadline()
	_ = conn.SetReadDeadline(deadline)
	_, err := conn.Read(make([]byte, 1))
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

package limit

import (
	"context"
	"net"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// Credentials returns credentials by which calls know their connection, and which bound what arrives on all connections
// together.
func (l *ReceiveLimiter) Credentials(c credentials.TransportCredentials) credentials.TransportCredentials {
	return limitedCredentials{c, l}
}

type limitedCredentials struct {
	credentials.TransportCredentials
	limiter *ReceiveLimiter
}

// ServerHandshake implements credentials.TransportCredentials.
func (c limitedCredentials) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := c.TransportCredentials.ServerHandshake(raw)
	if err != nil {
		return conn, info, err
	}
	counted := c.limiter.newConn(conn)
	limited, _ := raw.(*limitedConn)
	return counted, Conn{AuthInfo: info, receiving: counted, limited: limited}, nil
}

// Clone implements credentials.TransportCredentials.
func (c limitedCredentials) Clone() credentials.TransportCredentials {
	return limitedCredentials{c.TransportCredentials.Clone(), c.limiter}
}

// Conn is the connection of a call.
type Conn struct {
	credentials.AuthInfo
	receiving *receivingConn
	limited   *limitedConn
}

// ConnOf returns the connection of a call, or nothing if it isn't one of Serve.
func ConnOf(ctx context.Context) Conn {
	if p, ok := peer.FromContext(ctx); ok {
		info, _ := p.AuthInfo.(Conn)
		return info
	}
	return Conn{}
}

// Enter begins the session of a pod that is identified.
func (c Conn) Enter(run string) {
	c.limited.setWaiting(false)
	c.receiving.assign(run, helloLimit)
}

// Leave ends the session. What arrives from now on belongs to another.
func (c Conn) Leave() {
	c.receiving.assign("", smallLimit)
	c.limited.setWaiting(true)
}

// Received says that a message was received as a whole and handled.
func (c Conn) Received() { c.receiving.received(messageLimit) }

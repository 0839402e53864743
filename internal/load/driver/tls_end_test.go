package driver

import (
	"crypto/tls"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
)

func TestStopEndsHandshakes(t *testing.T) { inBothModes(t, testStopEndsHandshakes) }

func testStopEndsHandshakes(t *testing.T) {
	server := misbehave(t, untilClosed)
	before := runtime.NumGoroutine()
	p := planTLS(3, 1000, session.TLS{Unverified: true})
	load := newLoad(t, &p, server.address, Access{TLS: tlsConfig(t, &p, server.address, "")})
	stage := load.NewStage(p.Measurement, recorder.New(1))
	go stage.Run(0, 1)
	stage.Begin(time.Now())
	for range 3 {
		<-server.begun
	}
	stage.Stop()
	await(t, stage.Done(), "the stage to end")
	eventually(t, func() bool { return server.closed() && runtime.NumGoroutine() <= before }, "connections and goroutines to end")
}

// TestConnectionsCloseTLS checks that a connection in use ends with close_notify.
func TestConnectionsCloseTLS(t *testing.T) { inBothModes(t, testConnectionsCloseTLS) }

func testConnectionsCloseTLS(t *testing.T) {
	own := tlstest.SelfSigned(t)
	ends := make(chan error, 10)
	server := misbehave(t, func(conn net.Conn) {
		secure := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{own.Certificate}})
		buffer := make([]byte, 4096)
		for {
			if _, err := secure.Read(buffer); err != nil {
				ends <- err
				return
			}
			_, _ = secure.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
		}
	})
	got := driveTLS(t, planTLS(2, 20, session.TLS{}), server.address, tlstest.Files{Server: own.PEM()})
	if got.Succeeded() != 20 {
		t.Errorf("counts %+v", got.Counts)
	}
	for range got.Connections {
		if err := <-ends; err.Error() != "EOF" {
			t.Errorf("a connection ended with %v", err)
		}
	}
}

package driver

import (
	"testing"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/load/internal/testserver"
)

// TestIdleConnectionsThatTheServerClosed: a server that closes a connection
// between two requests, as those do whose keep-alive has a timeout, fails none.
func TestIdleConnectionsClosedByServer(t *testing.T) {
	inBothModes(t, testIdleConnectionsClosedByServer)
}

func testIdleConnectionsClosedByServer(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer {
		answer := testserver.OK(10)
		answer.Then = testserver.Close
		return answer
	})
	p := plan(2, 10, "/")
	p.Pause = &session.Pause{MinMicroseconds: 50_000, MaxMicroseconds: 50_000}
	if got := drive(t, p, server.Address()); got.Succeeded() != 10 || got.Connections != 10 {
		t.Errorf("counts %+v", got.Counts)
	}
}

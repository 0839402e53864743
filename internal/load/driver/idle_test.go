package driver

import (
	"testing"

	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/session"
)

// TestIdleConnectionsClosedByServer checks that no request fails if a server
// closes idle connections between two requests, as after a keep-alive timeout.
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
	p.ThinkTime = &session.ThinkTime{MinMicroseconds: 50_000, MaxMicroseconds: 50_000}
	if got := drive(t, p, server.Address()); got.Succeeded() != 10 || got.Connections != 10 {
		t.Errorf("counts %+v", got.Counts)
	}
}

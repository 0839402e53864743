package script

import (
	"net"
	"testing"
)

// TestAPIAddressStaysFree takes the API's port of 127.0.0.1, as any connection might, before k6 listens.
func TestAPIAddressStaysFree(t *testing.T) {
	a, err := newAPI()
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(a.address)
	if other, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil { // else somebody else has taken it
		defer func() { _ = other.Close() }()
	}
	listener, err := net.Listen("tcp", a.address)
	if err != nil {
		t.Fatalf("k6 can't listen: %v", err)
	}
	_ = listener.Close()
}

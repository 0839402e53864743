package driver

import (
	"strings"
	"syscall"
	"testing"

	"github.com/assay-dev/assay/internal/session"
)

func TestLocalPorts(t *testing.T) {
	for _, test := range []struct {
		ports, reserved string
		want            uint64
	}{
		{"32768\t60999\n", "\n", 28232},
		{"1000 1009", "", 10},
		{"1000 1009", "1003\n", 9},
		{"1000 1009", "999-1001,1005,1009-2000,5-7", 6},
		{"1000 1009", "1-65535", 0},
		{"1000 1009", "x,1000-y", 10},
		{"1009 1000", "", 0},
		{"", "", 0},
		{"a b", "", 0},
	} {
		if got := localPorts(test.ports, test.reserved); got != test.want {
			t.Errorf("%q without %q: %d ports, want %d", test.ports, test.reserved, got, test.want)
		}
	}
}

// TestTooFewDescriptors refuses loads that need more descriptors than the process may have.
func TestTooFewDescriptors(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	lower := before
	lower.Cur = 500
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lower); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before) }()
	for name, test := range map[string]struct {
		change  func(*session.Plan)
		refused bool
	}{
		"few":     {func(p *session.Plan) { p.Connections = 100 }, false},
		"many":    {func(p *session.Plan) { p.Connections = 500 }, true},
		"users":   {func(p *session.Plan) { p.Connections, p.UserConnections = 100, 6 }, true},
		"streams": {func(p *session.Plan) { p.Connections, p.Streams = 100, 100 }, false},
		"open":    {func(p *session.Plan) { p.Connections, p.Arrivals = 1000, &session.Arrivals{Shares: 1} }, false},
	} {
		p := plan(1, 100_000, "/")
		test.change(&p)
		err := checkLimits(&p)
		if (err != nil) != test.refused || err != nil && (!strings.Contains(err.Error(), "only 500") || !strings.Contains(err.Error(), "file descriptors for")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

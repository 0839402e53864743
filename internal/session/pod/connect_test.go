package pod

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/assay-dev/assay/internal/result"
)

func TestRejections(t *testing.T) {
	type ending struct {
		code  codes.Code
		began time.Duration // since the beginning of all
		ended time.Duration
	}
	const s = time.Second
	tests := map[string]struct {
		endings []ending
		want    bool // after the last
	}{
		"at once":                     {[]ending{{codes.FailedPrecondition, 0, s}}, true},
		"not known yet":               {[]ending{{codes.PermissionDenied, 0, s}, {codes.PermissionDenied, s, 2 * s}}, false},
		"for long":                    {[]ending{{codes.PermissionDenied, 0, s}, {codes.PermissionDenied, 15 * s, 16 * s}, {codes.InvalidArgument, 31 * s, 32 * s}}, true},
		"no token for four minutes":   {[]ending{{codes.Unauthenticated, 0, s}, {codes.Unauthenticated, 240 * s, 241 * s}}, false},
		"no token for six minutes":    {[]ending{{codes.Unauthenticated, 0, s}, {codes.Unauthenticated, 240 * s, 241 * s}, {codes.Unauthenticated, 360 * s, 361 * s}}, true},
		"a new token isn't the run's": {[]ending{{codes.Unauthenticated, 0, s}, {codes.Unauthenticated, 240 * s, 241 * s}, {codes.PermissionDenied, 242 * s, 243 * s}, {codes.PermissionDenied, 274 * s, 275 * s}}, true},
		"with a break in between":     {[]ending{{codes.PermissionDenied, 0, s}, {codes.Unavailable, 15 * s, 16 * s}, {codes.PermissionDenied, 31 * s, 32 * s}}, false},
		"after a session of an hour":  {[]ending{{codes.InvalidArgument, 0, s}, {codes.InvalidArgument, 2 * s, 3600 * s}}, false},
		"no manager for an hour":      {[]ending{{codes.Unavailable, 0, s}, {codes.Unavailable, 3600 * s, 3601 * s}}, false},
		"something that isn't gRPC's": {[]ending{{codes.Unknown, 0, s}, {codes.Unknown, 3600 * s, 3601 * s}}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			var r rejections
			for i, e := range test.endings {
				got := r.final(status.Error(e.code, "x"), begin.Add(e.began), begin.Add(e.ended))
				if want := test.want && i == len(test.endings)-1; got != want {
					t.Errorf("ending %d: final %t, want %t", i, got, want)
				}
			}
		})
	}
}

// TestRunEndsWithItsContext ends the context while there is no manager.
func TestRunEndsWithItsContext(t *testing.T) {
	s := New(Config{
		Addresses: "127.0.0.1:1",
		Token:     func() (string, error) { return "", errors.New("no token yet") },
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v", err)
	}
	if _, open := <-s.Orders(); open {
		t.Error("there was an order")
	}
}

// BenchmarkSendSecond measures the cost of a sample second for a client.
func BenchmarkSendSecond(b *testing.B) {
	second := &result.ClientSecond{}
	for i := range int64(10_000) {
		for p := range result.Phases {
			second.Latencies.Of(p).Record(1000 + i*i%997)
		}
	}
	second.Requests = 10_000
	b.ReportAllocs()
	for b.Loop() {
		s := New(Config{})
		s.SendSecond(measurement, second)
	}
}

package planfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/session"
)

func TestOpen(t *testing.T) {
	steady := profile.Profile{{From: 500, To: 500}}
	for text, want := range map[string]session.Plan{
		"{requestsPerSecond: 500, durationSeconds: 10}": {
			Connections: 1000, Arrivals: &session.Arrivals{Shares: 1},
			Measurement: session.Amount{DurationMicroseconds: 10_000_000, Profile: steady},
		},
		"{requestsPerSecond: 500, requests: 70, spacing: Poisson, maxConnections: 100}": {
			Connections: 100, Arrivals: &session.Arrivals{Shares: 1, Poisson: true},
			Measurement: session.Amount{Requests: 70, Profile: steady},
		},
	} {
		job, err := Read([]byte("{url: 'http://a/', load: {open: "+text+"}, warmup: {requests: 5}}"), "", "")
		if err != nil {
			t.Fatal(err)
		}
		want.KeepAlive, want.TimeoutMicroseconds = true, 30_000_000
		want.Requests = []session.PlannedRequest{{Path: "/", Weight: 1, Length: -1}}
		want.Warmup = &session.Amount{Requests: 5, Profile: steady}
		if diff := cmp.Diff(&want, job.Plan); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		if err := job.Plan.Check(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestRefusedShapes(t *testing.T) {
	for load, want := range map[string]string{
		"{}": "load.closed: it's missing",
		"{closed: {connections: 1, requests: 1}, open: {requestsPerSecond: 1, requests: 1}}": "load: it has closed and open: give one of them",
		"{open: {requests: 1}}":                                               "load.open.requestsPerSecond: it's missing",
		"{open: {requestsPerSecond: 0, requests: 1}}":                         "load.open.requestsPerSecond: it's 0: give a number from 1 to 100000",
		"{open: {requestsPerSecond: 1}}":                                      "load.open: give exactly one of requests and durationSeconds",
		"{open: {requestsPerSecond: 1, requests: 1, spacing: Even}}":          `load.open.spacing: it's "Even": give Uniform or Poisson`,
		"{open: {requestsPerSecond: 1, requests: 1, maxConnections: 100000}}": "load.open.maxConnections: it's 100000: give a number from 1 to 20000",
		"{open: {rate: 1}}":                                                   "there is no field rate in load.open: take some of requestsPerSecond, spacing, maxConnections, requests, durationSeconds",
	} {
		if _, err := Read([]byte("url: http://a\nload: "+load), "", ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", load, err, want)
		}
	}
}

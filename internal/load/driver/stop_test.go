package driver

import (
	"crypto/tls"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
)

// TestStopCountsUnanswered stops loads at a server that responds to 12 requests and then hangs.
func TestStopCountsUnanswered(t *testing.T) { inBothModes(t, testStopCountsUnanswered) }

func testStopCountsUnanswered(t *testing.T) {
	const responses, hanging = 12, 4
	own := tlstest.SelfSigned(t)
	directory := tlstest.Directory(t, tlstest.Files{Client: own})
	hour := session.Amount{DurationMicroseconds: 3_600_000_000}
	rate := hour
	rate.Profile = profile.Profile{{From: 1000, To: 1000}}
	for name, change := range map[string]func(*session.Plan){
		"kept":           func(*session.Plan) {},
		"not kept":       func(p *session.Plan) { p.KeepAlive = false },
		"think time":     func(p *session.Plan) { p.ThinkTime = &session.ThinkTime{MinMicroseconds: 1000, MaxMicroseconds: 1000} },
		"several kinds":  func(p *session.Plan) { p.Requests = append(p.Requests, p.Requests[0]) },
		"TLS":            func(p *session.Plan) { p.TLS = &session.TLS{Unverified: true} },
		"TLS, not kept":  func(p *session.Plan) { p.TLS, p.KeepAlive = &session.TLS{Unverified: true}, false },
		"HTTP/2":         func(p *session.Plan) { p.Connections, p.Streams = 2, 2 },
		"HTTP/2 and TLS": func(p *session.Plan) { p.TLS, p.Connections, p.Streams = &session.TLS{Unverified: true}, 2, 2 },
		"open":           func(p *session.Plan) { p.Arrivals, p.Measurement = &session.Arrivals{Shares: 1}, rate },
		"open, HTTP/2": func(p *session.Plan) {
			p.Arrivals, p.Measurement, p.Connections, p.Streams = &session.Arrivals{Shares: 1}, rate, 2, 2
		},
	} {
		p := plan(hanging, 0, "/")
		p.Measurement = hour
		change(&p)
		if *runMode && p.Streams > 0 {
			continue // loops don't run HTTP/2
		}
		t.Run(name, func(t *testing.T) {
			var seen atomic.Int64
			hangs := make(chan struct{}, 100)
			hang := func() bool {
				if seen.Add(1) <= responses {
					return false
				}
				hangs <- struct{}{}
				return true
			}
			address := ""
			if p.Streams > 0 {
				certificates := ""
				if p.TLS != nil {
					certificates = directory
				}
				address = serveHTTP2(t, certificates, func(_ http.ResponseWriter, r *http.Request) {
					if hang() {
						<-r.Context().Done()
					}
				}).address
			} else {
				answer := func(testserver.Request) testserver.Answer {
					if hang() {
						return testserver.Answer{Then: testserver.Hang}
					}
					return testserver.OK(5)
				}
				if p.TLS == nil {
					address = testserver.New(t, answer).Address()
				} else {
					address = testserver.NewTLS(t, &tls.Config{Certificates: []tls.Certificate{own.Certificate}}, answer).Address()
				}
			}
			r, stage := runAndStop(t, &p, address, func() {
				for range hanging {
					<-hangs
				}
			})
			got := r.Total()
			if got.Requests != responses || got.Errors.Total() != 0 {
				t.Errorf("%d requests, errors %v", got.Requests, got.Errors)
			}
			want := int64(hanging)
			if a := stage.Arrivals(); a != nil {
				want += a.NotStarted
				if a.Due != got.Requests+got.Unanswered || a.PlannedMicroseconds != stage.stopped.Microseconds() {
					t.Errorf("%d requests were due in %d µs, %d were made and %d were unanswered", a.Due, a.PlannedMicroseconds, got.Requests, got.Unanswered)
				}
			}
			first, last, ok := stage.Span()
			if age := time.Duration(got.OldestUnanswered) * time.Microsecond; got.Unanswered != want || age < hungFor || age > stage.stopped.Round(time.Microsecond) { // a request that was due at the start is as old as the load
				t.Errorf("%d unanswered requests, want %d, the oldest for %v", got.Unanswered, want, age)
			}
			if !ok || first.Before(stage.start) || last.Sub(stage.start) != stage.stopped {
				t.Errorf("the load lasted until %v, it was stopped at %v", last.Sub(stage.start), stage.stopped)
			}
		})
	}
}

// TestStopWhileOpening stops a load whose TLS handshakes hang.
func TestStopWhileOpening(t *testing.T) { inBothModes(t, testStopWhileOpening) }

func testStopWhileOpening(t *testing.T) {
	server := misbehave(t, untilClosed)
	p := planTLS(3, 1000, session.TLS{Unverified: true})
	r, stage := runAndStop(t, &p, server.address, func() {
		for range 3 {
			<-server.begun
		}
	})
	got := r.Total()
	if first, last, ok := stage.Span(); got.Requests != 0 || got.Unanswered != 3 || !ok || last.Sub(first) < hungFor {
		t.Errorf("%d requests, %d unanswered, %v", got.Requests, got.Unanswered, last.Sub(first))
	}
}

// TestStopAfterTheEnd stops a stage that has ended.
func TestStopAfterTheEnd(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer { return testserver.OK(5) })
	p := plan(2, 50, "/")
	got := drive(t, p, server.Address())
	if got.Requests != 50 || got.Unanswered != 0 {
		t.Errorf("%d requests, %d unanswered", got.Requests, got.Unanswered)
	}
}

// hungFor is the time for which requests hang before runAndStop stops the load.
const hungFor = 30 * time.Millisecond

// runAndStop runs the measurement of a plan and stops it when its requests have hung for hungFor, after hung has returned.
func runAndStop(t *testing.T, p *session.Plan, address string, hung func()) (*recorder.Recorder, *Stage) {
	t.Helper()
	load := newLoad(t, p, address, Access{TLS: tlsConfig(t, p, address, "")})
	r := recorder.New(2)
	stage := load.NewStage(p.Measurement, r)
	var group sync.WaitGroup
	group.Go(func() { stage.Run(0, 1) })
	await(t, stage.Ready(), "the connections to be ready")
	start := time.Now()
	sampler := recorder.NewSampler(r, start, nil, func(*result.ClientSecond) {})
	go stage.Begin(start)
	go func() {
		hung()
		<-time.After(hungFor)
		stage.Stop()
		stage.Stop()
	}()
	sampler.Run(stage.Done())
	group.Wait()
	return r, stage
}

package driver

import (
	"bufio"
	"context"
	"crypto/tls"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
)

// The tests in this file use a fake clock and in-memory pipes instead of sockets.
// The measured times must equal the imposed times without any tolerance.

// pipe is one end of an in-memory connection.
type pipe struct{ net.Conn }

func (pipe) SetLinger(int) error                 { return nil }
func (pipe) idle() idleState                     { return usable }
func (pipe) poll(*tls.Conn, []byte) (int, error) { return 0, errNotReady }

// connecting is the time that opening a connection takes with TLS in these tests.
const connecting = 1234 * time.Microsecond

// virtually drives a plan inside a synctest bubble. serve handles the server's
// end of each connection.
func virtually(t *testing.T, p session.Plan, serve func(net.Conn)) stageResult {
	t.Helper()
	load := newLoad(t, &p, "127.0.0.1:80", Access{TLS: tlsConfig(t, &p, "127.0.0.1:80", "")})
	var servers sync.WaitGroup
	load.coarse = true
	load.looped = false
	load.dial = func(context.Context, time.Time) (socketTransport, error) {
		if p.TLS != nil {
			time.Sleep(connecting)
		}
		client, server := net.Pipe()
		servers.Go(func() {
			defer func() { _ = server.Close() }()
			serve(server)
		})
		return pipe{client}, nil
	}
	r := &tapRecorder{Recorder: recorder.New(2)}
	stage := load.NewStage(p.Measurement, r)
	go stage.Run(0, 1)
	<-stage.Ready()
	start := time.Now()
	sampler := recorder.NewSampler(r.Recorder, start, nil, func(*result.ClientSecond) {})
	go stage.Begin(start)
	sampler.Run(stage.Done())
	stage.Stop()
	servers.Wait()
	return stageResult{Measure: r.Total(), outcomes: r.outcomes, elapsed: time.Since(start), arrivals: stage.Arrivals()}
}

// readRequest reads a request. It returns false at the end of the connection.
func readRequest(reader *bufio.Reader) bool {
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return false
		}
		if line == "\r\n" {
			return true
		}
	}
}

func TestMeasuredTimesAreExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var truth [result.Phases]*result.Histogram
		for phase := range truth {
			truth[phase] = result.NewHistogram()
		}
		var all []time.Duration
		got := virtually(t, plan(25, 20_000, "/"), func(conn net.Conn) {
			reader := bufio.NewReader(conn)
			for readRequest(reader) {
				mu.Lock()
				waiting, receiving := draw(), draw()
				mu.Unlock()
				time.Sleep(waiting)
				_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"))
				time.Sleep(receiving)
				mu.Lock()
				truth[result.Waiting].Record(waiting.Microseconds())
				truth[result.Receiving].Record(receiving.Microseconds())
				truth[result.Processing].Record((waiting + receiving).Microseconds())
				truth[result.Total].Record((waiting + receiving).Microseconds())
				all = append(all, waiting+receiving)
				mu.Unlock()
				_, _ = conn.Write([]byte("cd"))
			}
		})
		for _, phase := range []result.Phase{result.Waiting, result.Receiving, result.Processing, result.Total} {
			h := got.Latencies.Get(phase)
			if !slices.Equal(h.Bars(), truth[phase].Bars()) || h.Sum() != truth[phase].Sum() {
				t.Errorf("%s: measured and imposed times differ", phase)
			}
		}
		for i, off := range deviations(got.Latencies.Get(result.Total), all) {
			if off != 0 {
				t.Errorf("p%v deviates by %v more than 0.1%%", percentiles[i], off)
			}
		}
		if got.Succeeded() != 20_000 {
			t.Errorf("counts %+v", got.Counts)
		}
	})
}

// draw returns a random time in whole microseconds, mostly short and sometimes
// long.
func draw() time.Duration {
	scale := []int64{500, 500, 500, 5_000, 5_000, 200_000}[rand.IntN(6)]
	return time.Duration(1+rand.Int64N(scale)) * time.Microsecond
}

// TestPhasesOfTLS checks that every phase is measured on its own.
func TestPhasesOfTLS(t *testing.T) {
	const handshake, waiting, receiving = 5432 * time.Microsecond, 777 * time.Microsecond, 55 * time.Microsecond
	own := tlstest.SelfSigned(t)
	for _, protocol := range session.Protocols {
		t.Run(protocol, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := planTLS(3, 30, session.TLS{Protocols: []string{protocol}, Unverified: true})
				p.KeepAlive = false
				got := virtually(t, p, func(conn net.Conn) {
					time.Sleep(handshake)
					secure := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{own.Certificate}, MinVersion: tls.VersionTLS10})
					defer func() { _ = secure.Close() }()
					if !readRequest(bufio.NewReader(secure)) {
						return
					}
					time.Sleep(waiting)
					_, _ = secure.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"))
					time.Sleep(receiving)
					_, _ = secure.Write([]byte("cd"))
				})
				if got.Succeeded() != 30 {
					t.Errorf("counts %+v", got.Counts)
				}
				for _, o := range got.outcomes {
					if o.Connect != connecting || o.TLS != handshake || o.Waiting != waiting || o.Receiving != receiving ||
						o.Processing != waiting+receiving || o.Total != connecting+handshake+waiting+receiving {
						t.Errorf("phases %+v", o)
					}
				}
			})
		})
	}
}

// TestTimeoutIncludesHandshake checks that the timeout covers all of a request,
// including the opening of its connection.
func TestTimeoutIncludesHandshake(t *testing.T) {
	const timeout = 100 * time.Millisecond
	own := tlstest.SelfSigned(t)
	for name, test := range map[string]struct {
		handshake, answer time.Duration
		want              result.ErrorKind
	}{
		"in time":            {50 * time.Millisecond, 40 * time.Millisecond, recorder.NoError},
		"together too late":  {60 * time.Millisecond, 40 * time.Millisecond, result.ErrorTimeout},
		"handshake too late": {timeout + 10*time.Millisecond, 0, result.ErrorTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := planTLS(1, 3, session.TLS{Unverified: true})
				p.KeepAlive, p.TimeoutMicroseconds = false, timeout.Microseconds()
				got := virtually(t, p, func(conn net.Conn) {
					time.Sleep(test.handshake)
					secure := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{own.Certificate}})
					defer func() { _ = secure.Close() }()
					if !readRequest(bufio.NewReader(secure)) {
						return
					}
					time.Sleep(test.answer)
					_, _ = secure.Write([]byte("HTTP/1.1 204 No Content\r\n\r\n"))
				})
				for _, o := range got.outcomes {
					if o.Error != test.want || o.Total > timeout+5*time.Millisecond {
						t.Errorf("%v after %v, want %v", o.Error, o.Total, test.want)
					}
				}
			})
		})
	}
}

// TestTimeoutIsExact checks that a response that completes after the timeout
// counts as timed out, whatever deadline its connection has.
func TestTimeoutIsExact(t *testing.T) {
	const timeout, slack = 100 * time.Millisecond, 5 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		takes := []time.Duration{
			time.Millisecond, 50 * time.Millisecond, timeout, timeout + time.Microsecond, timeout + slack, time.Hour,
			99 * time.Millisecond, time.Millisecond, timeout + time.Millisecond, 2 * timeout,
		}
		p := plan(1, int64(len(takes)), "/")
		p.TimeoutMicroseconds = timeout.Microseconds()
		var mu sync.Mutex
		next := 0
		got := virtually(t, p, func(conn net.Conn) {
			reader := bufio.NewReader(conn)
			for readRequest(reader) {
				mu.Lock()
				take := takes[next]
				next++
				mu.Unlock()
				time.Sleep(take)
				if _, err := conn.Write([]byte("HTTP/1.1 204 No Content\r\n\r\n")); err != nil {
					return
				}
			}
		})
		for i, o := range got.outcomes {
			want := recorder.NoError
			if takes[i] > timeout {
				want = result.ErrorTimeout
			}
			if o.Error != want || o.Total != min(takes[i], o.Total) || o.Total > timeout+slack {
				t.Errorf("a response after %v: %v after %v", takes[i], o.Error, o.Total)
			}
		}
	})
}

func TestRequestsCountWhenTheyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plan(3, 0, "/")
		p.Measurement = session.Amount{DurationMicroseconds: 10_000_000}
		load := newLoad(t, &p, "127.0.0.1:80", Access{})
		load.looped = false
		load.dial = func(context.Context, time.Time) (socketTransport, error) {
			client, server := net.Pipe()
			go func() {
				reader := bufio.NewReader(server)
				for readRequest(reader) {
					time.Sleep(300 * time.Millisecond)
					_, _ = server.Write([]byte("HTTP/1.1 204 No Content\r\n\r\n"))
				}
			}()
			return pipe{client}, nil
		}
		r := recorder.New(2)
		stage := load.NewStage(p.Measurement, r)
		go stage.Run(0, 1)
		start := time.Now()
		var got []int64
		sampler := recorder.NewSampler(r, start, nil, func(second *result.ClientSecond) {
			if second.Second != int64(len(got)) {
				t.Errorf("second %d arrived as number %d", second.Second, len(got))
			}
			got = append(got, second.Requests)
		})
		go stage.Begin(start)
		sampler.Run(stage.Done())
		stage.Stop()
		// Requests end at 0.3, 0.6, ... 10.2 s on each of three connections.
		if want := []int64{9, 9, 9, 12, 9, 9, 12, 9, 9, 12, 3}; !slices.Equal(got, want) {
			t.Errorf("requests by second are %v, want %v", got, want)
		}
		if first, last, ok := stage.Span(); !ok || !first.Equal(start) || last.Sub(start) != 10200*time.Millisecond {
			t.Errorf("the stage spans %v to %v, it began %v", first, last, start)
		}
	})
}

// TestLateBegin checks that a stage which begins late ends when it would have anyway, with a closed and with an open load.
func TestLateBegin(t *testing.T) {
	for name, arrivals := range map[string]*session.Arrivals{"closed": nil, "open": {Shares: 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := plan(1, 0, "/")
				p.Arrivals, p.Measurement = arrivals, session.Amount{DurationMicroseconds: 1_000_000}
				if arrivals != nil {
					p.Measurement.Profile = profile.Profile{{From: 10, To: 10, DurationMicroseconds: 1_000_000}}
				}
				load := newLoad(t, &p, "127.0.0.1:80", Access{})
				load.coarse, load.looped = true, false
				var servers sync.WaitGroup
				load.dial = pipes(&servers, func(conn net.Conn) {
					reader := bufio.NewReader(conn)
					for readRequest(reader) {
						time.Sleep(100 * time.Millisecond)
						_, _ = conn.Write([]byte("HTTP/1.1 204 No Content\r\n\r\n"))
					}
				})
				r := &tapRecorder{Recorder: recorder.New(1)}
				stage := load.NewStage(p.Measurement, r)
				go stage.Run(0, 1)
				go stage.Begin(time.Now().Add(-650 * time.Millisecond))
				<-stage.Done()
				stage.Stop()
				servers.Wait()
				last := r.outcomes[len(r.outcomes)-1]
				switch begun := last.Ended - last.Total; {
				case arrivals != nil && len(r.outcomes) != 10: // those that were due already start late
					t.Errorf("%d requests", len(r.outcomes))
				case arrivals == nil && (len(r.outcomes) != 4 || begun != 950*time.Millisecond):
					t.Errorf("%d requests, the last one started after %v", len(r.outcomes), begun)
				}
			})
		})
	}
}

package driver

import (
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
)

// sourceRecorder counts the outcomes of requests that loops made in place of tasks.
type sourceRecorder struct {
	tapRecorder
	stage  *Stage
	byLoop int
}

// newSourceRecorder returns one with a stage for the measurement of a plan.
func newSourceRecorder(t *testing.T, p *session.Plan, address string, looped bool) *sourceRecorder {
	t.Helper()
	load := newLoad(t, p, address, Access{TLS: tlsConfig(t, p, address, "")})
	load.looped = looped
	r := &sourceRecorder{tapRecorder: tapRecorder{Recorder: recorder.New(1)}}
	r.stage = load.NewStage(p.Measurement, r)
	return r
}

func (r *sourceRecorder) Record(connection int, o *recorder.Outcome) {
	r.tapRecorder.Record(connection, o)
	r.mu.Lock()
	if o != &r.stage.connections[connection].outcome {
		r.byLoop++
	}
	r.mu.Unlock()
}

// drivePlain runs the measurement of a plan in loops, or in goroutines for comparison. It returns the outcomes in
// the order in which they were recorded, and how many of the requests loops made by themselves.
func drivePlain(t *testing.T, p session.Plan, address string, looped bool, change ...func(*Load)) (outcomes []recorder.Outcome, byLoop int, stage *Stage) {
	t.Helper()
	r := newSourceRecorder(t, &p, address, looped)
	for _, change := range change {
		change(r.stage.load)
	}
	defer r.stage.Stop()
	var group sync.WaitGroup
	group.Go(func() { r.stage.Run(0, 1) })
	await(t, r.stage.Ready(), "the connections to be ready")
	go r.stage.Begin(time.Now())
	await(t, r.stage.Done(), "the stage to end")
	group.Wait()
	return r.outcomes, r.byLoop, r.stage
}

const plainHead = "HTTP/1.1 200 OK\r\nServer: scripted\r\nContent-Length: 5\r\n\r\n"

// answers are those that a loop may or may not handle by itself. Each stands for a difference from the response before.
var answers = map[string]testserver.Answer{
	"the same":                   testserver.Text(5, testserver.Stay, plainHead+"hello"),
	"another body":               testserver.Text(5, testserver.Stay, plainHead+"adieu"),
	"head first":                 testserver.Text(5, testserver.Stay, plainHead, "hello"),
	"body in parts":              testserver.Text(5, testserver.Stay, plainHead+"h", "ell", "o"),
	"head in parts":              testserver.Text(5, testserver.Stay, plainHead[:20], plainHead[20:]+"hello"),
	"first byte first":           testserver.Text(5, testserver.Stay, plainHead[:1], plainHead[1:]+"hello"),
	"another field":              testserver.Text(5, testserver.Stay, strings.Replace(plainHead, "scripted", "Scripted", 1)+"hello"),
	"another status":             testserver.Text(5, testserver.Stay, strings.Replace(plainHead, "200 OK", "503 No", 1)+"hello"),
	"longer":                     testserver.Text(6, testserver.Stay, strings.Replace(plainHead, ": 5", ": 6", 1)+"hello!"),
	"no body":                    testserver.Text(0, testserver.Stay, strings.Replace(plainHead, ": 5", ": 0", 1)),
	"204":                        testserver.Text(0, testserver.Stay, "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n"),
	"chunked":                    testserver.Text(5, testserver.Stay, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
	"interim":                    testserver.Text(5, testserver.Stay, "HTTP/1.1 103 Early Hints\r\n\r\n"+plainHead+"hello"),
	"lines that end with LF":     testserver.Text(5, testserver.Stay, strings.ReplaceAll(plainHead, "\r", "")+"hello"),
	"a folded line":              testserver.Text(5, testserver.Stay, strings.Replace(plainHead, ": 5", ":\r\n 5", 1)+"hello"),
	"an empty line first":        testserver.Text(5, testserver.Stay, "\r\n"+plainHead+"hello"),
	"40 KiB of headers":          testserver.Text(5, testserver.Stay, strings.Replace(plainHead, "scripted", strings.Repeat("x", 40<<10), 1)+"hello"),
	"32 KiB":                     large(32 << 10),
	"200 KiB":                    large(200 << 10),
	"200 KiB, head first":        large(200<<10, 0),
	"200 KiB in parts":           large(200<<10, 1, 4<<10, 100<<10),
	"a byte too much":            testserver.Text(5, testserver.Stay, plainHead+"hello!"),
	"a byte too much, in parts":  testserver.Text(5, testserver.Stay, plainHead+"hel", "lo!"),
	"a response too much":        testserver.Text(5, testserver.Stay, plainHead+"hello"+plainHead+"hello"),
	"closes, as announced":       testserver.Text(5, testserver.Close, strings.Replace(plainHead, "Server: scripted", "Connection: close", 1)+"hello"),
	"closes, in mid-body":        testserver.Text(5, testserver.Close, plainHead+"hel"),
	"closes, in mid-head":        testserver.Text(5, testserver.Close, plainHead[:30]),
	"closes, without response":   testserver.Text(0, testserver.Close, ""),
	"resets, in mid-body":        testserver.Text(5, testserver.Reset, plainHead+"hel"),
	"no HTTP":                    testserver.Text(5, testserver.Close, "SSH-2.0-OpenSSH_9.2\r\n"),
	"hangs, in mid-body":         testserver.Text(5, testserver.Hang, plainHead+"hel"),
	"hangs, before the response": testserver.Text(5, testserver.Hang, ""),
	"just too late":              {Delay: 1020 * time.Millisecond, Parts: []string{plainHead + "hello"}, Body: 5},
	"too late":                   {Delay: 1500 * time.Millisecond, Parts: []string{plainHead + "hello"}, Body: 5},
}

// large returns an answer with a long body, whose parts begin at positions in the body.
func large(length int, parts ...int) testserver.Answer {
	head := strings.Replace(plainHead, ": 5", fmt.Sprintf(": %d", length), 1)
	all := head + strings.Repeat("x", length)
	a := testserver.Answer{Body: length}
	from := 0
	for _, at := range parts {
		a.Parts = append(a.Parts, all[from:len(head)+at])
		from = len(head) + at
	}
	a.Parts = append(a.Parts, all[from:])
	return a
}

// TestPlainLoadsEqualOthers lets servers answer two requests in turn with each kind of response between others, and with random
// sequences. What a loop records must be what goroutines record, apart from the times.
func TestPlainLoadsEqualOthers(t *testing.T) {
	names := make([]string, 0, len(answers))
	for name := range answers {
		names = append(names, name)
	}
	slices.Sort(names)
	scripts := map[string][]string{}
	for _, name := range names {
		const same = "the same"
		// One of a kind after the loop has taken over, two of them to the same request, and two in succession.
		scripts[name] = []string{same, same, same, same, name, same, same, name, same, name, same, same, name, name, same, same}
	}
	random := rand.New(rand.NewPCG(17, 92))
	for i := range 6 {
		var script []string
		for range 60 {
			name := names[random.IntN(len(names))]
			if a := answers[name]; a.Then == testserver.Hang || a.Delay > 0 {
				continue // these take seconds
			}
			for range 1 + random.IntN(4) {
				script = append(script, name)
			}
		}
		scripts[fmt.Sprintf("random %d", i)] = script
	}
	certificate := tlstest.NewCA(t, "authority").ECDSA(t).Certificate
	check := func(of, shape string, config *tls.Config, settings *session.TLS) {
		name, script := of+shape, scripts[of]
		open := strings.HasSuffix(shape, ", open")
		late := slices.ContainsFunc(script, func(name string) bool { return answers[name].Then == testserver.Hang || answers[name].Delay > 0 })
		if open && late {
			return // how many requests are dropped meanwhile depends on the time
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var recorded [2][]recorder.Outcome
			for i, looped := range []bool{true, false} {
				server := testserver.NewTLS(t, config, func(r testserver.Request) testserver.Answer {
					a := answers[script[min(r.Number, len(script)-1)]]
					a.Pause = time.Millisecond
					return a
				})
				p := plan(1, int64(len(script)), "/")
				p.Requests = append(p.Requests, session.PlannedRequest{Path: "/other", Weight: 1, Length: -1})
				p.Sequential, p.TLS = true, settings
				p.TimeoutMicroseconds = time.Hour.Microseconds() // so that none is dropped
				if late {
					p.TimeoutMicroseconds = time.Second.Microseconds()
				}
				if open {
					p.Arrivals, p.Measurement.Profile = &session.Arrivals{Shares: 1}, profile.Profile{{From: 500, To: 500}}
				}
				outcomes, byLoop, _ := drivePlain(t, p, server.Address(), looped, func(l *Load) {
					if strings.HasPrefix(name, "just too late") {
						l.slack = time.Minute // so that every machine reads a response that is just too late
					}
				})
				recorded[i] = outcomes
				if looped != (byLoop > 0) {
					t.Errorf("loops made %d requests by themselves, with loops: %t", byLoop, looped)
				}
			}
			if len(recorded[0]) != len(script) || len(recorded[1]) != len(script) {
				t.Fatalf("%d and %d outcomes, want %d", len(recorded[0]), len(recorded[1]), len(script))
			}
			for i := range script {
				got, want := untimed(recorded[0][i]), untimed(recorded[1][i])
				if got != want {
					t.Errorf("response %d, %q after %q:\nloop      %+v\ngoroutine %+v", i, script[i], script[max(0, i-1)], got, want)
				}
			}
			if !open {
				checkTimes(t, recorded[0])
			}
		})
	}
	for name := range scripts {
		check(name, "", nil, nil)
		check(name, ", open", nil, nil)
		for _, shape := range []string{", TLS", ", TLS, open"} {
			check(name, shape, &tls.Config{Certificates: []tls.Certificate{certificate}}, &session.TLS{Protocols: []string{"TLSv1.3"}, Unverified: true})
		}
	}
}

// untimed returns an outcome without its times and without what depends on the moment at which a connection broke.
func untimed(o recorder.Outcome) recorder.Outcome {
	o.Ended, o.Connect, o.TLS, o.Processing, o.Waiting, o.Receiving, o.Total, o.Delay, o.Service = 0, 0, 0, 0, 0, 0, 0, 0, 0
	if o.Error != recorder.NoError {
		o.Sent, o.Received, o.Body, o.Detail, o.Request = 0, 0, 0, "", nil
	}
	if o.Error == result.ErrorReceive {
		o.Cause = ""
	}
	return o
}

// checkTimes checks that the phases of the outcomes of one connection add up and that its requests don't overlap.
func checkTimes(t *testing.T, outcomes []recorder.Outcome) {
	t.Helper()
	var ended time.Duration
	for i, o := range outcomes {
		if begin := o.Ended - o.Total; begin < ended {
			t.Errorf("request %d began %v before the end of the last one", i, ended-begin)
		}
		ended = o.Ended
		if o.Error == recorder.NoError && (o.Waiting < 0 || o.Receiving < 0 || o.Waiting+o.Receiving > o.Processing || o.Processing > o.Total) {
			t.Errorf("request %d: the phases don't add up: %+v", i, o)
		}
	}
}

// TestPlainLoadIsMadeByLoop checks that loops make nearly all requests of a plain load, one after the other on
// each connection, and exactly as many as planned.
func TestPlainLoadIsMadeByLoop(t *testing.T) {
	const connections, requests = 5, 2000
	small, other := testserver.OK(10), large(100<<10)
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		if r.Path == "/other" {
			return other
		}
		return small
	})
	for name, kinds := range map[string][]session.PlannedRequest{
		"one request":  {{Path: "/", Weight: 1, Length: -1}},
		"with a body":  {{Path: "/", Method: "POST", Body: []byte("abc"), Weight: 1, Length: -1}},
		"two requests": {{Path: "/", Weight: 3, Length: 10}, {Path: "/other", Weight: 1, Length: 100 << 10}},
		"open":         {{Path: "/", Weight: 3, Length: 10}, {Path: "/other", Weight: 1, Length: 100 << 10}},
	} {
		t.Run(name, func(t *testing.T) {
			before := server.Seen()
			p := plan(connections, requests, "/")
			p.Requests, p.Sequential = kinds, true
			if name == "open" {
				p.Arrivals, p.Measurement.Profile = &session.Arrivals{Shares: 1}, profile.Profile{{From: 5000, To: 5000}}
			}
			outcomes, byLoop, stage := drivePlain(t, p, server.Address(), true)
			var sent, received int64
			for i := range outcomes {
				sent, received = sent+outcomes[i].Sent, received+outcomes[i].Received
				if outcomes[i].Error != recorder.NoError {
					t.Fatalf("%+v", outcomes[i])
				}
			}
			// The server counts after it has written.
			eventually(t, func() bool { return server.Seen().BytesSent-before.BytesSent >= received }, "the server to count")
			seen := server.Seen()
			switch {
			case len(outcomes) != requests, seen.Requests-before.Requests != requests:
				t.Errorf("%d outcomes, the server saw %d requests, want %d", len(outcomes), seen.Requests-before.Requests, requests)
			case sent != seen.BytesReceived-before.BytesReceived, received != seen.BytesSent-before.BytesSent:
				t.Errorf("sent %d, received %d, the server has %d and %d", sent, received, seen.BytesReceived-before.BytesReceived, seen.BytesSent-before.BytesSent)
			case byLoop < requests*9/10:
				t.Errorf("loops made %d of %d requests", byLoop, requests)
			}
			_, last, _ := stage.Span()
			if want := stage.start.Add(outcomes[len(outcomes)-1].Ended); !last.Equal(want) {
				t.Errorf("the last request ended at %v, want %v", last, want)
			}
		})
	}
}

// TestStoppedPlainLoad stops a stage while loops make its requests. It spans the time until then.
func TestStoppedPlainLoad(t *testing.T) {
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		if r.OnConnection == 100 {
			return testserver.Text(0, testserver.Hang, "")
		}
		return testserver.OK(10)
	})
	p := plan(2, 1000, "/")
	r := newSourceRecorder(t, &p, server.Address(), true)
	go r.stage.Run(0, 1)
	await(t, r.stage.Ready(), "the connections to be ready")
	go r.stage.Begin(time.Now())
	eventually(t, func() bool { return r.count() == 200 }, "the requests before the server hangs")
	r.stage.Stop()
	await(t, r.stage.Done(), "the stage to end")
	if r.count() != 200 || r.byLoop < 180 {
		t.Errorf("%d outcomes, %d of requests that loops made", r.count(), r.byLoop)
	}
	if _, last, ok := r.stage.Span(); !ok || !last.Equal(r.stage.start.Add(r.stage.stopped)) {
		t.Errorf("the stage ends at %v, want %v", last, r.stage.start.Add(r.stage.stopped))
	}
	if r.outcomes[0].Error != recorder.NoError || r.Total().Errors[result.ErrorReceive] != 0 {
		t.Error("requests in flight count as failed")
	}
}

// newPlainTask returns the only task of a loop, with a connection to a server, and the loop's request in flight, which
// the task has written.
func newPlainTask(t *testing.T, answer testserver.Answer) (*task, *plainRequest) {
	t.Helper()
	server := testserver.New(t, func(testserver.Request) testserver.Answer { return answer })
	p := plan(1, 1, "/")
	r := newSourceRecorder(t, &p, server.Address(), true)
	t.Cleanup(r.stage.Stop)
	r.stage.start = time.Now()
	l := &loop{stage: r.stage, plain: newPlainLoad(r.stage, 1)}
	l.plain.known[0] = &plainResponse{head: []byte(plainHead), body: 5, status: 200}
	fd, err := r.stage.load.endpoint.open()
	if err != nil {
		t.Fatal(err)
	}
	k := &task{loop: l, connection: r.stage.connections[0]}
	k.socket = socket{task: k, fd: fd, open: true}
	t.Cleanup(func() { _ = k.socket.Close() })
	l.tasks = []*task{k}
	eventually(t, func() bool { done, err := connected(fd); return done && err == nil }, "the connection")
	request := r.stage.load.requests.Requests[0]
	if _, err := k.socket.Write(request.Bytes); err != nil {
		t.Fatal(err)
	}
	l.plain.requests[0] = plainRequest{fd: int32(fd), request: request}
	return k, &l.plain.requests[0]
}

// TestPlainLoadKeepsReadErrors checks that a task meets the error that its loop has met when it read in place of
// the task. The kernel returns it only once.
func TestPlainLoadKeepsReadErrors(t *testing.T) {
	k, r := newPlainTask(t, testserver.Text(3, testserver.Reset, plainHead+"hel"))
	eventually(t, func() bool { complete, ok := k.loop.receivePlain(0, r); return complete || !ok }, "the end of the connection")
	if r.received != int64(len(plainHead)+3) {
		t.Errorf("received %d bytes of the response", r.received)
	}
	var buffer [1]byte
	if n, err := k.socket.Read(buffer[:]); n != 0 || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read %d bytes, error %v, want that of the reset", n, err)
	}
}

// TestPolledSocketNeverWaits checks that a socket neither waits for bytes nor for space when its loop uses it in place of the task, which
// only the task can do.
func TestPolledSocketNeverWaits(t *testing.T) {
	k, _ := newPlainTask(t, testserver.Answer{Delay: time.Hour})
	k.socket.polled = true
	var buffer [1 << 20]byte
	if n, err := k.socket.Read(buffer[:]); n != 0 || !errors.Is(err, errNotReady) {
		t.Errorf("read %d bytes, error %v", n, err)
	}
	for written := 0; ; {
		n, err := k.socket.Write(buffer[:])
		if written += n; errors.Is(err, errNotReady) {
			break
		}
		if err != nil || written > 1<<30 {
			t.Fatalf("wrote %d bytes, error %v", written, err)
		}
	}
}

// TestNap checks when a loop sleeps before it waits for events, and for how long.
func TestNap(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		name        string
		load        *plainLoad
		connections int
		want        time.Duration
	}{
		{"no plain load", nil, 100, 0},
		{"open load", &plainLoad{average: 500 * us}, 100, 0},
		{"no response yet", &plainLoad{naps: true}, 100, 0},
		{"a twentieth of a response time", &plainLoad{naps: true, average: 500 * us}, 25, 25 * us},
		{"at most 50 µs", &plainLoad{naps: true, average: 20_000 * us}, 1000, 50 * us},
		{"responses too quick", &plainLoad{naps: true, average: 199 * us}, 100, 0},
		{"too few connections", &plainLoad{naps: true, average: 500 * us}, 9, 0},
		{"a response in two naps", &plainLoad{naps: true, average: 500 * us}, 10, 25 * us},
		{"responses too rare", &plainLoad{naps: true, average: 20_000 * us}, 199, 0},
	} {
		if got := c.load.nap(c.connections); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	closed, open := plan(25, 1000, "/"), open(25, 1000, time.Second)
	for p, want := range map[*session.Plan]bool{&closed: true, &open: false} {
		r := newSourceRecorder(t, p, "127.0.0.1:1", true)
		if l := newPlainLoad(r.stage, 25); l == nil || l.naps != want {
			t.Errorf("%+v: %+v, want naps %t", p, l, want)
		}
	}
}

// TestNapEndsAtOnceWithEvents checks that a loop doesn't sleep while there is an event, and that one which arrives
// during its sleep is there afterwards.
func TestNapEndsAtOnceWithEvents(t *testing.T) {
	l, err := newLoop(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	if l.nap(time.Microsecond) {
		t.Fatal("an event, want none")
	}
	l.wake()
	if !l.nap(time.Hour) || l.eventCount != 1 {
		t.Fatalf("%d events, want the one before the nap", l.eventCount)
	}
	l.setTimer(time.Microsecond, 0)
	for !l.nap(time.Millisecond) { // a signal may end one early
	}
	if l.events[0].Fd != timerEvents {
		t.Errorf("event %d after the nap, want that of the first timer", l.events[0].Fd)
	}
}

// TestAverageResponseTime checks that a loop's average follows the response times of its load.
func TestAverageResponseTime(t *testing.T) {
	k, r := newPlainTask(t, testserver.OK(5))
	r.response = k.loop.plain.known[0]
	for range 200 {
		k.loop.record(r, 800*time.Microsecond)
	}
	if got := k.loop.plain.average; got < 790*time.Microsecond || got > 800*time.Microsecond {
		t.Errorf("average %v after 200 responses of 800 µs", got)
	}
}

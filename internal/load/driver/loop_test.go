package driver

import (
	"errors"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/session"
)

// TestLoopsEndWaits checks how tasks of a loop end that wait for a time, for a
// request of an open load or for a response. All end at once when the stage is
// stopped. When the stage is ended, responses are still awaited.
func TestLoopsEndWaits(t *testing.T) {
	thinking := plan(3, 0, "/")
	thinking.ThinkTime = &session.ThinkTime{MinMicroseconds: time.Hour.Microseconds(), MaxMicroseconds: time.Hour.Microseconds()}
	thinking.Measurement.DurationMicroseconds = time.Hour.Microseconds()
	arriving := open(3, 1, time.Hour)
	arriving.Arrivals.Shares = 1000 // this is the first of 1000 clients
	asking := plan(3, 1000, "/")
	const atOnce, late = 0, 200 * time.Millisecond
	for name, test := range map[string]struct {
		plan   session.Plan
		delay  time.Duration // of responses
		asked  int           // requests received before the end
		end    func(*Stage)
		wanted int64 // outcomes
	}{
		"think time, ended":   {thinking, atOnce, 3, (*Stage).End, 3},
		"think time, stopped": {thinking, atOnce, 3, (*Stage).Stop, 3},
		"arrivals, ended":     {arriving, atOnce, 1, (*Stage).End, 1},
		"arrivals, stopped":   {arriving, atOnce, 1, (*Stage).Stop, 1},
		"responses, ended":    {asking, late, 3, (*Stage).End, 3},
		"responses, stopped":  {asking, time.Minute, 3, (*Stage).Stop, 0},
	} {
		t.Run(name, func(t *testing.T) {
			looped := true
			runMode = &looped
			defer func() { runMode = nil }()
			server := testserver.New(t, func(testserver.Request) testserver.Answer {
				answer := testserver.OK(2)
				answer.Delay = test.delay
				return answer
			})
			r := &tapRecorder{Recorder: recorder.New(2)}
			stage := newLoad(t, &test.plan, server.Address(), Access{}).NewStage(test.plan.Measurement, r)
			defer stage.Stop()
			for share := range 2 {
				go stage.Run(share, 2)
			}
			await(t, stage.Ready(), "the connections to be ready")
			go stage.Begin(time.Now())
			eventually(t, func() bool { return int(server.Seen().Requests) >= test.asked }, "the requests")
			if test.delay == atOnce {
				eventually(t, func() bool { return r.count() == test.asked }, "the responses")
			}
			test.end(stage)
			await(t, stage.Done(), "the stage to end")
			if got := r.count(); int64(got) != test.wanted {
				t.Errorf("%d outcomes, want %d", got, test.wanted)
			}
		})
	}
}

// TestEndIsReadOnce checks that a socket doesn't read the end of a connection that its loop knows of: once the server has
// finished, a read that takes all that has arrived leaves only the end.
func TestEndIsReadOnce(t *testing.T) {
	for name, test := range map[string]struct {
		events uint32
		size   int  // of the first read, of 3 bytes
		known  bool // whether the end is known
	}{
		"finished":               {syscall.EPOLLIN | syscall.EPOLLRDHUP, 4, true},
		"finished, not drained":  {syscall.EPOLLIN | syscall.EPOLLRDHUP, 3, false},
		"not finished":           {syscall.EPOLLIN, 4, false},
		"finished with an error": {syscall.EPOLLIN | syscall.EPOLLRDHUP | syscall.EPOLLHUP | syscall.EPOLLERR, 4, false},
	} {
		t.Run(name, func(t *testing.T) {
			pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer closeSocket(pair[1])
			k := &task{}
			k.socket = socket{task: k, fd: pair[0], open: true}
			defer closeSocket(pair[0])
			if _, err := syscall.Write(pair[1], []byte("end")); err != nil {
				t.Fatal(err)
			}
			k.notify(test.events)
			if n, err := k.socket.Read(make([]byte, test.size)); n != 3 || err != nil {
				t.Fatalf("read %d bytes, error %v", n, err)
			}
			// What arrives now shows whether the socket is read.
			if _, err := syscall.Write(pair[1], []byte("more")); err != nil {
				t.Fatal(err)
			}
			k.socket.readable = true
			n, err := k.socket.Read(make([]byte, 10))
			if known := errors.Is(err, io.EOF); known != test.known || !known && n != 4 {
				t.Errorf("read %d bytes, error %v, want the end: %t", n, err, test.known)
			}
		})
	}
}

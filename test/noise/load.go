package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assay-dev/assay/internal/load/driver"
	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/session"
)

const (
	resolution = 100 * time.Millisecond // the length of the shortest windows
	bytes      = 1024                   // of each response
)

// sample holds the successful requests of a window or a slice, its length, and the client's CPU time, both in microseconds.
type sample [3]int64

// rate returns the requests per second. No request counts as a half, so that it has a logarithm.
func (s sample) rate() float64 { return max(0.5, float64(s[0])) / float64(s[1]) * 1e6 }

// cost returns the client's CPU time per request in microseconds.
func (s sample) cost() float64 { return max(0.5, float64(s[2])) / max(0.5, float64(s[0])) }

func (s sample) since(earlier sample) sample {
	return sample{s[0] - earlier[0], s[1] - earlier[1], s[2] - earlier[2]}
}

// counter is a driver.Recorder that only counts.
type counter struct {
	succeeded, failed atomic.Int64
	cause             atomic.Value // of the last failure
}

func (c *counter) Record(_ int, o *recorder.Outcome) {
	if o.Error == recorder.NoError {
		c.succeeded.Add(1)
		return
	}
	c.failed.Add(1)
	c.cause.Store(o.Cause)
}
func (c *counter) Page(int, *recorder.Page)                       {}
func (c *counter) Drop(time.Duration, int64)                      {}
func (c *counter) Unanswered(time.Duration, int64, time.Duration) {}

// now returns what has been counted, with both clocks.
func (c *counter) now() sample {
	var cpu unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &cpu) // which each Linux has
	return sample{c.succeeded.Load(), time.Now().UnixMicro(), cpu.Nano() / 1000}
}

// drive loads a server by 25 connections, and returns the sample of that time and of the shortest windows within it.
func drive(ctx context.Context, s *server, d time.Duration) (all sample, windows []sample, err error) {
	request := session.Get(s.path)
	request.Length = bytes
	load, err := driver.New(ctx, &session.Plan{
		Connections: 25, KeepAlive: true, TimeoutMicroseconds: 10_000_000, Host: s.address,
		Requests: []session.PlannedRequest{request}, Measurement: session.Amount{DurationMicroseconds: d.Microseconds()},
	}, s.address, driver.Access{})
	if err != nil {
		return all, nil, err
	}
	c := &counter{}
	stage := load.NewStage(session.Amount{DurationMicroseconds: d.Microseconds()}, c)
	defer stage.Stop()
	go stage.Run(0, 1)
	<-stage.Ready()
	ticker := time.NewTicker(resolution)
	defer ticker.Stop()
	first := c.now()
	last := first
	stage.Begin(time.Now())
	for {
		select {
		case <-ctx.Done():
			return all, nil, ctx.Err()
		case <-ticker.C:
			now := c.now()
			windows, last = append(windows, now.since(last)), now
		case <-stage.Done():
			if n := c.failed.Load(); n > 0 {
				return all, nil, fmt.Errorf("%s: %d requests failed: %v", s.path, n, c.cause.Load())
			}
			return c.now().since(first), windows, nil
		}
	}
}

// pin moves this program to a CPU.
func pin(cpu int) error {
	runtime.GOMAXPROCS(1)
	threads, err := os.ReadDir("/proc/self/task")
	for _, thread := range threads {
		var set unix.CPUSet
		set.Set(cpu)
		id, _ := strconv.Atoi(thread.Name())
		if err := unix.SchedSetaffinity(id, &set); err != nil {
			return err
		}
	}
	return err
}

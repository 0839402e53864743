package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/load/client"
	"github.com/assay-dev/assay/internal/load/command"
	"github.com/assay-dev/assay/internal/load/fakesession"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
)

// These tests run the program in a separate process, which runs this test binary. It acts as the program if one of these environment variables is set.
const (
	// mainVariable makes the binary act as assay-load.
	mainVariable = "ASSAY_TEST_MAIN"
	// sessionVariable makes the binary act as "assay-load client" with a fake
	// manager. Its value is an assignment.
	sessionVariable = "ASSAY_TEST_SESSION"
)

// assignment is sent to the client by the fake manager.
type assignment struct {
	Plan    *session.Plan
	Address string
}

// received holds what the client sent to the fake manager.
type received struct {
	Totals  result.Totals
	Seconds result.Counts
	// StartedAfter is the time from the start time to the first request, in microseconds.
	StartedAfter int64
	// ReadyCPU is the CPU time from the start of the process until the client was
	// ready, in microseconds.
	ReadyCPU int64
}

func TestMain(m *testing.M) {
	switch text := os.Getenv(sessionVariable); {
	case text != "":
		if err := runFakeClient(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case os.Getenv(mainVariable) != "":
		main()
	default:
		os.Exit(m.Run())
	}
}

// runFakeClient runs "assay-load client" with a fake manager. The fake manager writes what it
// received to the standard output, or the reason if the client failed.
func runFakeClient(text string) error {
	var a assignment
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return err
	}
	var got received
	var startAt int64
	regular := fakesession.Regular(a.Plan, a.Address, 10*time.Millisecond)
	s := fakesession.New(func(event fakesession.Event) []pod.Order {
		switch event := event.(type) {
		case fakesession.Ready:
			var used syscall.Rusage
			if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err == nil {
				got.ReadyCPU = (used.Utime.Nano() + used.Stime.Nano()) / 1000
			}
		case fakesession.Second:
			got.Seconds.Add(event.Counts)
		case result.Totals:
			got.Totals = event
			got.StartedAfter = got.Totals.StartedAt - startAt
			if err := json.NewEncoder(os.Stdout).Encode(got); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		case fakesession.Failed:
			fmt.Println(event.Reason)
		}
		orders := regular(event)
		for _, order := range orders {
			if start, ok := order.(pod.Start); ok {
				startAt = start.At
			}
		}
		return orders
	})
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	return command.RunClient(client.New(s, log), log)
}

func program(t *testing.T, variable, value string, args ...string) (command *exec.Cmd, output, errors *bytes.Buffer) {
	t.Helper()
	command = exec.CommandContext(t.Context(), os.Args[0], args...)
	command.Env = append(os.Environ(), variable+"="+value)
	output, errors = &bytes.Buffer{}, &bytes.Buffer{}
	command.Stdout, command.Stderr = output, errors
	return command, output, errors
}

func (a assignment) String() string {
	data, err := json.Marshal(a)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func plan() *session.Plan {
	return &session.Plan{
		Connections: 7, KeepAlive: true, TimeoutMicroseconds: 10_000_000,
		Requests:    []session.PlannedRequest{{Path: "/", Weight: 1, Length: 1024}},
		Warmup:      &session.Amount{Requests: 100},
		Measurement: session.Amount{Requests: 3000},
	}
}

// runProgram runs "assay-load client" to its end and returns what the fake manager received.
func runProgram(t *testing.T, p *session.Plan, server *testserver.Server) received {
	t.Helper()
	command, output, errors := program(t, sessionVariable, assignment{p, server.Address()}.String())
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errors)
	}
	var got received
	if err := json.Unmarshal(output.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s%s", err, output, errors)
	}
	return got
}

func TestClientProcess(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer { return testserver.OK(1024) })
	reported := runProgram(t, plan(), server)
	t.Logf("%d ms of CPU from the start until ready, first request %d µs after the start time, peak RSS %d MiB",
		reported.ReadyCPU/1000, reported.StartedAfter, reported.Totals.Usage.MaxResident>>20)
	got := reported.Totals
	if got.Requests != 3000 || got.Succeeded() != 3000 || got.Connections != 7 || got.Warmup == nil || got.Warmup.Requests != 100 {
		t.Errorf("totals %+v", got)
	}
	sum := got.Counts
	sum.Add(*got.Warmup)
	if reported.StartedAfter < 0 {
		t.Errorf("the first request began %d µs after the start time", reported.StartedAfter)
	}
	if reported.Seconds != sum {
		t.Errorf("the sum of the seconds is %+v, the totals are %+v", reported.Seconds, sum)
	}
	server.Stop()
	if seen := server.Seen(); seen.Requests != 3100 || seen.BytesSent != sum.BytesReceived || seen.BytesReceived != sum.BytesSent {
		t.Errorf("the server saw %d requests, %d bytes; it sent %d bytes; the client counted %+v",
			seen.Requests, seen.BytesReceived, seen.BytesSent, sum)
	}
}

// TestOpenLevelsInAProcess runs an open load of two levels with a warm-up.
func TestOpenLevelsInAProcess(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer { return testserver.OK(1024) })
	p := plan()
	p.Arrivals = &session.Arrivals{Shares: 1}
	p.Warmup.Profile = profile.Profile{{From: 1000, To: 1000}}
	p.Measurement = session.Amount{DurationMicroseconds: 2_000_000, Profile: profile.Profile{
		{From: 100, To: 100, DurationMicroseconds: 1_000_000, Level: true}, {From: 300, To: 300, DurationMicroseconds: 1_000_000, Level: true},
	}}
	got := runProgram(t, p, server).Totals
	if got.Succeeded() != 400 || got.Arrivals == nil || got.Arrivals.TargetRatePerSecond() != 200 || got.Warmup.Requests != 100 {
		t.Errorf("totals %+v, arrivals %+v", got.Counts, got.Arrivals)
	}
	if len(got.Levels) != 2 || got.Levels[0].Requests == 0 || got.Levels[1].Requests == 0 || got.Levels[0].Requests > 100 {
		t.Errorf("levels %+v", got.Levels)
	}
}

func TestClientStopsOnSIGTERM(t *testing.T) {
	requested := make(chan struct{}, 100)
	server := testserver.New(t, func(testserver.Request) testserver.Answer {
		requested <- struct{}{}
		return testserver.Answer{Then: testserver.Hang}
	})
	p := plan()
	p.Warmup = nil
	command, output, errors := program(t, sessionVariable, assignment{p, server.Address()}.String())
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	for range p.Connections {
		<-requested
	}
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	if code := command.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d\n%s", code, errors)
	}
	if got := output.String(); !strings.Contains(got, `signal "terminated", with 7 requests unanswered, the oldest for`) || strings.Contains(got, "Totals") {
		t.Errorf("the manager received %q", got)
	}
}

func TestClientFailsOnInvalidPlan(t *testing.T) {
	p := plan()
	p.Connections = 0
	command, output, errors := program(t, sessionVariable, assignment{p, "127.0.0.1:1"}.String())
	_ = command.Run()
	if code := command.ProcessState.ExitCode(); code != 1 || !strings.Contains(output.String(), "0 connections") {
		t.Errorf("exit code %d, the manager received %q\n%s", code, output, errors)
	}
}

func TestCommandLine(t *testing.T) {
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 0, "Run as a client of a BenchmarkRun"},
		{[]string{"--help"}, 0, "Run k6's own command line"},
		{[]string{"client", "--help"}, 0, "ASSAY_MANAGER"},
		{[]string{"k6", "version"}, 1, "needs the program assay-k6 in the directory of assay-load"},
		{[]string{"run", "shop.js"}, 1, "needs the program assay-k6"},
		{[]string{"client", "--script"}, 1, "needs the program assay-k6"},
		{[]string{"run", "shop.js", "-o", "csv"}, 4, "csv is for loads with stages"},
		{[]string{"run", "shop.js", "-e", "USERS"}, 4, `"USERS" must be of the form NAME=VALUE`},
		{[]string{"run", planFile(t, "url: http://127.0.0.1:1"), "-e", "A=b"}, 4, "--url and --env are for k6 scripts"},
		{[]string{"client"}, 1, "ASSAY_MANAGER"},
		{[]string{"walk"}, 4, `unknown command "walk"`},
		{[]string{"run"}, 4, "specify one plan"},
		{[]string{"run", "--nonsense"}, 4, "nonsense"},
		{[]string{"run", "-o", "pdf", "x.yaml"}, 4, "use one of benchstat, csv[=levels|percentiles|requests|series], hgrm"},
		{[]string{"run", "-o", "csv", planFile(t, "{url: 'http://127.0.0.1:1', load: {closed: {connections: 1, requestCount: 1}}}")}, 4, "csv is for loads with stages"},
		{[]string{"run", "none.yaml"}, 4, "none.yaml: "},
		{[]string{"ab", "-h"}, 0, "Usage: assay-load ab"},
		{[]string{"ab", "-V"}, 0, "assay-load ab, Version"},
		{[]string{"ab", "-g", "x", "http://a/"}, 22, "-g: not supported: single requests aren't recorded"},
		{[]string{"ab", "http://127.0.0.1:1/"}, 1, "connection refused"},
	} {
		command, output, errors := program(t, mainVariable, "1", test.args...)
		command.Env = append(command.Env, "ASSAY_MANAGER=")
		_ = command.Run()
		if code := command.ProcessState.ExitCode(); code != test.code {
			t.Errorf("%v: exit code %d", test.args, code)
		}
		if printed := output.String() + errors.String(); !strings.Contains(printed, test.want) {
			t.Errorf("%v: printed %q, want it to contain %q", test.args, printed, test.want)
		}
	}
}

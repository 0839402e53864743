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

	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/load/internal/fakesession"
	"github.com/assay-dev/assay/load/internal/testserver"
)

// These tests run the whole program in a process of its own, which is this test
// binary again: k6 ends the process that it runs in.
const (
	// mainVariable has the binary be assay-load.
	mainVariable = "ASSAY_TEST_MAIN"
	// sessionVariable has it be "assay-load client" with a manager that is played;
	// its value is an errand.
	sessionVariable = "ASSAY_TEST_SESSION"
)

// errand is what the played manager asks of the client.
type errand struct {
	Plan    *session.Plan
	Address string
}

// account is what the played manager was told, for the test to see.
type account struct {
	Totals  result.Totals
	Seconds result.Counts
	// StartedAfter is how long after the start instant the first request began, in
	// microseconds.
	StartedAfter int64
	// ReadyCPU is the CPU time from the start of the process until the client was
	// ready, in microseconds.
	ReadyCPU int64
}

func TestMain(m *testing.M) {
	switch text := os.Getenv(sessionVariable); {
	case text != "":
		err := play(text)
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	case os.Getenv(mainVariable) != "":
		main()
	default:
		os.Exit(m.Run())
	}
}

// play is "assay-load client" with a played manager, which writes its account
// to the standard output, or why the client failed.
func play(text string) error {
	var e errand
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return err
	}
	var told account
	var startAt int64
	regular := fakesession.Regular(e.Plan, e.Address, 10*time.Millisecond)
	s := fakesession.New(func(event fakesession.Event) []pod.Order {
		switch event := event.(type) {
		case fakesession.Ready:
			var used syscall.Rusage
			if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err == nil {
				told.ReadyCPU = (used.Utime.Nano() + used.Stime.Nano()) / 1000
			}
		case fakesession.Second:
			told.Seconds.Add(event.Counts)
		case fakesession.Totals:
			told.Totals = event.Totals
			told.StartedAfter = told.Totals.StartedAt - startAt
			if err := json.NewEncoder(os.Stdout).Encode(told); err != nil {
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
	return runLoadClient(s, slog.New(slog.NewTextHandler(os.Stderr, nil)))
}

func program(t *testing.T, variable, value string, args ...string) (command *exec.Cmd, output, errors *bytes.Buffer) {
	t.Helper()
	command = exec.CommandContext(t.Context(), os.Args[0], args...)
	command.Env = append(os.Environ(), variable+"="+value)
	output, errors = &bytes.Buffer{}, &bytes.Buffer{}
	command.Stdout, command.Stderr = output, errors
	return command, output, errors
}

func (e errand) String() string {
	data, err := json.Marshal(e)
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

func TestClientInsideK6(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer { return testserver.OK(1024) })
	command, output, errors := program(t, sessionVariable, errand{plan(), server.Address()}.String())
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errors)
	}
	var told account
	if err := json.Unmarshal(output.Bytes(), &told); err != nil {
		t.Fatalf("%v\n%s%s", err, output, errors)
	}
	t.Logf("%d ms of CPU from the start until ready, first request %d µs after the start instant, %d MiB resident at most",
		told.ReadyCPU/1000, told.StartedAfter, told.Totals.Usage.MaxResident>>20)
	got := told.Totals
	if got.Requests != 3000 || got.Succeeded() != 3000 || got.Connections != 7 || got.Warmup == nil || got.Warmup.Requests != 100 {
		t.Errorf("totals %+v", got)
	}
	sum := got.Counts
	sum.Add(*got.Warmup)
	if told.StartedAfter < 0 {
		t.Errorf("the first request began %d µs after the start instant", told.StartedAfter)
	}
	if told.Seconds != sum {
		t.Errorf("the seconds add up to %+v, the totals to %+v", told.Seconds, sum)
	}
	server.Stop()
	if seen := server.Seen(); seen.Requests != 3100 || seen.BytesSent != sum.BytesReceived || seen.BytesReceived != sum.BytesSent {
		t.Errorf("the server saw %d requests, %d bytes; it sent %d bytes; the client counted %+v",
			seen.Requests, seen.BytesReceived, seen.BytesSent, sum)
	}
}

// TestOpenLevelsInsideK6 takes arrivals at two levels through k6, with a warm-up.
func TestOpenLevelsInsideK6(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer { return testserver.OK(1024) })
	p := plan()
	p.Arrivals = &session.Arrivals{Shares: 1}
	p.Warmup.Profile = profile.Profile{{From: 1000, To: 1000}}
	p.Measurement = session.Amount{DurationMicroseconds: 2_000_000, Profile: profile.Profile{
		{From: 100, To: 100, DurationMicroseconds: 1_000_000, Level: true}, {From: 300, To: 300, DurationMicroseconds: 1_000_000, Level: true},
	}}
	command, output, errors := program(t, sessionVariable, errand{p, server.Address()}.String())
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errors)
	}
	var told account
	if err := json.Unmarshal(output.Bytes(), &told); err != nil {
		t.Fatalf("%v\n%s%s", err, output, errors)
	}
	got := told.Totals
	if got.Succeeded() != 400 || got.Arrivals == nil || got.Arrivals.AskedPerSecond() != 200 || got.Warmup.Requests != 100 {
		t.Errorf("totals %+v, arrivals %+v", got.Counts, got.Arrivals)
	}
	if len(got.Levels) != 2 || got.Levels[0].Requests == 0 || got.Levels[1].Requests == 0 || got.Levels[0].Requests > 100 {
		t.Errorf("levels %+v", got.Levels)
	}
}

func TestClientStopsOnSIGTERM(t *testing.T) {
	asked := make(chan struct{}, 100)
	server := testserver.New(t, func(testserver.Request) testserver.Answer {
		asked <- struct{}{}
		return testserver.Answer{Then: testserver.Hang}
	})
	p := plan()
	p.Warmup = nil
	command, output, errors := program(t, sessionVariable, errand{p, server.Address()}.String())
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	if code := command.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d\n%s", code, errors)
	}
	if told := output.String(); !strings.Contains(told, "signal") || strings.Contains(told, "Totals") {
		t.Errorf("the manager was told %q", told)
	}
}

func TestClientFailsOnABadPlan(t *testing.T) {
	p := plan()
	p.Connections = 0
	command, output, errors := program(t, sessionVariable, errand{p, "127.0.0.1:1"}.String())
	_ = command.Run()
	if code := command.ProcessState.ExitCode(); code != 1 || !strings.Contains(output.String(), "0 connections") {
		t.Errorf("exit code %d, the manager was told %q\n%s", code, output, errors)
	}
}

func TestCommandLine(t *testing.T) {
	script := t.TempDir() + "/x.js"
	if err := os.WriteFile(script, []byte("import { run } from 'k6/x/assay'; export default function () { run(); }"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{nil, 0, "Be a client in a benchmark run"},
		{[]string{"--help"}, 0, "k6's own command line"},
		{[]string{"client", "--help"}, 0, "ASSAY_MANAGER"},
		{[]string{"k6", "version"}, 0, "v2.2.0"},
		{[]string{"k6", "version"}, 0, "k6/x/assay"},
		{[]string{"k6", "run", script}, 0, "only in `assay-load client`"},
		{[]string{"client"}, 1, "ASSAY_MANAGER"},
		{[]string{"walk"}, 1, `no command "walk"`},
		{[]string{"run"}, 4, "give one plan"},
		{[]string{"run", "--nonsense"}, 4, "nonsense"},
		{[]string{"run", "-o", "pdf", "x.yaml"}, 4, "use one of json, text"},
		{[]string{"run", "none.yaml"}, 4, "none.yaml: "},
		{[]string{"ab", "-h"}, 0, "Usage: assay-load ab"},
		{[]string{"ab", "-V"}, 0, "assay-load ab, Version"},
		{[]string{"ab", "-g", "x", "http://a/"}, 22, "-g: single requests aren't kept"},
		{[]string{"ab", "http://127.0.0.1:1/"}, 1, "connection refused"},
	} {
		command, output, errors := program(t, mainVariable, "1", test.args...)
		command.Env = append(command.Env, "ASSAY_MANAGER=")
		_ = command.Run()
		if code := command.ProcessState.ExitCode(); code != test.code {
			t.Errorf("%v: exit code %d", test.args, code)
		}
		if said := output.String() + errors.String(); !strings.Contains(said, test.says) {
			t.Errorf("%v: says %q, not %q", test.args, said, test.says)
		}
	}
}

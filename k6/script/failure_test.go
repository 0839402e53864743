package script

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/load/fakesession"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// discard is a logger that discards everything.
var discard = slog.New(slog.DiscardHandler)

func ok(testserver.Request) testserver.Answer { return testserver.OK(64) }

// TestFailures runs scripts that fail. The client must report a failure of the
// right kind that contains k6's message.
func TestFailures(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		kind   session.FailureKind
		want   []string
	}{
		"no JavaScript":        {`export default function () { let = ; }`, session.FailureScriptInvalid, []string{"failed to load the script", "script.js", "Line 1:36", "Unexpected token"}},
		"missing module":       {`import './other.js'; export default function () {}`, session.FailureScriptInvalid, []string{"other.js"}},
		"exception at the top": {`throw new Error('top'); export default function () {}`, session.FailureScriptInvalid, []string{"exit code 107", "top"}},
		"invalid options":      {`export const options = { vus: -1 }; export default function () {}`, session.FailureScriptInvalid, []string{"exit code 104", "VUs"}},
		"unknown metric":       {`export const options = { thresholds: { other: ['count>1'] } }; export default function () {}`, session.FailureScriptInvalid, []string{"exit code 104", "other"}},
		"invalid threshold":    {`export const options = { thresholds: { http_reqs: ['p(95)<1'] } }; export default function () {}`, session.FailureScriptInvalid, []string{"exit code 104", "http_reqs"}},
		"exception in setup":   {`export function setup() { throw new Error('no shop') }; export default function () {}`, session.FailureScriptException, []string{"setup() failed", "no shop"}},
		"abort in setup":       {`import exec from 'k6/execution'; export function setup() { exec.test.abort('closed') }; export default function () {}`, session.FailureScriptAborted, []string{"test.abort()", "setup()", "closed"}},
		"too much setup data":  {`export function setup() { return 'x'.repeat(1100000) }; export default function () {}`, session.FailureScriptException, []string{"1048576", "Return less"}},
		"setup times out":      {`import { sleep } from 'k6'; export const options = { setupTimeout: '300ms' }; export function setup() { sleep(60) }; export default function () {}`, session.FailureScriptException, []string{"setup()", "timed out"}},
		"abort":                {`import exec from 'k6/execution'; export default function () { exec.test.abort('enough') }`, session.FailureScriptAborted, []string{"test.abort()", "enough"}},
	} {
		t.Run(name, func(t *testing.T) {
			server := testserver.New(t, ok)
			sessions, errs := run(t, directory(t, map[string]string{"script.js": tc.script}), plans(1), server.Address())
			failed := of[fakesession.Failed](sessions[0])
			if errs[0] == nil || len(failed) != 1 || failed[0].Kind != tc.kind {
				t.Fatalf("%v, failures %+v", errs[0], failed)
			}
			for _, text := range tc.want {
				if !strings.Contains(failed[0].Reason, text) {
					t.Errorf("%q not found in the reason: %s", text, failed[0].Reason)
				}
			}
		})
	}
}

// totalsOf runs a script on one client and returns its totals.
func totalsOf(t *testing.T, script string, address string) result.Totals {
	t.Helper()
	sessions, errs := run(t, directory(t, map[string]string{"script.js": script}), plans(1), address)
	totals := of[result.Totals](sessions[0])
	if errs[0] != nil || len(totals) != 1 {
		t.Fatalf("%v, events %+v", errs[0], sessions[0].Events())
	}
	return totals[0]
}

const get = `import http from 'k6/http'; import exec from 'k6/execution'; const target = __ENV.ASSAY_TARGET_URL;` + "\n"

// TestScriptMarksItselfFailed checks that exec.test.fail() doesn't discard the measurement.
func TestScriptMarksItselfFailed(t *testing.T) {
	server := testserver.New(t, ok)
	got := totalsOf(t, get+`export default function () { http.get(target); exec.test.fail('not good') }`, server.Address())
	if got.Requests != 1 || !got.Script.MarkedFailed {
		t.Errorf("%+v, %+v", got.Counts, got.Script)
	}
}

// TestTeardownFails checks that an exception in teardown() is reported and doesn't
// discard the measurement.
func TestTeardownFails(t *testing.T) {
	server := testserver.New(t, ok)
	got := totalsOf(t, get+`export default function () { http.get(target) }; export function teardown() { throw new Error('still there') }`, server.Address())
	if got.Requests != 1 || !strings.Contains(got.Script.TeardownError, "still there") {
		t.Errorf("%+v, %+v", got.Counts, got.Script)
	}
}

// TestThresholdEndsTheLoad checks that a crossed threshold with abortOnFail ends
// the load early and doesn't discard the measurement.
func TestThresholdEndsTheLoad(t *testing.T) {
	server := testserver.New(t, ok)
	got := totalsOf(t, get+`
export const options = { duration: '60s', thresholds: { http_reqs: [{ threshold: 'count<1', abortOnFail: true }], checks: ['rate>0'] } };
export default function () { http.get(target) }`, server.Address())
	// k6 emits no samples for the request that it interrupts.
	if seen := server.Seen().Requests; got.Script.RunMicroseconds > 30_000_000 || got.Requests == 0 || got.Requests > seen || got.Requests < seen-1 {
		t.Errorf("ran for %d µs, %d requests", got.Script.RunMicroseconds, got.Requests)
	}
	aborted := 0
	for _, threshold := range got.Script.Thresholds {
		if threshold.Aborted {
			aborted++
		}
	}
	if aborted != 1 || len(got.Script.Thresholds) != 2 {
		t.Errorf("thresholds %+v", got.Script.Thresholds)
	}
}

// TestErrorsHaveTheirKinds provokes one error of each kind, also in a script that doesn't want tags.
func TestErrorsHaveTheirKinds(t *testing.T) {
	for _, tags := range []string{"", "systemTags: ['url'],", "systemTags: [],"} {
		t.Run(tags, func(t *testing.T) { testKinds(t, tags) })
	}
}

// testKinds provokes one error of each kind in a script with more options.
func testKinds(t *testing.T, options string) {
	t.Helper()
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		switch r.Path {
		case "/status", "/status?token=secret":
			return testserver.Answer{Parts: []string{"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"}}
		case "/reset":
			return testserver.Answer{Then: testserver.Reset}
		case "/hang":
			return testserver.Answer{Then: testserver.Hang}
		}
		return testserver.OK(10)
	})
	got := totalsOf(t, get+`
import { expectedStatuses } from 'k6/http';
export const options = {`+options+` thresholds: { 'http_req_failed{expected_response:true}': ['rate==0'] } };
export default function () {
  http.get(target + '/ok');
  http.get(target + '/status?token=secret');
  http.get(target + '/status', { responseCallback: expectedStatuses(500) });
  http.post(target + '/reset');
  http.get(target + '/hang', { timeout: '200ms' });
  http.get('http://127.0.0.1:1/');
}`, server.Address())
	want := result.ErrorCounts{result.ErrorStatus: 1, result.ErrorReceive: 1, result.ErrorTimeout: 1, result.ErrorConnect: 1}
	if got.Errors != want || got.Requests != 6 {
		t.Errorf("%d requests, errors %+v, want %+v", got.Requests, got.Errors, want)
	}
	for kind, cause := range map[result.ErrorKind]string{
		result.ErrorStatus: "GET /status: status 500", result.ErrorReceive: "POST /reset: error_code 1220: ", result.ErrorTimeout: "GET /hang: error_code 1050: request timeout",
		result.ErrorConnect: "GET /: error_code 1212: dial: connection refused",
	} {
		causes := got.Causes[kind]
		if options != "" { // without tags for them, there is no method and no path
			_, cause, _ = strings.Cut(cause, ": ")
			if len(causes) != 1 || !strings.HasPrefix(causes[0].Text, cause) {
				t.Errorf("%s: causes %+v, want %q", kind, causes, cause)
			}
			continue
		}
		if len(causes) != 1 || causes[0].Count != 1 || causes[0].Example == nil || !strings.HasPrefix(causes[0].Example.Request+": "+causes[0].Text, cause) {
			t.Errorf("%s: causes %+v, want %q", kind, causes, cause)
		}
	}
}

// TestSecretsStaySecret runs a script that logs and throws the value of a Secret.
func TestSecretsStaySecret(t *testing.T) {
	const secret = "s3cr3t-value"
	t.Setenv("TOKEN", secret)
	var text strings.Builder
	p := plans(1)
	p[0].Script.Secrets = []string{"TOKEN"}
	sessions := fakeSessions(p, "127.0.0.1:1")
	c := New(sessions[0], slog.New(slog.NewTextHandler(&text, nil)))
	c.UseDirectories(directory(t, map[string]string{"script.js": `
export function setup() { console.log('it is ' + __ENV.TOKEN); throw new Error('bad ' + __ENV.TOKEN) }
export default function () {}`}), t.TempDir(), t.TempDir())
	err := c.Run(t.Context())
	failed := of[fakesession.Failed](sessions[0])
	if err == nil || len(failed) != 1 || !strings.Contains(failed[0].Reason, "bad ***") {
		t.Fatalf("%v, failures %+v", err, failed)
	}
	if all := text.String() + err.Error() + fmt.Sprint(failed); strings.Contains(all, secret) || !strings.Contains(all, "it is ***") {
		t.Errorf("the log:\n%s", all)
	}
}

// TestCausesHaveNoSecrets requests a path with the value of a Secret.
func TestCausesHaveNoSecrets(t *testing.T) {
	const secret = "s3cr3t-value"
	t.Setenv("TOKEN", secret)
	p := plans(1)
	p[0].Script.Secrets = []string{"TOKEN"}
	sessions := fakeSessions(p, "127.0.0.1:1")
	c := New(sessions[0], discard)
	c.UseDirectories(directory(t, map[string]string{"script.js": get + `export default function () { http.get(target + '/' + __ENV.TOKEN + '?a=b') }`}), t.TempDir(), t.TempDir())
	err := c.Run(t.Context())
	totals := of[result.Totals](sessions[0])
	if err != nil || len(totals) != 1 || len(totals[0].Causes[result.ErrorConnect]) != 1 {
		t.Fatalf("%v, totals %+v", err, totals)
	}
	if got := totals[0].Causes[result.ErrorConnect][0].Example.Request; got != "GET /***" {
		t.Errorf("the request is %q", got)
	}
}

// TestStoppedClientTearsDown checks that a client that is stopped during its load runs teardown().
func TestStoppedClientTearsDown(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	var loaded atomic.Bool
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		if r.Path == "/load" && loaded.CompareAndSwap(false, true) {
			stop(fmt.Errorf("stopped"))
		}
		return testserver.OK(10)
	})
	sessions := fakeSessions(plans(1), server.Address())
	c := New(sessions[0], slog.New(slog.NewTextHandler(writer{t}, nil)))
	c.UseDirectories(directory(t, map[string]string{"script.js": get + `
export const options = { duration: '60s' };
export function setup() { http.get(target + '/setup') }
export default function () { http.get(target + '/load') }
export function teardown() { http.get(target + '/teardown') }`}), t.TempDir(), t.TempDir())
	began := time.Now()
	if err := c.Run(ctx); err == nil || !strings.Contains(err.Error(), "stopped") {
		t.Errorf("error %v", err)
	}
	if seen := server.Seen().Paths; seen["/setup"] != 1 || seen["/teardown"] != 1 {
		t.Errorf("the server saw %v", seen)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}

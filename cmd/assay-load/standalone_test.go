package main

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/targettls/tlstest"
)

// planFile writes a plan to example.yaml in a temporary directory and returns its path.
func planFile(t *testing.T, format string, args ...any) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "example.yaml")
	if err := os.WriteFile(path, fmt.Appendf(nil, format, args...), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// assayLoad runs the program and returns its output and its exit code.
func assayLoad(t *testing.T, args ...string) (output, errors string, code int) {
	t.Helper()
	command, out, errs := program(t, mainVariable, "1", args...)
	// The user's settings for k6 must have no effect.
	command.Env = append(command.Env, "K6_VUS=3", "K6_DURATION=1s", "K6_OUT=json=/dev/null", "TMPDIR="+t.TempDir())
	_ = command.Run()
	return out.String(), errs.String(), command.ProcessState.ExitCode()
}

func TestRun(t *testing.T) {
	server := testserver.New(t, func(r testserver.Request) testserver.Answer { return testserver.OK(len(r.Path)) })
	path := planFile(t, `
url: http://%s
load:
  requests: [{path: /a, weight: 3, expect: {bodyBytes: 2}}, {path: /bcd}]
  closed: {connections: 7, requestCount: 3000}
  warmup: {requestCount: 100}
`, server.Address())
	output, errors, code := assayLoad(t, "run", path, "-o", "json")
	if code != 0 || errors != "" {
		t.Fatalf("exit code %d\n%s", code, errors)
	}
	var r result.Result
	if err := json.Unmarshal([]byte(output), &r); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	seen := server.Seen()
	if r.Merged.Requests != 3000 || r.Merged.Succeeded() != 3000 || r.Warmup.Requests != 100 || seen.Requests != 3101 {
		t.Errorf("%d of %d requests succeeded, %d in the warm-up, the server saw %d", r.Merged.Succeeded(), r.Merged.Requests, r.Warmup.Requests, seen.Requests)
	}
	if r.Merged.BodyBytes+r.Warmup.BodyBytes+2 != seen.Body || seen.Paths["/a"] <= seen.Paths["/bcd"] {
		t.Errorf("received %d bytes of bodies, the server sent %d: %v", r.Merged.BodyBytes, seen.Body, seen.Paths)
	}
	c := r.Clients[0]
	if !r.Run.Standalone || r.Run.Name != "example" || c.CPUPercent() <= 0 || c.Usage.MaxResident <= 0 || c.NodeUsage == nil || len(r.Series) == 0 || r.Series[0].ClientNode == nil || r.Series[0].Phases[result.Waiting].Count == 0 || r.Series[0].Counts.Connections == 0 {
		t.Errorf("run %+v, client's usage %+v", r.Run, c.Usage)
	}
	for _, s := range r.Series {
		for _, phase := range []result.Phase{result.Waiting, result.Total} {
			if p := s.Phases[phase]; p.Count > 0 && (p.PhasePercentiles == nil || p.P50 > p.P99 || p.P99 > p.Max || p.P99 <= 0) {
				t.Errorf("second %d: %s %+v with percentiles %+v", s.Second, phase, p, p.PhasePercentiles)
			}
		}
		if total := s.Phases[result.Total].PhasePercentiles; total != nil && *total != (result.PhasePercentiles{P50: s.P50, P90: s.P90, P99: s.P99}) {
			t.Errorf("second %d: total %+v", s.Second, total)
		}
	}
}

// TestRunWithRequestsFile runs a list whose first request is a POST. The target
// must be probed with that request.
func TestRunWithRequestsFile(t *testing.T) {
	var posted atomic.Int64
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		if r.Method != "POST" {
			return testserver.Status("405 Method Not Allowed")
		}
		posted.Add(1)
		return testserver.OK(2)
	})
	path := planFile(t, "{url: 'http://%s', requestsFile: urls.txt, load: {closed: {connections: 2, requestCount: 50}}}", server.Address())
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "urls.txt"), []byte("POST /a\nPOST /b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	output, errors, code := assayLoad(t, "run", path)
	// So short a load may saturate the client's CPU, which makes the result invalid.
	if code != 0 && code != 3 || errors != "" || !strings.Contains(output, "Document Path:          2 requests of urls.txt\n") {
		t.Fatalf("exit code %d\n%s%s", code, errors, output)
	}
	if posted.Load() != 51 {
		t.Errorf("the server saw %d POST requests, want 51", posted.Load())
	}
}

// TestRunLevelsWithCredentials runs a load of two rates whose requests post a
// body with Basic authentication.
func TestRunLevelsWithCredentials(t *testing.T) {
	var posted atomic.Int64
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		if r.Header("Authorization") != "Basic dXNlcjpwYXNz" {
			return testserver.Status("401 Unauthorized")
		}
		if r.Method == "POST" && string(r.Body) == "hello" {
			posted.Add(1)
		}
		return testserver.OK(5)
	})
	path := planFile(t, `
url: http://%s
credentialsDirectory: secret
load:
  requests: [{path: /a, method: POST, body: {text: hello}}]
  authentication: {scheme: Basic}
  stages: {levels: [{requestsPerSecond: 20, holdSeconds: 1}, {requestsPerSecond: 50, holdSeconds: 1}]}
`, server.Address())
	directory := filepath.Join(filepath.Dir(path), "secret")
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"username": "user\n", "password": "pass"} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(value), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	output, errors, code := assayLoad(t, "run", path, "-o", "json")
	if code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, output, errors)
	}
	var r result.Result
	if err := json.Unmarshal([]byte(output), &r); err != nil {
		t.Fatal(err)
	}
	if r.Run.Load != result.LoadOpen || r.Merged.Succeeded() != 70 || posted.Load() != 70 {
		t.Errorf("%s load, %d of %d requests succeeded, the server saw %d POST requests", r.Run.Load, r.Merged.Succeeded(), r.Merged.Requests, posted.Load())
	}
	if len(r.Levels) != 2 || r.Levels[0].TargetRatePerSecond != 20 || r.Levels[1].TargetRatePerSecond != 50 ||
		r.Levels[0].Requests == 0 || r.Levels[1].Requests == 0 || r.Levels[0].Requests+r.Levels[1].Requests > 70 { // some requests end after their level
		t.Errorf("levels %+v", r.Levels)
	}
}

func TestRunOverTLS(t *testing.T) {
	ca := tlstest.NewCA(t, "ca")
	own, client := ca.ECDSA(t), ca.ECDSA(t)
	server := testserver.NewTLS(t, &tls.Config{
		Certificates: []tls.Certificate{own.Certificate}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca.Pool(),
	}, func(testserver.Request) testserver.Answer {
		answer := testserver.OK(5)
		answer.Delay = 5 * time.Millisecond // so that the client isn't saturated
		return answer
	})
	path := planFile(t, `
url: https://%s/x
load: {closed: {connections: 2, requestCount: 50}}
tls: {serverName: %s, certificateAuthorityFile: ca.pem, clientCertificateFile: own.pem, protocols: [TLSv1.3]}
`, server.Address(), tlstest.Name)
	for name, data := range map[string][]byte{"ca.pem": ca.PEM(), "own.pem": append(client.PEM(), client.KeyPEM(t)...)} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	output, errors, code := assayLoad(t, "run", path)
	if code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, output, errors)
	}
	for _, want := range []string{"example: load on https://127.0.0.1", "VALID, with", "TooShort", "SSL/TLS Protocol:       TLSv1.3,", "Complete requests:      50\n", "CPU per request:", "MiB peak RSS"} {
		if !strings.Contains(output, want) {
			t.Errorf("%q not found in\n%s", want, output)
		}
	}
}

func TestRunWithoutValidResult(t *testing.T) {
	first := true
	server := testserver.New(t, func(testserver.Request) testserver.Answer {
		if first {
			first = false
			return testserver.OK(5)
		}
		return testserver.Status("500 Internal Server Error")
	})
	const format = "url: %s\nload: {closed: {connections: 1, requestCount: 20}}"
	for _, test := range []struct {
		url, want string
		code      int
	}{
		{"http://" + server.Address(), "NOT VALID: NothingSucceeded", 3},
		{"http://127.0.0.1:1", "probe target: 127.0.0.1:1: GET /: connection refused", 1},
		{"http://127.0.0.1:0", "url: ", 4},
	} {
		output, errors, code := assayLoad(t, "run", planFile(t, format, test.url))
		if code != test.code || !strings.Contains(output+errors, test.want) {
			t.Errorf("%s: exit code %d\n%s%s", test.url, code, output, errors)
		}
	}
}

// interrupt starts a command, interrupts it when something was requested, and returns its exit code.
func interrupt(t *testing.T, command *exec.Cmd, requested <-chan struct{}) int {
	t.Helper()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	<-requested
	if err := command.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	return command.ProcessState.ExitCode()
}

func TestInterrupt(t *testing.T) {
	requested := make(chan struct{}, 1)
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		if r.Number == 500 {
			requested <- struct{}{}
		}
		return testserver.OK(5)
	})
	temporary := t.TempDir()
	command, output, errors := program(t, mainVariable, "1", "run", planFile(t, "url: http://%s\nload: {closed: {connections: 3, durationSeconds: 600}}", server.Address()))
	command.Env = append(command.Env, "TMPDIR="+temporary)
	if code := interrupt(t, command, requested); code != 130 || !strings.Contains(output.String(), "Interrupted: The measurement was interrupted after") ||
		!strings.Contains(output.String(), "Failed requests:        0\n") {
		t.Errorf("exit code %d\n%s%s", code, output, errors)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("temporary files were left behind: %v, %v", left, err)
	}
}

// TestInterruptedProbe interrupts a load whose probe hangs: at once, and without files left behind.
func TestInterruptedProbe(t *testing.T) {
	requested := make(chan struct{}, 1)
	server := testserver.New(t, func(testserver.Request) testserver.Answer {
		requested <- struct{}{}
		return testserver.Answer{Then: testserver.Hang}
	})
	temporary, reports := t.TempDir(), t.TempDir()
	command, output, errors := program(t, mainVariable, "1", "-o", "html", "--directory", reports, "http://"+server.Address())
	command.Env = append(command.Env, "TMPDIR="+temporary)
	if code := interrupt(t, command, requested); code != 130 || output.Len() > 0 || !strings.Contains(errors.String(), "interrupted before the load began") {
		t.Errorf("exit code %d\n%s%s", code, output, errors)
	}
	for _, directory := range []string{temporary, reports} {
		if left, err := os.ReadDir(directory); err != nil || len(left) > 0 {
			t.Errorf("files were left behind: %v, %v", left, err)
		}
	}
}

// TestTerminatedInAHang sends SIGTERM to loads whose server responds to 12 requests and then hangs.
func TestTerminatedInAHang(t *testing.T) {
	for name, load := range map[string]string{
		"closed": "closed: {connections: 4, durationSeconds: 600}",
		"open":   "open: {requestsPerSecond: 200, durationSeconds: 600, maxConnections: 4}",
	} {
		t.Run(name, func(t *testing.T) {
			hangs := make(chan struct{}, 4)
			server := testserver.New(t, func(r testserver.Request) testserver.Answer {
				if r.Number < 13 { // the first is the probe
					return testserver.OK(5)
				}
				hangs <- struct{}{}
				return testserver.Answer{Then: testserver.Hang}
			})
			command, output, errors := program(t, mainVariable, "1", "run", "-o", "json", planFile(t, "url: http://%s\nload: {%s}", server.Address(), load))
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			for range 4 {
				<-hangs
			}
			const hung = 200 * time.Millisecond
			<-time.After(hung)
			if err := command.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			_ = command.Wait()
			var r result.Result
			if err := json.Unmarshal(output.Bytes(), &r); err != nil {
				t.Fatalf("%s: %s", err, errors)
			}
			m := &r.Merged
			if m.Requests != 12 || m.Errors.Total() != 0 || m.Unanswered < 4 || m.OldestUnanswered < hung.Microseconds() || r.DurationMicroseconds < m.OldestUnanswered {
				t.Errorf("%d requests in %d µs, %d unanswered for up to %d µs", m.Requests, r.DurationMicroseconds, m.Unanswered, m.OldestUnanswered)
			}
			if a := r.Arrivals; a != nil && a.Due != m.Requests+m.Unanswered {
				t.Errorf("%+v, %d requests, %d unanswered", *a, m.Requests, m.Unanswered)
			}
			found := map[string]result.Severity{}
			for _, f := range r.Findings {
				found[f.Reason] = f.Severity
			}
			if found["RequestsUnanswered"] != result.Invalidates || found["Interrupted"] == "" {
				t.Errorf("findings %v", found)
			}
		})
	}
}

func TestABAborts(t *testing.T) {
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		if r.Number == 20 {
			return testserver.Answer{Then: testserver.Reset}
		}
		return testserver.OK(5)
	})
	output, errors, code := assayLoad(t, "ab", "-n", "100000000", "-k", "http://"+server.Address()+"/")
	if code != 104 || !strings.Contains(errors, "apr_socket_recv: connection reset by peer (104)") || strings.Contains(output, "Requests per second") {
		t.Errorf("exit code %d\n%s%s", code, output, errors)
	}
	output, errors, code = assayLoad(t, "ab", "-t", "1", "-c", "2", "-n", "100000000", "-k", "http://"+server.Address()+"/")
	duration := regexp.MustCompile(`Time taken for tests: +(1\.\d|0\.9)`)
	if code != 0 || !duration.MatchString(output) {
		t.Errorf("exit code %d\n%s%s", code, output, errors)
	}
}

// TestCompareWithAB runs the real ab against the same server and compares the
// lines that don't depend on time.
func TestCompareWithAB(t *testing.T) {
	if _, err := exec.LookPath("ab"); err != nil {
		t.Fatal("ab not found: install Debian's apache2-utils, as make test-unit does")
	}
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		answer := testserver.Status("404 Not Found")
		if r.Path != "/none" {
			answer = testserver.OK(1000 + len(r.Body) + len(r.Header("Content-Type")) + len(r.Header("Authorization")))
		}
		if r.Method == "HEAD" {
			answer = testserver.Text(0, testserver.Stay, "HTTP/1.1 200 OK\r\nServer: testserver\r\nContent-Length: 77\r\n\r\n")
		}
		// ab speaks HTTP/1.0, which needs this header to keep a connection.
		answer.Parts[0] = strings.Replace(answer.Parts[0], "\r\n", "\r\nConnection: keep-alive\r\n", 1)
		return answer
	})
	body := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, []byte("name=value"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The bytes sent are not compared: the heads of the requests differ.
	steady := regexp.MustCompile(`(?m)^(Server|Document|Concurrency|Complete|Failed|Non-2xx|Keep-Alive|Total transferred|HTML).*$|^Total body sent:|kb/s (sent|total)|^.*Connection Times.*$`)
	for _, args := range [][]string{
		{"-n", "300", "-c", "3", "-k", "-q", "http://" + server.Address() + "/x"},
		{"-n", "100", "-c", "7", "-k", "-l", "http://" + server.Address() + "/x"},
		{"-n", "20", "-c", "2", "-k", "http://" + server.Address() + "/none"},
		{"-n", "20", "-c", "2", "-k", "-H", "User-Agent: ApacheBench/2.3", "-p", body, "http://" + server.Address() + "/x"},
		{"-n", "20", "-k", "-u", body, "-T", "application/x-www-form-urlencoded", "http://" + server.Address() + "/x"},
		{"-n", "20", "-k", "-m", "DELETE", "-A", "user:password", "-C", "a=b", "http://" + server.Address() + "/x"},
		{"-n", "20", "-c", "2", "-k", "-i", "http://" + server.Address() + "/x"},
	} {
		theirs, err := exec.CommandContext(t.Context(), "ab", args...).Output()
		if err != nil {
			t.Fatal(err)
		}
		ours, errors, code := assayLoad(t, append([]string{"ab"}, args...)...)
		if code != 0 {
			t.Fatalf("exit code %d\n%s", code, errors)
		}
		if diff := cmp.Diff(steady.FindAllString(string(theirs), -1), steady.FindAllString(ours, -1)); diff != "" {
			t.Errorf("%v (-ab +assay-load):\n%s", args, diff)
		}
	}
}

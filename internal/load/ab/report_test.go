package ab

import (
	"bytes"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/load/standalone"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

var number = regexp.MustCompile(` *-?[0-9]+(\.[0-9]+)?`)

// shape returns a report from its line Server Software on, with the numbers
// replaced by #. It omits the warnings about a distribution, which depend on the
// numbers, and the line Server Temp Key, which only OpenSSL can provide.
func shape(text string) string {
	_, text, _ = strings.Cut(text, "Server Software:")
	var kept []string
	warning := false
	for line := range strings.Lines("Server Software:" + text) {
		if warning = strings.HasPrefix(line, "WARNING: ") || strings.HasPrefix(line, "ERROR: ") || warning && strings.HasPrefix(line, "   "); warning {
			continue
		}
		if strings.HasPrefix(line, "Server Temp Key:") {
			continue
		}
		for _, name := range []string{"Server Software:", "Server Hostname:", "SSL/TLS Protocol:", "Document Path:"} {
			if strings.HasPrefix(line, name) {
				line = line[:len("Server Software:        ")] + "...\n"
			}
		}
		kept = append(kept, number.ReplaceAllString(line, "#"))
	}
	return strings.Join(kept, "")
}

// sample returns a result of the given number of requests. Every tenth request opened a connection.
func sample(requests int64, failed, non2xx int64, tls bool) *result.Result {
	r := &result.Result{Environment: result.Environment{ServerSoftware: "x", DocumentLength: 1024}}
	c := result.Client{}
	c.StartedAt, c.EndedAt = 1, 2_000_001
	c.Counts = result.Counts{
		Requests: requests, Connections: requests / 10, KeepAlive: requests - requests/10, BytesReceived: 1200 * requests, BodyBytes: 1024 * requests,
		Non2xx: non2xx,
	}
	c.Errors[result.ErrorLength] = failed
	c.Errors[result.ErrorStatus] = non2xx
	for i := range requests - failed - non2xx {
		if i%10 == 0 {
			c.Latencies.Of(result.Connect).Record(1000)
			if tls {
				c.Latencies.Of(result.TLS).Record(4000)
			}
		}
		for _, phase := range []result.Phase{result.Processing, result.Waiting, result.Total} {
			c.Latencies.Of(phase).Record(10_000 + 10*i)
		}
	}
	if tls {
		r.Environment.TLS = &result.Handshake{Protocol: "TLSv1.2", Cipher: "ECDHE-RSA-AES256-GCM-SHA384", KeySize: 2048}
	}
	r.AddClients([]result.Client{c})
	return r
}

// TestShape compares reports with those that ApacheBench 2.3 of Debian's
// apache2-utils printed. testdata holds its unchanged output.
func TestShape(t *testing.T) {
	for name, test := range map[string]struct {
		options Options
		url     string
		result  *result.Result
	}{
		"keepalive": {Options{Concurrency: 5, KeepAlive: true}, "http://127.0.0.1:18080/1k", sample(200, 0, 0, false)},
		"not-found": {Options{Concurrency: 5, NoSpread: true}, "http://127.0.0.1:18080/none", sample(200, 0, 100, false)},
		"tls":       {Options{Concurrency: 5}, "https://localhost:18443/1k", sample(200, 0, 0, true)},
	} {
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile("testdata/" + name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(shape(string(want)), shape(reportOf(t, &test.options, test.url, test.result))); diff != "" {
				t.Errorf("report (-ab +assay-load):\n%s", diff)
			}
		})
	}
}

func reportOf(t *testing.T, o *Options, target string, r *result.Result) string {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	job := &standalone.Job{URL: u, Plan: &session.Plan{Requests: []session.PlannedRequest{{Path: u.Path, Length: 1024}}}}
	var text bytes.Buffer
	if err := o.Report(&text, job, r); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestMetrics(t *testing.T) {
	got := reportOf(t, &Options{Concurrency: 5, KeepAlive: true}, "https://www.test/x", sample(200, 10, 20, true))
	for _, want := range []string{
		"Server Hostname:        www.test\nServer Port:            443\n",
		"SSL/TLS Protocol:       TLSv1.2,ECDHE-RSA-AES256-GCM-SHA384,2048,256\nTLS Server Name:        www.test\n",
		"Complete requests:      200\nFailed requests:        10\n   (Connect: 0, Receive: 0, Length: 10, Exceptions: 0)\nNon-2xx responses:      20\n",
		"Keep-Alive requests:    185\n",
		"Requests per second:    100.00 [#/sec] (mean)\nTime per request:       50.000 [ms] (mean)\n",
		"Connect:        0    1   1.5      0       5\n",
		"Total:         10   11   0.5     11      12\n",
		"\n  50%     11\n", "\n 100%     12 (longest request)\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q not found in\n%s", want, got)
		}
	}
}

func TestCSV(t *testing.T) {
	var text bytes.Buffer
	if err := WriteCSV(&text, sample(101, 0, 0, false)); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text.String(), "\n")
	if len(lines) != 102 || lines[0] != "Percentage served,Time in ms" || lines[1] != "0,10.000" || lines[51] != "50,10.503" {
		t.Errorf("%d lines, %q", len(lines), lines[:52])
	}
}

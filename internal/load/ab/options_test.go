package ab

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// statuses returns all statuses that count as success.
func statuses() (all []int) {
	for status := 200; status < 600; status++ {
		all = append(all, status)
	}
	return all
}

func TestPlans(t *testing.T) {
	body := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, []byte("a=b"), 0o600); err != nil {
		t.Fatal(err)
	}
	header := func(name, value string) session.Header { return session.Header{Name: name, Value: value} }
	plan := func(change func(*session.Plan)) *session.Plan {
		p := &session.Plan{
			Connections: 1, TimeoutMicroseconds: 30_000_000, Requests: []session.PlannedRequest{{Path: "/", Weight: 1, Length: -1, Statuses: statuses()}},
			Measurement: session.Amount{Requests: 1},
		}
		change(p)
		return p
	}
	for _, test := range []struct {
		arguments string
		want      *session.Plan
	}{
		{"http://a/", plan(func(*session.Plan) {})},
		{"a:8080/x?y=z", plan(func(p *session.Plan) { p.Requests[0].Path = "/x?y=z" })},
		{"-kc 25 -n50000 -s 2 http://a/", plan(func(p *session.Plan) {
			p.KeepAlive, p.Connections, p.Measurement.Requests, p.TimeoutMicroseconds = true, 25, 50000, 2_000_000
		})},
		{"-t 5 -qldS -r -v 2 -- http://a/", plan(func(p *session.Plan) { p.Measurement.Requests = 50000 })},
		{"-t 5 -n 7 http://a/", plan(func(p *session.Plan) { p.Measurement.Requests = 7 })},
		{"-H Host:b http://a/", plan(func(p *session.Plan) { p.Host = "b" })},
		{"-m GET http://a/", plan(func(*session.Plan) {})},
		{"-i -H A:b -H C: http://a/", plan(func(p *session.Plan) {
			p.Requests[0].Method, p.Requests[0].Headers = "HEAD", []session.Header{header("A", "b"), header("C", "")}
		})},
		{"-p BODY http://a/", plan(func(p *session.Plan) {
			p.Requests[0].Method, p.Requests[0].Body, p.Requests[0].Headers = "POST", []byte("a=b"), []session.Header{header("Content-Type", "text/plain")}
		})},
		{"-T a/b -u BODY -H x-y:z http://a/", plan(func(p *session.Plan) {
			p.Requests[0].Method, p.Requests[0].Body = "PUT", []byte("a=b")
			p.Requests[0].Headers = []session.Header{header("x-y", "z"), header("Content-Type", "a/b")}
		})},
		{"-p BODY -m PATCH -H content-type:c/d http://a/", plan(func(p *session.Plan) {
			p.Requests[0].Method, p.Requests[0].Body, p.Requests[0].Headers = "PATCH", []byte("a=b"), []session.Header{header("content-type", "c/d")}
		})},
		{"-C a=b -C c=d -A u:p -T a/b http://a/", plan(func(p *session.Plan) {
			p.Requests[0].Headers = []session.Header{header("Cookie", "c=d"), header("Authorization", "Basic dTpw")}
		})},
		{"-f TLS1.2 -Z ECDHE-RSA-AES128-SHA:AES128-SHA -E c.pem https://a/", plan(func(p *session.Plan) {
			p.TLS = &session.TLS{Unverified: true, ClientCertificate: true, Protocols: []string{"TLSv1.2"}, Ciphers: []string{"ECDHE-RSA-AES128-SHA", "AES128-SHA"}}
		})},
		{"-f all https://a/", plan(func(p *session.Plan) { p.TLS = &session.TLS{Unverified: true, Protocols: session.Protocols} })},
	} {
		o, err := Parse(strings.Fields(strings.ReplaceAll(test.arguments, "BODY", body)))
		if err != nil {
			t.Fatalf("%s: %v", test.arguments, err)
		}
		job, err := o.Job()
		if err != nil {
			t.Fatalf("%s: %v", test.arguments, err)
		}
		if diff := cmp.Diff(test.want, job.Plan); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.arguments, diff)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, test := range []struct{ arguments, want string }{
		{"", "wrong number of arguments"},
		{"http://a/ -n 10", "wrong number of arguments: specify one URL, after all options"},
		{"-n", "option -n needs a value"},
		{"-j http://a/", "unknown option -j"},
		{"-n x http://a/", `-n: "x" must be a whole number from 1 to`},
		{"-c 0 http://a/", `-c: "0" must be a whole number from 1 to 20000`},
		{"-c 5 -n 4 http://a/", "cannot use concurrency level greater than total number of requests"},
		{"-v 3 http://a/", "-v: must be 0, 1 or 2: responses aren't recorded"},
		{"-g file http://a/", "-g: not supported: single requests aren't recorded"},
		{"-X proxy:1 http://a/", "-X: not supported: with a proxy"},
		{"-B 1.2.3.4 http://a/", "-B: "}, {"-b 10 http://a/", "-b: "}, {"-I https://a/", "-I: "},
		{"-w http://a/", "-w: not supported: the report is text"}, {"-x a http://a/", "-x: "}, {"-y a http://a/", "-y: "}, {"-z a http://a/", "-z: "}, {"-P a:b http://a/", "-P: "},
		{"http://a", "invalid URL"}, {"ftp://a/", "invalid URL"},
		{"-p /none/such http://a/", "-p, -u: open /none/such: no such file"}, {"-m get http://a/", "-m: unknown method \"get\": use one of GET, HEAD"},
		{"-i -p a http://a/", "-p: cannot mix POST with other methods"}, {"-m PUT -u a http://a/", "-u: cannot mix PUT"}, {"-p a -i http://a/", "-i: cannot mix HEAD"},
		{"-H X http://a/", "-H: \"X\" must have the form 'Name: value'"}, {"-H connection:close http://a/", "-H: header connection must not be set"},
		{"-H Content-Length:3 http://a/", "-H: header Content-Length"},
		{"-f SSL3 https://a/", "-f: protocol SSL3 is not supported"},
		{"-Z ECDHE-RSA-AES256-SHA384 https://a/", "-Z: the clients don't support the cipher suite ECDHE-RSA-AES256-SHA384"},
		{"-Z HIGH:!aNULL https://a/", "-Z: the clients don't support the cipher suite HIGH"},
	} {
		o, err := Parse(strings.Fields(test.arguments))
		if err == nil {
			_, err = o.Job()
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.arguments, err, test.want)
		}
	}
}

// TestEveryOption parses each of ab's options by itself. Exactly the unsupported ones must fail.
func TestEveryOption(t *testing.T) {
	for i, option := range []byte(known) {
		if option == ':' {
			continue
		}
		arguments := []string{"-" + string(option)}
		if strings.HasPrefix(known[i+1:], ":") {
			arguments = append(arguments, "1:")
			if strings.IndexByte("nctsv", option) >= 0 {
				arguments[1] = "1"
			}
		}
		if option == 'm' {
			arguments[1] = "PUT"
		}
		_, err := Parse(append(arguments, "http://a/"))
		if _, is := unsupported[option]; is != (err != nil) {
			t.Errorf("-%c: error %v", option, err)
		}
	}
}

func TestWatch(t *testing.T) {
	for name, test := range map[string]struct {
		options  Options
		counts   result.Counts
		exitCode int
		output   string
	}{
		"progress":         {Options{Requests: 1000}, result.Counts{Requests: 250}, 0, "Completed 100 requests\nCompleted 200 requests\nFinished 250 requests\n"},
		"quiet":            {Options{Requests: 1000, Quiet: true}, result.Counts{Requests: 250}, 0, ""},
		"few":              {Options{Requests: 150}, result.Counts{Requests: 150}, 0, ""},
		"receive error":    {Options{}, result.Counts{Errors: result.ErrorCounts{result.ErrorReceive: 1}}, 104, "apr_socket_recv: connection reset by peer (104)\n"},
		"receive error -r": {Options{Tolerant: true}, result.Counts{Errors: result.ErrorCounts{result.ErrorReceive: 1}}, 0, ""},
		"10 connects":      {Options{}, result.Counts{Errors: result.ErrorCounts{result.ErrorConnect: 10}}, 0, ""},
		"11 connects":      {Options{Tolerant: true}, result.Counts{Errors: result.ErrorCounts{result.ErrorConnect: 11}}, 111, "\nTest aborted after 10 failures\n\napr_socket_connect(): connection refused (111)\n"},
		"length errors":    {Options{}, result.Counts{Errors: result.ErrorCounts{result.ErrorLength: 50}}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var text bytes.Buffer
			w := NewWatch(&test.options, &text)
			w.Second(test.counts)
			w.Second(result.Counts{})
			code, aborted := w.PrintAbort()
			if !aborted {
				w.Finish(test.counts.Requests)
			}
			if code != test.exitCode || aborted != w.Aborted() || text.String() != test.output {
				t.Errorf("exit code %d, output %q", code, &text)
			}
			select {
			case <-w.End:
				if !aborted {
					t.Error("End was closed")
				}
			default:
				if aborted {
					t.Error("End wasn't closed")
				}
			}
		})
	}
}

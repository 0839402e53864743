package k6script

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/requestlist"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/test/golden"
)

// plan returns a closed load of 4 connections and 100 requests after changes.
func plan(changes ...func(*session.Plan)) *session.Plan {
	p := &session.Plan{
		Connections: 4, KeepAlive: true, TimeoutMicroseconds: 30_000_000, Seed: 7,
		Requests:    []session.PlannedRequest{{Path: "/a.html", Weight: 1, Length: -1}},
		Measurement: session.Amount{Requests: 100},
	}
	for _, change := range changes {
		change(p)
	}
	return p
}

func list(t *testing.T) []byte {
	t.Helper()
	encoded, err := requestlist.Encode([]requestlist.Entry{{Method: "GET", Path: "/1", Weight: 2}, {Method: "DELETE", Path: "/2?a=%20", Weight: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

// TestScript compares a script of each shape with its golden file. go test -update writes them.
func TestScript(t *testing.T) {
	const second = 1_000_000
	for name, p := range map[string]*session.Plan{
		"closed": plan(func(p *session.Plan) {
			p.Warmup = &session.Amount{Requests: 20}
			p.Host = "shop.example.org"
			p.Requests = []session.PlannedRequest{
				{Path: "/a.html", Weight: 3, Length: 1024},
				{Path: "/b?x=`${z}`%20", Method: "POST", Weight: 1, Length: -1, Body: []byte("a \"text\"\n\u2028`${z}`</script>"), Headers: []session.Header{{Name: "accept", Value: "text/html"}}, Statuses: []int{200, 404}},
				{Path: "/c", Method: "PUT", Weight: 1, Length: 0, GeneratedBytes: 4096, Host: "other"},
				{Path: "/d", Method: "HEAD", Weight: 1, Length: 10},
			}
		}),
		"closed-ramp": plan(func(p *session.Plan) {
			p.Measurement = session.Amount{DurationMicroseconds: 30 * second, Profile: profile.Profile{{To: 4, DurationMicroseconds: 10 * second}}}
			p.Warmup = &session.Amount{DurationMicroseconds: 5 * second}
			p.ThinkTime = &session.ThinkTime{MinMicroseconds: 500_000, MaxMicroseconds: 1_500_000}
			p.Cookies, p.KeepAlive = true, false
		}),
		"closed-levels": plan(func(p *session.Plan) {
			p.Connections = 8
			p.Measurement = session.Amount{DurationMicroseconds: 40 * second, Profile: profile.Profile{
				{From: 2, To: 2, DurationMicroseconds: 10 * second, Level: true}, {From: 2, To: 8, DurationMicroseconds: 10 * second},
				{From: 8, To: 8, DurationMicroseconds: 10 * second, Level: true}, {From: 4, To: 4, DurationMicroseconds: 10 * second, Level: true},
			}}
			p.Warmup = &session.Amount{DurationMicroseconds: 5 * second, Profile: profile.Profile{{From: 2, To: 2}}}
		}),
		"open": plan(func(p *session.Plan) {
			p.Arrivals = &session.Arrivals{Share: 1, Shares: 3}
			p.Measurement = session.Amount{DurationMicroseconds: 10 * second, Profile: profile.Profile{{From: 100, To: 100}}}
		}),
		"open-ramp": plan(func(p *session.Plan) {
			p.Arrivals = &session.Arrivals{Shares: 1}
			p.Warmup = &session.Amount{Requests: 50, Profile: profile.Profile{{From: 100, To: 100}}}
			p.Measurement = session.Amount{Requests: 2000, Profile: profile.Profile{{From: 10, To: 100, DurationMicroseconds: 10 * second}}}
		}),
		"open-levels": plan(func(p *session.Plan) {
			p.Arrivals = &session.Arrivals{Shares: 1}
			p.Measurement = session.Amount{DurationMicroseconds: 25 * second, Profile: profile.Profile{
				{From: 0, To: 50, DurationMicroseconds: 5 * second}, {From: 50, To: 50, DurationMicroseconds: 10 * second, Level: true}, {From: 90, To: 90, DurationMicroseconds: 10 * second, Level: true},
			}}
		}),
		"tls": plan(func(p *session.Plan) {
			p.TLS = &session.TLS{Protocols: []string{"TLSv1.1", "TLSv1.2"}, Ciphers: []string{"ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-CHACHA20-POLY1305"}, Unverified: true, ClientCertificate: true}
			p.Authentication = session.AuthenticationBasic
		}),
		"http2-list": plan(func(p *session.Plan) {
			p.TLS, p.Streams = &session.TLS{}, 1
			p.Sequential, p.Requests, p.RequestList, p.Lengths = true, nil, list(t), map[string]int64{"/1": 5}
		}),
	} {
		got, err := Script(p, "http://127.0.0.1:8080")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		golden.Check(t, filepath.Join("testdata", name+".js"), got)
	}
}

// TestRejects checks that a script isn't written if k6 would differ from the plan, and that the error names the field.
func TestRejects(t *testing.T) {
	for field, change := range map[string]func(*session.Plan){
		"load.pages":                  func(p *session.Plan) { p.Pages, p.UserConnections = []session.Page{{}}, 1 },
		"load.client.streams":         func(p *session.Plan) { p.TLS, p.Streams = &session.TLS{}, 2 },
		"load.client.protocol":        func(p *session.Plan) { p.Streams = 1 },
		"load.authentication.scheme":  func(p *session.Plan) { p.Authentication = session.AuthenticationDigest },
		"load.authentication.scheme ": func(p *session.Plan) { p.Authentication = session.AuthenticationForm },
		"interArrivalTimes":           func(p *session.Plan) { p.Arrivals = &session.Arrivals{Shares: 1, Poisson: true} },
		"load.closed.rampSeconds":     func(p *session.Plan) { p.Measurement.Profile = profile.Profile{{To: 4, DurationMicroseconds: 1}} },
		"tls.groups":                  func(p *session.Plan) { p.TLS = &session.TLS{Groups: []string{"X25519"}} },
		"tls.sessionResumption":       func(p *session.Plan) { p.TLS = &session.TLS{Resume: true} },
		"tls.ciphers":                 func(p *session.Plan) { p.TLS = &session.TLS{Ciphers: []string{"TLS_AES_128_GCM_SHA256"}} },
		"load.requests[0].path":       func(p *session.Plan) { p.Requests[0].Path = "/a|b" },
		"load.requests[0].path ":      func(p *session.Plan) { p.Requests[0].Path = "/ü" },
		"load.requests[0].redirects":  func(p *session.Plan) { p.Requests[0].Follow = true },
		"load.requests[0].host":       func(p *session.Plan) { p.Cookies, p.Requests[0].Host = true, "other" },
		"load.requests[0].body":       func(p *session.Plan) { p.Requests[0].GeneratedBytes = MaxGeneratedBytes + 1 },
		"load.requests[0].headers":    func(p *session.Plan) { p.Requests[0].Headers = []session.Header{{Name: "X-A"}, {Name: "x-a"}} },
		"load.requests[0].headers must": func(p *session.Plan) {
			p.Requests[0].Length, p.Requests[0].Headers = 5, []session.Header{{Name: "accept-Encoding", Value: "gzip"}}
		},
	} {
		_, err := Script(plan(change), "http://127.0.0.1")
		if err == nil || !strings.HasPrefix(err.Error(), strings.TrimSpace(field)) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v", field, err)
		}
	}
}

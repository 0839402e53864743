package script

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.k6.io/k6/v2/lib"
	"golang.org/x/sync/errgroup"

	"github.com/assay-dev/assay/internal/cipher"
	"github.com/assay-dev/assay/internal/load/client"
	"github.com/assay-dev/assay/internal/load/fakesession"
	"github.com/assay-dev/assay/internal/load/k6script"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/requestlist"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// declared returns a closed load of 4 connections and 200 requests after changes.
func declared(changes ...func(*session.Plan)) *session.Plan {
	p := &session.Plan{
		Tool: result.ToolK6, Connections: 4, KeepAlive: true, TimeoutMicroseconds: 5_000_000,
		Requests:    []session.PlannedRequest{{Path: "/a", Weight: 1, Length: -1}},
		Measurement: session.Amount{Requests: 200},
	}
	for _, change := range changes {
		change(p)
	}
	return p
}

// runPlan runs a plan by k6, or by the native driver, and returns what the client reported.
func runPlan(t *testing.T, p *session.Plan, address string, native bool) (*result.Totals, []fakesession.Event) {
	t.Helper()
	return runAs(t, native, fakesession.Regular(p, address, 50*time.Millisecond))
}

func runAs(t *testing.T, native bool, manager func(fakesession.Event) []pod.Order) (*result.Totals, []fakesession.Event) {
	t.Helper()
	s := fakesession.New(manager)
	log := slog.New(slog.NewTextHandler(writer{t}, nil))
	var c interface {
		Run(ctx context.Context) error
		UseDirectories(tls, credentials string)
	} = NewPlan(s, log)
	if native {
		c = client.New(s, log)
	}
	directory := t.TempDir()
	c.UseDirectories(directory, directory)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := c.Run(ctx); err != nil {
		t.Fatal(err)
	}
	for _, event := range s.Events() {
		if totals, ok := event.(result.Totals); ok {
			return &totals, s.Events()
		}
	}
	t.Fatalf("no totals: %v", s.Events())
	return nil, nil
}

// TestPlanCounts runs loads of each shape by k6 and by the native driver and compares what the server received and what the
// clients counted.
func TestPlanCounts(t *testing.T) {
	const second = 1_000_000
	rate := func(from, to int64, seconds int64, level bool) profile.Segment {
		return profile.Segment{From: from, To: to, DurationMicroseconds: seconds * second, Level: level}
	}
	for name, p := range map[string]*session.Plan{
		"closed": declared(func(p *session.Plan) { p.Warmup = &session.Amount{Requests: 20} }),
		"statuses and lengths": declared(func(p *session.Plan) {
			p.Sequential = true
			p.Requests = []session.PlannedRequest{
				{Path: "/a", Weight: 3, Length: 64}, {Path: "/wrong-length", Weight: 1, Length: 65}, {Path: "/missing", Weight: 1, Length: 10},
				{Path: "/missing?expected", Weight: 1, Length: -1, Statuses: []int{404}}, {Path: "/d", Method: "HEAD", Weight: 1, Length: 3},
				{Path: "/e", Method: "POST", Weight: 1, Length: -1, Body: []byte("text ü"), Headers: []session.Header{{Name: "X-A", Value: "b"}}},
			}
			p.Connections, p.Measurement.Requests = 1, 80
		}),
		"no keep-alive": declared(func(p *session.Plan) { p.KeepAlive = false }),
		"list": declared(func(p *session.Plan) {
			p.Requests, p.RequestList, p.Sequential, p.Connections = nil, listOf(t), true, 1
		}),
		"open": declared(func(p *session.Plan) {
			p.Arrivals = &session.Arrivals{Shares: 1}
			p.Connections = 20
			p.Measurement = session.Amount{DurationMicroseconds: 2 * second, Profile: profile.Profile{rate(53, 53, 0, false)}}
			p.Warmup = &session.Amount{Requests: 11, Profile: profile.Profile{rate(53, 53, 0, false)}}
		}),
		"open, with fractions": declared(func(p *session.Plan) {
			p.Arrivals, p.Connections = &session.Arrivals{Shares: 1, Scale: 10}, 20
			p.Measurement = session.Amount{DurationMicroseconds: 2 * second, Profile: profile.Profile{rate(75, 75, 0, false)}}
			p.Warmup = &session.Amount{Requests: 3, Profile: profile.Profile{rate(15, 45, 1, false)}}
		}),
		"open with a ramp": declared(func(p *session.Plan) {
			p.Arrivals, p.Connections = &session.Arrivals{Shares: 1}, 20
			p.Measurement = session.Amount{Requests: 101, Profile: profile.Profile{rate(0, 60, 2, false)}}
		}),
		"open levels": declared(func(p *session.Plan) {
			p.Arrivals, p.Connections = &session.Arrivals{Shares: 1}, 20
			p.Measurement = session.Amount{DurationMicroseconds: 4 * second, Profile: profile.Profile{
				rate(20, 20, 1, true), rate(20, 61, 1, false), rate(61, 61, 1, true), rate(31, 31, 1, true),
			}}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			var seen [2]testserver.Seen
			var counts [2]result.Counts
			var byRequest [2][]result.RequestMetrics
			for i, native := range []bool{false, true} {
				server := testserver.New(t, func(r testserver.Request) testserver.Answer {
					if strings.HasPrefix(r.Path, "/missing") {
						return testserver.Status("404 Not Found")
					}
					a := testserver.OK(64)
					if r.Method == "HEAD" {
						a.Parts = []string{"HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\n"}
					}
					return a
				})
				totals, _ := runPlan(t, p, server.Address(), native)
				server.Stop()
				seen[i], counts[i], byRequest[i] = server.Seen(), totals.Counts, totals.ByRequest
				if !native {
					checkPlanTotals(t, p, totals)
				}
			}
			// Of an open load k6 drops what no goroutine waits for when it is due: on a machine that does other things, any may be late.
			dropped := counts[0].Dropped
			if counts[1].Dropped > 0 || dropped > 0 && p.Arrivals == nil {
				t.Errorf("k6 dropped %d, the driver %d", dropped, counts[1].Dropped)
			}
			if seen[0].Requests+dropped != seen[1].Requests || len(seen[0].Paths) != len(seen[1].Paths) {
				t.Errorf("the server received %d requests by k6, %d by the driver", seen[0].Requests, seen[1].Requests)
			}
			for path, n := range seen[1].Paths {
				if p.Arrivals == nil && seen[0].Paths[path] != n {
					t.Errorf("%s was requested %d times by k6, %d times by the driver", path, seen[0].Paths[path], n)
				}
			}
			if len(byRequest[0]) != len(byRequest[1]) {
				t.Fatalf("k6 has the metrics of %d requests, the driver of %d", len(byRequest[0]), len(byRequest[1]))
			}
			for request := range byRequest[0] {
				if k6, driver := &byRequest[0][request], &byRequest[1][request]; p.Arrivals == nil && (k6.Requests != driver.Requests || k6.Errors != driver.Errors || k6.Total().Count != driver.Total().Count) {
					t.Errorf("request %d: k6 counted %+v, the driver %+v", request, k6, driver)
				}
			}
			if k6, driver := counts[0], counts[1]; k6.Requests+k6.Dropped != driver.Requests || k6.Errors != driver.Errors || k6.Non2xx != driver.Non2xx {
				t.Errorf("k6 counted %+v, the driver %+v", k6, driver)
			}
		})
	}
}

// checkPlanTotals checks what a client with K6 has to report for each plan.
func checkPlanTotals(t *testing.T, p *session.Plan, totals *result.Totals) {
	t.Helper()
	if tool := totals.Tool; tool == nil || tool.Name != result.ToolK6 {
		t.Errorf("tool %+v", tool)
	}
	if n := totals.Latencies.Get(result.Total).Count(); n != totals.Succeeded() || totals.Script != nil {
		t.Errorf("%d latencies of %d successful requests, script %v", n, totals.Succeeded(), totals.Script)
	}
	if (totals.Warmup != nil) != (p.Warmup != nil) || p.Warmup != nil && totals.Warmup.Requests != p.Warmup.Requests {
		t.Errorf("warm-up %+v", totals.Warmup)
	}
	if (totals.Arrivals != nil) != (p.Arrivals != nil) || p.Arrivals != nil && totals.Arrivals.Due != totals.Requests+totals.Dropped {
		t.Errorf("arrivals %+v", totals.Arrivals)
	}
	if levels := p.Measurement.Profile.Levels(); len(levels) != len(totals.Levels) {
		t.Errorf("%d levels of %d", len(totals.Levels), len(levels))
	}
	data, err := session.Encode(totals)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.DecodeTotals(data); err != nil {
		t.Errorf("the manager rejects the totals: %v", err)
	}
	if names := p.RequestNames(); len(names) > 1 && len(totals.ByRequest) != len(names) {
		t.Errorf("metrics of %d requests of %d", len(totals.ByRequest), len(names))
	}
}

// listOf returns an encoded list of requests.
func listOf(t *testing.T) []byte {
	t.Helper()
	list, err := requestlist.Encode([]requestlist.Entry{{Method: "GET", Path: "/1", Weight: 2}, {Method: "DELETE", Path: "/2?a=%20", Weight: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestPlanMedian compares the medians of k6 and of the native driver on a server that takes 100 ms for each request.
func TestPlanMedian(t *testing.T) {
	var medians [2]int64
	for i, native := range []bool{false, true} {
		server := testserver.New(t, func(testserver.Request) testserver.Answer {
			a := testserver.OK(64)
			a.Delay = 100 * time.Millisecond
			return a
		})
		totals, _ := runPlan(t, declared(func(p *session.Plan) { p.Measurement.Requests = 60 }), server.Address(), native)
		if totals.Succeeded() != 60 {
			t.Fatalf("%d successful requests", totals.Succeeded())
		}
		medians[i] = totals.Latencies.Get(result.Total).Percentile(50)
	}
	if k6, driver := float64(medians[0]), float64(medians[1]); k6 < driver*0.95 || k6 > driver*1.05 {
		t.Errorf("the median is %d µs by k6 and %d µs by the driver", medians[0], medians[1])
	}
}

// TestPlanRequests compares the requests of k6 and of the native driver, but for the headers about connections and their order.
func TestPlanRequests(t *testing.T) {
	for _, cookies := range []bool{false, true} {
		comparePlanRequests(t, cookies)
	}
}

// comparePlanRequests compares the requests of a plan with or without cookies. With them it has no request for another host.
func comparePlanRequests(t *testing.T, cookies bool) {
	t.Helper()
	p := declared(func(p *session.Plan) {
		p.Host, p.Sequential, p.Cookies, p.Connections = "shop.example.org", true, cookies, 1
		p.Requests = []session.PlannedRequest{
			{Path: "/a?b=c%20d&e={}", Weight: 1, Length: -1},
			{Path: "/own", Weight: 1, Length: -1, Host: "other:81", Headers: []session.Header{{Name: "user-agent", Value: "Mozilla"}, {Name: "ACCEPT", Value: "text/html"}, {Name: "X-Text", Value: "a \"b\" \\ ü"}}},
			{Path: "/post", Method: "POST", Weight: 1, Length: -1},
			{Path: "/text", Method: "PUT", Weight: 1, Length: -1, Body: []byte("a \"b\" \\ ${c} `d` ü\u2028\n</script>")},
			{Path: "/typed", Method: "PATCH", Weight: 1, Length: -1, Body: []byte("{}"), Headers: []session.Header{{Name: "content-type", Value: "application/json"}}},
			{Path: "/delete", Method: "DELETE", Weight: 1, Length: -1},
			{Path: "/options", Method: "OPTIONS", Weight: 1, Length: -1},
			{Path: "/generated", Method: "POST", Weight: 1, Length: -1, GeneratedBytes: 70_000},
		}
		if cookies {
			p.Requests[1].Host = ""
		}
		p.Measurement.Requests = 16
	})
	var got [2][]string
	for i, native := range []bool{false, true} {
		var mu sync.Mutex
		server := testserver.New(t, func(r testserver.Request) testserver.Answer {
			line, rest, _ := strings.Cut(r.Head, "\r\n")
			fields := []string{}
			for field := range strings.SplitSeq(strings.TrimSpace(rest), "\r\n") {
				name, value, _ := strings.Cut(field, ": ")
				if name = strings.ToLower(name); name != "connection" {
					fields = append(fields, name+": "+value)
				}
			}
			slices.Sort(fields)
			body := string(r.Body)
			if strings.HasPrefix(r.Path, "/generated") {
				body = fmt.Sprintf("%d bytes", len(r.Body))
			}
			mu.Lock()
			got[i] = append(got[i], line+"\n"+strings.Join(fields, "\n")+"\n\n"+body)
			mu.Unlock()
			a := testserver.OK(1)
			if r.Path == "/own" {
				a.Parts = []string{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: a=\"b c\"; Path=/text\r\nSet-Cookie: d=" + strconv.Itoa(r.Number) + "\r\n\r\n"}
			}
			return a
		})
		runPlan(t, p, server.Address(), native)
		server.Stop()
	}
	if diff := cmp.Diff(got[1], got[0]); diff != "" {
		t.Errorf("-driver +k6:\n%s", diff)
	}
}

// TestPlanClients runs an open load by three clients, which make its requests together.
func TestPlanClients(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer { return testserver.OK(1) })
	var group errgroup.Group
	for i, want := range []int64{34, 33, 33} {
		group.Go(func() error {
			p := declared(func(p *session.Plan) {
				p.Arrivals = &session.Arrivals{Share: i, Shares: 3}
				p.Measurement = session.Amount{DurationMicroseconds: 2_000_000, Profile: profile.Profile{{From: 50, To: 50}}}
			})
			totals, _ := runPlan(t, p, server.Address(), false)
			if totals.Requests != want || totals.Dropped != 0 {
				return fmt.Errorf("client %d made %d requests, want %d; %d were dropped", i, totals.Requests, want, totals.Dropped)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

// TestPlanStops ends a warm-up and a measurement of an hour, as a manager does.
func TestPlanStops(t *testing.T) {
	server := testserver.New(t, func(testserver.Request) testserver.Answer {
		a := testserver.OK(1)
		a.Delay = 10 * time.Millisecond
		return a
	})
	p := declared(func(p *session.Plan) {
		hour := int64(3_600_000_000)
		p.Warmup = &session.Amount{DurationMicroseconds: hour, Profile: profile.Profile{{From: 2, To: 2}}}
		p.Measurement = session.Amount{DurationMicroseconds: hour, Profile: profile.Profile{{From: 2, To: 2, DurationMicroseconds: hour, Level: true}}}
	})
	regular := fakesession.Regular(p, server.Address(), 10*time.Millisecond)
	var began int64
	totals, events := runAs(t, false, func(event fakesession.Event) []pod.Order {
		orders := regular(event)
		for _, o := range orders {
			if start, ok := o.(pod.Start); ok && start.Stage == sessionpb.Stage_STAGE_MEASUREMENT {
				began = start.At
			}
		}
		if second, ok := event.(fakesession.Second); ok && second.Second == 1 {
			if second.Stage == sessionpb.Stage_STAGE_WARMUP {
				return append(orders, pod.End{})
			}
			return append(orders, pod.EndMeasurement{At: began + 3_000_000})
		}
		return orders
	})
	if totals.Errors.Total() != 0 || totals.Requests == 0 || totals.Warmup == nil || totals.Warmup.Requests == 0 {
		t.Errorf("%+v, warm-up %+v", totals.Counts, totals.Warmup)
	}
	if len(totals.Levels) != 1 || totals.Levels[0].Seconds != 3 {
		t.Errorf("levels %+v", totals.Levels)
	}
	ended := 0
	for _, event := range events {
		if event == sessionpb.Stage_STAGE_WARMUP {
			ended++
		}
	}
	if ended != 1 {
		t.Errorf("the warm-up ended %d times", ended)
	}
}

// TestPlanErrors checks the kinds of errors on servers that are rude, by k6 and by the native driver.
func TestPlanErrors(t *testing.T) {
	for name, answer := range map[string]testserver.Answer{
		"no response":     {Then: testserver.Close},
		"reset":           {Then: testserver.Reset},
		"half a response": testserver.Text(0, testserver.Close, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"),
		"no HTTP":         testserver.Text(0, testserver.Close, "what?\r\n\r\n"),
		"too slow":        {Then: testserver.Hang},
	} {
		var kinds [2]result.ErrorCounts
		for i, native := range []bool{false, true} {
			server := testserver.New(t, func(testserver.Request) testserver.Answer { return answer })
			totals, _ := runPlan(t, declared(func(p *session.Plan) {
				p.Measurement.Requests = 8
				p.Requests[0].Method = "POST" // Go repeats a GET
				if answer.Then == testserver.Hang {
					p.TimeoutMicroseconds = 200_000
				}
			}), server.Address(), native)
			kinds[i] = totals.Errors
		}
		if kinds[0] != kinds[1] || kinds[0].Total() != 8 {
			t.Errorf("%s: k6 had the errors %v, the driver %v", name, kinds[0], kinds[1])
		}
	}
}

// TestPlanHTTP2 runs a plan for HTTP/2 and one for HTTP/1.1 against a server that speaks both, and one for HTTP/2 against a server that
// doesn't.
func TestPlanHTTP2(t *testing.T) {
	for _, test := range []struct {
		streams int
		enabled bool
		proto   int
		errors  int64
	}{{1, true, 2, 0}, {0, true, 1, 0}, {1, false, 1, 20}} {
		var mu sync.Mutex
		seen := map[int]int{}
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			mu.Lock()
			seen[r.ProtoMajor]++
			mu.Unlock()
		}))
		server.EnableHTTP2 = test.enabled
		server.StartTLS()
		totals, _ := runPlan(t, declared(func(p *session.Plan) {
			p.TLS, p.Streams, p.Measurement.Requests = &session.TLS{Unverified: true}, test.streams, 20
		}), server.Listener.Addr().String(), false)
		server.Close()
		if seen[test.proto] != 20 || len(seen) != 1 || totals.Requests != 20 || totals.Errors[result.ErrorTLS] != test.errors || totals.Errors.Total() != test.errors {
			t.Errorf("streams %d, HTTP/2 %t: the server saw %v, the client %+v", test.streams, test.enabled, seen, totals.Counts)
		}
	}
}

// TestPlanCredentials sends credentials, which neither the script nor the log has.
func TestPlanCredentials(t *testing.T) {
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		if r.Header("Authorization") != "Basic dXNlcjpwYXNzd29yZA==" {
			return testserver.Status("401 Unauthorized")
		}
		return testserver.OK(1)
	})
	p := declared(func(p *session.Plan) { p.Authentication, p.Measurement.Requests = session.AuthenticationBasic, 10 })
	s := fakesession.New(fakesession.Regular(p, server.Address(), time.Millisecond))
	files := directory(t, map[string]string{"username": "user\n", "password": "password"})
	c := NewPlan(s, slog.New(slog.NewTextHandler(writer{t}, nil)))
	c.UseDirectories(files, files)
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(files, planFile))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "dXNlcjpwYXNzd29yZA") {
		t.Error("the script has the credentials")
	}
	for _, event := range s.Events() {
		if totals, ok := event.(result.Totals); ok && (totals.Requests != 10 || totals.Errors.Total() != 0) {
			t.Errorf("%+v", totals.Counts)
		}
	}
}

// TestPlanRejected checks that a client refuses a plan that k6 can't run as declared.
func TestPlanRejected(t *testing.T) {
	p := declared(func(p *session.Plan) { p.Requests[0].Follow = true })
	s := fakesession.New(fakesession.Regular(p, "127.0.0.1:1", time.Millisecond))
	c := NewPlan(s, slog.New(slog.DiscardHandler))
	c.UseDirectories(t.TempDir(), "")
	if err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "load.requests[0].redirects must be Ignore") {
		t.Errorf("error %v", err)
	}
}

// TestCipherSuites checks that k6 knows each cipher suite by the name that scripts have.
func TestCipherSuites(t *testing.T) {
	for _, suite := range cipher.Suites {
		if cipher.IsTLS13(suite.Name) {
			continue
		}
		text, err := k6script.Script(declared(func(p *session.Plan) { p.TLS = &session.TLS{Ciphers: []string{suite.Name}} }), "https://target")
		if err != nil {
			t.Fatal(err)
		}
		known := false
		for name := range lib.SupportedTLSCipherSuites {
			known = known || strings.Contains(text, `"tlsCipherSuites":["`+name+`"]`)
		}
		if !known {
			t.Errorf("k6 doesn't know %s", suite.Name)
		}
	}
}

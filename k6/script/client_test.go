package script

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/assay-dev/assay/internal/load/fakesession"
	"github.com/assay-dev/assay/internal/load/testserver"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/k6/runner"
)

// TestMain makes this program act as k6 if its first argument is "k6", as assay-k6 does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "k6" {
		if err := runner.StayOffline(); err != nil {
			panic(err)
		}
		runner.K6(os.Args[2:]...)
	}
	os.Exit(m.Run())
}

// directory returns a temporary directory with the given files.
func directory(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// plans returns the plans of n clients of the script script.js.
func plans(n int) []*session.Plan {
	all := make([]*session.Plan, n)
	bounds := []string{}
	for i := range n + 1 {
		bounds = append(bounds, fmt.Sprintf("%d/%d", i, n))
	}
	for i := range all {
		all[i] = &session.Plan{Script: &session.Script{
			File: "script.js", Segment: bounds[i] + ":" + bounds[i+1], Sequence: strings.Join(bounds, ","), Leads: i == 0,
		}}
	}
	return all
}

// writer writes to the log of a test.
type writer struct{ t *testing.T }

func (w writer) Write(text []byte) (int, error) {
	w.t.Logf("%s", text)
	return len(text), nil
}

// fakeSession is a fake session with the reports of clients of scripts.
type fakeSession struct{ *fakesession.Session }

func (s fakeSession) ScriptState(state session.ScriptState) { s.Report(state) }

func (s fakeSession) ScriptMetrics(metrics *session.ScriptMetrics, _ int) { s.Report(metrics) }

func (s fakeSession) SendSummary(summary *result.ScriptSummary) { s.Report(summary) }

// fakeSessions returns the sessions of the clients of a script, by the index of their plans. One
// manager runs all of them against a target.
func fakeSessions(plans []*session.Plan, address string) []fakeSession {
	sessions := make([]fakeSession, len(plans))
	var mu sync.Mutex
	ready, have, ended := 0, 0, 0
	var totals []*result.ScriptTotals
	release := func() {
		for _, s := range sessions {
			s.Release()
		}
	}
	everyone := func(order pod.Order) {
		for _, s := range sessions {
			s.Send(order)
		}
	}
	for i, plan := range plans {
		var had session.ScriptState
		sessions[i] = fakeSession{fakesession.New(func(event fakesession.Event) []pod.Order {
			mu.Lock()
			defer mu.Unlock()
			now := sessions[i].At(time.Now())
			switch event := event.(type) {
			case fakesession.Connected:
				return []pod.Order{pod.Prepare{Plan: plan, Address: address}}
			case fakesession.Ready:
				if ready++; ready == len(plans) {
					everyone(pod.Start{Stage: sessionpb.Stage_STAGE_SETUP, At: now})
				}
			case session.ScriptState:
				if event.SetupEnded && !had.SetupEnded {
					if plan.Script.Leads {
						for j, other := range sessions {
							if j != i {
								other.Send(pod.SetupData{Data: event.SetupData})
							}
						}
					}
					if have++; have == len(plans) {
						everyone(pod.Start{Stage: sessionpb.Stage_STAGE_MEASUREMENT, At: now + 50_000})
					}
				}
				if event.LoadEnded && !had.LoadEnded {
					if ended++; ended == len(plans) {
						everyone(pod.Start{Stage: sessionpb.Stage_STAGE_TEARDOWN, At: now})
					}
				}
				had = event
			case result.Totals:
				totals = append(totals, event.Script)
				if len(totals) < len(plans) {
					return nil
				}
				if !result.Summarizes(totals) {
					release()
					return nil
				}
				data, err := result.SummaryData(totals, nil, sessions[session.ScriptLeader].setupData())
				if err != nil {
					panic(err)
				}
				sessions[session.ScriptLeader].Send(pod.Summarize{Data: data})
			case *result.ScriptSummary:
				release()
			}
			return nil
		})}
	}
	return sessions
}

// run runs a client for each plan, with the script in the directory scripts. It
// returns the clients' sessions and errors.
func run(t *testing.T, scripts string, plans []*session.Plan, address string) ([]fakeSession, []error) {
	t.Helper()
	sessions := fakeSessions(plans, address)
	errs := make([]error, len(plans))
	var group errgroup.Group
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for i := range plans {
		group.Go(func() error {
			c := New(sessions[i], slog.New(slog.NewTextHandler(writer{t}, nil)))
			c.UseDirectories(scripts, t.TempDir(), t.TempDir())
			errs[i] = c.Run(ctx)
			if errs[i] != nil {
				cancel()
			}
			return nil
		})
	}
	_ = group.Wait()
	return sessions, errs
}

// setupData returns what setup() returned.
func (s fakeSession) setupData() []byte {
	for _, state := range of[session.ScriptState](s) {
		if state.SetupData != nil {
			return state.SetupData
		}
	}
	return nil
}

// of returns the events of one type.
func of[E any](s fakeSession) (found []E) {
	for _, event := range s.Events() {
		if e, ok := event.(E); ok {
			found = append(found, e)
		}
	}
	return found
}

const full = `
import http from 'k6/http';
import { check } from 'k6';
import { Counter, Trend, Rate, Gauge } from 'k6/metrics';
import { path } from './lib/paths.js';

const users = JSON.parse(open('./users.json'));
const bought = new Counter('bought'), price = new Trend('price'), happy = new Rate('happy'), stock = new Gauge('stock');

export const options = {
  scenarios: { shop: { executor: 'shared-iterations', vus: 4, iterations: 101 } },
  thresholds: {
    http_req_duration: ['p(95)<10000', 'max>0'],
    'http_req_duration{name:shop}': ['avg>=0'],
    bought: ['count==202'],
    checks: ['rate==1'],
  },
};

export function setup() {
  return { token: http.post(__ENV.BASE_URL + '/setup', 'x').json('token'), users: users.length };
}

export default function (data) {
  const r = http.get(__ENV.ASSAY_TARGET_URL + path(data.token), { tags: { name: 'shop' } });
  check(r, { 'is 200': (r) => r.status === 200, 'data is here': () => data.users === 2 });
  bought.add(2);
  price.add(__ITER % 7 - 3);
  happy.add(__ITER % 2);
  stock.add(5);
}

export function teardown(data) { http.del(__ENV.ASSAY_TARGET_URL + '/teardown/' + data.token); }
`

func TestWholeScript(t *testing.T) {
	server := testserver.New(t, func(r testserver.Request) testserver.Answer {
		if r.Path == "/setup" {
			const body = `{"token":"t0k3n"}`
			return testserver.Answer{Parts: []string{fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)}}
		}
		return testserver.OK(64)
	})
	scripts := directory(t, map[string]string{
		"script.js": full, "users.json": `["a","b"]`, "lib/paths.js": `export function path(t) { return '/shop/' + t }`,
	})
	sessions, errs := run(t, scripts, plans(3), server.Address())
	r := &result.Result{}
	var clients []result.Client
	for i, s := range sessions {
		totals := of[result.Totals](s)
		if errs[i] != nil || len(totals) != 1 {
			t.Fatalf("client %d: %v, %d totals", i, errs[i], len(totals))
		}
		var sum result.Counts
		for _, second := range of[fakesession.Second](s) {
			sum.Add(second.Counts)
		}
		if got := totals[0]; sum != got.Counts || got.StartedAt == 0 || got.EndedAt <= got.StartedAt || got.Usage.UserCPU <= 0 || got.NodeUsage == nil || got.NodeUsage.CPUTime <= 0 {
			t.Errorf("client %d: seconds %+v, totals %+v", i, sum, got)
		}
		if err := totals[0].Script.Check(); err != nil { // as the manager checks them
			t.Errorf("client %d: %s", i, err)
		}
		clients = append(clients, result.Client{Index: i, Totals: totals[0]})
	}
	r.AddClients(clients)
	r.AddScript()
	if r.Merged.Requests != 101 || r.Merged.Succeeded() != 101 || r.Merged.Connections != 4 || r.Merged.KeepAlive != 97 {
		t.Errorf("merged %+v", r.Merged.Counts)
	}
	seen := server.Seen()
	want := map[string]int64{"/setup": 1, "/shop/t0k3n": 101, "/teardown/t0k3n": 1}
	for path, n := range want {
		if seen.Paths[path] != n {
			t.Errorf("%s was requested %d times, want %d", path, seen.Paths[path], n)
		}
	}
	if r.Script.Iterations != 101 || r.Script.VirtualUsers != 4 {
		t.Errorf("%d iterations, %d virtual users", r.Script.Iterations, r.Script.VirtualUsers)
	}
	for _, outcome := range r.Thresholds {
		if !outcome.Met {
			t.Errorf("threshold %+v", outcome)
		}
	}
	if len(r.Thresholds) != 5 {
		t.Errorf("thresholds %+v", r.Thresholds)
	}
	if m := r.Script.Metric("price"); m == nil || m.Samples != 101 || m.Min != -3 {
		t.Errorf("price %+v", m)
	}
	// k6's own metrics include setup() and teardown().
	if m := r.Script.Metric("http_reqs"); m == nil || m.Sum != 103 {
		t.Errorf("http_reqs %+v", m)
	}
}

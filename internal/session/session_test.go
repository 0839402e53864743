package session

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// fill gives every field of a struct a value of its own, so that a field that is
// lost in a conversion fails the test.
func fill(v reflect.Value, next *int64) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), next)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), next)
		}
	case reflect.Int64:
		*next++
		v.SetInt(*next)
	case reflect.String:
		*next++
		v.SetString(strings.Repeat("x", int(*next)))
	}
}

func filled[T any]() T {
	var t T
	next := int64(0)
	fill(reflect.ValueOf(&t).Elem(), &next)
	return t
}

func TestWireKeepsEverything(t *testing.T) {
	client := filled[result.ClientUsage]()
	used, err := ClientUsageFromWire(result.ClientFigures.Values(&client))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(client, used); diff != "" {
		t.Error(diff)
	}
	node := filled[result.NodeUsage]()
	want := &result.ClientSecond{Second: 7, Usage: client, Phases: filled[result.PhaseTimes](), Node: &node}
	w, err := SecondToWire(sessionpb.Stage_STAGE_MEASUREMENT, want, 3)
	if err != nil {
		t.Fatal(err)
	}
	if second, seconds, err := SecondFromWire(w); err != nil || seconds != 3 || !cmp.Equal(want, second) {
		t.Errorf("%d seconds (%v):\n%s", seconds, err, cmp.Diff(want, second))
	}
	arrivals := filled[result.Arrivals]()
	due, err := ArrivalsFromWire(result.ArrivalFigures.Values(&arrivals), &result.Counts{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&arrivals, due); diff != "" {
		t.Error(diff)
	}
	counts := filled[result.Counts]()
	counts.Requests += counts.Errors.Total()
	got, err := CountsFromWire(CountsToWire(&counts))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(counts, *got); diff != "" {
		t.Error(diff)
	}
}

func TestMeasureFromWireIsTheMeasure(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	m := &result.Measure{Counts: result.Counts{Requests: 1003, BytesReceived: 7}}
	m.Errors[result.ErrorTLS] = 3
	for range 1000 {
		for _, p := range []result.Phase{result.Waiting, result.Total} {
			m.Latencies.Of(p).Record(int64(random.ExpFloat64() * 1e5))
		}
	}
	w, err := MeasureToWire(m)
	if err != nil {
		t.Fatal(err)
	}
	got, err := MeasureFromWire(w)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m.Counts, got.Counts); diff != "" {
		t.Error(diff)
	}
	for p := range result.Phases {
		want, have := m.Latencies.Get(p), got.Latencies.Get(p)
		if diff := cmp.Diff(want.Bars(), have.Bars()); diff != "" {
			t.Errorf("%s: %s", p, diff)
		}
		if want.Sum() != have.Sum() || want.Min() != have.Min() || want.Max() != have.Max() || want.Clamped() != have.Clamped() {
			t.Errorf("%s: %+v, want %+v", p, have, want)
		}
	}
	if got.Latencies[result.Connect] != nil {
		t.Error("a phase that didn't occur has a histogram")
	}
}

func TestMeasureFromWireRefuses(t *testing.T) {
	valid := func() *sessionpb.Measure {
		m := &result.Measure{Counts: result.Counts{Requests: 1}}
		m.Latencies.Of(result.Total).Record(5)
		w, err := MeasureToWire(m)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	if _, err := MeasureFromWire(valid()); err != nil {
		t.Fatal(err)
	}
	tests := map[string]func(*sessionpb.Measure){
		"no counts":            func(m *sessionpb.Measure) { m.Counts = nil },
		"300 kinds of errors":  func(m *sessionpb.Measure) { m.Counts.Errors = make([]int64, 300) },
		"300 figures":          func(m *sessionpb.Measure) { m.Counts.Values = make([]int64, 300) },
		"connections must be":  func(m *sessionpb.Measure) { setFigure(result.Counters, m.Counts.Values, "connections", -1) },
		"errors must be":       func(m *sessionpb.Measure) { m.Counts.Errors[0] = -1 },
		"2 errors of 1":        func(m *sessionpb.Measure) { m.Counts.Errors[0] = 2 },
		"0 requests":           func(m *sessionpb.Measure) { setFigure(result.Counters, m.Counts.Values, "requests", 0) },
		"total":                func(m *sessionpb.Measure) { m.Latencies[result.Total].Hdr = nil },
		"decode histogram":     func(m *sessionpb.Measure) { m.Latencies[result.Total].Count = 2; m.Counts.Values[0] = 2 },
		"1 durations":          func(m *sessionpb.Measure) { m.Latencies[result.Total].Min = 6 },
		"1 requests succeeded": func(m *sessionpb.Measure) { m.Latencies[result.Total] = nil },
	}
	for text, change := range tests {
		w := valid()
		change(w)
		if _, err := MeasureFromWire(w); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want %q", err, text)
		}
	}
}

// TestFiguresOfOtherVersions checks measures of versions with more or fewer figures,
// kinds of errors and phases.
func TestFiguresOfOtherVersions(t *testing.T) {
	m := &result.Measure{Counts: result.Counts{Requests: 4, Errors: result.ErrorCounts{result.ErrorTLS: 1}, ClosedByServer: 5}}
	for range 3 {
		m.Latencies.Of(result.Total).Record(5)
	}
	convert := func() *sessionpb.Measure {
		w, err := MeasureToWire(m)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	later := convert()
	later.Counts.Values[0]++
	later.Counts.Values = append(later.Counts.Values, -7)
	later.Counts.Errors = append(later.Counts.Errors, 0, 1)
	later.Latencies = append(later.Latencies, &sessionpb.Histogram{Count: 9})
	got, err := MeasureFromWire(later)
	if err != nil {
		t.Fatal(err)
	}
	want := m.Counts
	want.Requests++
	want.Errors[result.ErrorException] = 1
	if diff := cmp.Diff(want, got.Counts); diff != "" {
		t.Errorf("of a later version (-want +got):\n%s", diff)
	}
	earlier := convert()
	earlier.Counts.Values = earlier.Counts.Values[:len(result.Counters)-5] // before closedByServer and those of pages
	earlier.Counts.Errors = earlier.Counts.Errors[:result.ErrorTLS+1]
	earlier.Latencies = earlier.Latencies[:result.Total+1]
	if got, err = MeasureFromWire(earlier); err != nil {
		t.Fatal(err)
	}
	want = m.Counts
	want.ClosedByServer = 0
	if diff := cmp.Diff(want, got.Counts); diff != "" || got.Latencies.Get(result.Total).Count() != 3 {
		t.Errorf("of an earlier version (-want +got):\n%s", diff)
	}
	usage, err := ClientUsageFromWire([]int64{1, 2})
	if diff := cmp.Diff(result.ClientUsage{UserCPU: 1, SystemCPU: 2, Throttled: -1}, usage); err != nil || diff != "" {
		t.Errorf("usage (%v):\n%s", err, diff)
	}
}

func TestPlan(t *testing.T) {
	valid := func() *Plan {
		return &Plan{
			Connections: 25, KeepAlive: true, TimeoutMicroseconds: 2_000_000, Host: "h", Seed: 7, Probe: "/p",
			TLS: &TLS{ServerName: "www", Protocols: []string{"TLSv1.2"}, Ciphers: []string{"AES128-SHA"}, Groups: []string{"P-256"}, Resume: true, ClientCertificate: true},
			Requests: []PlannedRequest{{
				Method: "POST", Path: "/a", Host: "o", Headers: []Header{{Name: "A", Value: "b"}}, Body: []byte("c"), Weight: 1, Length: -1,
				Statuses: []int{201}, Follow: true,
			}},
			Sequential: true, Cookies: true, Authentication: AuthenticationDigest,
			Warmup:      &Amount{DurationMicroseconds: 1},
			Measurement: Amount{Requests: 50_000},
		}
	}
	got, err := PlanFromWire(PlanToWire(valid()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(valid(), got); diff != "" {
		t.Error(diff)
	}
	tests := map[string]func(*Plan){
		"form login over HTTP/2": func(p *Plan) { p.Streams, p.Form, p.Authentication = 2, &Form{Path: "/"}, AuthenticationForm },
		"-1 streams":             func(p *Plan) { p.Streams = -1 },
		"2 streams, keep-alive":  func(p *Plan) { p.Streams, p.KeepAlive = 2, false },
		"0 connections":          func(p *Plan) { p.Connections = 0 },
		"timeout of 0":           func(p *Plan) { p.TimeoutMicroseconds = 0 },
		"no requests":            func(p *Plan) { p.Requests = nil },
		"1 requests and a list":  func(p *Plan) { p.RequestList = []byte("x") },
		`"Digest", form true`:    func(p *Plan) { p.Form = &Form{} },
		`"Form", form false`:     func(p *Plan) { p.Authentication = AuthenticationForm },
		`form sent to "x"`:       func(p *Plan) { p.Authentication, p.Form = AuthenticationForm, &Form{Path: "x"} },
		`a request for "/a b"`:   func(p *Plan) { p.Authentication, p.Form = AuthenticationForm, &Form{Path: "/", Page: "/a b"} },
		`the fields "u" and ""`:  func(p *Plan) { p.Authentication, p.Form = AuthenticationForm, &Form{Path: "/", UsernameField: "u"} },
		"form without statuses": func(p *Plan) {
			p.Authentication, p.Form = AuthenticationForm, &Form{Path: "/", UsernameField: "u", PasswordField: "p"}
		},
		`path "x"`:                    func(p *Plan) { p.Requests[0].Path = "x" },
		`probe path "x"`:              func(p *Plan) { p.Probe = "x" },
		`TLS protocol "SSLv3"`:        func(p *Plan) { p.TLS = &TLS{Protocols: []string{"SSLv3"}} },
		`authentication "NTLM"`:       func(p *Plan) { p.Authentication = "NTLM" },
		`method "TRACE"`:              func(p *Plan) { p.Requests[0].Method = "TRACE" },
		`to "a b"`:                    func(p *Plan) { p.Requests[0].Host = "a b" },
		`path "/\r\nA: b"`:            func(p *Plan) { p.Requests[0].Path = "/\r\nA: b" },
		"one of 5 to generate":        func(p *Plan) { p.Requests[0].GeneratedBytes = 5 },
		"one of 99999999 to generate": func(p *Plan) { p.Requests[0].Body, p.Requests[0].GeneratedBytes = nil, 99999999 },
		`the header "A"`:              func(p *Plan) { p.Requests[0].Headers[0].Value = "b\r\nC: d" },
		`the header "A:"`:             func(p *Plan) { p.Requests[0].Headers[0].Name = "A:" },
		"the status 100":              func(p *Plan) { p.Requests[0].Statuses[0] = 100 },
		"weight 0":                    func(p *Plan) { p.Requests[0].Weight = 0 },
		"warm-up: 0 requests":         func(p *Plan) { p.Warmup = &Amount{} },
		"measurement: 5 requests":     func(p *Plan) { p.Measurement = Amount{Requests: 5, DurationMicroseconds: 5} },
		"measurement: -1":             func(p *Plan) { p.Measurement = Amount{Requests: -1, DurationMicroseconds: 5} },
	}
	for text, change := range tests {
		p := valid()
		change(p)
		if _, err := PlanFromWire(PlanToWire(p)); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want %q", err, text)
		}
	}
	if _, err := PlanFromWire(nil); err == nil {
		t.Error("no error without a plan")
	}
}

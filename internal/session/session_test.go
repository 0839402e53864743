package session

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/profile"
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

func TestSecondsKeepEverything(t *testing.T) {
	node, counts := filled[result.NodeUsage](), filled[result.Counts]()
	want := &result.ClientSecond{Second: 7, Usage: filled[result.ClientUsage](), Phases: filled[result.PhaseTimes](), Node: &node}
	counts.Requests += counts.Errors.Total()
	want.Counts = counts
	for range want.Succeeded() {
		want.Latencies.Of(result.Total).Record(5)
	}
	want.Latencies.Pack()
	w, err := SecondToWire(sessionpb.Stage_STAGE_MEASUREMENT, want, 3)
	if err != nil {
		t.Fatal(err)
	}
	if second, seconds, err := SecondFromWire(w); err != nil || seconds != 3 || !reflect.DeepEqual(want, second) {
		t.Errorf("%d seconds (%v): %+v", seconds, err, second)
	}
}

func TestTotalsKeepTheMeasure(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	m := &result.Totals{Measure: result.Measure{Counts: result.Counts{Requests: 1003, BytesReceived: 7}}}
	m.Errors[result.ErrorTLS] = 3
	for range 1000 {
		for _, p := range []result.Phase{result.Waiting, result.Total} {
			m.Latencies.Of(p).Record(int64(random.ExpFloat64() * 1e5))
		}
	}
	data, err := EncodeTotals(m)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeTotals(data)
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

func TestSecondsThatCannotBe(t *testing.T) {
	valid := func() *sessionpb.ClientSample {
		s := &result.ClientSecond{Measure: result.Measure{Counts: result.Counts{Requests: 1}}}
		s.Latencies.Of(result.Total).Record(5)
		w, err := SecondToWire(sessionpb.Stage_STAGE_MEASUREMENT, s, 0)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	if _, _, err := SecondFromWire(valid()); err != nil {
		t.Fatal(err)
	}
	tests := map[string]func(*sessionpb.ClientSample){
		"no counts":            func(m *sessionpb.ClientSample) { m.Counts = nil },
		"300 kinds of errors":  func(m *sessionpb.ClientSample) { m.Errors = make([]int64, 300) },
		"300 metrics":          func(m *sessionpb.ClientSample) { m.Counts = make([]int64, 300) },
		"connections must be":  func(m *sessionpb.ClientSample) { setMetric(result.Counters, m.Counts, "connections", -1) },
		"errors must be":       func(m *sessionpb.ClientSample) { m.Errors[0] = -1 },
		"2 errors of 1":        func(m *sessionpb.ClientSample) { m.Errors[0] = 2 },
		"0 requests":           func(m *sessionpb.ClientSample) { setMetric(result.Counters, m.Counts, "requests", 0) },
		"total":                func(m *sessionpb.ClientSample) { m.Total.Hdr = nil },
		"decode histogram":     func(m *sessionpb.ClientSample) { m.Total.Count = 2; m.Counts[0] = 2 },
		"1 durations":          func(m *sessionpb.ClientSample) { m.Total.Min = 6 },
		"1 requests succeeded": func(m *sessionpb.ClientSample) { m.Total = nil },
	}
	for text, change := range tests {
		w := valid()
		change(w)
		if _, _, err := SecondFromWire(w); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want %q", err, text)
		}
	}
}

func TestTotalsThatCannotBe(t *testing.T) {
	valid := func() *result.Totals {
		m := &result.Totals{Measure: result.Measure{Counts: result.Counts{Requests: 1}}}
		m.Latencies.Of(result.Total).Record(5)
		m.Statuses = result.Statuses{200: 1}
		m.ByRequest = []result.RequestMetrics{{Requests: 1, Latency: m.Latencies[result.Total]}, {}}
		m.Arrivals, m.Warmup, m.NodeUsage = &result.Arrivals{}, &result.Counts{}, &result.NodeUsage{}
		return m
	}
	if _, err := DecodeTotals(encoded(t, valid())); err != nil {
		t.Fatal(err)
	}
	later := result.LevelTotals{Measure: result.Measure{Counts: result.Counts{Requests: 1}}}
	for text, change := range map[string]func(*result.Totals){
		"connections must be":              func(m *result.Totals) { m.Connections = -1 },
		"errors must be":                   func(m *result.Totals) { m.Errors[0] = -1 },
		"2 errors of 1":                    func(m *result.Totals) { m.Errors[0] = 2 },
		"0 requests succeeded, 1 were":     func(m *result.Totals) { m.Requests = 0 },
		"1 requests succeeded, 0 were":     func(m *result.Totals) { m.Latencies[result.Total] = nil },
		"0 pages succeeded, 1 were timed":  func(m *result.Totals) { m.Latencies.Of(result.Page).Record(1) },
		"client usage: userCPU":            func(m *result.Totals) { m.Usage.UserCPU = -1 },
		"stealMicroseconds must be":        func(m *result.Totals) { m.NodeUsage.Steal = -5 },
		"arrivals: due must be":            func(m *result.Totals) { m.Arrivals.Due = -1 },
		"arrivals: 0 due, 3 dropped":       func(m *result.Totals) { m.Dropped = 3 },
		"counts: bytesSent must be":        func(m *result.Totals) { m.Warmup.BytesSent = -1 },
		"1 responses with the status 99":   func(m *result.Totals) { m.Statuses = result.Statuses{99: 1} },
		"1 responses with the status 1000": func(m *result.Totals) { m.Statuses = result.Statuses{1000: 1} },
		"2 responses with the status 200":  func(m *result.Totals) { m.Statuses[200] = 2 },
		"-1 responses with the status 201": func(m *result.Totals) { m.Statuses[201] = -1 },
		"2 responses to 1 requests":        func(m *result.Totals) { m.Statuses[201] = 1 },
		"1 of 0 outside of 200 to 299":     func(m *result.Totals) { m.Statuses = result.Statuses{404: 1} },
		"metrics of 130 requests":          func(m *result.Totals) { m.ByRequest = make([]result.RequestMetrics, 130) },
		"metrics of 2 requests aren't":     func(m *result.Totals) { m.ByRequest[1].BytesReceived = 7 },
		"request 1: bodyBytes must be":     func(m *result.Totals) { m.ByRequest[1].BodyBytes = -1 },
		"request 1: errors must be":        func(m *result.Totals) { m.ByRequest[1].Errors[0] = -1 },
		"request 1: 1 requests succeeded":  func(m *result.Totals) { m.ByRequest[1].Requests = 1 },
		"request 0: 1 requests succeeded":  func(m *result.Totals) { m.ByRequest[0].Summarize() },
		"parts of those of all": func(m *result.Totals) {
			m.ByRequest[0].Latency = result.NewHistogram()
			m.ByRequest[0].Latency.Record(6)
		},
		"21 levels":                     func(m *result.Totals) { m.Levels = make([]result.LevelTotals, MaxLevels+1) },
		"1 requests succeeded, 0":       func(m *result.Totals) { m.Steps = []result.LevelTotals{later} },
		"times next to those of a tool": func(m *result.Totals) { m.Tool = &result.Tool{} },
		"percentiles": func(m *result.Totals) {
			m.Latencies, m.Tool = result.Latencies{}, &result.Tool{Percentiles: make([]int64, 1000)}
		},
		"10 causes of connect errors":                  func(m *result.Totals) { m.Causes[result.ErrorConnect] = make([]result.Cause, result.MaxCauses+2) },
		"cause of connect errors: -1":                  func(m *result.Totals) { m.Causes[result.ErrorConnect] = []result.Cause{{Count: -1}} },
		"causes of 3 tls errors, of which there are 0": func(m *result.Totals) { m.Causes[result.ErrorTLS] = []result.Cause{{Count: 1}, {Count: 2}} },
		"a script of -1 virtual users":                 func(m *result.Totals) { m.Script = &result.ScriptTotals{VirtualUsers: -1} },
	} {
		totals := valid()
		change(totals)
		if _, err := DecodeTotals(encoded(t, totals)); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want %q", err, text)
		}
	}
	for text, data := range map[string]string{
		"decode histogram": `{"requests":1,"latencies":{"total":{"hdr":"AAAA","count":1,"sumMicroseconds":5,"minMicroseconds":5,"maxMicroseconds":5}}}`,
		"without a count":  `{"latencies":{"wait":{"maxMicroseconds":5}}}`,
	} {
		if _, err := DecodeTotals([]byte(data)); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want %q", err, text)
		}
	}
}

// TestPlanWithSlices checks which loads can alternate.
func TestPlanWithSlices(t *testing.T) {
	whole := Amount{DurationMicroseconds: 3_000_000}
	tests := map[string]struct {
		wrong  string // part of the error, or empty if the plan is valid
		change func(*Plan)
	}{
		"closed":            {"", func(*Plan) {}},
		"warm-up by number": {"", func(p *Plan) { p.Warmup = &Amount{Requests: 5} }},
		"think time":        {"", func(p *Plan) { p.ThinkTime = &ThinkTime{MinMicroseconds: 1, MaxMicroseconds: 2} }},
		"HTTP/2":            {"", func(p *Plan) { p.Streams = 4 }},
		"open": {"", func(p *Plan) {
			p.Arrivals, p.Measurement.Profile = &Arrivals{Shares: 1}, profile.Profile{{From: 5, To: 5}}
		}},
		"5 variants":      {"variant 1 of 5", func(p *Plan) { p.Slices.Variants = 5 }},
		"1 variant":       {"variant 0 of 1", func(p *Plan) { p.Slices = &profile.Slices{Variants: 1} }},
		"no such variant": {"variant 2 of 2", func(p *Plan) { p.Slices.Variant = 2 }},
		"a script":        {"script", func(p *Plan) { p.Script = &Script{} }},
		"another tool":    {"another tool", func(p *Plan) { p.Tool = result.ToolAB }},
		"pages":           {"pages", func(p *Plan) { p.Pages = []Page{{}} }},
		"by number":       {"whole seconds", func(p *Plan) { p.Measurement = Amount{Requests: 5} }},
		"part of a slice": {"whole seconds", func(p *Plan) { p.Measurement.DurationMicroseconds++ }},
		"stages":          {"changes", func(p *Plan) { p.Measurement.Profile = profile.Profile{{To: 1, DurationMicroseconds: 1}} }},
		"warm-up with stages": {"changes", func(p *Plan) {
			p.Warmup = &Amount{Requests: 5, Profile: profile.Profile{{To: 1}, {To: 2}}}
		}},
	}
	for name, test := range tests {
		p := &Plan{
			Connections: 2, KeepAlive: true, TimeoutMicroseconds: 1, Requests: []PlannedRequest{{Path: "/", Weight: 1, Length: -1}},
			Measurement: whole, Slices: &profile.Slices{Variant: 1, Variants: 2},
		}
		test.change(p)
		got, err := DecodePlan(encoded(t, p))
		switch {
		case test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)):
			t.Errorf("%s: error %v, want %q", name, err, test.wrong)
		case test.wrong == "" && (err != nil || *got.Slices != *p.Slices):
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestPlan(t *testing.T) {
	valid := func() *Plan {
		return &Plan{
			Connections: 25, KeepAlive: true, TimeoutMicroseconds: 2_000_000, Host: "h", Seed: 7, Probes: []Probe{{Request: Get("/p")}},
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
	got, err := DecodePlan(encoded(t, valid()))
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
		`probe: path "x"`:             func(p *Plan) { p.Probes = []Probe{{Request: PlannedRequest{Path: "x"}}} },
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
		if _, err := DecodePlan(encoded(t, p)); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want %q", err, text)
		}
	}
	if _, err := DecodePlan(nil); err == nil {
		t.Error("no error without a plan")
	}
}

// TestCausesAreBounded checks that the texts of causes are cut and printable, whatever a pod sends.
func TestCausesAreBounded(t *testing.T) {
	m := &result.Totals{Measure: result.Measure{Counts: result.Counts{Requests: 1}}}
	m.Errors[result.ErrorStatus] = 1
	m.Causes.Count(result.ErrorStatus, result.Cause{
		Text: "\x1b[2J" + strings.Repeat("x", 1<<20), Count: 1,
		Example: &result.FailedRequest{Request: "GET /\u202e" + strings.Repeat("y", 1<<20), AtMicroseconds: -1},
	})
	got, err := DecodeTotals(encoded(t, m))
	if err != nil {
		t.Fatal(err)
	}
	c := got.Causes[result.ErrorStatus][0]
	if len(c.Text) > result.MaxCauseBytes+len("…") || len(c.Example.Request) > result.MaxRequestBytes+len("…") || c.Example.AtMicroseconds < 0 ||
		strings.ContainsAny(c.Text+c.Example.Request, "\x1b\u202e") {
		t.Errorf("%+v, example %+v", c, c.Example)
	}
}

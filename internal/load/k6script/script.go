// Package k6script writes a declared load as a k6 script. The script needs nothing of Assay: stock k6 runs it, and
// assay-k6 runs the same text for clients.tool K6. The package is pure, and imports nothing of k6.
package k6script

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"text/template"
	"time"

	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/requestlist"
	"github.com/assay-dev/assay/internal/session"
)

// The environment variables of a script.
const (
	// URLVariable holds the target's URL without a path. The script has a default.
	URLVariable = "BASE_URL"
	// StageVariable selects the stage: StageWarmup or StageMeasurement, the default.
	StageVariable = "STAGE"
	// AuthorizationVariable holds the value of the Authorization header of a load with authentication.
	AuthorizationVariable = "AUTHORIZATION"
	// CertificateVariable and KeyVariable hold the paths of the client's certificate and key in PEM.
	CertificateVariable = "CLIENT_CERTIFICATE"
	KeyVariable         = "CLIENT_KEY"

	StageWarmup      = "warmup"
	StageMeasurement = "measurement"
)

// HTTP1Setting is the value of the environment variable GODEBUG that keeps k6 from negotiating HTTP/2.
const HTTP1Setting = "http2client=0"

// LengthTag is the tag of requests whose responses must have a body of the tag's length in bytes. Each of them is
// followed by one sample of k6's metric checks with the same tag. RequestTag is the index of the request among those of the plan.
const (
	LengthTag  = "length"
	RequestTag = "request"
)

// shortest is the shortest duration that k6 accepts. The script makes no more requests for it.
const shortest = time.Second

// longest is the time limit of a load with a number of requests. k6 demands one.
const longest = 30 * 24 * time.Hour

//go:embed script.js
var text string

var script = template.Must(template.New("script.js").Funcs(template.FuncMap{"js": literal}).Parse(text))

// Script returns a plan as a k6 script. url is the target's URL without a path. The error names what k6 can't do.
func Script(p *session.Plan, url string) (string, error) {
	if err := Check(p); err != nil {
		return "", err
	}
	w := &written{
		URL: url, Command: command(p), Requests: []request{}, Authenticates: p.Authentication != "",
		Certificate: p.TLS != nil && p.TLS.ClientCertificate, Open: p.Arrivals != nil, Sequential: p.Sequential,
		Timeout: milliseconds(p.TimeoutMicroseconds), Seed: p.Seed % math.MaxUint32, Options: optionsOf(p),
	}
	if t := p.ThinkTime; t != nil {
		w.ThinkTime = &thinkTime{Min: seconds(t.MinMicroseconds), Range: seconds(t.MaxMicroseconds - t.MinMicroseconds)}
	}
	if p.Warmup != nil {
		w.Stages = append(w.Stages, stageOf(StageWarmup, p, *p.Warmup))
	}
	w.Stages = append(w.Stages, stageOf(StageMeasurement, p, p.Measurement))
	if err := w.setRequests(p); err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := script.Execute(&b, w); err != nil {
		return "", err
	}
	return b.String(), nil
}

// written is what the template of a script reads.
type written struct {
	URL, Command                     string
	Requests                         []request
	List                             bool // Requests are a list, which virtual users share
	Total                            int  // the sum of the weights
	Weighted, Generates, Lengths     bool
	Authenticates, Certificate, Open bool
	Sequential                       bool
	Timeout                          string
	Seed                             uint64
	ThinkTime                        *thinkTime
	Stages                           []stage
	Options                          options
}

// Chooses reports whether virtual users draw their requests or their think times at random.
func (w *written) Chooses() bool {
	return !w.Sequential && len(w.Requests) > 1 || w.ThinkTime != nil && w.ThinkTime.Range > 0
}

// thinkTime is in seconds: Min, and up to Range more.
type thinkTime struct{ Min, Range float64 }

// request is a request as the script has it.
type request struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
	// Bytes is the length of a generated body.
	Bytes    int64  `json:"bytes,omitempty"`
	Statuses []int  `json:"statuses,omitempty"`
	Length   *int64 `json:"length,omitempty"`
	// UpTo is the sum of the weights up to this request, if weights differ.
	UpTo int `json:"upTo,omitempty"`
}

func (w *written) setRequests(p *session.Plan) error {
	all := p.Requests
	if len(p.RequestList) > 0 {
		w.List = true
		entries, err := requestlist.Decode(p.RequestList)
		if err != nil {
			return err
		}
		for _, e := range entries {
			length, known := p.Lengths[e.Path]
			if !known || e.Method != "GET" {
				length = -1
			}
			all = append(all, session.PlannedRequest{Method: e.Method, Path: e.Path, Weight: e.Weight, Length: length})
		}
	}
	for i := range all {
		w.Weighted = w.Weighted || all[i].Weight != 1
	}
	for i := range all {
		r := requestOf(&all[i], p.Host)
		w.Total += all[i].Weight
		if w.Weighted {
			r.UpTo = w.Total
		}
		w.Generates, w.Lengths = w.Generates || r.Bytes > 0, w.Lengths || r.Length != nil
		w.Requests = append(w.Requests, r)
	}
	return nil
}

// requestOf returns a request with the headers that the native driver sends.
func requestOf(r *session.PlannedRequest, host string) request {
	of := request{Method: cmp.Or(r.Method, "GET"), Path: r.Path, Body: string(r.Body), Bytes: r.GeneratedBytes, Statuses: r.Statuses, Headers: map[string]string{}}
	if host := cmp.Or(r.Host, host); host != "" {
		of.Headers["Host"] = host
	}
	of.Headers["Accept"] = "*/*"
	switch {
	case r.GeneratedBytes > 0:
		of.Headers["Content-Type"] = "application/octet-stream"
	case len(r.Body) > 0:
		of.Headers["Content-Type"] = "text/plain; charset=utf-8"
	}
	for _, h := range r.Headers {
		for name := range of.Headers {
			if strings.EqualFold(name, h.Name) {
				delete(of.Headers, name)
			}
		}
		of.Headers[h.Name] = h.Value
	}
	if r.Length >= 0 {
		of.Length = &r.Length
	}
	return of
}

// stage is a stage of the load: k6's scenario, and what the script itself has to know.
type stage struct {
	Name     string
	Scenario scenario
	// Requests is the number of requests of an open load: k6 may start one more.
	Requests int64
	// Milliseconds is the length of a load with a duration, or 0.
	Milliseconds int64
}

// scenario is a scenario of k6. See https://grafana.com/docs/k6/latest/using-k6/scenarios/executors/.
type scenario struct {
	Executor         string  `json:"executor"`
	VUs              int     `json:"vus,omitempty"`
	Iterations       int64   `json:"iterations,omitempty"`
	MaxDuration      string  `json:"maxDuration,omitempty"`
	StartVUs         *int64  `json:"startVUs,omitempty"`
	Rate             int64   `json:"rate,omitempty"`
	StartRate        *int64  `json:"startRate,omitempty"`
	TimeUnit         string  `json:"timeUnit,omitempty"`
	Duration         string  `json:"duration,omitempty"`
	Stages           []ramp  `json:"stages,omitempty"`
	PreAllocatedVUs  int     `json:"preAllocatedVUs,omitempty"`
	GracefulStop     string  `json:"gracefulStop"`
	GracefulRampDown *string `json:"gracefulRampDown,omitempty"`
}

type ramp struct {
	Duration string `json:"duration"`
	Target   int64  `json:"target"`
}

// stageOf returns a stage of a plan. Requests under way at its end are completed, as by the native driver: they end
// at their timeout at the latest.
func stageOf(name string, p *session.Plan, a session.Amount) stage {
	s := stage{Name: name, Milliseconds: a.DurationMicroseconds / 1000}
	// A little longer than the timeout, so that k6 counts a request that times out.
	grace := (time.Duration(p.TimeoutMicroseconds)*time.Microsecond + time.Second).String()
	s.Scenario.GracefulStop = grace
	switch {
	case p.Arrivals != nil:
		s.arrive(p, a)
	case a.Requests > 0:
		s.Scenario.Executor, s.Scenario.VUs, s.Scenario.Iterations, s.Scenario.MaxDuration = "shared-iterations", p.Connections, a.Requests, longest.String()
	case len(a.Profile) == 0 || constant(a.Profile):
		s.Scenario.Executor, s.Scenario.VUs, s.Scenario.Duration = "constant-vus", p.Connections, a.Duration().String()
		if len(a.Profile) > 0 {
			s.Scenario.VUs = int(a.Profile.Final())
		}
	default:
		s.Scenario.Executor, s.Scenario.GracefulRampDown = "ramping-vus", &grace
		s.Scenario.StartVUs, s.Scenario.Stages = ramps(a.Profile, a.Duration(), 0)
	}
	return s
}

// Arrivals is what a stage of an open load has to do.
type Arrivals struct {
	// Requests is the number of the client's requests.
	Requests int64
	// Length is the time in which they are to start.
	Length time.Duration
	// all is the number of requests of all clients up to the client's last one.
	all int64
}

// Due returns what a stage of an open load has to do.
func Due(p *session.Plan, a session.Amount) Arrivals {
	share, shares, scale := int64(p.Arrivals.Share), int64(p.Arrivals.Shares), scaleOf(p)
	if a.Requests > 0 {
		all := share + (a.Requests-1)*shares + 1
		return Arrivals{Requests: a.Requests, Length: a.Profile.When(scale * float64(all)), all: all}
	}
	all := int64(math.Ceil(round(a.Profile.Area(a.Duration()) / scale)))
	return Arrivals{Requests: max(0, (all-share+shares-1)/shares), Length: a.Duration(), all: all}
}

// scaleOf returns what the rates of a plan are divided by.
func scaleOf(p *session.Plan) float64 { return float64(max(1, p.Arrivals.Scale)) }

// arrive makes the stage one of open load. The rate is that of all clients: each of them runs an execution segment, so
// that the virtual users are those of all clients, too.
func (s *stage) arrive(p *session.Plan, a session.Amount) {
	due := Due(p, a)
	s.Requests = due.Requests
	s.Scenario.PreAllocatedVUs, s.Scenario.TimeUnit = p.Connections*p.Arrivals.Shares, time.Duration(scaleOf(p)*float64(time.Second)).String()
	if constant(a.Profile) {
		s.Scenario.Executor, s.Scenario.Rate = "constant-arrival-rate", a.Profile.Final()
		s.Scenario.Duration = max(upToMillisecond(due.Length), shortest).String()
		return
	}
	// k6 starts the first request of a ramp where the native driver would start the second one.
	s.Scenario.Executor = "ramping-arrival-rate"
	s.Scenario.StartRate, s.Scenario.Stages = ramps(a.Profile, due.Length, max(a.Profile.When(scaleOf(p)*float64(due.all+1)), shortest)-due.Length)
}

// round removes what the inexact numbers of an integral leave behind.
func round(area float64) float64 { return math.Round(area*1e6) / 1e6 }

// constant reports whether the load never changes.
func constant(p profile.Profile) bool {
	for _, s := range p {
		if s.From != p[0].From || s.To != p[0].From {
			return false
		}
	}
	return true
}

// ramps returns a profile until a time as the stages of a scenario, and the load at their start. A segment that ends later
// is complete. The load at the end lasts longer by more.
func ramps(p profile.Profile, until, more time.Duration) (start *int64, stages []ramp) {
	start = &p[0].From
	at, load := time.Duration(0), p[0].From
	for _, s := range p {
		if s.From != load {
			stages = append(stages, ramp{"0s", s.From})
		}
		length := time.Duration(s.DurationMicroseconds) * time.Microsecond
		if length > 0 {
			stages = append(stages, ramp{length.String(), s.To})
		}
		at, load = at+length, s.To
		if at >= until {
			break
		}
	}
	if rest := max(until-at, 0) + max(more, 0); rest > 0 {
		stages = append(stages, ramp{upToMillisecond(rest).String(), load})
	}
	return start, stages
}

// upToMillisecond rounds a duration up.
func upToMillisecond(d time.Duration) time.Duration {
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}

// options are k6's options of the script, besides its scenario.
type options struct {
	UserAgent         string      `json:"userAgent"`
	NoConnectionReuse bool        `json:"noConnectionReuse,omitempty"`
	NoCookiesReset    bool        `json:"noCookiesReset,omitempty"`
	SkipVerification  bool        `json:"insecureSkipTLSVerify,omitempty"`
	TLSVersion        *tlsVersion `json:"tlsVersion,omitempty"`
	CipherSuites      []string    `json:"tlsCipherSuites,omitempty"`
	SystemTags        []string    `json:"systemTags"`
}

type tlsVersion struct {
	Min string `json:"min"`
	Max string `json:"max"`
}

// versions maps session.Protocols to k6's names of TLS versions.
var versions = map[string]string{"TLSv1": "tls1.0", "TLSv1.1": "tls1.1", "TLSv1.2": "tls1.2", "TLSv1.3": "tls1.3"}

func optionsOf(p *session.Plan) options {
	o := options{
		UserAgent: "assay-load", NoConnectionReuse: !p.KeepAlive, NoCookiesReset: p.Cookies,
		SystemTags: []string{"check", "error", "error_code", "expected_response", "method", "name", "proto", "scenario", "status", "vu"},
	}
	if t := p.TLS; t != nil {
		o.TLSVersion = &tlsVersion{Min: "tls1.2", Max: "tls1.3"}
		if len(t.Protocols) > 0 {
			o.TLSVersion.Min, o.TLSVersion.Max = versions[t.Protocols[0]], versions[t.Protocols[len(t.Protocols)-1]]
		}
		o.SkipVerification, o.CipherSuites = t.Unverified, cipherSuites(t)
	}
	return o
}

// command returns how stock k6 runs the script.
func command(p *session.Plan) string {
	var b strings.Builder
	if p.Streams == 0 {
		b.WriteString("GODEBUG=" + HTTP1Setting + " ")
	}
	b.WriteString("k6 run --no-usage-report")
	if p.Authentication != "" {
		b.WriteString(" -e " + AuthorizationVariable + "=…")
	}
	if p.TLS != nil && p.TLS.ClientCertificate {
		b.WriteString(" -e " + CertificateVariable + "=client.pem -e " + KeyVariable + "=client.key")
	}
	return b.String() + " FILE"
}

func milliseconds(microseconds int64) string {
	return (time.Duration(microseconds) * time.Microsecond).String()
}

func seconds(microseconds int64) float64 { return float64(microseconds) / 1e6 }

// literal returns a value as JavaScript.
func literal(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", fmt.Errorf("write a k6 script: %w", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

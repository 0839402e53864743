package planfile

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/cipher"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/load/standalone"
)

// Bounds, as a BenchmarkRun has them.
const (
	mostConnections    = 20_000
	mostRequests       = 1_000_000_000_000
	mostSeconds        = 604_800
	mostTimeoutSeconds = 3600
	mostWeight         = 1_000_000

	defaultTimeoutSeconds = 30
	second                = 1_000_000 // microseconds
)

// The values of fields that aren't numbers.
const (
	enabled, disabled = "Enabled", "Disabled"
	full, none        = "Full", "None"
)

func (c *converter) job(f *file) *standalone.Job {
	plan := &session.Plan{Host: f.Host, TimeoutMicroseconds: defaultTimeoutSeconds * second}
	job := &standalone.Job{Plan: plan}
	job.URL = c.url(f.URL)
	if job.URL != nil {
		c.security(f, job)
	}
	plan.Requests = c.requests(f)
	plan.KeepAlive = c.choice("load.connection.keepAlive", f.Load.Connection.KeepAlive, enabled, disabled) == enabled
	if t := f.Load.Connection.TimeoutSeconds; t != nil {
		plan.TimeoutMicroseconds = c.within("load.connection.timeoutSeconds", int64(*t), 1, mostTimeoutSeconds) * second
	}
	if f.Load.Closed == nil {
		c.wrong("load.closed", "it's missing: give connections, and one of requests and durationSeconds")
		return job
	}
	if n := f.Load.Closed.Connections; n == nil {
		c.wrong("load.closed.connections", "it's missing: give the number of connections")
	} else {
		plan.Connections = int(c.within("load.closed.connections", int64(*n), 1, mostConnections))
	}
	plan.Measurement = c.amount("load.closed", &f.Load.Closed.amount, plan.Connections)
	if f.Warmup != nil {
		c.warmup(f.Warmup, job)
	}
	return job
}

func (c *converter) url(text string) *url.URL {
	const form = "give http:// or https:// with a host and, if it isn't 80 or 443, a port, such as http://127.0.0.1:8080"
	if text == "" {
		c.wrong("url", "it's missing: %s", form)
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		c.wrong("url", "%q can't be used: %s", text, form)
		return nil
	}
	if port, err := strconv.Atoi(u.Port()); u.Port() != "" && (err != nil || port < 1 || port > 65535) {
		c.wrong("url", "%q has no port that there can be: %s", text, form)
		return nil
	}
	return u
}

// requests are those of the file, or the one that the url names.
func (c *converter) requests(f *file) []session.PlannedRequest {
	u, err := url.Parse(f.URL)
	if err != nil {
		return nil // said before
	}
	if len(f.Load.Requests) == 0 {
		return []session.PlannedRequest{{Path: u.RequestURI(), Weight: 1, Length: -1}}
	}
	if u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		c.wrong("url", "it has a path beside load.requests: leave one of them out")
	}
	planned := make([]session.PlannedRequest, 0, len(f.Load.Requests))
	for i, r := range f.Load.Requests {
		field := "load.requests[" + strconv.Itoa(i) + "]"
		q := session.PlannedRequest{Path: r.Path, Weight: 1, Length: -1}
		if !strings.HasPrefix(r.Path, "/") || strings.ContainsFunc(r.Path, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' }) {
			c.wrong(field+".path", "%q must begin with a slash, and have only characters that a URL may have: percent-encode the others, a space as %%20", r.Path)
		}
		if r.Weight != nil {
			q.Weight = int(c.within(field+".weight", int64(*r.Weight), 1, mostWeight))
		}
		if r.Length != nil {
			q.Length = c.within(field+".length", *r.Length, 0, 1<<50)
		}
		planned = append(planned, q)
	}
	return planned
}

func (c *converter) amount(field string, a *amount, connections int) session.Amount {
	if (a.Requests == nil) == (a.DurationSeconds == nil) {
		c.wrong(field, "give exactly one of requests and durationSeconds")
		return session.Amount{}
	}
	if a.DurationSeconds != nil {
		return session.Amount{DurationMicroseconds: c.within(field+".durationSeconds", *a.DurationSeconds, 1, mostSeconds) * second}
	}
	n := c.within(field+".requests", *a.Requests, 1, mostRequests)
	if n >= 1 && n < int64(connections) {
		c.wrong(field+".requests", "it's %d for %d connections: give at least as many requests, so that each connection makes one", n, connections)
	}
	return session.Amount{Requests: n}
}

func (c *converter) security(f *file, job *standalone.Job) {
	if job.URL.Scheme != "https" {
		if f.TLS != nil {
			c.wrong("tls", "the url begins with http: write https, or leave tls out")
		}
		return
	}
	t := f.TLS
	if t == nil {
		t = &tls{}
	}
	for i, name := range t.Protocols {
		if !slices.Contains(session.Protocols, name) {
			c.wrong("tls.protocols["+strconv.Itoa(i)+"]", "there is no %s: take some of %s", name, strings.Join(session.Protocols, ", "))
		}
	}
	for i, name := range t.Ciphers {
		if _, err := cipher.ID(name); err != nil {
			c.wrong("tls.ciphers["+strconv.Itoa(i)+"]", "%s", err)
		}
	}
	if t.ClientKeyFile != "" && t.ClientCertificateFile == "" {
		c.wrong("tls.clientKeyFile", "there is no certificate for it: give clientCertificateFile")
	}
	job.Plan.TLS = &session.TLS{
		ServerName: t.ServerName, Protocols: t.Protocols, Ciphers: t.Ciphers,
		Unverified:        c.choice("tls.verification", t.Verification, full, none) == none,
		Resume:            c.choice("tls.sessionResumption", t.SessionResumption, disabled, enabled) == enabled,
		ClientCertificate: t.ClientCertificateFile != "",
	}
	job.Files = standalone.Files{
		Authority: c.path(t.CertificateAuthorityFile), Certificate: c.path(t.ClientCertificateFile), Key: c.path(t.ClientKeyFile),
	}
	if job.Files.Key == "" {
		job.Files.Key = job.Files.Certificate
	}
}

// within is a number if it's in bounds.
func (c *converter) within(field string, n, least, most int64) int64 {
	if n < least || n > most {
		c.wrong(field, "it's %d: give a number from %d to %d", n, least, most)
		return 0
	}
	return n
}

// choice is one of some values, the first when nothing was chosen.
func (c *converter) choice(field string, chosen *string, values ...string) string {
	if chosen == nil {
		return values[0]
	}
	if !slices.Contains(values, *chosen) {
		c.wrong(field, "it's %q: give %s", *chosen, strings.Join(values, " or "))
	}
	return *chosen
}

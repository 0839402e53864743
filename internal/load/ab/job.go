package ab

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/cipher"
	"github.com/assay-dev/assay/internal/load/standalone"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// protocols maps the values of -f to TLS versions.
var protocols = map[string][]string{
	"TLS1": {"TLSv1"}, "TLS1.1": {"TLSv1.1"}, "TLS1.2": {"TLSv1.2"}, "TLS1.3": {"TLSv1.3"}, "ALL": session.Protocols,
}

// Job returns the load that the options describe.
func (o *Options) Job() (*standalone.Job, error) {
	text := o.URL
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.Path == "" {
		return nil, fmt.Errorf("invalid URL %q: it must have the form [http[s]://]hostname[:port]/path", o.URL)
	}
	request, err := o.request(u.RequestURI())
	if err != nil {
		return nil, err
	}
	plan := &session.Plan{
		Connections: o.Concurrency, KeepAlive: o.KeepAlive, TimeoutMicroseconds: int64(o.Timeout) * 1_000_000, Host: o.Host,
		Requests: []session.PlannedRequest{request}, Measurement: session.Amount{Requests: o.Requests},
	}
	job := &standalone.Job{
		Name: "assay-load ab", URL: u, Plan: plan, Load: result.LoadClosed,
		MaxDuration: time.Duration(o.Seconds) * time.Second, ProbeAnyStatus: true,
	}
	if u.Scheme != "https" {
		return job, nil
	}
	// ab doesn't verify the server's certificate.
	plan.TLS = &session.TLS{Unverified: true, ClientCertificate: o.Certificate != ""}
	job.Files = standalone.Files{Certificate: o.Certificate, Key: o.Certificate}
	if o.Protocol != "" {
		if plan.TLS.Protocols = protocols[strings.ToUpper(o.Protocol)]; plan.TLS.Protocols == nil {
			return nil, fmt.Errorf("-f: protocol %s is not supported: use TLS1, TLS1.1, TLS1.2, TLS1.3 or ALL", o.Protocol)
		}
	}
	plan.TLS.Ciphers, err = parseCiphers(o.Ciphers)
	return job, err
}

// parseCiphers parses the value of -Z: names of cipher suites, separated by
// colons. It rejects OpenSSL's keywords, such as HIGH and !aNULL, because the
// suites that they stand for depend on the version of OpenSSL.
func parseCiphers(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	var names []string
	for name := range strings.SplitSeq(list, ":") {
		if _, err := cipher.ID(name); err != nil {
			return nil, fmt.Errorf("-Z: %w", err)
		}
		names = append(names, name)
	}
	return names, nil
}

// ExpectLength makes the length of the probe's response the expected length of
// all responses, unless -l is set. It must be called after job.Prepare.
func (o *Options) ExpectLength(job *standalone.Job) {
	if !o.AnyLength {
		job.Plan.Requests[0].Length = job.ProbeResult().DocumentLength
	}
}

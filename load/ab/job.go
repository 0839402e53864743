package ab

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/cipher"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/load/standalone"
)

// protocols are the values of -f.
var protocols = map[string][]string{
	"TLS1": {"TLSv1"}, "TLS1.1": {"TLSv1.1"}, "TLS1.2": {"TLSv1.2"}, "TLS1.3": {"TLSv1.3"}, "ALL": session.Protocols,
}

// Job is the load that the options describe.
func (o *Options) Job() (*standalone.Job, error) {
	text := o.URL
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.Path == "" {
		return nil, fmt.Errorf("invalid URL %q: give it as [http[s]://]hostname[:port]/path", o.URL)
	}
	request, err := o.planned(u.RequestURI())
	if err != nil {
		return nil, err
	}
	plan := &session.Plan{
		Connections: o.Concurrency, KeepAlive: o.KeepAlive, TimeoutMicroseconds: int64(o.Timeout) * 1_000_000, Host: o.Host,
		Requests: []session.PlannedRequest{request}, Measurement: session.Amount{Requests: o.Requests},
	}
	job := &standalone.Job{
		Name: "assay-load ab", URL: u, Plan: plan, Load: result.LoadClosed,
		Longest: time.Duration(o.Seconds) * time.Second, AsksAsIs: true,
	}
	if u.Scheme != "https" {
		return job, nil
	}
	// ab looks at no certificate.
	plan.TLS = &session.TLS{Unverified: true, ClientCertificate: o.Certificate != ""}
	job.Files = standalone.Files{Certificate: o.Certificate, Key: o.Certificate}
	if o.Protocol != "" {
		if plan.TLS.Protocols = protocols[strings.ToUpper(o.Protocol)]; plan.TLS.Protocols == nil {
			return nil, fmt.Errorf("-f: Go's TLS has no %s: give TLS1, TLS1.1, TLS1.2, TLS1.3 or ALL", o.Protocol)
		}
	}
	plan.TLS.Ciphers, err = suites(o.Ciphers)
	return job, err
}

// suites are the cipher suites of -Z: names between colons. OpenSSL's other
// words, such as HIGH and !aNULL, stand for suites that depend on its version.
func suites(list string) ([]string, error) {
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

// Expect makes the length of the target's first answer that of all, unless -l
// was given. The job must be prepared.
func (o *Options) Expect(job *standalone.Job) error {
	evidence := job.Evidence()
	if evidence == nil {
		return errors.New("the target hasn't been asked yet")
	}
	if !o.AnyLength {
		job.Plan.Requests[0].Length = evidence.DocumentLength
	}
	return nil
}

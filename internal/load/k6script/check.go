package k6script

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/assay-dev/assay/internal/cipher"
	"github.com/assay-dev/assay/internal/requestlist"
	"github.com/assay-dev/assay/internal/session"
)

// MaxGeneratedBytes limits a generated body: each of k6's virtual users has a copy of its own.
const MaxGeneratedBytes = 1 << 20

// Check returns an error for what k6 would do differently from the plan. It names each field and the remedy.
// A BenchmarkRun is rejected for the same reasons when it is applied.
func Check(p *session.Plan) error {
	var errs []error
	reject := func(wrong bool, field, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf("%s %s", field, fmt.Sprintf(format, args...)))
		}
	}
	reject(len(p.Pages) > 0, "load.pages", "must not be set with K6: its virtual users have no connections to load elements in parallel on. Set requests without pages")
	reject(p.Streams > 1, "load.client.streams", "must be 1 with K6: a virtual user makes one request at a time on a connection of its own")
	reject(p.Streams > 0 && p.TLS == nil, "load.client.protocol", "must be HTTP1 without TLS with K6: it speaks HTTP/2 only where TLS negotiates it")
	reject(p.Authentication == session.AuthenticationDigest, "load.authentication.scheme", "must not be Digest with K6: it makes each request twice, first without credentials. Use Basic or Bearer")
	reject(p.Authentication == session.AuthenticationForm, "load.authentication.scheme", "must not be Form with K6: its virtual users don't log in before the load. Use Basic or Bearer, or a script")
	reject(p.Arrivals != nil && p.Arrivals.Poisson, "interArrivalTimes", "must be Constant with K6: it has no other arrivals")
	for _, a := range amounts(p) {
		ramps := p.Arrivals == nil && len(a.Profile) > 0
		reject(ramps && a.Requests > 0, "load.closed.rampSeconds", "must not be set together with requestCount with K6: only a load with durationSeconds can ramp")
		reject(ramps && a.Requests == 0 && a.Profile.Duration() > a.Duration(), "load.closed.rampSeconds", "must not be longer than durationSeconds with K6")
	}
	if t := p.TLS; t != nil {
		reject(len(t.Groups) > 0, "tls.groups", "must not be set with K6: its key exchange can't be configured")
		reject(t.Resume, "tls.sessionResumption", "must be Disabled with K6: it never resumes sessions")
		for _, name := range t.Ciphers {
			reject(cipher.IsTLS13(name), "tls.ciphers", "must not have %s with K6, which can't select cipher suites of TLS 1.3", name)
		}
	}
	for i := range p.Requests {
		if err := checkRequest(&p.Requests[i]); err != nil {
			errs = append(errs, fmt.Errorf("load.requests[%d].%w", i, err))
		}
		reject(p.Cookies && p.Requests[i].Host != "", fmt.Sprintf("load.requests[%d].host", i),
			"must not be set with client.cookies Enabled with K6, which sends all hosts the same cookies")
	}
	if len(p.RequestList) > 0 {
		entries, err := requestlist.Decode(p.RequestList)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := checkPath(e.Path); err != nil {
				errs = append(errs, fmt.Errorf("request list: %w", err))
				break
			}
		}
	}
	return errors.Join(errs...)
}

func amounts(p *session.Plan) []session.Amount {
	all := []session.Amount{p.Measurement}
	if p.Warmup != nil {
		all = append(all, *p.Warmup)
	}
	return all
}

// checkRequest returns an error that begins with the name of a field of the request.
func checkRequest(r *session.PlannedRequest) error {
	if err := checkPath(r.Path); err != nil {
		return err
	}
	if r.Follow {
		return errors.New("redirects must be Ignore with K6: it counts each redirect as a request, and leaves the target")
	}
	if r.GeneratedBytes > MaxGeneratedBytes {
		return fmt.Errorf("body.sizeBytes must be at most %d with K6: each virtual user keeps the body in memory", MaxGeneratedBytes)
	}
	names := map[string]bool{}
	for _, h := range r.Headers {
		name := strings.ToLower(h.Name)
		if names[name] {
			return fmt.Errorf("headers must not have %s twice with K6, which sends each header once", h.Name)
		}
		names[name] = true
	}
	if r.Length >= 0 && !r.Decoded && names["accept-encoding"] {
		return errors.New("headers must not have Accept-Encoding together with expect.bodyBytes with K6: it counts the bytes of a body after decompression")
	}
	return nil
}

// checkPath returns an error for a path that k6, by Go's package url, would send in another form.
func checkPath(path string) error {
	u, err := url.Parse("http://target" + path)
	if err == nil && u.RequestURI() == path {
		return nil
	}
	return fmt.Errorf("path %q must be percent-encoded as in RFC 3986 with K6, which would send it in another form", path)
}

// cipherSuites returns k6's names of a plan's cipher suites: Go's, but for one ending.
func cipherSuites(t *session.TLS) []string {
	var names []string
	for _, name := range t.Ciphers {
		if id, err := cipher.ID(name); err == nil {
			names = append(names, strings.Replace(tls.CipherSuiteName(id), "POLY1305_SHA256", "POLY1305", 1))
		}
	}
	return names
}

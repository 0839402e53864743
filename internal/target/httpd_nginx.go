package target

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/cipher"
)

// What httpd and nginx have in common: both are given a whole configuration of
// their own, serve the run's content, may forward requests, and speak TLS by
// OpenSSL.

const (
	// webContent is where they find the run's content.
	webContent = "/assay/content"
	// webRun is where they keep what they write while they run.
	webRun = "/assay/run"
	// webAccessLog is where they write an access log, if they are to.
	webAccessLog = logFolder + "/access.log"
	// webSessionBytes is the size of the cache of TLS sessions.
	webSessionBytes = 10 << 20
	// webVerifyDepth is how many certificates may vouch for each other in a row,
	// from the clients' to one that the server has.
	webVerifyDepth = 10
)

// The values that enter their files and command lines. The API server accepts
// no others; but nothing else may be what keeps a value from adding a line.
var (
	webPath        = regexp.MustCompile(`^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$`)
	webSuffix      = regexp.MustCompile(`^[.][A-Za-z0-9_-]+$`)
	webPrefix      = regexp.MustCompile(`^/[A-Za-z0-9._/-]*$`)
	webBackend     = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	webOwnFileName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,195}[.]conf$`)
)

// acceptPath refuses what isn't the absolute path of a file or folder.
func acceptPath(field, value, example string) error {
	if !webPath.MatchString(value) {
		return fmt.Errorf("%s: %q must be an absolute path of letters, digits, '.', '_' and '-', such as %s", field, value, example)
	}
	return nil
}

// acceptOwnFiles refuses files of the user's own configuration that would stay
// without effect. main is the one that takes the place of the rendered file.
func acceptOwnFiles(field string, configuration map[string]string, main string) error {
	for _, name := range files(configuration) {
		if name != main && !webOwnFileName.MatchString(name) {
			return fmt.Errorf("%s: the ConfigMap has the key %q, which would have no effect: name it %s to replace the whole configuration, "+
				"or let it end in .conf to have it included, with up to 200 letters, digits, '.', '_' and '-'", field, name, main)
		}
	}
	return nil
}

// route is some requests and the port on 127.0.0.1 to which they are forwarded.
type route struct {
	// Either suffix or prefix is given.
	suffix, prefix string
	backend        string
	port           int32
}

// has is whether a route has all paths of another, so that one after it gets
// no request.
func (r route) has(other route) bool {
	switch {
	case r.prefix == "/":
		return true
	case r.prefix == "" || other.prefix == "":
		return r.prefix == other.prefix && r.suffix == other.suffix
	}
	return r.prefix == other.prefix || strings.HasPrefix(other.prefix, strings.TrimSuffix(r.prefix, "/")+"/")
}

// routes are the requests that are forwarded, the first that fits counts. A
// prefix is of whole segments: /app has /app and /app/x, but not /apple.
func (in *input) routes(field string, forward []v1alpha1.Forward) ([]route, error) {
	var all []route
	for i, f := range forward {
		field := fmt.Sprintf("%s[%d]", field, i)
		next := route{suffix: f.PathSuffix, prefix: f.PathPrefix, backend: f.Backend, port: in.backends[f.Backend]}
		switch {
		case (next.suffix == "") == (next.prefix == ""):
			return nil, fmt.Errorf("%s must have exactly one of pathSuffix and pathPrefix", field)
		case next.prefix == "" && !webSuffix.MatchString(next.suffix):
			return nil, fmt.Errorf("%s.pathSuffix: %q must be a dot followed by letters, digits, '_' or '-', such as .jsp", field, next.suffix)
		case next.suffix == "" && !webPrefix.MatchString(next.prefix):
			return nil, fmt.Errorf("%s.pathPrefix: %q must begin with a slash and have letters, digits and './_-' only, such as /app", field, next.prefix)
		case next.suffix == "" && path.Clean(next.prefix) != strings.TrimSuffix(next.prefix, "/") && next.prefix != "/":
			return nil, fmt.Errorf("%s.pathPrefix: %q has an empty segment, or '.' or '..', as no request has: leave it out", field, next.prefix)
		case !webBackend.MatchString(next.backend) || next.port == 0:
			return nil, fmt.Errorf("%s.backend: %q must be the name of a member of spec.target.backends", field, next.backend)
		}
		if before := slices.IndexFunc(all, func(r route) bool { return r.has(next) }); before >= 0 {
			return nil, fmt.Errorf("%s gets no request, since %s[%d] has them all: put it before that one, or leave it out",
				field, strings.TrimSuffix(field, fmt.Sprintf("[%d]", i)), before)
		}
		all = append(all, next)
	}
	return all, nil
}

// openSSL is what a server is told that speaks TLS by OpenSSL.
type openSSL struct {
	// protocols are the versions.
	protocols []string
	// ciphers are the suites up to TLS 1.2, as OpenSSL's cipher list; empty for
	// the server's own.
	ciphers string
	// suites are those of TLS 1.3, as OpenSSL's list; empty for all.
	suites string
	// resume is whether sessions may be resumed.
	resume bool
	// demand is whether clients need a certificate.
	demand bool
}

func newOpenSSL(t *v1alpha1.TLS) (*openSSL, error) {
	if t == nil {
		return nil, nil
	}
	known := []v1alpha1.TLSProtocol{v1alpha1.TLSv10, v1alpha1.TLSv11, v1alpha1.TLSv12, v1alpha1.TLSv13}
	for _, p := range t.Protocols {
		if !slices.Contains(known, p) {
			return nil, fmt.Errorf("spec.target.tls.protocols: %q must be one of %v", p, known)
		}
	}
	for _, c := range t.Ciphers {
		if _, err := cipher.ID(string(c)); err != nil {
			return nil, fmt.Errorf("spec.target.tls.ciphers: %q isn't a cipher suite that the clients have: "+
				"use those that kubectl explain benchmarkrun.spec.target.tls.ciphers lists", c)
		}
	}
	old, suites := cipherSuites(t)
	// OpenSSL 3 has what the first versions need at its lowest security level only.
	if oldTLS(t) {
		if len(old) == 0 {
			old = []string{"DEFAULT"}
		}
		old = append(old, "@SECLEVEL=0")
	}
	return &openSSL{
		protocols: tlsProtocols(t),
		ciphers:   strings.Join(old, ":"),
		suites:    strings.Join(suites, ":"),
		resume:    t.SessionResumption == v1alpha1.Enabled,
		demand:    t.ClientAuthentication != nil,
	}, nil
}

// confText is the text of a configuration file, made line by line.
type confText struct {
	strings.Builder
	depth int
}

// line adds a line.
func (c *confText) line(format string, values ...any) {
	text := fmt.Sprintf(format, values...)
	if text != "" {
		text = strings.Repeat("    ", c.depth) + text
	}
	c.WriteString(text + "\n")
}

// block begins a block.
func (c *confText) block(format string, values ...any) {
	c.line(format, values...)
	c.depth++
}

// end ends a block.
func (c *confText) end(format string) {
	c.depth--
	c.line("%s", format)
}

// given adds a line with a value that was given.
func (c *confText) given(format string, value *int32) {
	if value != nil {
		c.line(format, *value)
	}
}

// quotePattern quotes the dots of a path or of its end for a regular expression;
// nothing else in them has a meaning there.
func quotePattern(text string) string { return strings.ReplaceAll(text, ".", `\.`) }

// onOff is a switch as both servers write it. An empty one is Disabled.
func onOff(s v1alpha1.Switch) string {
	if s == v1alpha1.Enabled {
		return "on"
	}
	return "off"
}

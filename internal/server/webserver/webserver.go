// Package webserver has the common parts of the adapters of httpd and nginx. Both
// render a complete configuration, serve the run's content and can forward requests.
package webserver

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
)

const (
	// ContentDirectory is the directory of the run's content.
	ContentDirectory = "/assay/content"
	// RunDirectory is the directory in which the server writes files while it runs.
	RunDirectory = "/assay/run"
	// AccessLog is the file of the access log, if there is one.
	AccessLog = adapter.LogDirectory + "/access.log"
)

// fileNameSyntax keeps a name from adding a line to a file.
var fileNameSyntax = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,195}[.]conf$`)

// CheckFiles returns an error if a file of the user's own configuration, which is that of field,
// would have no effect. main is the name of the file that replaces the rendered one.
func CheckFiles(in *adapter.Input, field, main string) error {
	return in.CheckFiles(field, fileNameSyntax, "would have no effect: name it "+main+" to replace the whole configuration, "+
		"or give it a name that ends in .conf to include it, with up to 200 letters, digits, '.', '_' and '-'")
}

var (
	suffixSyntax  = regexp.MustCompile(`^[.][A-Za-z0-9_-]+$`)
	prefixSyntax  = regexp.MustCompile(`^/[A-Za-z0-9._/-]*$`)
	backendSyntax = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
)

// Route is a set of requests, and the port on 127.0.0.1 to which they are forwarded.
type Route struct {
	// Either Suffix or Prefix is set.
	Suffix, Prefix string
	Backend        string
	Port           int32
	// AJP reports whether the backend is spoken to by AJP instead of HTTP.
	AJP bool
}

// has reports whether a route matches all paths of another, which then gets no request
// if it comes later.
func (r Route) has(other Route) bool {
	switch {
	case r.Prefix == "/":
		return true
	case r.Prefix == "" || other.Prefix == "":
		return r.Prefix == other.Prefix && r.Suffix == other.Suffix
	}
	return r.Prefix == other.Prefix || strings.HasPrefix(other.Prefix, strings.TrimSuffix(r.Prefix, "/")+"/")
}

// Routes returns the routes in order: the first that matches a request applies. A prefix
// has whole segments: /app matches /app and /app/x, but not /apple.
func Routes(in *adapter.Input, field string, forward []v1alpha1.Forward) ([]Route, error) {
	var all []Route
	for i, f := range forward {
		field := fmt.Sprintf("%s[%d]", field, i)
		next := Route{Suffix: f.PathSuffix, Prefix: f.PathPrefix, Backend: f.Backend, Port: in.Backends[f.Backend]}
		switch {
		case (next.Suffix == "") == (next.Prefix == ""):
			return nil, fmt.Errorf("%s must have exactly one of pathSuffix and pathPrefix", field)
		case next.Prefix == "" && !suffixSyntax.MatchString(next.Suffix):
			return nil, fmt.Errorf("%s.pathSuffix: %q must be a dot followed by letters, digits, '_' or '-', such as .jsp", field, next.Suffix)
		case next.Suffix == "" && !prefixSyntax.MatchString(next.Prefix):
			return nil, fmt.Errorf("%s.pathPrefix: %q must begin with a slash and have letters, digits and './_-' only, such as /app", field, next.Prefix)
		case next.Suffix == "" && path.Clean(next.Prefix) != strings.TrimSuffix(next.Prefix, "/") && next.Prefix != "/":
			return nil, fmt.Errorf("%s.pathPrefix: %q has an empty segment, or '.' or '..', which no request has: remove it", field, next.Prefix)
		case !backendSyntax.MatchString(next.Backend) || next.Port == 0:
			return nil, fmt.Errorf("%s.backend: %q must be the name of a member of spec.target.backends", field, next.Backend)
		}
		if f.Protocol == v1alpha1.ForwardAJP {
			if next.AJP, next.Port = true, in.AJP[f.Backend]; next.Port == 0 {
				return nil, fmt.Errorf("%s.protocol is AJP, but spec.target.backends[%s].server.tomcat.ajp is not set: set it to {}", field, next.Backend)
			}
		}
		if before := slices.IndexFunc(all, func(r Route) bool { return r.has(next) }); before >= 0 {
			return nil, fmt.Errorf("%s gets no request, because %s[%d] matches them all: put it before that one, or remove it",
				field, strings.TrimSuffix(field, fmt.Sprintf("[%d]", i)), before)
		}
		all = append(all, next)
	}
	return all, nil
}

// QuotePattern escapes the dots of a path or of its end for a regular expression;
// nothing else in them is special there.
func QuotePattern(text string) string { return strings.ReplaceAll(text, ".", `\.`) }

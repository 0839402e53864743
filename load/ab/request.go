package ab

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/requestlist"
	"github.com/assay-dev/assay/internal/session"
)

// mostBodyBytes bounds the file of -p and -u.
const mostBodyBytes = 64 << 20

// connectionHeaders are those that the client has to make itself: what they say
// must be true of the connection and the body.
var connectionHeaders = []string{
	"connection", "keep-alive", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect", "proxy-authorization",
}

// setRequest takes an option that changes what is sent.
func (o *Options) setRequest(option byte, value string) error {
	switch option {
	case 'm':
		if !slices.Contains(requestlist.Methods, value) {
			return fmt.Errorf("there is no method %q: give one of %s", value, strings.Join(requestlist.Methods, ", "))
		}
		o.Method = value
	case 'i':
		return o.only(http.MethodHead)
	case 'p':
		o.Body = value
		return o.only(http.MethodPost)
	case 'u':
		o.Body = value
		return o.only(http.MethodPut)
	case 'T':
		o.ContentType = value
	case 'H':
		name, text, found := strings.Cut(value, ":")
		switch {
		case !found:
			return fmt.Errorf("%q has no colon: give it as 'Name: value'", value)
		case strings.EqualFold(name, "Host"):
			o.Host = strings.TrimSpace(text)
			return nil
		case slices.Contains(connectionHeaders, strings.ToLower(name)):
			return fmt.Errorf("the header %s is the client's own: leave it out, and give -k for connections that are kept", name)
		}
		o.Headers = append(o.Headers, value)
	case 'C':
		o.Cookie = strings.TrimLeft(value, " \t")
	case 'A':
		o.Credentials = strings.TrimLeft(value, " \t")
	default:
		return errors.New("it isn't known")
	}
	return nil
}

// only sets a method, unless another was set before: ab takes -m after -p, but not
// -p after -m.
func (o *Options) only(method string) error {
	if o.Method != "" {
		return fmt.Errorf("cannot mix %s with other methods; -m may follow it", method)
	}
	o.Method = method
	return nil
}

// planned is the request that is made again and again. Any status is a success,
// as with ab.
func (o *Options) planned(path string) (session.PlannedRequest, error) {
	r := session.PlannedRequest{Path: path, Weight: 1, Length: -1}
	for status := http.StatusOK; status < 600; status++ {
		r.Statuses = append(r.Statuses, status)
	}
	if o.Method != http.MethodGet {
		r.Method = o.Method
	}
	if o.Body != "" {
		body, err := os.ReadFile(o.Body)
		switch {
		case err != nil:
			return r, fmt.Errorf("-p, -u: %w", err)
		case len(body) > mostBodyBytes:
			return r, fmt.Errorf("-p, -u: %s has %d bytes, more than %d", o.Body, len(body), mostBodyBytes)
		}
		r.Body = body
	}
	for _, line := range o.Headers {
		name, value, _ := strings.Cut(line, ":")
		r.Headers = append(r.Headers, session.Header{Name: name, Value: strings.TrimSpace(value)})
	}
	own := func(name, value string) {
		if value != "" && !slices.ContainsFunc(r.Headers, func(h session.Header) bool { return strings.EqualFold(h.Name, name) }) {
			r.Headers = append(r.Headers, session.Header{Name: name, Value: value})
		}
	}
	if o.Body != "" {
		kind := o.ContentType
		if kind == "" {
			kind = "text/plain"
		}
		own("Content-Type", kind)
	}
	own("Cookie", o.Cookie)
	if o.Credentials != "" {
		own("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(o.Credentials)))
	}
	return r, nil
}

package ab

import (
	"cmp"
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

// maxBodyBytes is the maximum size of the file of -p and -u.
const maxBodyBytes = 64 << 20

// reservedHeaders lists the headers, in lowercase, that -H can't set. The client
// sets them itself, because they describe the connection or the body.
var reservedHeaders = []string{
	"connection", "keep-alive", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect", "proxy-authorization",
}

// setRequest sets an option that changes the request.
func (o *Options) setRequest(option byte, value string) error {
	switch option {
	case 'm':
		if !slices.Contains(requestlist.Methods, value) {
			return fmt.Errorf("unknown method %q: use one of %s", value, strings.Join(requestlist.Methods, ", "))
		}
		o.Method = value
	case 'i':
		return o.setMethod(http.MethodHead)
	case 'p':
		o.Body = value
		return o.setMethod(http.MethodPost)
	case 'u':
		o.Body = value
		return o.setMethod(http.MethodPut)
	case 'H':
		name, text, found := strings.Cut(value, ":")
		switch {
		case !found:
			return fmt.Errorf("%q must have the form 'Name: value'", value)
		case strings.EqualFold(name, "Host"):
			o.Host = strings.TrimSpace(text)
			return nil
		case slices.Contains(reservedHeaders, strings.ToLower(name)):
			return fmt.Errorf("header %s must not be set: the client sets it itself. Use -k for keep-alive", name)
		}
		o.Headers = append(o.Headers, value)
	case 'C':
		o.Cookie = strings.TrimLeft(value, " \t")
	case 'A':
		o.Credentials = strings.TrimLeft(value, " \t")
	default:
		return errors.New("unknown option")
	}
	return nil
}

// setMethod sets the method that -i, -p or -u implies. It fails if a method is
// already set: like ab, it accepts -m after -p, but not -p after -m.
func (o *Options) setMethod(method string) error {
	if o.Method != "" {
		return fmt.Errorf("cannot mix %s with other methods; -m may follow it", method)
	}
	o.Method = method
	return nil
}

// request returns the request of the load. As with ab, a response of any status is a success.
func (o *Options) request(path string) (session.PlannedRequest, error) {
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
		case len(body) > maxBodyBytes:
			return r, fmt.Errorf("-p, -u: %s must not be larger than %d bytes: it has %d", o.Body, maxBodyBytes, len(body))
		}
		r.Body = body
	}
	for _, line := range o.Headers {
		name, value, _ := strings.Cut(line, ":")
		r.Headers = append(r.Headers, session.Header{Name: name, Value: strings.TrimSpace(value)})
	}
	setDefault := func(name, value string) {
		if value != "" && !slices.ContainsFunc(r.Headers, func(h session.Header) bool { return strings.EqualFold(h.Name, name) }) {
			r.Headers = append(r.Headers, session.Header{Name: name, Value: value})
		}
	}
	if o.Body != "" {
		setDefault("Content-Type", cmp.Or(o.ContentType, "text/plain"))
	}
	setDefault("Cookie", o.Cookie)
	if o.Credentials != "" {
		setDefault("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(o.Credentials)))
	}
	return r, nil
}

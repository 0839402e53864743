package script

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"go.k6.io/k6/v2/lib/netext/httpext"

	"github.com/assay-dev/assay/internal/load/driver/fault"
	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/result"
)

// outcomeOf converts k6's record of a request to an outcome. The times are k6's:
// by the wall clock, with Processing measured from when the connection was ready.
// The outcome has no bytes, because k6 doesn't report them per request.
func outcomeOf(t *httpext.Trail) recorder.Outcome {
	status, code := number(t, "status"), number(t, "error_code")
	o := recorder.Outcome{
		Error:   recorder.NoError,
		Status:  status,
		Reused:  t.ConnReused,
		Opened:  !t.ConnReused && t.Connecting > 0,
		Secured: !t.ConnReused && t.TLSHandshaking > 0,
		Connect: t.Connecting, TLS: t.TLSHandshaking,
		Processing: t.Duration, Waiting: t.Waiting, Receiving: t.Receiving,
		Total: t.ConnDuration + t.Duration,
	}
	// If the script has disabled k6's check of expected statuses, only a request
	// without a response has failed.
	failed := t.Failed.Bool
	if !t.Failed.Valid {
		failed = code > 0 && (code < 1400 || code >= 1600)
	}
	if failed {
		o.Error = kindOfError(t, status, code)
		o.Cause, o.Request = causeOfError(t, status, code), trailed{t}
	}
	return o
}

// causeOfError returns why a request failed: the status of its response, or k6's error code and what k6 says of it.
func causeOfError(t *httpext.Trail, status, code int) string {
	if status > 0 && (code == 0 || code >= 1400 && code < 1600) {
		return "status " + strconv.Itoa(status)
	}
	text, _ := t.Tags.Get("error")
	if code == 0 && text == "" {
		return "" // the script has omitted the tags
	}
	return fmt.Sprintf("error_code %d: %s", code, fault.Plain(text))
}

// trailed is the request of a record.
type trailed struct{ *httpext.Trail }

// String returns method and path, without the query. The path is the tag name if the script has none of the URL.
func (t trailed) String() string {
	method, _ := t.Tags.Get("method")
	address, tagged := t.Tags.Get("url")
	if !tagged {
		address, _ = t.Tags.Get("name")
	}
	if parsed, err := url.Parse(address); err == nil {
		address = cmp.Or(parsed.EscapedPath(), "/")
	}
	path, _, _ := strings.Cut(address, "?")
	return strings.TrimSpace(method + " " + path)
}

// kindOfError returns the error kind of a failed request. It is derived from k6's
// error code: https://grafana.com/docs/k6/latest/javascript-api/error-codes/.
func kindOfError(t *httpext.Trail, status, code int) result.ErrorKind {
	switch {
	case code == 1050, code == 1211:
		return result.ErrorTimeout
	case code == 1201, code == 1202, code == 1220:
		return result.ErrorReceive
	case code >= 1100 && code < 1300:
		return result.ErrorConnect
	case code >= 1300 && code < 1400:
		return result.ErrorTLS
	case status > 0, code >= 1400 && code < 1600:
		return result.ErrorStatus
	case code == 1000:
		// k6 has no code of its own for a connection that the server closed.
		if text, _ := t.Tags.Get("error"); strings.Contains(text, "EOF") || strings.Contains(text, "closed") {
			return result.ErrorReceive
		}
	}
	return result.ErrorException
}

// number returns the value of a numeric tag, or 0 if the request doesn't have it.
func number(t *httpext.Trail, tag string) int {
	text, _ := t.Tags.Get(tag)
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

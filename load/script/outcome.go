package script

import (
	"strconv"
	"strings"

	"go.k6.io/k6/v2/lib/netext/httpext"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/load/recorder"
)

// outcomeOf is what became of a request of k6's. Its times are k6's: by the wall
// clock, from the connection being ready. What k6 doesn't tell of a single
// request, its bytes, isn't in it.
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
	// Without a callback for what is expected, only a response is.
	failed := t.Failed.Bool
	if !t.Failed.Valid {
		failed = code > 0 && (code < 1400 || code >= 1600)
	}
	if failed {
		o.Error = kindOfError(t, status, code)
	}
	return o
}

// kindOfError is the kind of a failed request, by k6's error codes:
// https://grafana.com/docs/k6/latest/javascript-api/error-codes/.
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
		// What Go's client says of a connection that broke has no code of k6's.
		if text, _ := t.Tags.Get("error"); strings.Contains(text, "EOF") || strings.Contains(text, "closed") {
			return result.ErrorReceive
		}
	}
	return result.ErrorException
}

// number is the value of a tag that is a number; 0 without.
func number(t *httpext.Trail, tag string) int {
	text, _ := t.Tags.Get(tag)
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

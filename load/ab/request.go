package ab

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/assay-dev/assay/internal/session"
)

// setRequest takes an option that changes what is sent.
func (o *Options) setRequest(option byte, value string) error {
	switch option {
	case 'm':
		o.Method = value
	case 'i':
		o.Method = http.MethodHead
	case 'p':
		o.Method, o.Body = http.MethodPost, value
	case 'u':
		o.Method, o.Body = http.MethodPut, value
	case 'T':
		o.ContentType = value
	case 'H':
		name, text, found := strings.Cut(value, ":")
		if !found {
			return fmt.Errorf("%q has no colon: give it as 'Name: value'", value)
		}
		if strings.EqualFold(name, "Host") {
			o.Host = strings.TrimSpace(text)
			return nil
		}
		o.Headers = append(o.Headers, value)
	case 'C':
		o.Headers = append(o.Headers, "Cookie: "+value)
	case 'A':
		o.Headers = append(o.Headers, "Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte(value)))
	default:
		return errors.New("it isn't known")
	}
	return nil
}

// planned is the request that is made again and again. What session.PlannedRequest
// can't say yet is refused here, and nowhere else.
func (o *Options) planned(path string) (session.PlannedRequest, error) {
	switch {
	case o.Body != "":
		return session.PlannedRequest{}, errors.New("-p and -u: requests can't have a body yet")
	case o.Method != "" && o.Method != http.MethodGet:
		return session.PlannedRequest{}, fmt.Errorf("-m, -i: requests can't have the method %s yet, only GET", o.Method)
	case len(o.Headers) > 0:
		name, _, _ := strings.Cut(o.Headers[0], ":")
		return session.PlannedRequest{}, fmt.Errorf("-H, -C, -A: requests can't have the header %s yet, only Host", name)
	}
	return session.PlannedRequest{Path: path, Weight: 1, Length: -1}, nil
}

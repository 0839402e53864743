package session

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/result"
)

const (
	// maxProbeResultBytes bounds the message with a probe's result.
	maxProbeResultBytes = 32 << 10
	// maxProbeTextBytes bounds each text of a probe's result.
	maxProbeTextBytes = 1024
	// maxKeyBits is far more than the size of any key.
	maxKeyBits = 1 << 20
)

// Probe is a request that is sent until the target answers it with a status of success.
type Probe struct {
	// Request is the request. The length of the response's body doesn't matter.
	Request PlannedRequest `json:"request"`
	// Port replaces the port of the target's address, or is 0. On another port plain HTTP/1.1 is spoken.
	Port int `json:"port,omitempty"`
	// AnyStatus accepts a response of any status.
	AnyStatus bool `json:"anyStatus,omitempty"`
	// Authentication is the scheme of the credentials that are sent, AuthenticationBasic or AuthenticationBearer, or empty for none.
	Authentication string `json:"authentication,omitempty"`
}

// String returns method and path.
func (p *Probe) String() string {
	return cmp.Or(p.Request.Method, http.MethodGet) + " " + p.Request.Path
}

// checkProbes returns an error for probes that no pod could send.
func checkProbes(all []Probe) error {
	for i := range all {
		p := &all[i]
		if err := p.Request.check(); err != nil {
			return fmt.Errorf("probe: %w", err)
		}
		if p.Port < 0 || p.Port > 65535 {
			return fmt.Errorf("probe of port %d", p.Port)
		}
		if a := p.Authentication; a != "" && a != AuthenticationBasic && a != AuthenticationBearer {
			return fmt.Errorf("probe with the authentication scheme %q", a)
		}
	}
	return nil
}

// ProbeResult holds the findings of a successful probe of the target before the load.
type ProbeResult struct {
	// Software is the response's Server header.
	Software string `json:"software,omitempty"`
	// DocumentLength is the length of the response's body in bytes, or -1 if it is
	// long and the response has no Content-Length.
	DocumentLength int64 `json:"documentLength"`
	// HTTP is the HTTP version of the response: result.HTTP2, or empty for HTTP/1.1 and earlier.
	HTTP string `json:"http,omitempty"`
	// TLS is the result of the TLS handshake, or nil without TLS.
	TLS *result.Handshake `json:"tls,omitempty"`
}

// Encode returns the result as it is sent. It clips the texts and removes what isn't printable: a server may send
// anything of any length.
func (r *ProbeResult) Encode() ([]byte, error) {
	clean := r.printable()
	return Encode(&clean)
}

// DecodeProbeResult decodes a probe's result. It returns an error for what no probe can find. Everything that it returns
// is bounded and printable.
func DecodeProbeResult(data []byte) (*ProbeResult, error) {
	r, err := decode("probe result", data, maxProbeResultBytes, (*ProbeResult).check)
	if err != nil {
		return nil, err
	}
	clean := r.printable()
	return &clean, nil
}

func (r *ProbeResult) check() error {
	if r.DocumentLength < -1 {
		return fmt.Errorf("document of %d bytes", r.DocumentLength)
	}
	if r.HTTP != "" && r.HTTP != result.HTTP2 {
		return fmt.Errorf("HTTP version %.16q", r.HTTP)
	}
	if t := r.TLS; t != nil && (t.KeySize < 0 || t.KeySize > maxKeyBits || !slices.Contains(Protocols, t.Protocol)) {
		return fmt.Errorf("TLS protocol %.16q with a key of %d bits", t.Protocol, t.KeySize)
	}
	return nil
}

// printable returns a copy whose texts are bounded and printable.
func (r *ProbeResult) printable() ProbeResult {
	c := *r
	texts := []*string{&c.Software}
	if r.TLS != nil {
		t := *r.TLS
		c.TLS = &t
		texts = append(texts, &t.Protocol, &t.Cipher, &t.Group, &t.KeyAlgorithm, &t.Subject, &t.Issuer, &t.Fingerprint)
	}
	for _, text := range texts {
		*text = printable.Clipped(*text, maxProbeTextBytes)
	}
	return c
}

package session

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	// evidenceBytes bounds evidence as it is sent.
	evidenceBytes = 32 << 10
	// evidenceTextBytes bounds each of its texts.
	evidenceTextBytes = 1024
	// mostKeyBits is far more than any key has.
	mostKeyBits = 1 << 20
)

// ProbeResult is what the target itself showed when it was asked once, before the
// load.
type ProbeResult struct {
	// Software is the response's Server header.
	Software string `json:"software,omitempty"`
	// DocumentLength is the length of the response's body in bytes; -1 when it is
	// long and the server doesn't say how long.
	DocumentLength int64 `json:"documentLength"`
	// HTTP is the version of HTTP that it answered in: result.HTTP2; empty for
	// HTTP/1.1 and before.
	HTTP string `json:"http,omitempty"`
	// TLS is what was negotiated; nil without TLS.
	TLS *result.Handshake `json:"tls,omitempty"`
}

// ProbeResultToWire returns evidence as it is sent, its texts clipped and without
// what isn't printable: a server may say anything of itself, at any length.
func ProbeResultToWire(e *ProbeResult) (*sessionpb.ProbeResult, error) {
	shown := e.shown()
	return toMessage(&shown, &sessionpb.ProbeResult{})
}

// ProbeResultFromWire is the inverse of ProbeResultToWire. It refuses what no probe
// says, so that its caller can rely on all that it returns being bounded and
// printable.
func ProbeResultFromWire(w *sessionpb.ProbeResult) (*ProbeResult, error) {
	if w == nil {
		return nil, errors.New("no evidence")
	}
	if n := proto.Size(w); n > evidenceBytes {
		return nil, fmt.Errorf("evidence of %d bytes", n)
	}
	e := &ProbeResult{}
	if err := fromMessage(w, e); err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	if err := e.check(); err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	clean := e.shown()
	return &clean, nil
}

func (e *ProbeResult) check() error {
	if e.DocumentLength < -1 {
		return fmt.Errorf("a document of %d bytes", e.DocumentLength)
	}
	if e.HTTP != "" && e.HTTP != result.HTTP2 {
		return fmt.Errorf("the version %.16q of HTTP", e.HTTP)
	}
	if t := e.TLS; t != nil && (t.KeySize < 0 || t.KeySize > mostKeyBits || !slices.Contains(Protocols, t.Protocol)) {
		return fmt.Errorf("TLS protocol %.16q with a key of %d bits", t.Protocol, t.KeySize)
	}
	return nil
}

// shown is a copy whose texts are fit to be shown.
func (e *ProbeResult) shown() ProbeResult {
	c := *e
	texts := []*string{&c.Software}
	if e.TLS != nil {
		t := *e.TLS
		c.TLS = &t
		texts = append(texts, &t.Protocol, &t.Cipher, &t.KeyAlgorithm, &t.Subject, &t.Issuer, &t.Fingerprint)
	}
	for _, text := range texts {
		*text = printable.Clipped(*text, evidenceTextBytes)
	}
	return c
}

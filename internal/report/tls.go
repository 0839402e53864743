package report

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/result"
)

func usedTLS(r *result.Result) bool {
	return r.Environment.TLS != nil || r.Merged.Latencies.Get(result.TLS).Count() > 0
}

// CipherBits returns the size of a cipher suite's symmetric key in bits, which is
// part of the suite's OpenSSL name; 0 if it is not.
func CipherBits(suite string) int {
	switch {
	case strings.Contains(suite, "AES128"), strings.Contains(suite, "AES_128"):
		return 128
	case strings.Contains(suite, "AES256"), strings.Contains(suite, "AES_256"), strings.Contains(suite, "CHACHA20"):
		return 256
	}
	return 0
}

// writeTLS writes what was negotiated with the target, and how many connections resumed a session.
func writeTLS(w *bytes.Buffer, r *result.Result) {
	if t := r.Environment.TLS; t != nil {
		requested := "not requested"
		if t.CertificateRequested {
			requested = "requested"
		}
		writeLines(w, []named{{"Protocol:", t.Protocol}, {"Cipher suite:", t.Cipher}, {"Certificate:", t.Subject}, {"Issuer:", t.Issuer}})
		line(w, "Key:", "%s, %d bits", cmp.Or(t.KeyAlgorithm, "unknown"), t.KeySize)
		writeLines(w, []named{
			{"Expires:", time.UnixMicro(t.NotAfter).UTC().Format(time.RFC3339)},
			{"SHA-256 fingerprint:", t.Fingerprint},
			{"Client certificate:", requested},
		})
	}
	c := r.Merged.Counts
	line(w, "Sessions resumed:", "by %d of %d connections", c.TLSResumed, c.Connections)
}

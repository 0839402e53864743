package report

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/result"
)

// usedTLS is whether the load was over TLS.
func usedTLS(r *result.Result) bool {
	return r.Environment.TLS != nil || r.Merged.Latencies.Get(result.TLS).Count() > 0
}

// CipherBits is the size of a cipher suite's symmetric key in bits, which stands
// in the suite's OpenSSL name; 0 when it doesn't.
func CipherBits(suite string) int {
	switch {
	case strings.Contains(suite, "AES128"), strings.Contains(suite, "AES_128"):
		return 128
	case strings.Contains(suite, "AES256"), strings.Contains(suite, "AES_256"), strings.Contains(suite, "CHACHA20"):
		return 256
	}
	return 0
}

// writeTLS writes what was negotiated with the target, and how often the load
// resumed it.
func writeTLS(w *bytes.Buffer, r *result.Result) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-23s %s\n", name, fmt.Sprintf(format, args...))
	}
	if t := r.Environment.TLS; t != nil {
		line("Protocol:", "%s", orUnknown(t.Protocol))
		line("Cipher suite:", "%s", orUnknown(t.Cipher))
		line("Certificate:", "%s", orUnknown(t.Subject))
		line("Issuer:", "%s", orUnknown(t.Issuer))
		line("Key:", "%s, %d bits", orUnknown(t.KeyAlgorithm), t.KeySize)
		line("Expires:", "%s", time.UnixMicro(t.NotAfter).UTC().Format(time.RFC3339))
		line("SHA-256 fingerprint:", "%s", orUnknown(t.Fingerprint))
		line("Client certificate:", "%s", requested(t.CertificateRequested))
	}
	c := r.Merged.Counts
	line("Sessions resumed:", "by %d of %d connections", c.TLSResumed, c.Connections)
}

func requested(is bool) string {
	if is {
		return "requested"
	}
	return "not requested"
}

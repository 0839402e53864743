package door

import (
	"bytes"
	"testing"
)

func TestErrorLog(t *testing.T) {
	var out bytes.Buffer
	log := ErrorLog(&out)
	log.Printf("http: TLS handshake error from %s: EOF", "10.0.0.1:1")
	if out.Len() != 0 {
		t.Errorf("%q", out.String())
	}
	log.Printf("http: panic serving 10.0.0.1:1: nil")
	if !bytes.HasSuffix(out.Bytes(), []byte(" http: panic serving 10.0.0.1:1: nil\n")) {
		t.Errorf("%q", out.String())
	}
}

package session

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"
)

// FuzzClaims reads claims that anybody may have written.
func FuzzClaims(f *testing.F) {
	f.Add([]byte(`{"aud":["assay"],"exp":1700000000,"kubernetes.io":{"pod":{"uid":"u"}}}`))
	f.Add([]byte(`{"aud":"assay","exp":1e300,"kubernetes.io":{"pod":{"uid":"u"}}}`))
	f.Add([]byte(nil))
	now := time.Unix(1_700_000_000, 0)
	f.Fuzz(func(t *testing.T, claims []byte) {
		err := CheckClaims("e30."+base64.RawURLEncoding.EncodeToString(claims)+".x", now)
		if err == nil && !strings.Contains(string(claims), `\`) && !strings.Contains(strings.ToLower(string(claims)), "pod") {
			t.Errorf("the claims %q are accepted", claims)
		}
	})
}

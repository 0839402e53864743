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

// TestExpiredClaims checks when a token is refused without asking the API server, and that the message
// names both clocks.
func TestExpiredClaims(t *testing.T) {
	expires := time.Unix(1_700_000_000, 0)
	token := "e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"aud":["`+Audience+`"],"exp":1700000000,"kubernetes.io":{"pod":{"uid":"u"}}}`)) + ".x"
	for name, test := range map[string]struct {
		now  time.Time
		want string
	}{
		"valid":             {expires.Add(-time.Minute), ""},
		"a clock behind":    {expires.Add(-24 * time.Hour), ""},
		"a clock ahead":     {expires.Add(tokenClockError), ""},
		"a clock far ahead": {expires.Add(tokenClockError + time.Second), "the token expired at 2023-11-14T22:13:20Z, but the manager's clock is 2023-11-15T00:13:21Z. If the token is newer, set the clock of the manager's node"},
	} {
		got := ""
		if err := CheckClaims(token, test.now); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

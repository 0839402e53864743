package benchmarkrun

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/manager"
)

// noClient panics if it is used.
type noClient struct{ client.Client }

// signed returns a token with a payload and a signature that nobody has verified.
func signed(payload string) string {
	return "eyJhbGciOiJub25lIn0." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + ".c2lnbmF0dXJl"
}

// TestTokensThatCannotBeRight sends tokens that the API server can't accept. It isn't asked.
func TestTokensThatCannotBeRight(t *testing.T) {
	const pod = `"kubernetes.io":{"pod":{"uid":"u"}}`
	soon := time.Now().Add(time.Hour).Unix()
	identifier := &Identifier{Client: noClient{}, APIReader: noClient{}}
	for name, token := range map[string]string{
		"empty":             "",
		"not a JWT":         "nonsense",
		"two parts":         "a.b",
		"four parts":        signed("{}") + ".x",
		"not base64":        "a.!.c",
		"not JSON":          signed("nonsense"),
		"another type":      signed(`{"aud":{"assay":1},"exp":"soon"}`),
		"deep JSON":         signed(strings.Repeat("[", 20_000)),
		"no audience":       signed(fmt.Sprintf(`{"exp":%d,%s}`, soon, pod)),
		"another audience":  signed(fmt.Sprintf(`{"aud":["https://kubernetes.default.svc"],"exp":%d,%s}`, soon, pod)),
		"no expiry":         signed(fmt.Sprintf(`{"aud":"assay",%s}`, pod)),
		"an expiry far off": signed(fmt.Sprintf(`{"aud":"assay","exp":-1e300,%s}`, pod)),
		"expired":           signed(fmt.Sprintf(`{"aud":["assay"],"exp":%d,%s}`, soon-4*3600, pod)),
		"of no pod":         signed(fmt.Sprintf(`{"aud":["assay"],"exp":%d}`, soon)),
	} {
		if i, err := identifier.Identify(t.Context(), token); !errors.Is(err, manager.ErrUnauthenticated) {
			t.Errorf("%s: %+v, %v", name, i, err)
		}
	}
	for name, token := range map[string]string{
		"one audience":          signed(fmt.Sprintf(`{"aud":"assay","exp":%d,%s}`, soon, pod)),
		"several audiences":     signed(fmt.Sprintf(`{"aud":["other","assay"],"exp":%d,%s}`, soon, pod)),
		"expired by our clock":  signed(fmt.Sprintf(`{"aud":["assay"],"exp":%d,%s}`, soon-2*3600, pod)),
		"an expiry without end": signed(fmt.Sprintf(`{"aud":["assay"],"exp":1e300,%s}`, pod)),
	} {
		if err := session.CheckClaims(token, time.Now()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

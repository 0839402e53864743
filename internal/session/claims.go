package session

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// tokenClockError is the tolerated difference between the manager's clock and the API server's. It is large, since a
// token whose time isn't over must never be refused: the API server decides.
const tokenClockError = 2 * time.Hour

// claims are those of a token, which nobody has verified
// (https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/).
type claims struct {
	Audience   audiences `json:"aud"`
	Expires    float64   `json:"exp"`
	Kubernetes struct {
		Pod struct {
			UID string `json:"uid"`
		} `json:"pod"`
	} `json:"kubernetes.io"`
}

// audiences are one text or several (RFC 7519, section 4.1.3).
type audiences []string

// UnmarshalJSON implements json.Unmarshaler.
func (a *audiences) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*a = audiences{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(a))
}

// CheckClaims returns an error for a token that the API server can't accept as a pod's for a session.
// It costs no call to the API server, and says nothing of a token that may be right.
func CheckClaims(token string, now time.Time) error {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return errors.New("not a token of a service account")
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	var c claims
	if err = errors.Join(err, json.Unmarshal(payload, &c)); err != nil {
		return errors.New("not a token of a service account")
	}
	switch expires := time.Unix(int64(min(c.Expires, 1<<40)), 0); {
	case !slices.Contains(c.Audience, Audience):
		return fmt.Errorf("not a token for audience %q", Audience)
	case c.Kubernetes.Pod.UID == "":
		return errors.New("not a pod's token")
	case expires.Before(now.Add(-tokenClockError)):
		return fmt.Errorf("the token expired at %s, but the manager's clock is %s. If the token is newer, set the clock of the manager's node",
			expires.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	return nil
}

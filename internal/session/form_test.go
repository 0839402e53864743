package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPlansOfOtherKindsComeAcross converts plans with a list of requests and with a
// form.
func TestPlansOfOtherKindsComeAcross(t *testing.T) {
	plan := &Plan{
		Connections: 1, TimeoutMicroseconds: 1, Measurement: Amount{Requests: 1},
		RequestList: []byte{0x1f, 0x8b, 0xff}, Lengths: map[string]int64{"/a": 7},
		Cookies: true, Authentication: AuthenticationForm,
		Form: &Form{Page: "/p?q", Path: "/login", UsernameField: "u", PasswordField: "p", Fields: []FormField{{"a", ""}}, Statuses: []int{302}, Location: "/home"},
	}
	got, err := DecodePlan(encoded(t, plan))
	if diff := cmp.Diff(plan, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

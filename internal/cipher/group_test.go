package cipher

import (
	"crypto/tls"
	"strings"
	"testing"
)

func TestGroup(t *testing.T) {
	for _, g := range Groups {
		if id, err := GroupID(g.Name); err != nil || id != g.ID || GroupName(id) != g.Name {
			t.Errorf("%s: %d, %v, %s", g.Name, id, err, GroupName(id))
		}
	}
	if _, err := GroupID("X448"); err == nil || !strings.Contains(err.Error(), "use X25519, X25519MLKEM768, P-256, P-384, P-521") {
		t.Errorf("got %v", err)
	}
	if GroupName(0) != "" || GroupName(tls.CurveID(30)) != "0x001E" {
		t.Errorf("%q, %q", GroupName(0), GroupName(30))
	}
}

package cipher

import (
	"crypto/tls"
	"strings"
	"testing"
)

func TestNamesAndNumbers(t *testing.T) {
	implemented := map[uint16]bool{}
	for _, s := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		implemented[s.ID] = true
	}
	for _, s := range Suites {
		id, err := ID(s.Name)
		if err != nil || id != s.ID || Name(id) != s.Name {
			t.Errorf("%s: %d, %v; back %s", s.Name, id, err, Name(id))
		}
		if !implemented[s.ID] {
			t.Errorf("%s isn't implemented", s.Name)
		}
		if IsTLS13(s.Name) != strings.HasPrefix(s.Name, "TLS_") || IsTLS13("ECDHE-RSA-AES128-SHA") {
			t.Errorf("%s is said to be of the wrong version", s.Name)
		}
	}
}

func TestUnknownSuite(t *testing.T) {
	_, err := ID("ECDHE-RSA-AES256-SHA384")
	if err == nil || !strings.Contains(err.Error(), "ECDHE-RSA-AES256-SHA384") || !strings.Contains(err.Error(), "AES128-SHA256") {
		t.Errorf("the error names neither the suite nor those that work: %v", err)
	}
	if got := Name(0xC028); got != "0xC028" {
		t.Errorf("an unknown number is called %s", got)
	}
}

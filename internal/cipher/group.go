package cipher

import (
	"crypto/tls"
	"fmt"
	"strings"
)

// Group is a group for the key exchange (RFC 8446, section 4.2.7).
type Group struct {
	// Name is the group's name in OpenSSL.
	Name string
	// ID is the group's number (https://www.iana.org/assignments/tls-parameters).
	ID tls.CurveID
}

// Groups are the groups that Assay's clients support.
var Groups = []Group{
	{"X25519", tls.X25519}, {"X25519MLKEM768", tls.X25519MLKEM768}, {"P-256", tls.CurveP256}, {"P-384", tls.CurveP384}, {"P-521", tls.CurveP521},
}

// GroupID returns the number of a group. The error for an unsupported one lists those that are supported.
func GroupID(name string) (tls.CurveID, error) {
	names := make([]string, 0, len(Groups))
	for _, g := range Groups {
		if g.Name == name {
			return g.ID, nil
		}
		names = append(names, g.Name)
	}
	return 0, fmt.Errorf("the clients don't support the group %s: use %s", name, strings.Join(names, ", "))
}

// GroupName returns the name of a group, its number if it is unknown, or an empty string for 0, which stands for none.
func GroupName(id tls.CurveID) string {
	if id == 0 {
		return ""
	}
	for _, g := range Groups {
		if g.ID == id {
			return g.Name
		}
	}
	return fmt.Sprintf("0x%04X", uint16(id))
}

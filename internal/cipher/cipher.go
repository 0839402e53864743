// Package cipher has the TLS cipher suites that Assay's clients support, under OpenSSL's names.
package cipher

import (
	"crypto/tls"
	"fmt"
	"strings"
)

// Suite is a cipher suite.
type Suite struct {
	// Name is the suite's name in OpenSSL.
	Name string
	// ID is the suite's number (https://www.iana.org/assignments/tls-parameters).
	ID uint16
}

// Suites are the cipher suites that Assay's clients support. Those of TLS 1.3 come first. Clients
// always offer all of them, and the server chooses.
var Suites = []Suite{
	{"TLS_AES_128_GCM_SHA256", tls.TLS_AES_128_GCM_SHA256},
	{"TLS_AES_256_GCM_SHA384", tls.TLS_AES_256_GCM_SHA384},
	{"TLS_CHACHA20_POLY1305_SHA256", tls.TLS_CHACHA20_POLY1305_SHA256},
	{"ECDHE-ECDSA-AES128-GCM-SHA256", tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
	{"ECDHE-ECDSA-AES256-GCM-SHA384", tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384},
	{"ECDHE-ECDSA-CHACHA20-POLY1305", tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256},
	{"ECDHE-ECDSA-AES128-SHA256", tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256},
	{"ECDHE-ECDSA-AES128-SHA", tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA},
	{"ECDHE-ECDSA-AES256-SHA", tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA},
	{"ECDHE-RSA-AES128-GCM-SHA256", tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256},
	{"ECDHE-RSA-AES256-GCM-SHA384", tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384},
	{"ECDHE-RSA-CHACHA20-POLY1305", tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256},
	{"ECDHE-RSA-AES128-SHA256", tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256},
	{"ECDHE-RSA-AES128-SHA", tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA},
	{"ECDHE-RSA-AES256-SHA", tls.TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA},
	{"AES128-GCM-SHA256", tls.TLS_RSA_WITH_AES_128_GCM_SHA256},
	{"AES256-GCM-SHA384", tls.TLS_RSA_WITH_AES_256_GCM_SHA384},
	{"AES128-SHA256", tls.TLS_RSA_WITH_AES_128_CBC_SHA256},
	{"AES128-SHA", tls.TLS_RSA_WITH_AES_128_CBC_SHA},
	{"AES256-SHA", tls.TLS_RSA_WITH_AES_256_CBC_SHA},
}

// ID returns the number of a suite. The error for an unsupported one lists those that are
// supported.
func ID(name string) (uint16, error) {
	for _, s := range Suites {
		if s.Name == name {
			return s.ID, nil
		}
	}
	names := make([]string, 0, len(Suites))
	for _, s := range Suites {
		names = append(names, s.Name)
	}
	return 0, fmt.Errorf("the clients don't support the cipher suite %s: use %s", name, strings.Join(names, ", "))
}

// Name returns the name of a suite, or its number if it is unknown.
func Name(id uint16) string {
	for _, s := range Suites {
		if s.ID == id {
			return s.Name
		}
	}
	return fmt.Sprintf("0x%04X", id)
}

// IsTLS13 reports whether a suite is one of TLS 1.3.
func IsTLS13(name string) bool { return strings.HasPrefix(name, "TLS_") }

package external

import (
	"testing"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
)

func TestExternal(t *testing.T) {
	for url, want := range map[string]struct{ address, host, serverName string }{
		"http://www.example.org":       {"www.example.org:80", "www.example.org", ""},
		"https://www.example.org":      {"www.example.org:443", "www.example.org", "www.example.org"},
		"https://www.example.org:8443": {"www.example.org:8443", "www.example.org:8443", "www.example.org"},
		"http://[2001:db8::1]":         {"[2001:db8::1]:80", "[2001:db8::1]", ""},
		"https://[2001:db8::1]:8443":   {"[2001:db8::1]:8443", "[2001:db8::1]:8443", "2001:db8::1"},
	} {
		spec := &v1alpha1.Server{External: &v1alpha1.ExternalServer{URL: url}}
		if address := Address(spec.External); address != want.address {
			t.Errorf("%s: address %q", url, address)
		}
		if host := Host(spec.External); host != want.host {
			t.Errorf("%s: host %q", url, host)
		}
		if name := TLSServerName(spec.External); name != want.serverName {
			t.Errorf("%s: server name %q", url, name)
		}
		if _, err := (Server{}).Render(&adapter.Input{Name: adapter.ContainerName, Server: spec}); err == nil {
			t.Errorf("%s: rendered", url)
		}
	}
	named := &v1alpha1.Server{External: &v1alpha1.ExternalServer{URL: "http://10.0.0.1", Host: "www.example.org"}}
	if host := Host(named.External); host != "www.example.org" {
		t.Errorf("host %q", host)
	}
}

package session

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
)

// Watch sets what an agent probes and samples.
type Watch struct {
	// Address is the target's address and port.
	Address string `json:"address"`
	// Probes are sent until they succeed, one after the other.
	Probes []Probe `json:"probes"`
	// Host is the Host header; empty for the target's address.
	Host string `json:"host,omitempty"`
	// TLS holds the settings of TLS with the target, or nil for none.
	TLS *TLS `json:"tls,omitempty"`
	// Streams is the number of concurrent requests that the server allows on a
	// connection over HTTP/2, or 0 to probe over HTTP/1.1.
	Streams int `json:"streams,omitempty"`
	// Containers are the names of the containers that are sampled on their own, by the container ID
	// without its scheme. Processes in none of them belong to the server.
	Containers map[string]string `json:"containers,omitempty"`
}

// DecodeWatch decodes a watch. It returns an error for one that no agent could run.
func DecodeWatch(data []byte) (*Watch, error) {
	return decode("watch", data, MaxMessageBytes, (*Watch).check)
}

func (w *Watch) check() error {
	if w.Address == "" || len(w.Probes) == 0 {
		return fmt.Errorf("%d probes of address %q", len(w.Probes), w.Address)
	}
	return cmp.Or(checkProbes(w.Probes), w.TLS.check())
}

// CanonicalHost returns a host's name or address in the form in which it is compared with others: in lowercase and ASCII (RFC 5891),
// without the dot that ends a full name; an address without brackets and without the zone, which means nothing to others.
func CanonicalHost(host string) string {
	host = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().WithZone("").String()
	}
	if name, err := idna.Lookup.ToASCII(host); err == nil {
		return strings.TrimSuffix(name, ".")
	}
	return strings.ToLower(host) // not a name of DNS, such as one with an underscore
}

// HostHeader returns the Host header of requests to a target: host, or if that is empty the
// target's address, without the default port of the scheme (RFC 9110, section 7.2) and without the zone of an IPv6 address (RFC 6874,
// section 4).
func HostHeader(host, address string, secure bool) string {
	if host != "" {
		return host
	}
	if zone, end := strings.IndexByte(address, '%'), strings.IndexByte(address, ']'); 0 < zone && zone < end {
		address = address[:zone] + address[end:]
	}
	if secure {
		return strings.TrimSuffix(address, ":443")
	}
	return strings.TrimSuffix(address, ":80")
}

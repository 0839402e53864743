package native

import (
	"encoding/json"
	"net/netip"
	"testing"
)

func TestPodResolvers(t *testing.T) {
	const nobody = "nameserver 192.0.2.1\n"
	tests := map[string]struct {
		host string
		want string
	}{
		"kept in their order": {
			host: "nameserver 198.51.100.2\nnameserver 198.51.100.1\n",
			want: "nameserver 198.51.100.2\nnameserver 198.51.100.1\n",
		},
		"IPv6": {host: "nameserver 2001:db8::53\n", want: "nameserver 2001:db8::53\n"},
		"no loopback": {
			host: "nameserver 127.0.0.53\nnameserver ::1\nnameserver 198.51.100.1\n",
			want: "nameserver 198.51.100.1\n",
		},
		"neither comments, search domains nor options": {
			host: "# nameserver 203.0.113.1\n;nameserver 203.0.113.2\nsearch example.org\noptions ndots:2\nnameserver\t198.51.100.1",
			want: "nameserver 198.51.100.1\n",
		},
		"a note after it, blank lines and one without an address": {
			host: "nameserver\n\nnameserver 198.51.100.1 # office\n",
			want: "nameserver 198.51.100.1\n",
		},
		"only loopback": {host: "nameserver 127.0.0.11\noptions ndots:0\n", want: nobody},
		"no file":       {want: nobody},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := podResolvers(test.host); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestNetworkConfig(t *testing.T) {
	var parsed struct {
		Name    string
		Plugins []struct {
			IPAM struct {
				DataDir string
				Ranges  [][]struct{ Subnet, Gateway string }
			}
		}
	}
	if err := json.Unmarshal([]byte(Layout{State: "/state"}.networkConfig()), &parsed); err != nil {
		t.Fatal(err)
	}
	ipam := parsed.Plugins[0].IPAM
	if parsed.Name != networkName || ipam.DataDir != "/state/cni/addresses" {
		t.Errorf("network %q with addresses in %q", parsed.Name, ipam.DataDir)
	}
	if got := ipam.Ranges[0][0]; got.Subnet != podRange || got.Gateway != podGateway {
		t.Errorf("range %+v, want %s by %s", got, podRange, podGateway)
	}
}

// The fixed addresses must be in their ranges, and the ranges must not overlap.
func TestRanges(t *testing.T) {
	pods, services := netip.MustParsePrefix(podRange), netip.MustParsePrefix(serviceRange)
	if pods.Overlaps(services) {
		t.Errorf("pods %v and services %v overlap", pods, services)
	}
	if !pods.Contains(netip.MustParseAddr(podGateway)) {
		t.Errorf("gateway %s is outside %v", podGateway, pods)
	}
	for _, address := range []string{apiServiceIP, dnsServiceIP} {
		if !services.Contains(netip.MustParseAddr(address)) {
			t.Errorf("service %s is outside %v", address, services)
		}
	}
	// The API server uses the first address of the range.
	if first := services.Addr().Next().String(); first != apiServiceIP {
		t.Errorf("the API server's service is %s, want the first address %s", apiServiceIP, first)
	}
}

func TestConditionTrue(t *testing.T) {
	tests := map[string]struct {
		object string
		want   string
	}{
		"true":          {object: `{"status": {"conditions": [{"type": "Other", "status": "False"}, {"type": "Ready", "status": "True"}]}}`},
		"false":         {object: `{"status": {"conditions": [{"type": "Ready", "status": "False", "message": "no network"}]}}`, want: "not Ready: no network"},
		"unknown":       {object: `{"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}`, want: "not Ready: "},
		"another one":   {object: `{"status": {"conditions": [{"type": "Other", "status": "True"}]}}`, want: "not Ready yet"},
		"no status yet": {object: `{}`, want: "not Ready yet"},
		"no JSON":       {object: `ok`, want: "invalid character 'o' looking for beginning of value"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := conditionTrue([]byte(test.object), "Ready"); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Each daemon must come after those that it needs. Otherwise it never starts.
func TestDaemonsNeedEarlierOnes(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range (Layout{State: "/state", Run: "/run"}).daemons("198.51.100.7") {
		for _, need := range d.needs {
			if !seen[need] {
				t.Errorf("%s needs %s, which doesn't start before it", d.name, need)
			}
		}
		if seen[d.name] {
			t.Errorf("%s is there twice", d.name)
		}
		seen[d.name] = true
	}
}

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
	first := Layout{State: "/state"}
	for _, l := range []Layout{first, first.second()} {
		if err := json.Unmarshal([]byte(l.networkConfig()), &parsed); err != nil {
			t.Fatal(err)
		}
		ipam := parsed.Plugins[0].IPAM
		if parsed.Name != networkName || ipam.DataDir != l.State+"/cni/addresses" {
			t.Errorf("network %q with addresses in %q", parsed.Name, ipam.DataDir)
		}
		if got := ipam.Ranges[0][0]; got.Subnet != l.node().pods || got.Gateway != l.node().gateway {
			t.Errorf("range %+v, want %s by %s", got, l.node().pods, l.node().gateway)
		}
	}
}

// The fixed addresses must be in their ranges, and the ranges must not overlap.
func TestRanges(t *testing.T) {
	pods, services := netip.MustParsePrefix(podRange), netip.MustParsePrefix(serviceRange)
	link := netip.MustParsePrefix(linkRange)
	own := []netip.Prefix{netip.MustParsePrefix(firstNode.pods), netip.MustParsePrefix(secondNode.pods)}
	for _, pair := range [][2]netip.Prefix{{pods, services}, {pods, link}, {services, link}, {own[0], own[1]}} {
		if pair[0].Overlaps(pair[1]) {
			t.Errorf("%v and %v overlap", pair[0], pair[1])
		}
	}
	for i, n := range []node{firstNode, secondNode} {
		if !pods.Contains(own[i].Addr()) || own[i].Bits() <= pods.Bits() {
			t.Errorf("the pods of node %s, %v, are not in %v", n.name, own[i], pods)
		}
		if !own[i].Contains(netip.MustParseAddr(n.gateway)) {
			t.Errorf("gateway %s is outside %v", n.gateway, own[i])
		}
	}
	for _, address := range []string{firstAddress, secondAddress} {
		if !link.Contains(netip.MustParseAddr(address)) {
			t.Errorf("node %s is outside %v", address, link)
		}
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
	first := Layout{State: "/state", Run: "/run"}
	for _, l := range []Layout{first, first.second()} {
		seen := map[string]bool{}
		for _, d := range l.daemons("198.51.100.7") {
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
}

package manifest

import (
	"strings"
	"testing"
)

func TestReadEgress(t *testing.T) {
	for text, want := range map[string]string{
		`[]`: "",
		`[{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}], "ports": [{"port": 443}]}]`: "",
		`[{"to": [{"namespaceSelector": {}}]}]`:                                     "",
		`[{"ports": [{"port": 443}]}]`:                                              "[0].to is empty",
		`[{"to": [{}]}]`:                                                            "[0].to[0]: it must have ipBlock",
		`[{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}, "podSelector": {}}]}]`:        "must not have both",
		`[{"to": [{"ipBlock": {"cidr": "10.0.0.1/8"}}]}]`:                           "must be a block",
		`[{"to": [{"ipBlock": {"cidr": "::ffff:169.254.0.0/112"}}]}]`:               "must be a block",
		`[{"to": [{"ipBlock": {"cidr": "169.254.0.0/16"}}]}]`:                       "must never reach",
		`[{"to": [{"ipBlock": {"cidr": "169.254.169.254/32"}}]}]`:                   "must never reach",
		`[{"to": [{"ipBlock": {"cidr": "fe80::/64"}}]}]`:                            "must never reach",
		`[{"to": [{"ipBlock": {"cidr": "100.100.100.200/32"}}]}]`:                   "must never reach",
		`[{"from": []}]`: "unknown field",
		`[] []`:          "text follows",
		`{}`:             "cannot unmarshal",
	} {
		if _, err := ReadEgress(text); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	rules, err := ReadEgress(`[{"to": [{"ipBlock": {"cidr": "169.0.0.0/8", "except": ["169.254.0.0/15"]}}]}]`)
	if err != nil || strings.Join(rules[0].To[0].IPBlock.Except, " ") != "169.254.0.0/15" {
		t.Errorf("an exception was repeated: %v, %v", rules, err)
	}
}

func TestReadDNS(t *testing.T) {
	for text, want := range map[string]string{
		`[{"ipBlock": {"cidr": "169.254.20.10/32"}}]`: "", // DNS on the node
		`[]`:   "no peer",
		`[{}]`: "[0]: it must have ipBlock",
		`x`:    "invalid character",
	} {
		if _, err := ReadDNS(text); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestAllowed(t *testing.T) {
	const blocks = `[{"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}], "ports": [{"port": 443}, {"port": 8000, "endPort": 8010}, {"protocol": "UDP", "port": 53}]}]`
	for _, test := range []struct {
		rules, address string
		want           bool
	}{
		{`[]`, "192.0.2.1:443", false}, {`[]`, "example.org:443", false},
		{blocks, "192.0.2.1:443", true}, {blocks, "192.0.2.1:22", false}, {blocks, "192.0.2.1:8010", true}, {blocks, "192.0.2.1:8011", false},
		{blocks, "192.0.2.1:53", false}, {blocks, "169.254.169.254:443", false}, {blocks, "[2001:db8::1]:443", false},
		{blocks, "[::ffff:169.254.169.254]:443", false}, {blocks, "example.org:22", true},
		{`[{"to": [{"namespaceSelector": {}}]}]`, "10.96.0.1:443", true}, {`[{"to": [{"namespaceSelector": {}}]}]`, "[fe80::1]:443", false},
	} {
		rules, err := ReadEgress(test.rules)
		if err != nil {
			t.Fatal(err)
		}
		if got := (&Settings{Egress: rules}).Allowed(test.address); got != test.want {
			t.Errorf("%s by %s: %v", test.address, test.rules, got)
		}
	}
}

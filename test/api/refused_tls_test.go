package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// withTLS gives minimal's target TLS with a certificate, and fields that may
// take its place.
func withTLS(fields string) string {
	return `spec: {target: {tls: {certificate: {selfSigned: {}}, ` + fields + `}}}`
}

// withCertificate gives minimal's target TLS with a certificate of these
// fields alone.
func withCertificate(fields string) string {
	return `spec: {target: {tls: {serverName: a, certificate: {` + fields + `}}}}`
}

// asExternal makes minimal's target external, with TLS.
func asExternal(external, tls string) string {
	return `spec: {target: {image: null, server: {tomcat: null, external: {` + external + `}}, tls: {` + tls + `}}}`
}

var tlsRefusals = []refusal{
	// protocols
	{name: "unknown protocol", patch: withTLS(`protocols: [SSLv3]`),
		want: []string{"spec.target.tls.protocols[0]", `"TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"`}},
	{name: "no protocols", patch: withTLS(`protocols: []`), rawOnly: true,
		want: []string{"spec.target.tls.protocols", "at least 1 item"}},
	{name: "protocol twice", patch: withTLS(`protocols: [TLSv1.2, TLSv1.2]`),
		want: []string{"spec.target.tls.protocols[1]", "Duplicate value"}},

	// ciphers
	{name: "no ciphers", patch: withTLS(`ciphers: []`), rawOnly: true,
		want: []string{"spec.target.tls.ciphers", "at least 1 item"}},
	{name: "cipher twice", patch: withTLS(`ciphers: [AES128-SHA, AES128-SHA]`),
		want: []string{"spec.target.tls.ciphers[1]", "Duplicate value"}},
	{name: "cipher that clients don't have", patch: withTLS(`ciphers: [ECDHE-RSA-AES256-SHA384]`),
		want: append(strings.Split(ciphers, ", "), "spec.target.tls.ciphers[0]", `"ECDHE-RSA-AES256-SHA384"`, "supported values")},
	{name: "cipher by its name in Java", patch: withTLS(`ciphers: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]`),
		want: []string{"spec.target.tls.ciphers[0]", "supported values", `"ECDHE-RSA-AES128-GCM-SHA256"`}},
	{name: "expression of ciphers", patch: withTLS(`ciphers: ["HIGH:!aNULL"]`),
		want: []string{"spec.target.tls.ciphers[0]", "supported values"}},
	{name: "ciphers before TLS 1.3 with it alone", patch: withTLS(`protocols: [TLSv1.3], ciphers: [AES128-GCM-SHA256]`),
		want: []string{"spec.target.tls.ciphers", "with TLSv1.3 alone ciphers must be of TLS 1.3, which begin with TLS_"}},
	{name: "one cipher before TLS 1.3 with it alone", patch: withTLS(`protocols: [TLSv1.3], ciphers: [TLS_AES_128_GCM_SHA256, AES128-SHA]`),
		want: []string{"spec.target.tls.ciphers", "must be of TLS 1.3"}},
	{name: "ciphers of TLS 1.3 without it", patch: withTLS(`protocols: [TLSv1.1, TLSv1.2], ciphers: [TLS_AES_128_GCM_SHA256]`),
		want: []string{"spec.target.tls.ciphers", "protocols doesn't have TLSv1.3", "add the protocol"}},
	{name: "ciphers of TLS 1.3 with protocols by default", patch: withTLS(`ciphers: [TLS_AES_128_GCM_SHA256]`),
		want: []string{"spec.target.tls.protocols", "must be [TLSv1.3]"}},
	{name: "ciphers of TLS 1.2 before it", patch: withTLS(`protocols: [TLSv1, TLSv1.1], ciphers: [AES128-SHA256, AES128-GCM-SHA256]`),
		want: []string{"spec.target.tls.ciphers", "end in -SHA", "ciphers has no suite of TLSv1 and TLSv1.1: they end in -SHA"}},
	{name: "ciphers for another key", patch: withTLS(`protocols: [TLSv1.2], ciphers: [ECDHE-ECDSA-AES128-GCM-SHA256]`),
		want: []string{"spec.target.tls", "ciphers has none for RSA keys"}},
	{name: "ciphers for another key beside TLS 1.3", patch: withTLS(`protocols: [TLSv1.2, TLSv1.3], ciphers: [ECDHE-ECDSA-AES128-GCM-SHA256, TLS_AES_128_GCM_SHA256]`),
		want: []string{"spec.target.tls", "ciphers has none for RSA keys"}},
	{name: "ciphers for another key with protocols by default", patch: withTLS(`ciphers: [ECDHE-ECDSA-AES128-GCM-SHA256]`),
		want: []string{"spec.target.tls", "ciphers has none for RSA keys"}},
	{name: "ciphers for an RSA key", patch: `spec: {target: {tls: {protocols: [TLSv1.2], ciphers: [AES128-SHA, ECDHE-RSA-AES128-SHA], certificate: {issuerRef: {name: a}, privateKey: {algorithm: ECDSA}}}}}`,
		want: []string{"spec.target.tls.ciphers", "ciphers has no suite for an ECDSA key"}},

	// implementation
	{name: "unknown implementation", patch: `spec: {target: {server: {tomcat: {connector: {tlsImplementation: BoringSSL}}}, tls: {certificate: {selfSigned: {}}}}}`,
		want: []string{"spec.target.server.tomcat.connector.tlsImplementation", `"JSSE", "OpenSSL", "OpenSSLFFM"`}},
	{name: "APR by JSSE", patch: `spec: {target: {server: {tomcat: {connector: {protocol: APR, tlsImplementation: JSSE}}}, tls: {certificate: {selfSigned: {}}}}}`,
		want: []string{"spec", "tlsImplementation must be OpenSSL with APR", "use NIO or NIO2"}},
	{name: "implementation without TLS", patch: `spec: {target: {server: {tomcat: {connector: {tlsImplementation: OpenSSL}}}}}`,
		want: []string{"spec.target.server.tomcat", "tlsImplementation and honorCipherOrder need target.tls"}},
	{name: "order of ciphers of a backend", patch: `spec: {target: {server: {tomcat: null, httpd: {}}, tls: {certificate: {selfSigned: {}}}, backends: [{name: a, image: a, server: {tomcat: {connector: {port: 9000, honorCipherOrder: Enabled}}}}]}}`,
		want: []string{"spec.target.backends", "backends speak no TLS"}},
	{name: "implementation of a backend", patch: `spec: {target: {server: {tomcat: null, httpd: {}}, tls: {certificate: {selfSigned: {}}}, backends: [{name: a, image: a, server: {tomcat: {connector: {port: 9000, tlsImplementation: JSSE}}}}]}}`,
		want: []string{"spec.target.backends", "backends speak no TLS"}},

	// certificates
	{name: "empty tls", patch: `spec: {target: {tls: {}}}`,
		want: []string{"spec.target.tls.certificate", "must be set", "selfSigned {}"}},
	{name: "tls without a certificate", patch: `spec: {target: {tls: {protocols: [TLSv1.2]}}}`,
		want: []string{"spec.target.tls.certificate", "must be set", "selfSigned {}"}},
	{name: "empty certificate", patch: withCertificate(``),
		want: []string{"spec.target.tls.certificate", "exactly one of the fields in [issuerRef secretName selfSigned]"}},
	{name: "certificate from nowhere", patch: withCertificate(`dnsNames: [a]`),
		want: []string{"spec.target.tls.certificate", "exactly one of the fields in [issuerRef secretName selfSigned]"}},
	{name: "certificate from two places", patch: withCertificate(`selfSigned: {}, secretName: a`),
		want: []string{"spec.target.tls.certificate", "exactly one of the fields in [issuerRef secretName selfSigned]"}},
	{name: "certificate from two issuers", patch: withCertificate(`selfSigned: {}, issuerRef: {name: a}`),
		want: []string{"spec.target.tls.certificate", "exactly one of the fields in [issuerRef secretName selfSigned]"}},
	{name: "certificate from everywhere", patch: withCertificate(`selfSigned: {}, issuerRef: {name: a}, secretName: a`),
		want: []string{"spec.target.tls.certificate", "exactly one of the fields in [issuerRef secretName selfSigned]"}},
	{name: "key of a Secret", patch: withCertificate(`secretName: a, privateKey: {algorithm: ECDSA}`),
		want: []string{"spec.target.tls.certificate.secretName", "privateKey and dnsNames must not be set with secretName", "omit them"}},
	{name: "names of a Secret", patch: withCertificate(`secretName: a, dnsNames: [a]`),
		want: []string{"spec.target.tls.certificate.secretName", "privateKey and dnsNames must not be set with secretName", "omit them"}},
	{name: "Secret in capitals", patch: withCertificate(`secretName: A`),
		want: []string{"spec.target.tls.certificate.secretName", "must be a name of lowercase letters"}},
	{name: "Secret whose names aren't known", patch: `spec: {target: {tls: {certificate: {secretName: a}}}}`,
		want: []string{"spec.target.tls.serverName", "must be set with certificate.secretName"}},
	{name: "names not for DNS", patch: withCertificate(`selfSigned: {}, dnsNames: ["https://a"]`),
		want: []string{"spec.target.tls.certificate.dnsNames[0]", "such as www.example.org"}},
	{name: "names with an empty part", patch: withCertificate(`selfSigned: {}, dnsNames: [a, a..b]`),
		want: []string{"spec.target.tls.certificate.dnsNames[1]", "such as www.example.org"}},
	{name: "names for many", patch: withCertificate(`selfSigned: {}, dnsNames: ["*.example.org"]`),
		want: []string{"spec.target.tls.certificate.dnsNames[0]", "such as www.example.org"}},
	{name: "name with a long part", patch: withCertificate(`selfSigned: {}, dnsNames: [` + strings.Repeat("a", 64) + `.org]`),
		want: []string{"spec.target.tls.certificate.dnsNames[0]", "such as www.example.org"}},
	{name: "too many names", patch: withCertificate(`selfSigned: {}, dnsNames: [` + list(17, "a%d") + `]`),
		want: []string{"spec.target.tls.certificate.dnsNames", "at most 16 items"}},
	{name: "no names", patch: withCertificate(`selfSigned: {}, dnsNames: []`), rawOnly: true,
		want: []string{"spec.target.tls.certificate.dnsNames", "at least 1 item"}},
	{name: "issuer without a name", patch: withCertificate(`issuerRef: {kind: ClusterIssuer}`),
		want: []string{"spec.target.tls.certificate.issuerRef.name", "Required value"}},
	{name: "issuer in capitals", patch: withCertificate(`issuerRef: {name: A}`),
		want: []string{"spec.target.tls.certificate.issuerRef.name", "must be a name"}},
	{name: "kind in lower case", patch: withCertificate(`issuerRef: {name: a, kind: issuer}`),
		want: []string{"spec.target.tls.certificate.issuerRef.kind", "such as Issuer or ClusterIssuer"}},
	{name: "group with a version", patch: withCertificate(`issuerRef: {name: a, group: cert-manager.io/v1}`),
		want: []string{"spec.target.tls.certificate.issuerRef.group", "must be a name"}},
	{name: "unknown algorithm", patch: withCertificate(`selfSigned: {}, privateKey: {algorithm: DSA}`),
		want: []string{"spec.target.tls.certificate.privateKey.algorithm", `"RSA", "ECDSA"`}},

	// the rest of tls
	{name: "server name with a port", patch: withTLS(`serverName: "a:443"`),
		want: []string{"spec.target.tls.serverName", "DNS name, such as www.example.org"}},
	{name: "unknown verification", patch: withTLS(`verification: Some`),
		want: []string{"spec.target.tls.verification", `"Full", "None"`}},
	{name: "unknown group", patch: withTLS(`groups: [X448]`),
		want: []string{"spec.target.tls.groups[0]", `"X25519", "X25519MLKEM768", "P-256", "P-384", "P-521"`}},
	{name: "group twice", patch: withTLS(`groups: [P-256, P-256]`),
		want: []string{"spec.target.tls.groups[1]", "Duplicate value"}},
	{name: "no groups", patch: withTLS(`groups: []`), rawOnly: true,
		want: []string{"spec.target.tls.groups", "at least 1 item"}},
	{name: "a group of TLS 1.3 for TLS 1.2", patch: withTLS(`groups: [X25519MLKEM768], protocols: [TLSv1.2]`),
		want: []string{"spec.target.tls.groups", "add the protocol, or another group"}},
	{name: "unknown resumption", patch: withTLS(`sessionResumption: "On"`),
		want: []string{"spec.target.tls.sessionResumption", `"Enabled", "Disabled"`}},
	{name: "clients without a certificate", patch: withTLS(`clientAuthentication: {}`),
		want: []string{"spec.target.tls.clientAuthentication.certificate", "Required value"}},
	{name: "clients with two certificates", patch: withTLS(`clientAuthentication: {certificate: {selfSigned: {}, secretName: a}}`),
		want: []string{"spec.target.tls.clientAuthentication.certificate", "exactly one of the fields in [issuerRef secretName selfSigned]"}},

	// external servers
	{name: "certificate of an external server", patch: asExternal(`url: "https://a"`, `certificate: {selfSigned: {}}`),
		want: []string{"spec.target.tls.certificate", "omitted with an external server", "must be omitted with an external server, which has its own"}},
	{name: "tls without https", patch: asExternal(`url: "http://a"`, `verification: None`),
		want: []string{"spec.target.tls", "use an https url, or no tls"}},
	{name: "authority without https", patch: `spec: {target: {image: null, server: {tomcat: null, external: {url: "http://a", certificateAuthority: {secretName: a}}}}}`,
		want: []string{"spec.target.server.external.certificateAuthority", "must not be set when url is http", "omit it"}},
	{name: "empty authority", patch: asExternal(`url: "https://a", certificateAuthority: {}`, ``),
		want: []string{"spec.target.server.external.certificateAuthority", "exactly one of the fields in [configMapName secretName]"}},
	{name: "two authorities", patch: asExternal(`url: "https://a", certificateAuthority: {secretName: a, configMapName: a}`, ``),
		want: []string{"spec.target.server.external.certificateAuthority", "exactly one of the fields in [configMapName secretName]"}},
	{name: "authority in capitals", patch: asExternal(`url: "https://a", certificateAuthority: {configMapName: A}`, ``),
		want: []string{"spec.target.server.external.certificateAuthority.configMapName", "must be a name of lowercase letters"}},
	{name: "authority in a Secret in capitals", patch: asExternal(`url: "https://a", certificateAuthority: {secretName: A}`, ``),
		want: []string{"spec.target.server.external.certificateAuthority.secretName", "must be a name of lowercase letters"}},
	{name: "external without a url", patch: asExternal(`host: a`, ``),
		want: []string{"spec.target.server.external.url", "Required value"}},
	{name: "host with a path", patch: asExternal(`url: "https://a", host: a/b`, ``),
		want: []string{"spec.target.server.external.host", "must be a name or an address, with a port if need be, such as [2001:db"}},
	{name: "host with a port that can't be", patch: asExternal(`url: "https://a", host: "a:65536"`, ``),
		want: []string{"spec.target.server.external.host", "port up to 65535"}},
	{name: "host with an empty label", patch: asExternal(`url: "https://a", host: a..b`, ``),
		want: []string{"spec.target.server.external.host", "must be a name or an address, with a port if need be, such as [2001:db"}},
	{name: "host that is an address without brackets", patch: asExternal(`url: "https://a", host: "2001:db8::1"`, ``),
		want: []string{"spec.target.server.external.host", "[2001:db8::1]"}},
	{name: "external with an image", patch: `spec: {target: {server: {tomcat: null, external: {url: "http://a"}}}}`,
		want: []string{"spec.target:", "omitted with an external server"}},
	{name: "external with content", patch: `spec: {target: {image: null, content: [{path: /a, sizeBytes: 1}], server: {tomcat: null, external: {url: "http://a"}}}}`,
		want: []string{"spec.target:", "image, content, backends and securityContext must be omitted with an external server"}},
	{name: "external with backends", patch: `spec: {target: {image: null, backends: [{name: a, image: a, server: {generic: {}}}], server: {tomcat: null, external: {url: "http://a"}}}}`,
		want: []string{"spec.target:", "image, content, backends and securityContext must be omitted with an external server"}},
	{name: "external with labels", patch: externalWith(`labels: {a: b}`), want: []string{"spec.target", "labels", "must be omitted with an external server"}},
	{name: "external with annotations", patch: externalWith(`annotations: {a: b}`), want: []string{"spec.target", "annotations", "must be omitted with an external server"}},
	{name: "external with env", patch: externalWith(`env: [{name: A, value: b}]`), want: []string{"spec.target", "env", "must be omitted with an external server"}},
	{name: "external with volumes", patch: externalWith(`volumes: [{name: a, emptyDir: {}}]`), want: []string{"spec.target", "volumes", "must be omitted with an external server"}},
	{name: "external with nodeSelector", patch: externalWith(`nodeSelector: {a: b}`), want: []string{"spec.target", "nodeSelector", "must be omitted with an external server"}},
	{name: "external with affinity", patch: externalWith(`affinity: {}`), want: []string{"spec.target", "affinity", "must be omitted with an external server"}},
	{name: "external with tolerations", patch: externalWith(`tolerations: [{key: a}]`), want: []string{"spec.target", "tolerations", "must be omitted with an external server"}},
	{name: "external with priorityClassName", patch: externalWith(`priorityClassName: a`), want: []string{"spec.target", "priorityClassName", "must be omitted with an external server"}},
	{name: "external with runtimeClassName", patch: externalWith(`runtimeClassName: a`), want: []string{"spec.target", "runtimeClassName", "must be omitted with an external server"}},
	{name: "external with imagePullSecrets", patch: externalWith(`imagePullSecrets: [{name: a}]`), want: []string{"spec.target", "imagePullSecrets", "must be omitted with an external server"}},
	{name: "external with hostAliases", patch: externalWith(`hostAliases: [{ip: 10.0.0.1, hostnames: [a]}]`), want: []string{"spec.target", "hostAliases", "must be omitted with an external server"}},
	{name: "external with dnsConfig", patch: externalWith(`dnsConfig: {}`), want: []string{"spec.target", "dnsConfig", "must be omitted with an external server"}},
	{name: "external with securityContext", patch: externalWith(`securityContext: {}`), want: []string{"spec.target", "securityContext", "must be omitted with an external server"}},
}

// externalWith makes minimal's target external, with fields of a pod.
func externalWith(fields string) string {
	return `spec: {target: {image: null, ` + fields + `, server: {tomcat: null, external: {url: "http://a"}}}}`
}

// badURLs are urls of external servers.
var badURLs = []string{
	"www.example.org", "ftp://www.example.org", "HTTP://www.example.org", "http:///a", "http://", "//www.example.org",
	"http://www.example.org/", "http://www.example.org/a", "http://www.example.org?a", "http://www.example.org#a",
	"http://user@www.example.org", "http://user:password@www.example.org", "http://www.example.org:", "http://www.example.org:http",
	"http://www.example.org:0", "http://www.example.org:65536", "http://www.example.org:99999", "http://2001:db8::1", "http://[::1", "http://[a]b",
	"http://-a", "http://a..b", "http://a.", "http://a_b", "http://a b", "https://*.example.org",
}

// badSizes are sizes of keys, by algorithm.
var badSizes = map[string][]int{
	"RSA":   {256, 384, 1024, 2047, 2049, 4095, 4097, 8192, 0, -2048},
	"ECDSA": {224, 255, 257, 521, 2048, 4096},
}

// TestBadTLSIsRefused merges into minimal, which is for Tomcat.
func TestBadTLSIsRefused(t *testing.T) {
	namespace := newNamespace(t)
	for _, r := range tlsRefusals {
		t.Run(r.name, func(t *testing.T) { r.check(t, minimal, namespace) })
	}
	for _, protocols := range gaps() {
		r := refusal{patch: withTLS(`protocols: [` + protocols + `]`), want: []string{"spec.target.tls.protocols", "must not omit a version between two"}}
		t.Run("gap in "+protocols, func(t *testing.T) { r.check(t, minimal, namespace) })
	}
	for _, url := range badURLs {
		r := refusal{patch: `spec: {target: {image: null, server: {tomcat: null, external: {url: "` + url + `"}}}}`, want: []string{"spec.target.server.external.url"}}
		if len(url) >= 8 {
			r.want = append(r.want, "must ")
		}
		t.Run("url "+url, func(t *testing.T) { r.check(t, minimal, namespace) })
	}
	for algorithm, sizes := range badSizes {
		for _, size := range sizes {
			r := refusal{
				patch: withCertificate(fmt.Sprintf(`selfSigned: {}, privateKey: {algorithm: %s, size: %d}`, algorithm, size)),
				want:  []string{"spec.target.tls.certificate.privateKey.size"},
			}
			if size >= 256 && size <= 4096 {
				r.want = append(r.want, "2048, 3072 or 4096 with RSA, 256 or 384 with ECDSA")
			}
			t.Run(fmt.Sprint(algorithm, " with ", size), func(t *testing.T) { r.check(t, minimal, namespace) })
		}
	}
	r := refusal{patch: withCertificate(`selfSigned: {}, privateKey: {size: 256}`),
		want: []string{"spec.target.tls.certificate.privateKey.size", "2048, 3072 or 4096 with RSA"}}
	t.Run("RSA by default with 256", func(t *testing.T) { r.check(t, minimal, namespace) })
}

// gaps are all lists of protocols that leave out one between two.
func gaps() []string {
	versions := []string{"TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"}
	var all []string
	for set := range 1 << len(versions) {
		var chosen []string
		var at []int
		for i, v := range versions {
			if set&(1<<i) != 0 {
				chosen, at = append(chosen, v), append(at, i)
			}
		}
		if len(at) > 1 && at[len(at)-1]-at[0] >= len(at) {
			slices.Reverse(chosen)
			all = append(all, strings.Join(chosen, ", "))
		}
	}
	return all
}

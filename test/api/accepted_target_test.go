package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// goodTargets are at the edges of what targets may be.
var goodTargets = []goodRun{
	// servers
	{"the least of Tomcat by APR and OpenSSL", minimal, `spec: {target: {server: {tomcat: {connector: {protocol: APR, tlsImplementation: OpenSSL}}}, tls: {certificate: {selfSigned: {}}}}}`},
	{"APR with TLS and no implementation", minimal, `spec: {target: {server: {tomcat: {connector: {protocol: APR}}}, tls: {certificate: {selfSigned: {}}}}}`},
	{"NIO by JSSE", minimal, `spec: {target: {server: {tomcat: {connector: {tlsImplementation: JSSE}}}, tls: {certificate: {selfSigned: {}}}}}`},
	{"virtual threads", minimal, `spec: {target: {server: {tomcat: {connector: {executor: VirtualThreads, acceptCount: 1}}}}}`},
	{"as many spare threads as threads", minimal, `spec: {target: {server: {tomcat: {connector: {maxThreads: 8, minSpareThreads: 8}}}}}`},
	{"as many prefork processes as requests", minimal, `spec: {target: {server: {tomcat: null, httpd: {mpm: Prefork, serverLimit: 400, maxRequestWorkers: 400, startServers: 400}}}}`},
	{"as many requests as threads of httpd", minimal, `spec: {target: {server: {tomcat: null, httpd: {serverLimit: 16, threadsPerChild: 64, maxRequestWorkers: 1024}}}}`},
	{"as many requests as httpd can have threads", minimal, `spec: {target: {server: {tomcat: null, httpd: {serverLimit: 4, maxRequestWorkers: 256}}}}`},
	{"empty keepAlive of Tomcat", minimal, `spec: {target: {server: {tomcat: {connector: {keepAlive: {}}}}}}`},
	{"OpenSSL without Tomcat Native", minimal, `spec: {target: {server: {tomcat: {connector: {tlsImplementation: OpenSSLFFM, honorCipherOrder: Disabled}}}, tls: {certificate: {selfSigned: {}}}}}`},
	{"JVM option with what shells read", minimal, `spec: {target: {server: {tomcat: {jvmOptions: ["-Da=?&|;<>(){}[]'\"\\$HOME` + "`" + `~#!"]}}}}`},
	{"JVM option with a pattern", minimal, `spec: {target: {server: {tomcat: {jvmOptions: ["-Xlog:gc*:stdout:time,uptime"]}}}}`},
	{"httpd without keep-alive", minimal, `spec: {target: {server: {tomcat: null, httpd: {keepAlive: {mode: Disabled}}}}}`},
	{"empty keepAlive of nginx", minimal, `spec: {target: {server: {tomcat: null, nginx: {keepAlive: {}}}}}`},
	{"privileged port of generic", minimal, `spec: {target: {server: {tomcat: null, generic: {port: 443}}}}`},
	{"external on the last port", minimal, `spec: {target: {image: null, server: {tomcat: null, external: {url: "http://a:65535"}}}}`},
	{"external by address", minimal, `spec: {target: {image: null, server: {tomcat: null, external: {url: "http://192.0.2.1:80"}}}}`},
	{"external by an IPv6 address", minimal, `spec: {target: {image: null, server: {tomcat: null, external: {url: "http://[2001:db8::1]:80", host: "[2001:db8::2]:8080"}}}}`},
	{"external with readiness", minimal, `spec: {target: {image: null, server: {tomcat: null, external: {url: "http://a"}}, readiness: {path: /a}}}`},
	{"forward all", nginxFull, `spec: {target: {server: {nginx: {forward: [{pathPrefix: /, backend: app}]}}}}`},
	{"the same text as suffix and in a prefix", nginxFull, `spec: {target: {server: {nginx: {forward: [{pathPrefix: /a.do, backend: app}, {pathSuffix: .do, backend: app}]}}}}`},

	// TLS
	{"one old protocol", minimal, `spec: {target: {tls: {protocols: [TLSv1.1], certificate: {selfSigned: {}}}}}`},
	{"all protocols, in any order", minimal, `spec: {target: {tls: {protocols: [TLSv1.3, TLSv1, TLSv1.2, TLSv1.1], certificate: {selfSigned: {}}}}}`},
	{"ciphers of one version of two", minimal, `spec: {target: {tls: {protocols: [TLSv1.2, TLSv1.3], ciphers: [TLS_AES_128_GCM_SHA256], certificate: {selfSigned: {}}}}}`},
	{"ciphers of two versions with one", minimal, `spec: {target: {tls: {protocols: [TLSv1.2], ciphers: [TLS_AES_128_GCM_SHA256, AES128-SHA256], certificate: {selfSigned: {}}}}}`},
	{"ciphers of TLS 1.2 by default", minimal, `spec: {target: {tls: {ciphers: [AES256-GCM-SHA384], certificate: {selfSigned: {}}}}}`},
	{"all ciphers", minimal, `spec: {target: {tls: {certificate: {selfSigned: {}}, ciphers: [` + ciphers + `]}}}`},
	{"ciphers of the key in the Secret", minimal, `spec: {target: {tls: {protocols: [TLSv1.2], ciphers: [ECDHE-ECDSA-AES128-SHA], certificate: {secretName: a}, serverName: a}}}`},
	{"a Secret that isn't verified", minimal, `spec: {target: {tls: {certificate: {secretName: a}, verification: None}}}`},
	{"RSA by size alone", minimal, `spec: {target: {tls: {certificate: {selfSigned: {}, privateKey: {size: 4096}}}}}`},
	{"external without verification", minimal, `spec: {target: {image: null, server: {tomcat: null, external: {url: "https://a"}}, tls: {verification: None}}}`},
	{"empty tls of an external server", minimal, `spec: {target: {image: null, server: {tomcat: null, external: {url: "https://a"}}, tls: {}}}`},

	// backends, content, pod
	{"four backends", minimal, `spec: {target: {backends: [` +
		`{name: a, image: a, server: {generic: {port: 1}}}, {name: b, image: a, server: {generic: {port: 2}}}, ` +
		`{name: c, image: a, server: {generic: {port: 3}}}, {name: a-backend-with-the-longest-names, image: a, server: {generic: {port: 4}}}]}}`},
	{"backend on 8080 beside TLS", nginxFull, `spec: {target: {server: {nginx: {port: null}}}}`},
	{"AJP of a backend on the port of nothing else", nginxFull, `spec: {target: {server: {nginx: {port: 8009}}, backends: [{name: app, image: a, server: {tomcat: {ajp: {port: 8010}}}}]}}`},
	{"a port that the server has with TLS alone", minimal, `spec: {target: {server: {tomcat: null, httpd: {}}, backends: [{name: a, image: a, server: {generic: {port: 8443}}}]}}`},
	{"text of a size", minimal, `spec: {target: {content: [{path: /a, sizeBytes: 1, fill: Text}]}}`},
	{"content of 8 GiB", minimal, `spec: {target: {content: [{path: /a, sizeBytes: 8589934592}]}}`},
	{"content below WEB-INF", minimal, `spec: {target: {content: [{path: /WEB-INF/web.xml, configMapKeyRef: {name: a.b-c, key: ..web_xml}}]}}`},
	{"toleration of everything", minimal, `spec: {target: {tolerations: [{operator: Exists}]}}`},
	{"clients of an external server with the default placement", minimal, `spec: {target: {image: null, server: {tomcat: null, external: {url: "http://a"}}}, clients: {placement: Prefer}}`},
	{"clients beside the target", minimal, `spec: {clients: {placement: Together, topologySpreadConstraints: [{topologyKey: kubernetes.io/hostname}]}}`},
	{"annotation of a similar name", minimal, `spec: {target: {labels: {notassay.dev/a: b, app.kubernetes.io/name: c, a: ""}, annotations: {notassay.dev/a: b}}}`},
	{"mount that may be written", tomcatFull, `spec: {target: {volumeMounts: [{name: shm, mountPath: /a, readOnly: false}]}}`},
	{"root in Baseline", minimal, `spec: {target: {podSecurity: Baseline, securityContext: {runAsUser: 0, runAsNonRoot: false, allowPrivilegeEscalation: true}, ` +
		`backends: [{name: a, image: a, server: {generic: {port: 1}}, securityContext: {runAsUser: 0, runAsNonRoot: false, allowPrivilegeEscalation: true}}]}}`},
	{"another user in Restricted", minimal, `spec: {target: {securityContext: {runAsUser: 1001, allowPrivilegeEscalation: false}}, clients: {securityContext: {runAsUser: 1001}}}`},
	{"a folder of the agent's name", minimal, `spec: {target: {volumes: [{name: agent, emptyDir: {}}]}}`},
}

const ciphers = `TLS_AES_128_GCM_SHA256, TLS_AES_256_GCM_SHA384, TLS_CHACHA20_POLY1305_SHA256, ` +
	`ECDHE-ECDSA-AES128-GCM-SHA256, ECDHE-ECDSA-AES256-GCM-SHA384, ECDHE-ECDSA-CHACHA20-POLY1305, ` +
	`ECDHE-ECDSA-AES128-SHA256, ECDHE-ECDSA-AES128-SHA, ECDHE-ECDSA-AES256-SHA, ` +
	`ECDHE-RSA-AES128-GCM-SHA256, ECDHE-RSA-AES256-GCM-SHA384, ECDHE-RSA-CHACHA20-POLY1305, ` +
	`ECDHE-RSA-AES128-SHA256, ECDHE-RSA-AES128-SHA, ECDHE-RSA-AES256-SHA, ` +
	`AES128-GCM-SHA256, AES256-GCM-SHA384, AES128-SHA256, AES128-SHA, AES256-SHA`

// TestDefaultsOfTargets compares one part of the target with what the API
// server makes of it.
func TestDefaultsOfTargets(t *testing.T) {
	namespace := newNamespace(t)
	for _, c := range []struct {
		name, patch, part, want string
	}{
		{"httpd", `{server: {tomcat: null, httpd: {keepAlive: {}}}}`, "server",
			`{httpd: {home: /usr/local/apache2, keepAlive: {}}}`},
		{"nginx", `{server: {tomcat: null, nginx: {keepAlive: {}}}}`, "server",
			`{nginx: {executable: /usr/sbin/nginx, keepAlive: {}}}`},
		{"generic", `{server: {tomcat: null, generic: {}}}`, "server", `{generic: {}}`},
		{"external", `{image: null, server: {tomcat: null, external: {url: "http://a"}}}`, "server", `{external: {url: "http://a"}}`},
		{"tls", `{tls: {certificate: {selfSigned: {}}}}`, "tls",
			`{certificate: {selfSigned: {}}, verification: Full, sessionResumption: Disabled}`},
		{"issuer and key", `{tls: {certificate: {issuerRef: {name: a}, privateKey: {size: 4096}}}}`, "tls",
			`{certificate: {issuerRef: {name: a, kind: Issuer, group: cert-manager.io}, privateKey: {algorithm: RSA, size: 4096}}, verification: Full, sessionResumption: Disabled}`},
		{"clients' certificate", `{tls: {certificate: {selfSigned: {}}, clientAuthentication: {certificate: {issuerRef: {name: a}}}}}`, "tls",
			`{certificate: {selfSigned: {}}, verification: Full, sessionResumption: Disabled, ` +
				`clientAuthentication: {certificate: {issuerRef: {name: a, kind: Issuer, group: cert-manager.io}}}}`},
		{"backends", `{server: {tomcat: {connector: {port: 8081}}}, backends: [{name: a, image: a, server: {tomcat: {}}}]}`, "backends",
			`[{name: a, image: a, server: {tomcat: {}}}]`},
		{"content", `{content: [{path: /a, configMapKeyRef: {name: a, key: b}}]}`, "content", `[{path: /a, configMapKeyRef: {name: a, key: b}}]`},
		{"env", `{env: [{name: A, value: ""}]}`, "env", `[{name: A, value: ""}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var want any
			if err := yaml.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatal(err)
			}
			object := parse(t, minimal, `spec: {target: `+c.patch+`}`)
			run, ok := typed(t, object)
			if !ok {
				t.Fatal("the Go types can't say it")
			}
			if err := dryCreate(t.Context(), object, namespace); err != nil {
				t.Fatal(err)
			}
			got := object.Object["spec"].(map[string]any)["target"].(map[string]any)[c.part]
			if diff := cmp.Diff(normal(t, want), normal(t, got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if err := dryCreate(t.Context(), run, namespace); err != nil {
				t.Fatalf("from the Go types: %v", err)
			}
			got = normal(t, run.Spec.Target).(map[string]any)[c.part]
			if diff := cmp.Diff(normal(t, want), got); diff != "" {
				t.Errorf("from the Go types, -want +got:\n%s", diff)
			}
		})
	}
}

package nginx_test

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/server/servertest"
)

func TestMismatches(t *testing.T) {
	const field = "spec.target.server.nginx."
	nginx := func(workers, connections int32) servertest.Web {
		return servertest.Web{Nginx: &v1alpha1.NginxServer{WorkerProcesses: ptr.To(workers), WorkerConnections: ptr.To(connections)}}
	}
	owned := func(s servertest.Web) servertest.Web {
		s.Files = map[string]string{"nginx.conf": "# mine"}
		return s
	}
	log := servertest.Log(t, "logs/nginx")
	denied, _, _ := strings.Cut(log, "2026/11/21 12:50:13 [notice] 1#1: signal 15")
	denied += "2026/11/21 12:50:13 [alert] 18#18: setrlimit(RLIMIT_NOFILE, 100000) failed (1: Operation not permitted)\n"
	tests := map[string]struct {
		spec servertest.Web
		log  string
		want []server.Mismatch
	}{
		"as declared":                   {spec: nginx(2, 1024), log: log},
		"as many as it has CPUs":        {spec: servertest.Web{Nginx: &v1alpha1.NginxServer{}, CPU: "1500m"}, log: log},
		"not all of them yet":           {spec: nginx(4, 1024), log: log},
		"more workers":                  {spec: nginx(1, 1024), log: log, want: []server.Mismatch{{Field: field + "workerProcesses", Declared: "1", Real: "2 started"}}},
		"more by one's own":             {spec: owned(nginx(1, 1024)), log: log},
		"over the limit":                {spec: nginx(2, 50000), log: servertest.Log(t, "logs/nginx-connections-over-limit"), want: []server.Mismatch{{Field: field + "workerConnections", Declared: "50000", Real: "a worker can have 20000 files open"}}},
		"over the limit by one's own":   {spec: owned(nginx(2, 1024)), log: servertest.Log(t, "logs/nginx-connections-over-limit")},
		"limit not raised, but enough":  {spec: nginx(2, 20000), log: denied},
		"limit not raised":              {spec: nginx(2, 20001), log: denied, want: []server.Mismatch{{Field: field + "workerConnections", Declared: "20001", Real: "a worker can have 20000 files open"}}},
		"limit not raised by one's own": {spec: owned(nginx(2, 50000)), log: denied},
		"no more processes": {
			spec: nginx(4, 1024), log: denied + "2026/11/21 12:50:13 [alert] 1#1: fork() failed while spawning \"worker process\" (11: Resource temporarily unavailable)\n",
			want: []server.Mismatch{{Field: field + "workerProcesses", Declared: "4", Real: "2 started, then fork() failed while spawning \"worker process\" (11: Resource temporarily unavailable)"}},
		},
		"a cipher that OpenSSL has not": {
			spec: servertest.Web{Nginx: &v1alpha1.NginxServer{}, TLS: &v1alpha1.TLS{Ciphers: []v1alpha1.CipherSuite{"AES128-SHA"}}}, log: servertest.Log(t, "logs/nginx-tls-cipher-unknown"),
			want: []server.Mismatch{{Field: "spec.target.tls.ciphers", Declared: "AES128-SHA", Real: `SSL_CTX_set_cipher_list("NO-SUCH-CIPHER") failed (SSL: error:0A0000B9:SSL routines::no cipher match)`, Unsupported: true}},
		},
		"suites before 1.19.4": {
			spec: servertest.Web{Nginx: &v1alpha1.NginxServer{}, TLS: &v1alpha1.TLS{Ciphers: []v1alpha1.CipherSuite{"TLS_AES_128_GCM_SHA256", "AES128-SHA"}}},
			log:  "nginx: [emerg] unknown directive \"ssl_conf_command\" in /assay/nginx/nginx.conf:30\n",
			want: []server.Mismatch{{Field: "spec.target.tls.ciphers", Declared: "TLS_AES_128_GCM_SHA256, AES128-SHA", Real: `unknown directive "ssl_conf_command"`, Unsupported: true}},
		},
		"no TLS 1.3": {
			spec: servertest.Web{Nginx: &v1alpha1.NginxServer{}, TLS: &v1alpha1.TLS{}}, log: "nginx: [emerg] invalid value \"TLSv1.3\" in /assay/nginx/nginx.conf:30\n",
			want: []server.Mismatch{{Field: "spec.target.tls.protocols", Declared: "TLSv1.2, TLSv1.3", Real: `invalid value "TLSv1.3"`, Unsupported: true}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { servertest.Mismatches(t, server.ReadLogs, test.spec, test.log, test.want) })
	}
}

// TestStartedWithoutMismatch reads the logs of nginxes that were started with the
// rendered files.
func TestStartedWithoutMismatch(t *testing.T) {
	for name, spec := range specs {
		t.Run(name, func(t *testing.T) {
			l := servertest.Mismatches(t, server.ReadLogs, spec, servertest.Log(t, "rendered-logs/"+name), nil)
			if spec.Files == nil && (l.Version == "" || l.Connector == "") {
				t.Errorf("read no more than %+v", l)
			}
		})
	}
}

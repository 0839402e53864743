package jetty_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/server/servertest"
)

const java17 = "Java 17.0.19+10-1-deb12u2-Debian"

func TestReadLog(t *testing.T) {
	for name, want := range map[string]server.Log{
		"rendered-logs/defaults":        {Version: "jetty-12.1.12", Connector: "HTTP/1.1 (http/1.1) 8080", Libraries: []string{java17}},
		"rendered-logs/everything":      {Version: "jetty-12.1.12", Connector: "HTTP/1.1 (http/1.1, h2c) 8081", Libraries: []string{java17}},
		"rendered-logs/tls-http2":       {Version: "jetty-12.1.12", Connector: "SSL (ssl, alpn, h2, http/1.1) 8443", Libraries: []string{java17}},
		"rendered-logs/virtual-threads": {Version: "jetty-12.1.12", Connector: "HTTP/1.1 (http/1.1) 8080", Libraries: []string{"Java 25.0.3+9-LTS"}},
		"logs/12.0-everything":          {Version: "jetty-12.0.31", Connector: "HTTP/1.1 (http/1.1, h2c) 8081", Libraries: []string{java17}},
		"logs/12.0-tls-http2":           {Version: "jetty-12.0.31", Connector: "SSL (ssl, alpn, h2, http/1.1) 8443", Libraries: []string{java17}},
		"logs/port-taken":               {Version: "jetty-12.1.12", Libraries: []string{java17}},
		"logs/module-unknown":           {},
		"logs/jvm-option-unknown":       {},
	} {
		t.Run(name, func(t *testing.T) {
			target, _ := (&jettySpec{}).target()
			read, _ := server.ReadLogs(target, nil, map[string]string{server.ContainerName: servertest.Log(t, name)})
			if diff := cmp.Diff(want, read[server.ContainerName]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestStartedWithoutMismatch reads the logs of Jettys that were started with the
// rendered files.
func TestStartedWithoutMismatch(t *testing.T) {
	for name, spec := range specs {
		t.Run(name, func(t *testing.T) {
			target, _ := spec.target()
			read, found := server.ReadLogs(target, nil, map[string]string{server.ContainerName: servertest.Log(t, "rendered-logs/"+name)})
			if len(found) > 0 {
				t.Errorf("found %v", found)
			}
			if l := read[server.ContainerName]; l.Version != "jetty-12.1.12" || l.Opened() == "" || len(l.Libraries) != 1 {
				t.Errorf("read %+v", l)
			}
		})
	}
}

func TestMismatches(t *testing.T) {
	const jetty = "spec.target.server.jetty."
	own := map[string]string{"mine.ini": ""}
	with := func(c v1alpha1.JettyConnector) jettySpec {
		return jettySpec{jetty: v1alpha1.JettyServer{Connector: &c}}
	}
	owned := func(s jettySpec) jettySpec { s.files = own; return s }
	selfSigned := &v1alpha1.TLS{Certificate: servertest.SelfSigned}
	type found struct {
		Field, Declared, Real string
		Unsupported           bool
	}
	for name, test := range map[string]struct {
		spec jettySpec
		log  string
		want []found
	}{
		"as declared": {jettySpec{}, "rendered-logs/defaults", nil},
		"another port": {jettySpec{}, "logs/other-port",
			[]found{{jetty + "connector.port", "8080", "HTTP/1.1 (http/1.1) 8090", false}}},
		"another port by the user's own": {owned(jettySpec{}), "logs/other-port",
			[]found{{jetty + "connector.port", "8080", "HTTP/1.1 (http/1.1) 8090", false}}},
		"declared as the user's own sets it": {owned(with(v1alpha1.JettyConnector{Port: ptr.To(int32(8090))})), "logs/other-port", nil},
		"no TLS": {jettySpec{jetty: v1alpha1.JettyServer{Connector: &v1alpha1.JettyConnector{Port: ptr.To(int32(8080))}}, tls: selfSigned}, "rendered-logs/defaults",
			[]found{{"spec.target.tls", "set", "HTTP/1.1 (http/1.1) 8080", false}}},
		"TLS unasked": {with(v1alpha1.JettyConnector{Port: ptr.To(int32(8443))}), "rendered-logs/tls",
			[]found{{"spec.target.tls", "not set", "SSL (ssl, http/1.1) 8443", false}}},
		"no HTTP/2": {with(v1alpha1.JettyConnector{HTTP2: v1alpha1.Enabled}), "rendered-logs/defaults",
			[]found{{jetty + "connector.http2", "Enabled", "HTTP/1.1 (http/1.1) 8080", false}}},
		"unknown module": {jettySpec{jetty: v1alpha1.JettyServer{Modules: []string{"no-such"}}}, "logs/module-unknown",
			[]found{{jetty + "modules", "no-such", "Unknown module=[no-such]", true}}},
		"module without its files": {jettySpec{jetty: v1alpha1.JettyServer{Modules: []string{"conscrypt"}}}, "logs/module-files-missing",
			[]found{{jetty + "modules", "conscrypt", "Cannot read file: etc/jetty-conscrypt.xml", true}}},
		"virtual threads by Java 17": {specs["virtual-threads"], "logs/virtual-threads-java-17",
			[]found{{jetty + "threads.type", "Virtual", "Virtual Threads not supported", true}}},
		"virtual threads without a limit": {specs["virtual-threads"], "logs/12.0.8-virtual-max",
			[]found{{jetty + "threads.max", "64", "NoSuchMethodException: class java.util.concurrent.ThreadPerTaskExecutor.setMaxThreads(int)", true}}},
		"too few threads": {jettySpec{jetty: v1alpha1.JettyServer{Threads: &v1alpha1.JettyThreads{Max: ptr.To(int32(2))}}}, "logs/threads-insufficient",
			[]found{{jetty + "threads.max", "2", "Insufficient configured threads: required=2 < max=2", false}}},
		"key in PKCS#1": {jettySpec{tls: selfSigned}, "logs/key-pkcs1",
			[]found{{"spec.target.tls.certificate", "set", "tls.key isn't an RSA or ECDSA key in PKCS#8 (PKCS#8 KeyFactory not available)", true}}},
		"port taken": {jettySpec{}, "logs/port-taken", nil},
	} {
		t.Run(name, func(t *testing.T) {
			target, _ := test.spec.target()
			_, mismatches := server.ReadLogs(target, nil, map[string]string{server.ContainerName: servertest.Log(t, test.log)})
			var got []found
			for _, m := range mismatches {
				got = append(got, found{m.Field, m.Declared, m.Real, m.Unsupported})
				if m.Remedy == "" {
					t.Errorf("%s has no remedy", m.Field)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestModulesOfFields names the field that needs an unknown module.
func TestModulesOfFields(t *testing.T) {
	for module, want := range map[string]string{
		"threadpool-virtual":       "spec.target.server.jetty.threads.type",
		"network-connection-limit": "spec.target.server.jetty.connector.maxConnections",
	} {
		target, _ := (&jettySpec{}).target()
		_, found := server.ReadLogs(target, nil, map[string]string{server.ContainerName: "ERROR : Unknown module=[" + module + "] List available with --list-modules\n"})
		if len(found) != 1 || found[0].Field != want {
			t.Errorf("%s: %v", module, found)
		}
	}
}

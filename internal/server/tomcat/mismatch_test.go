package tomcat_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/server/servertest"
)

// logOf returns the log of a Tomcat that was started with a configuration like
// Assay's or, with the prefix rendered/, with the rendered one.
func logOf(t *testing.T, name string) string {
	t.Helper()
	if rendered, is := strings.CutPrefix(name, "rendered/"); is {
		return servertest.Log(t, "rendered-logs/"+rendered)
	}
	return servertest.Log(t, "logs/"+name)
}

// declared returns a target with a connector and a TLS implementation.
func declared(p v1alpha1.TomcatProtocol, by v1alpha1.TLSImplementation) *tomcatSpec {
	s := &tomcatSpec{tomcat: tomcatBy(p, by)}
	if by != "" {
		s.tls = &v1alpha1.TLS{Certificate: selfSigned}
	}
	return s
}

func TestReadLogFindsMismatches(t *testing.T) {
	const (
		nio, nio2, apr = v1alpha1.TomcatNIO, v1alpha1.TomcatNIO2, v1alpha1.TomcatAPR
		jsse, openSSL  = v1alpha1.TLSJSSE, v1alpha1.TLSOpenSSL
	)
	virtual := declared(nio, "")
	virtual.tomcat.Connector.Executor = v1alpha1.TomcatVirtualThreads
	ciphers := declared(nio, jsse)
	ciphers.tls.Ciphers = []v1alpha1.CipherSuite{"ECDHE-RSA-AES128-SHA"}
	another := declared(nio, "")
	another.tomcat.Connector.Port = new(int32)
	*another.tomcat.Connector.Port = 9090
	sendfile := declared(apr, openSSL)
	sendfile.tomcat.Connector.Sendfile = v1alpha1.Enabled
	attributes := declared(nio, "")
	attributes.tomcat.Connector.Attributes = []v1alpha1.TomcatAttribute{{Name: "noSuchAttribute", Value: "500"}}
	attributes.tomcat.Connector.HTTP2Limits = &v1alpha1.TomcatHTTP2Limits{Attributes: []v1alpha1.TomcatAttribute{{Name: "noSuchFactor", Value: "0"}}}
	own := func(of *tomcatSpec) *tomcatSpec {
		s := *of
		s.tomcat.Configuration = &v1alpha1.Configuration{ConfigMapName: "mine"}
		return &s
	}
	const (
		protocol       = "spec.target.server.tomcat.connector.protocol"
		implementation = "spec.target.server.tomcat.connector.tlsImplementation"
	)
	type found struct {
		Field       string
		Unsupported bool
	}
	tests := []struct {
		log  string
		spec *tomcatSpec
		want []found
	}{
		{"tomcat-9.0-nio", declared(nio, ""), nil},
		{"tomcat-9.0-nio2", declared(nio2, ""), nil},
		{"tomcat-9.0-apr", declared(apr, ""), nil},
		{"tomcat-9.0-apr-openssl", declared(apr, openSSL), nil},
		{"tomcat-9.0-apr-openssl", declared(apr, ""), []found{{"spec.target.server.tomcat.connector.port", false}, {"spec.target.tls", false}}},
		{"tomcat-9.0-nio-jsse", declared(nio, jsse), nil},
		{"tomcat-10.1-nio2-openssl", declared(nio2, openSSL), nil},
		{"tomcat-11-nio-openssl", declared(nio, openSSL), nil},

		{"tomcat-9.0-nio", declared(nio2, ""), []found{{protocol, false}}},
		{"tomcat-9.0-nio", declared(apr, ""), []found{{protocol, false}}},
		{"tomcat-9.0-nio", another, []found{{"spec.target.server.tomcat.connector.port", false}}},
		{"tomcat-9.0-nio-tls-by-default", declared(nio, jsse), []found{{implementation, false}}},
		{"tomcat-9.0-nio-tls-by-default-no-library", declared(nio, openSSL), []found{{implementation, true}}},

		{"tomcat-10.1-apr-refused-exit", declared(apr, ""), []found{{protocol, true}}},
		{"tomcat-10.1-apr-refused", declared(apr, openSSL), []found{{protocol, true}}},
		{"tomcat-11-apr-refused", declared(apr, ""), []found{{protocol, true}}},
		{"tomcat-11-nio", declared(apr, ""), []found{{protocol, true}}},
		{"tomcat-9.0-apr-refused-no-library", declared(apr, ""), []found{{protocol, true}}},
		{"tomcat-11-nio-openssl-refused-no-library", declared(nio, openSSL), []found{{implementation, true}}},
		{"tomcat-11-nio-openssl-ffm", declared(nio, v1alpha1.TLSOpenSSLFFM), nil},
		{"tomcat-11-nio-openssl-ffm", declared(nio, openSSL), []found{{implementation, false}}},
		{"tomcat-11-nio-openssl-ffm-java-17", declared(nio, v1alpha1.TLSOpenSSLFFM), []found{{implementation, true}}},
		{"tomcat-11-nio-openssl-ffm-no-library", declared(nio, v1alpha1.TLSOpenSSLFFM), []found{{implementation, true}}},
		{"tomcat-11-attributes-unknown", attributes, []found{
			{"spec.target.server.tomcat.connector.attributes", true}, {"spec.target.server.tomcat.connector.http2Limits.attributes", true},
		}},
		{"tomcat-11-attributes-unknown", declared(nio, ""), []found{{"spec.target.server.tomcat.connector", true}, {"spec.target.server.tomcat.connector", true}}},
		{"tomcat-9.0-nio", virtual, []found{{"spec.target.server.tomcat.connector.executor", true}}},
		{"tomcat-9.0-nio-jsse-cipher-unknown", ciphers, []found{{"spec.target.tls.ciphers", true}}},

		{"tomcat-9.0-nio-port-taken-exit", declared(nio, ""), nil},
		{"tomcat-9.0-configuration-broken", declared(nio, ""), nil},

		{"rendered/9.0-nio-rendered", declared(nio, ""), nil},
		{"rendered/11-nio-openssl-rendered", declared(nio, openSSL), nil},
		{"rendered/10.1-rendered-with-configuration", own(declared(nio, "")), nil},
		{"rendered/10.1-rendered-with-configuration", own(declared(nio2, "")), []found{{protocol, false}}},
		{"rendered/9.0-apr-native-too-old", declared(apr, ""), []found{{protocol, true}}},
		{"rendered/9.0-nio-openssl-native-too-old-jvm-crash", declared(nio, openSSL), []found{{implementation, true}}},
		{"rendered/11-apr-openssl-refused", declared(apr, openSSL), []found{{protocol, true}}},
		{"rendered/9.0-apr-openssl-sendfile-refused", declared(apr, openSSL), nil},
		{"rendered/9.0-apr-openssl-sendfile-refused", sendfile, []found{{"spec.target.server.tomcat.connector.sendfile", false}}},
		{"rendered/9.0-virtual-threads-java-17", virtual, []found{{"spec.target.server.tomcat.connector.executor", true}}},
		{"rendered/11-virtual-threads-java-17", virtual, []found{{"spec.target.server.tomcat.connector.executor", true}}},
		{"rendered/9.0-virtual-threads-no-class", virtual, []found{{"spec.target.server.tomcat.connector.executor", true}}},

		// These logs are of a server.xml that Assay didn't render.
		{"tomcat-9.0-nio2", own(declared(nio, "")), nil},
		{"tomcat-9.0-nio-openssl", own(declared(nio, jsse)), nil},
		{"tomcat-9.0-nio-privileged-port", own(declared(nio, "")), []found{{"spec.target.server.tomcat.connector.port", false}}},
		{"tomcat-11-nio", own(declared(apr, "")), nil},
		{"rendered/10.1-own-server", own(another), []found{{"spec.target.server.tomcat.connector.port", false}}},
		{"tomcat-9.0-nio", own(declared(nio, jsse)), []found{{"spec.target.server.tomcat.connector.port", false}}},
		{"tomcat-10.1-apr-refused-exit", own(declared(apr, "")), []found{{protocol, true}}},
	}
	for _, test := range tests {
		target, _ := test.spec.target()
		t.Run(test.log, func(t *testing.T) {
			var got []found
			_, mismatches := server.ReadLogs(target, nil, map[string]string{server.ContainerName: logOf(t, test.log)})
			for _, c := range mismatches {
				if c.Declared == "" || c.Real == "" || c.Remedy == "" {
					t.Errorf("incomplete: %+v", c)
				}
				got = append(got, found{c.Field, c.Unsupported})
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMismatchHasRemedy(t *testing.T) {
	target, _ := declared(v1alpha1.TomcatAPR, "").target()
	_, found := server.ReadLogs(target, nil, map[string]string{server.ContainerName: logOf(t, "tomcat-10.1-apr-refused-exit")})
	if len(found) != 1 {
		t.Fatalf("found %v", found)
	}
	want := "spec.target.server.tomcat.connector.protocol is APR, but the server reports: Apache Tomcat/10.1.34. " +
		"The APR connector was removed in Tomcat 10.1: use protocol NIO or NIO2, with tlsImplementation OpenSSL for OpenSSL, or an image of Tomcat 9.0."
	if diff := cmp.Diff(want, found[0].String()); diff != "" {
		t.Error(diff)
	}
}

package target

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// readLog gives the log of a Tomcat that was started with a configuration as
// Assay's, or after rendered/ with the rendered one.
func readLog(t *testing.T, name string) string {
	t.Helper()
	folder := "logs"
	if rendered, is := strings.CutPrefix(name, "rendered/"); is {
		folder, name = "tomcat-logs", rendered
	}
	log, err := os.ReadFile(filepath.Join("testdata", folder, name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(log)
}

var (
	java17    = "Java 17.0.19+10-1-deb12u2-Debian (Debian)"
	libraries = []string{java17, "Apache Tomcat Native 1.2.35", "APR 1.7.2", "OpenSSL 3.0.20"}
)

func TestReadTomcat(t *testing.T) {
	tests := map[string]Logged{
		"tomcat-9.0-nio":                                 {Version: "Apache Tomcat/9.0.98", Connector: "http-nio-8080", Libraries: []string{java17}},
		"tomcat-9.0-nio2":                                {Version: "Apache Tomcat/9.0.98", Connector: "http-nio2-8080", Libraries: []string{java17}},
		"tomcat-9.0-apr":                                 {Version: "Apache Tomcat/9.0.98", Connector: "http-apr-8080", Libraries: libraries},
		"tomcat-9.0-apr-openssl":                         {Version: "Apache Tomcat/9.0.98", Connector: "https-openssl-apr-8443", Libraries: libraries},
		"tomcat-9.0-nio-openssl":                         {Version: "Apache Tomcat/9.0.98", Connector: "https-openssl-nio-8443", Libraries: libraries},
		"tomcat-10.1-nio2-openssl":                       {Version: "Apache Tomcat/10.1.34", Connector: "https-openssl-nio2-8443", Libraries: libraries},
		"tomcat-11-nio-jsse":                             {Version: "Apache Tomcat/11.0.2", Connector: "https-jsse-nio-8443", Libraries: []string{java17}},
		"tomcat-11-nio2-jsse":                            {Version: "Apache Tomcat/11.0.2", Connector: "https-jsse-nio2-8443", Libraries: []string{java17}},
		"tomcat-10.1-apr-refused-exit":                   {Version: "Apache Tomcat/10.1.34", Libraries: libraries},
		"tomcat-11-apr-refused":                          {Version: "Apache Tomcat/11.0.2", Libraries: libraries},
		"tomcat-9.0-nio-port-taken-exit":                 {Version: "Apache Tomcat/9.0.98", Connector: "http-nio-8080", Preparing: true, Libraries: []string{java17}},
		"tomcat-9.0-apr-refused-no-library":              {Version: "Apache Tomcat/9.0.98", Connector: "http-apr-8080", Preparing: true, Libraries: []string{java17}},
		"tomcat-11-nio-openssl-refused-no-listener-exit": {Version: "Apache Tomcat/11.0.2", Connector: "https-openssl-nio-8443", Preparing: true, Libraries: []string{java17}},
		"tomcat-9.0-nio-openssl-jvm-crash":               {Version: "Apache Tomcat/9.0.98", Connector: "https-openssl-nio-8443", Preparing: true, Libraries: libraries[:3]},
		"tomcat-9.0-configuration-broken":                {},
		"rendered/9.0-virtual-threads-no-class":          {},
		"rendered/10.1-own-server":                       {Version: "Apache Tomcat/10.1.34", Connector: "http-nio-8080, http-nio-8081", Libraries: []string{java17}},
		"tomcat-9.0-jvm-option-unknown":                  {},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			got := readTomcat(readLog(t, name))
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Logged{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Every log of a Tomcat that began to start has its version, and none of what
// Java was given on the command line.
func TestReadTomcatReadsAll(t *testing.T) {
	logs, err := filepath.Glob("testdata/logs/tomcat-*.log")
	if err != nil || len(logs) == 0 {
		t.Fatalf("no logs: %v", err)
	}
	for _, path := range logs {
		name := strings.TrimSuffix(filepath.Base(path), ".log")
		log := readLog(t, name)
		l := readTomcat(log)
		if began := strings.Contains(log, "Server version name:"); began != (l.Version != "") {
			t.Errorf("%s: version %q", name, l.Version)
		}
		version := strings.Split(name, "-")[1]
		if l.Version != "" && !strings.HasPrefix(l.Version, "Apache Tomcat/"+version+".") {
			t.Errorf("%s: version %q", name, l.Version)
		}
		if l.Connector != "" && len(tomcatHandlers(l)) != 1 {
			t.Errorf("%s: connector %q isn't understood", name, l.Connector)
		}
	}
}

func TestReadTomcatIsBounded(t *testing.T) {
	var log strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&log, "None of the [ciphers] specified are supported %d%s\n", i, strings.Repeat("x", 10_000))
	}
	l := readTomcat(log.String())
	if len(l.refusals) != maxRefusals || len(l.refusals[0]) != maxRefusalLength {
		t.Errorf("%d refusals of %d bytes", len(l.refusals), len(l.refusals[0]))
	}
}

// declared is a target as the log of a name came about.
func declared(p v1alpha1.TomcatProtocol, by v1alpha1.TLSImplementation) *tomcatSpec {
	s := &tomcatSpec{tomcat: tomcatBy(p)}
	if by != "" {
		s.tls = &v1alpha1.TLS{Certificate: selfSigned, Implementation: by}
	}
	return s
}

func TestCheckTomcat(t *testing.T) {
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
	own := func(of *tomcatSpec) *tomcatSpec {
		s := *of
		s.tomcat.Configuration = &v1alpha1.Configuration{ConfigMapName: "mine"}
		return &s
	}
	const (
		protocol       = "spec.target.server.tomcat.connector.protocol"
		implementation = "spec.target.tls.implementation"
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

		// The logs' servers were not Assay's, as with a server.xml of one's own.
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
			for _, c := range Contradictions(target, ReadLogs(target, map[string]string{ContainerName: readLog(t, test.log)})) {
				if c.Declared == "" || c.Real == "" || c.Mend == "" {
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

func TestCheckTomcatSaysHowToMend(t *testing.T) {
	target, _ := declared(v1alpha1.TomcatAPR, "").target()
	found := Contradictions(target, ReadLogs(target, map[string]string{ContainerName: readLog(t, "tomcat-10.1-apr-refused-exit")}))
	if len(found) != 1 {
		t.Fatalf("found %v", found)
	}
	want := "spec.target.server.tomcat.connector.protocol is APR, but the server says: Apache Tomcat/10.1.34; " +
		"the APR connector was removed in Tomcat 10.1: use protocol NIO or NIO2, with tls.implementation OpenSSL for OpenSSL, or an image of Tomcat 9.0"
	if diff := cmp.Diff(want, found[0].String()); diff != "" {
		t.Error(diff)
	}
}

package tomcat

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/server/adapter"
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

var (
	java17    = "Java 17.0.19+10-1-deb12u2-Debian (Debian)"
	libraries = []string{java17, "Apache Tomcat Native 1.2.35", "APR 1.7.2", "OpenSSL 3.0.20"}
)

func TestReadLog(t *testing.T) {
	tests := map[string]adapter.Log{
		"tomcat-9.0-nio":                                 {Version: "Apache Tomcat/9.0.98", Connector: "http-nio-8080", Libraries: []string{java17}},
		"tomcat-9.0-nio2":                                {Version: "Apache Tomcat/9.0.98", Connector: "http-nio2-8080", Libraries: []string{java17}},
		"tomcat-9.0-apr":                                 {Version: "Apache Tomcat/9.0.98", Connector: "http-apr-8080", Libraries: libraries},
		"tomcat-9.0-apr-openssl":                         {Version: "Apache Tomcat/9.0.98", Connector: "https-openssl-apr-8443", Libraries: libraries},
		"tomcat-9.0-nio-openssl":                         {Version: "Apache Tomcat/9.0.98", Connector: "https-openssl-nio-8443", Libraries: libraries},
		"tomcat-10.1-nio2-openssl":                       {Version: "Apache Tomcat/10.1.34", Connector: "https-openssl-nio2-8443", Libraries: libraries},
		"tomcat-11-nio-jsse":                             {Version: "Apache Tomcat/11.0.2", Connector: "https-jsse-nio-8443", Libraries: []string{java17}},
		"tomcat-11-nio2-jsse":                            {Version: "Apache Tomcat/11.0.2", Connector: "https-jsse-nio2-8443", Libraries: []string{java17}},
		"tomcat-11-nio-openssl-ffm":                      {Version: "Apache Tomcat/11.0.21", Connector: "https-opensslffm-nio-8443", Libraries: []string{"Java 25.0.2+10-LTS (Eclipse Adoptium)", "OpenSSL 3.0.20"}},
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
			got := readLog(logOf(t, name)).Log
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestReadLogReadsAll checks that the version is found in each log of a Tomcat that
// began to start.
func TestReadLogReadsAll(t *testing.T) {
	logs, err := filepath.Glob("testdata/logs/tomcat-*.log")
	if err != nil || len(logs) == 0 {
		t.Fatalf("no logs: %v", err)
	}
	for _, path := range logs {
		name := strings.TrimSuffix(filepath.Base(path), ".log")
		log := logOf(t, name)
		l := readLog(log)
		if began := strings.Contains(log, "Server version name:"); began != (l.Version != "") {
			t.Errorf("%s: version %q", name, l.Version)
		}
		version := strings.Split(name, "-")[1]
		if l.Version != "" && !strings.HasPrefix(l.Version, "Apache Tomcat/"+version+".") {
			t.Errorf("%s: version %q", name, l.Version)
		}
		if l.Connector != "" && len(handlersOf(l)) != 1 {
			t.Errorf("%s: connector %q isn't understood", name, l.Connector)
		}
	}
}

func TestReadLogIsBounded(t *testing.T) {
	var log strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&log, "None of the [ciphers] specified are supported %d%s\n", i, strings.Repeat("x", 10_000))
	}
	l := readLog(log.String())
	if len(l.refusals) != maxRefusals || len(l.refusals[0]) != maxRefusalLength {
		t.Errorf("%d adapter.FirstMatches of %d bytes", len(l.refusals), len(l.refusals[0]))
	}
}

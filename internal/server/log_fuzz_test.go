package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// FuzzLog reads logs that a server may have written, as that of each kind of server.
func FuzzLog(f *testing.F) {
	logs, err := filepath.Glob("*/testdata/logs/*")
	if err != nil || len(logs) == 0 {
		f.Fatalf("%d logs: %v", len(logs), err)
	}
	for _, name := range logs {
		log, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(log))
	}
	for _, prefix := range []string{"Server version name:   Apache Tomcat/", "[Sat Nov 21 12:50:13.0 2026] [mpm_event:notice] [pid 1] AH00489: Apache/", "2026/11/21 12:50:13 [notice] 1#1: nginx/"} {
		f.Add("26-Nov-2026 10:00:00.000 INFO [main] org.apache.catalina.startup.VersionLoggerListener.log " + prefix + strings.Repeat("9", 100_000) + " configured\n")
		f.Add(prefix + strings.Repeat("9", 100_000) + " (Unix) configured -- resuming normal operations\n")
	}
	servers := []v1alpha1.Server{
		{Tomcat: &v1alpha1.TomcatServer{}}, {Jetty: &v1alpha1.JettyServer{}}, {HTTPD: &v1alpha1.HTTPDServer{}},
		{Nginx: &v1alpha1.NginxServer{WorkerProcesses: ptr.To(int32(2)), WorkerConnections: ptr.To(int32(50_000))}},
	}
	f.Fuzz(func(t *testing.T, log string) {
		for i := range servers {
			for _, tls := range []*v1alpha1.TLS{nil, {}} {
				read, mismatches := ReadLogs(&v1alpha1.Target{Server: servers[i], TLS: tls}, nil, map[string]string{ContainerName: log})
				l := read[ContainerName]
				const most = maxTextBytes + len("…")
				if len(l.Version) > most || len(l.Connector) > most || len(l.Libraries) > maxLibraries || len(mismatches) > maxMismatches {
					t.Errorf("%+v, %d mismatches", l, len(mismatches))
				}
				for _, m := range mismatches {
					if len(m.Declared) > most || len(m.Real) > most {
						t.Errorf("%+v", m)
					}
				}
			}
		}
	})
}

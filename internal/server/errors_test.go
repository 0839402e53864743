package server

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/api/v1alpha1"
)

func TestReadErrors(t *testing.T) {
	tomcat := v1alpha1.Server{Tomcat: &v1alpha1.TomcatServer{}}
	jetty := v1alpha1.Server{Jetty: &v1alpha1.JettyServer{}}
	httpd := v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{}}
	nginx := v1alpha1.Server{Nginx: &v1alpha1.NginxServer{}}
	const (
		severe   = "22-Nov-2026 17:27:24.691 SEVERE [http-nio-8080-exec-1] org.apache.catalina.core.StandardWrapperValve.invoke Servlet.service() threw exception"
		memory   = `Exception in thread "http-nio-8080-exec-1" java.lang.OutOfMemoryError: Java heap space`
		workers  = "[Sat Nov 21 12:50:57.382920 2026] [mpm_event:error] [pid 1:tid 1] AH00484: server reached MaxRequestWorkers setting"
		few      = "2026/11/21 12:51:05 [alert] 19#19: 4 worker_connections are not enough"
		files    = "2026/11/21 12:50:13 [alert] 18#18: setrlimit(RLIMIT_NOFILE, 32768) failed (1: Operation not permitted)"
		reused   = "2026/11/29 07:51:05 [warn] 24103#24103: 64 worker_connections are not enough, reusing connections"
		delayed  = `2026/11/29 07:51:05 [warn] 24103#24103: *7 delaying request, excess: 1.000, by zone "z", client: 10.0.0.1`
		buffered = "2026/11/29 07:51:05 [warn] 24103#24103: *7 an upstream response is buffered to a temporary file /a while reading upstream"
		rejected = "22-Nov-2026 17:27:24.691 WARNING [http-nio-8080-Poller] org.apache.tomcat.util.net.AbstractEndpoint.processSocket Executor rejected socket [a] for processing"
		cache    = "WARNING: Unable to add the resource at [/a] to the cache for web application [] because there was insufficient free space available after evicting expired cache entries - consider increasing the maximum size of the cache"
		compiler = "OpenJDK 64-Bit Server VM warning: CodeCache is full. Compiler has been disabled."
		warned   = "2026-11-22 03:18:55.352:WARN :oejs.HttpChannel:qtp1-2: /a"
		info     = "22-Nov-2026 17:27:24.691 INFO [main] org.apache.catalina.startup.VersionLoggerListener.log SEVERE [x"
		response = `10.0.0.1 - - [21/Nov/2026:12:50:57 +0000] "GET /[error] HTTP/1.1" 200 5 "2026/11/21 12:51:05 [alert] 19#19: "`
	)
	for name, tc := range map[string]struct {
		server v1alpha1.Server
		lines  []string
		count  int64
		first  string
	}{
		"Tomcat":               {tomcat, []string{info, severe, "\tat a.b.c(D.java:5)", memory}, 2, severe},
		"Tomcat, old format":   {tomcat, []string{"Nov 21, 2026 1:17:02 PM a.b c", "SEVERE: failed"}, 1, "SEVERE: failed"},
		"Tomcat, no errors":    {tomcat, []string{info, workers, "\tSEVERE: x", response}, 0, ""},
		"Tomcat, limits":       {tomcat, []string{strings.Replace(severe, "SEVERE", "WARNING", 1), rejected, cache, compiler, "[5.052s][warning][codecache] " + compiler[34:]}, 3, rejected},
		"httpd":                {httpd, []string{severe, workers, workers}, 2, workers},
		"httpd 2.2":            {httpd, []string{"[Sat Nov 21 12:50:57 2026] [error] x"}, 1, "[Sat Nov 21 12:50:57 2026] [error] x"},
		"httpd, no errors":     {httpd, []string{strings.Replace(workers, "error", "notice", 1), response}, 0, ""},
		"nginx":                {nginx, []string{few}, 1, few},
		"nginx, limits":        {nginx, []string{buffered, reused, delayed}, 2, reused},
		"nginx, no errors":     {nginx, []string{strings.Replace(few, "alert", "notice", 1), response, files}, 0, ""},
		"Jetty":                {jetty, []string{warned, strings.Replace(warned, "WARN ", "INFO ", 1), memory}, 2, warned},
		"what a terminal does": {nginx, []string{few + "\x1b[31m\u202e"}, 1, few + "[31m"},
		"a long line":          {nginx, []string{few + strings.Repeat("x", 5000)}, 1, (few + strings.Repeat("x", 5000))[:maxTextBytes] + "…"},
		"an unknown server":    {v1alpha1.Server{Generic: &v1alpha1.GenericServer{}}, []string{severe, workers, few}, 0, ""},
	} {
		var want []LoggedErrors
		if tc.count > 0 {
			want = []LoggedErrors{{ContainerName, tc.count, tc.first}}
		}
		got := ReadErrors(&v1alpha1.Target{Server: tc.server}, map[string]string{ContainerName: strings.Join(tc.lines, "\n") + "\n"})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}

	// Of a target's servers each has its log.
	both := &v1alpha1.Target{Server: httpd, Backends: []v1alpha1.Backend{{Name: "app", Server: v1alpha1.BackendServer{Tomcat: tomcat.Tomcat}}}}
	got := ReadErrors(both, map[string]string{"app": severe, ContainerName: severe, "other": severe})
	if diff := cmp.Diff([]LoggedErrors{{"app", 1, severe}}, got); diff != "" {
		t.Errorf("two servers (-want +got):\n%s", diff)
	}
}

// TestReadErrorsOfRealServers reads what servers of each kind logged with a usual configuration, and with an
// unusual one.
func TestReadErrorsOfRealServers(t *testing.T) {
	servers := map[string]v1alpha1.Server{
		"tomcat": {Tomcat: &v1alpha1.TomcatServer{}}, "httpd": {HTTPD: &v1alpha1.HTTPDServer{}},
		"nginx": {Nginx: &v1alpha1.NginxServer{}}, "jetty": {Jetty: &v1alpha1.JettyServer{}},
	}
	for file, want := range map[string]int64{
		"tomcat/testdata/rendered-logs/9.0-nio-rendered.log":        0,
		"tomcat/testdata/logs/tomcat-9.0-out-of-memory-serving.log": 15,
		"tomcat/testdata/rendered-logs/9.0-apr-native-too-old.log":  2,
		"httpd/testdata/rendered-logs/defaults.log":                 0,
		"httpd/testdata/logs/httpd-event-workers-reached.log":       2,
		"nginx/testdata/rendered-logs/own-main.log":                 0,
		"nginx/testdata/logs/nginx-connections-exhausted.log":       3,
		"jetty/testdata/rendered-logs/defaults.log":                 0,
		"jetty/testdata/logs/threads-insufficient.log":              2,
	} {
		kind, _, _ := strings.Cut(file, "/")
		log, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var lines int64
		for _, e := range ReadErrors(&v1alpha1.Target{Server: servers[kind]}, map[string]string{ContainerName: string(log)}) {
			lines += e.Lines
		}
		if lines != want {
			t.Errorf("%s: %d lines, want %d", file, lines, want)
		}
	}
}

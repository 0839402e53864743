package nginx

import (
	"fmt"
	"regexp"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/internal/server/adapter"
)

var (
	logsVersion  = regexp.MustCompile(`(?m)\[notice\] \d+#\d+: ([A-Za-z]+/\d\S*(?: \([^)]*\))?)$`)
	logsMethod   = regexp.MustCompile(`(?m)\[notice\] \d+#\d+: using the "(\w+)" event method$`)
	logsLibrary  = regexp.MustCompile(`(?m)\[notice\] \d+#\d+: (?:built|running) with (\S+ \d\S*)`)
	logsStarted  = regexp.MustCompile(`(?m)\[notice\] \d+#\d+: start worker process (\d+)$`)
	logsExited   = regexp.MustCompile(`(?m)\[\w+\] \d+#\d+: worker process (\d+) exited `)
	logsStopping = regexp.MustCompile(`\[notice\] \d+#\d+: signal \d+ \((?:SIGTERM|SIGINT|SIGQUIT)\) received`)
	logsLimit    = regexp.MustCompile(`(?m)\[notice\] \d+#\d+: getrlimit\(RLIMIT_NOFILE\): (\d+):\d+$`)
	noLimit      = regexp.MustCompile(`\[alert\] \d+#\d+: setrlimit\(RLIMIT_NOFILE, \d+\) failed`)
	logsExceeds  = regexp.MustCompile(`\[warn\] \d+#\d+: (\d+) worker_connections exceed open file resource limit: (\d+)`)
	// nginx warns of limits beyond which it closes idle connections, delays requests or leaves a backend alone.
	logsError = regexp.MustCompile(`^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[(?:(?:error|crit|alert|emerg)\]|` +
		`warn\] \d+#\d+: (?:\*\d+ )?(?:\d+ worker_connections are not enough|delaying request|upstream server temporarily disabled))`)
	noFork = regexp.MustCompile(`fork\(\) failed while spawning "worker process".*`)
)

// refusals are the lines that nginx logs if it, as built, or its library can't do what is declared.
var refusals = []adapter.Refusal{
	adapter.Refuses(`SSL_CTX_set_cipher_list\(.*\) failed.*|SSL_CONF_cmd\("Ciphersuites".*\) failed.*`, "tls.ciphers", adapter.DeclaredCiphers,
		"this nginx's OpenSSL doesn't support them: use others, or another image"),
	adapter.Refuses(`unknown directive "ssl_conf_command"`, "tls.ciphers", adapter.DeclaredCiphers,
		"suites of TLS 1.3 can be set since nginx 1.19.4: remove them, or use another image"),
	adapter.Refuses(`requires ngx_http_ssl_module`, "tls", adapter.IsSet,
		"use an image whose nginx is built with it, or remove tls"),
	adapter.Refuses(`invalid value "(?:TLSv1(?:\.\d)?)"`, "tls.protocols", adapter.DeclaredProtocols,
		"this nginx doesn't support it: use others, or another image"),
}

// openFiles is the setting for the maximum number of open files of a worker process.
const openFiles = "worker_rlimit_nofile"

// logged holds the facts about nginx that its log states.
type logged struct {
	adapter.Log
	// adjustments are the settings that nginx changed.
	adjustments []adjustment
	// workers is the number of worker processes that nginx has started.
	workers int
}

// adjustment is a setting that nginx changed.
type adjustment struct{ setting, configured, real string }

// readLog reads an error log of nginx of the level notice
// (https://nginx.org/en/docs/ngx_core_module.html#error_log).
func readLog(log string) logged {
	l := logged{Log: adapter.Log{Version: adapter.FirstMatch(log, logsVersion), Connector: adapter.FirstMatch(log, logsMethod)}}
	if library := adapter.FirstMatch(log, logsLibrary); library != "" {
		l.Libraries = []string{library}
	}
	l.workers = len(logsStarted.FindAllString(log, -1)) - len(logsExited.FindAllString(log, -1))
	if exceeds := logsExceeds.FindStringSubmatch(log); exceeds != nil {
		l.adjustments = append(l.adjustments, adjustment{setting: "worker_connections", configured: exceeds[1], real: exceeds[2]})
	}
	if limit := adapter.FirstMatch(log, logsLimit); limit != "" && noLimit.MatchString(log) {
		l.adjustments = append(l.adjustments, adjustment{setting: openFiles, real: limit})
	}
	return l
}

// IsError implements adapter.Verifiable. A limit of open files that a worker couldn't raise is none: ReadLog compares the limit with the
// declared connections.
func (Server) IsError(line string) bool {
	return logsError.MatchString(line) && !noLimit.MatchString(line)
}

// running returns what nginx logged until it was stopped.
func running(log string) string {
	if stopping := logsStopping.FindStringIndex(log); stopping != nil {
		return log[:stopping[0]]
	}
	return log
}

// ReadLog implements adapter.Verifiable. What a configuration of the user's own sets may differ from the spec,
// so that only values of the spec that nginx itself changed are compared.
func (Server) ReadLog(in *adapter.Input, log string) (adapter.Log, []adapter.Mismatch) {
	log = running(log)
	n := in.Server.Nginx
	l, found := readLog(log), adapter.Mismatches{In: in}
	connections := int(ptr.Deref(n.WorkerConnections, defaultConnections))
	for _, a := range l.adjustments {
		files, _ := strconv.Atoi(a.real)
		exceeds := a.setting == "worker_connections" && a.configured == strconv.Itoa(connections)
		if exceeds || a.setting == openFiles && !in.Changed(n.Configuration, "workerConnections") && files < connections {
			found.Differs("nginx.workerConnections", strconv.Itoa(connections), fmt.Sprintf("a worker can have %d files open", files),
				fmt.Sprintf("decrease it, or increase the limit of open files of the node's container runtime to %d", 2*connections))
		}
	}
	if in.Changed(n.Configuration) {
		return l.Log, found.All
	}
	workers := int(workerProcesses(in))
	if failed := noFork.FindString(log); failed != "" && !in.Changed(n.Configuration, "workerProcesses") {
		found.Differs("nginx.workerProcesses", strconv.Itoa(workers), fmt.Sprintf("%d started, then %s", l.workers, failed),
			"decrease it, or increase the node's limit of processes per pod")
	}
	found.Refusals(log, refusals)
	// Some may still be starting: nginx responds as soon as the first has started.
	if l.workers > workers && !in.Changed(n.Configuration, "workerProcesses") {
		found.Differs("nginx.workerProcesses", strconv.Itoa(workers), fmt.Sprintf("%d started", l.workers), "check the image's nginx")
	}
	return l.Log, found.All
}

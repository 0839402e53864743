package nginx

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

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
	noFork       = regexp.MustCompile(`fork\(\) failed while spawning "worker process".*`)
	noCipher     = regexp.MustCompile(`SSL_CTX_set_cipher_list\(.*\) failed.*`)
	noSuite      = regexp.MustCompile(`SSL_CONF_cmd\("Ciphersuites".*\) failed.*`)
	noSuites     = regexp.MustCompile(`unknown directive "ssl_conf_command"`)
	noTLS        = regexp.MustCompile(`requires ngx_http_ssl_module`)
	noTLSVersion = regexp.MustCompile(`invalid value "(?:TLSv1(?:\.\d)?)"`)

	logsRefusals = []*regexp.Regexp{noFork, noCipher, noSuite, noSuites, noTLS, noTLSVersion}
)

// openFiles is the setting for the maximum number of open files of a worker process.
const openFiles = "worker_rlimit_nofile"

// logged is what nginx's log says about it.
type logged struct {
	adapter.Log
	// refusals are the lines about what nginx doesn't have.
	refusals []string
	// adjustments are the settings that nginx changed.
	adjustments []adjustment
	// workers is how many worker processes nginx has started.
	workers int
}

// adjustment is a setting that nginx changed.
type adjustment struct{ setting, configured, real string }

// ReadLog implements adapter.Verifiable.
func (Server) ReadLog(in *adapter.Input, log string) (adapter.Log, []adapter.Mismatch) {
	l := readLog(log)
	return l.Log, check(in, l)
}

// readLog reads an error log of nginx of the level notice
// (https://nginx.org/en/docs/ngx_core_module.html#error_log).
func readLog(log string) logged {
	if stopping := logsStopping.FindStringIndex(log); stopping != nil {
		log = log[:stopping[0]]
	}
	l := logged{
		Log:      adapter.Log{Version: adapter.FirstMatch(log, logsVersion), Connector: adapter.FirstMatch(log, logsMethod)},
		refusals: adapter.FirstMatches(log, logsRefusals),
	}
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

// check compares what was declared with the log. A configuration of the user's own may
// differ from the spec, so then only values of the spec that nginx itself changed are
// compared.
func check(in *adapter.Input, l logged) []adapter.Mismatch {
	n := in.Server.Nginx
	var found []adapter.Mismatch
	mismatch := func(field, declared, real, remedy string, unsupported bool) {
		found = append(found, adapter.Mismatch{Field: field, Declared: declared, Real: real, Remedy: remedy, Unsupported: unsupported})
	}
	connections := int(ptr.Deref(n.WorkerConnections, defaultConnections))
	for _, a := range l.adjustments {
		files, _ := strconv.Atoi(a.real)
		exceeds := a.setting == "worker_connections" && a.configured == strconv.Itoa(connections)
		if exceeds || a.setting == openFiles && n.Configuration == nil && files < connections {
			mismatch(in.Field("nginx.workerConnections"), strconv.Itoa(connections), fmt.Sprintf("a worker can have %d files open", files),
				fmt.Sprintf("decrease it, or increase the limit of open files of the node's container runtime to %d", 2*connections), false)
		}
	}
	if n.Configuration != nil {
		return found
	}
	workers := int(workerProcesses(in))
	for _, refusal := range l.refusals {
		switch {
		case noFork.MatchString(refusal):
			mismatch(in.Field("nginx.workerProcesses"), strconv.Itoa(workers), fmt.Sprintf("%d started, then %s", l.workers, refusal),
				"decrease it, or increase the node's limit of processes per pod", false)
		case noTLS.MatchString(refusal):
			mismatch("spec.target.tls", "set", refusal, "use an image whose nginx is built with it, or remove tls", true)
		case noTLSVersion.MatchString(refusal):
			mismatch("spec.target.tls.protocols", adapter.DeclaredProtocols(in.TLS), refusal, "this nginx doesn't support it: use others, or another image", true)
		case noSuites.MatchString(refusal):
			mismatch("spec.target.tls.ciphers", adapter.DeclaredCiphers(in.TLS), refusal, "suites of TLS 1.3 can be set since nginx 1.19.4: remove them, or use another image", true)
		default:
			mismatch("spec.target.tls.ciphers", adapter.DeclaredCiphers(in.TLS), strings.TrimSpace(refusal), "this nginx's OpenSSL doesn't support them: use others, or another image", true)
		}
	}
	// Some may still be starting: nginx responds as soon as the first has started.
	if l.workers > workers {
		mismatch(in.Field("nginx.workerProcesses"), strconv.Itoa(workers), fmt.Sprintf("%d started", l.workers), "check the image's nginx", false)
	}
	return found
}

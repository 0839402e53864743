package target

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"
)

var (
	nginxVersion  = regexp.MustCompile(`(?m)\[notice\] \d+#\d+: ([A-Za-z]+/\d\S*(?: \([^)]*\))?)$`)
	nginxMethod   = regexp.MustCompile(`(?m)\[notice\] \d+#\d+: using the "(\w+)" event method$`)
	nginxLibrary  = regexp.MustCompile(`(?m)\[notice\] \d+#\d+: (?:built|running) with (\S+ \d\S*)`)
	nginxStarted  = regexp.MustCompile(`(?m)\[notice\] \d+#\d+: start worker process (\d+)$`)
	nginxExited   = regexp.MustCompile(`(?m)\[\w+\] \d+#\d+: worker process (\d+) exited `)
	nginxStopping = regexp.MustCompile(`\[notice\] \d+#\d+: signal \d+ \((?:SIGTERM|SIGINT|SIGQUIT)\) received`)
	nginxLimit    = regexp.MustCompile(`(?m)\[notice\] \d+#\d+: getrlimit\(RLIMIT_NOFILE\): (\d+):\d+$`)
	nginxNoLimit  = regexp.MustCompile(`\[alert\] \d+#\d+: setrlimit\(RLIMIT_NOFILE, \d+\) failed`)
	nginxExceeds  = regexp.MustCompile(`\[warn\] \d+#\d+: (\d+) worker_connections exceed open file resource limit: (\d+)`)
	nginxNoFork   = regexp.MustCompile(`fork\(\) failed while spawning "worker process".*`)
	nginxNoCipher = regexp.MustCompile(`SSL_CTX_set_cipher_list\(.*\) failed.*`)
	nginxNoSuite  = regexp.MustCompile(`SSL_CONF_cmd\("Ciphersuites".*\) failed.*`)
	nginxNoSuites = regexp.MustCompile(`unknown directive "ssl_conf_command"`)
	nginxNoTLS    = regexp.MustCompile(`requires ngx_http_ssl_module`)
	nginxNoTLSOf  = regexp.MustCompile(`invalid value "(?:TLSv1(?:\.\d)?)"`)

	nginxRefusals = []*regexp.Regexp{nginxNoFork, nginxNoCipher, nginxNoSuite, nginxNoSuites, nginxNoTLS, nginxNoTLSOf}
)

// nginxOpenFiles is the setting of which an adjustment says how many files a
// worker process may have open at most.
const nginxOpenFiles = "worker_rlimit_nofile"

// readNginx reads an error log of nginx of the level notice
// (https://nginx.org/en/docs/ngx_core_module.html#error_log).
func readNginx(log string) Logged {
	if stopping := nginxStopping.FindStringIndex(log); stopping != nil {
		log = log[:stopping[0]]
	}
	l := Logged{Version: first(log, nginxVersion), Connector: first(log, nginxMethod), refusals: refusals(log, nginxRefusals)}
	if library := first(log, nginxLibrary); library != "" {
		l.Libraries = []string{library}
	}
	l.workers = len(nginxStarted.FindAllString(log, -1)) - len(nginxExited.FindAllString(log, -1))
	if exceeds := nginxExceeds.FindStringSubmatch(log); exceeds != nil {
		l.adjustments = append(l.adjustments, adjustment{setting: "worker_connections", told: exceeds[1], real: exceeds[2]})
	}
	if limit := first(log, nginxLimit); limit != "" && nginxNoLimit.MatchString(log) {
		l.adjustments = append(l.adjustments, adjustment{setting: nginxOpenFiles, real: limit})
	}
	return l
}

// checkNginx compares what was declared with what nginx says. With a
// configuration of the user's own, which may say otherwise than the spec, only
// what nginx itself changed of the spec's figures counts.
func checkNginx(in *input, l Logged) []Contradiction {
	n := in.server.Nginx
	var found []Contradiction
	contradict := func(field, declared, real, mend string, unsupported bool) {
		found = append(found, Contradiction{Field: field, Declared: declared, Real: real, Mend: mend, Unsupported: unsupported})
	}
	connections := int(ptr.Deref(n.WorkerConnections, nginxConnections))
	for _, a := range l.adjustments {
		files, _ := strconv.Atoi(a.real)
		exceeds := a.setting == "worker_connections" && a.told == strconv.Itoa(connections)
		if exceeds || a.setting == nginxOpenFiles && n.Configuration == nil && files < connections {
			contradict(in.field("nginx.workerConnections"), strconv.Itoa(connections), fmt.Sprintf("a worker can have %d files open", files),
				fmt.Sprintf("lower it, or raise the limit of open files that the node's container runtime gives to %d", 2*connections), false)
		}
	}
	if n.Configuration != nil {
		return found
	}
	workers := int(nginxWorkers(in))
	for _, refusal := range l.refusals {
		switch {
		case nginxNoFork.MatchString(refusal):
			contradict(in.field("nginx.workerProcesses"), strconv.Itoa(workers), fmt.Sprintf("%d started, then %s", l.workers, refusal),
				"lower it, or raise the limit of processes that the node gives to a pod", false)
		case nginxNoTLS.MatchString(refusal):
			contradict("spec.target.tls", "given", refusal, "use an image whose nginx is built with it, or leave tls out", true)
		case nginxNoTLSOf.MatchString(refusal):
			contradict("spec.target.tls.protocols", protocolsOf(in.tls), refusal, "this nginx doesn't know it: use others, or another image", true)
		case nginxNoSuites.MatchString(refusal):
			contradict("spec.target.tls.ciphers", joined(in.tls), refusal, "suites of TLS 1.3 can be set from nginx 1.19.4 on: leave them out, or use another image", true)
		default:
			contradict("spec.target.tls.ciphers", joined(in.tls), strings.TrimSpace(refusal), "this nginx's OpenSSL doesn't have them: use others, or another image", true)
		}
	}
	// Fewer may be on their way: nginx answers from its first worker on.
	if l.workers > workers {
		contradict(in.field("nginx.workerProcesses"), strconv.Itoa(workers), fmt.Sprintf("%d started", l.workers), "check the image's nginx", false)
	}
	return found
}

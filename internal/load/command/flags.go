package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// foreign has what to use instead of the flags of other load generators: k6, wrk, wrk2, hey, vegeta, oha.
var foreign = map[string]string{
	"vus": "-c, the number of connections; of a k6 script -e K6_VUS=N", "u": "-c, the number of connections; of a k6 script -e K6_VUS=N",
	"concurrency": "-c, the number of connections", "workers": "-c, the number of connections", "w": "-c, the number of connections",
	"iterations": "-n, the number of requests; of a k6 script -e K6_ITERATIONS=N", "i": "-n, the number of requests; of a k6 script -e K6_ITERATIONS=N",
	"stage": "load.stages of a plan; of a k6 script its options", "stages": "load.stages of a plan; of a k6 script its options", "s": "assay-load run SCRIPT for k6 scripts",
	"script": "assay-load run SCRIPT for k6 scripts", "rps": "--rate", "q": "--rate", "R": "--rate", "r": "--rate, with two hyphens", "z": "-d, the duration", "time": "-d, the duration",
	"threads": "no flag: all CPUs are used, or as many as the environment variable GOMAXPROCS says", "t": "no flag for threads: all CPUs are used, or as many as the environment variable GOMAXPROCS says",
	"latency": "no flag: percentiles are always printed", "L": "no flag: percentiles are always printed",
	"method": "-X", "m": "-X", "body": "--data", "D": "--data", "T": "-H 'Content-Type: TYPE'", "A": "-H 'Accept: TYPE'", "a": "-H 'Authorization: …'", "cookie": "-H 'Cookie: …'",
	"timeout": "load.client.timeoutSeconds of a plan", "http2": "load.client.protocol of a plan", "h2": "load.client.protocol of a plan", "disable-keepalive": "load.client.keepAlive of a plan",
	"targets": "load.requests or requestsFile of a plan", "l": "no flag: the length of responses may vary", "out": "-o FORMAT", "format": "-o FORMAT", "json": "-o json",
	"no-connection-reuse": "load.client.keepAlive of a plan", "summary-export": "-o json", "insecure-skip-tls-verify": "-k",
	"connections": "load.closed.connections of a plan", "c": "load.closed.connections of a plan", "duration": "durationSeconds of a plan; of a k6 script -e K6_DURATION=30s",
	"d": "durationSeconds of a plan; of a k6 script -e K6_DURATION=30s", "n": "requestCount of a plan; of a k6 script -e K6_ITERATIONS=N", "rate": "load.open.requestsPerSecond of a plan",
	"header": "load.requests[].headers of a plan", "H": "load.requests[].headers of a plan",
}

// explainFlag adds to the error of an unknown flag what to use instead.
func explainFlag(command string, err error) error {
	name := ""
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		name = unknown.GetSpecifiedName()
		if group := unknown.GetSpecifiedShortnames(); group != "" {
			name = string(group[0])
			if word, _, _ := strings.Cut(group, "="); len(word) > 1 && foreign[word] != "" { // "-rate=5"
				name = word
			}
		}
	}
	if hint := foreign[name]; hint != "" {
		return fmt.Errorf("%w: use %s; see %s --help", err, hint, strings.TrimSpace("assay-load "+strings.TrimPrefix(command, "assay-load")))
	}
	return err
}

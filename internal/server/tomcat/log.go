package tomcat

import (
	"regexp"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/server/adapter"
)

// logged holds the facts about Tomcat that its log states.
type logged struct {
	adapter.Log
	// refusals are the lines about what Tomcat doesn't have, or omits.
	refusals []string
	// service is the name of its service.
	service string
}

// ReadLog implements adapter.Verifiable.
func (Server) ReadLog(in *adapter.Input, log string) (adapter.Log, []adapter.Mismatch) {
	l, found := readLog(log), adapter.Mismatches{In: in}
	check(&found, l)
	return l.Log, found.All
}

// logsError matches a line of the level SEVERE, of Tomcat's own formatters and of Java's, and warnings that a queue or the cache is full.
var logsError = regexp.MustCompile(`^(?:\S+ \S+ )?(?:SEVERE(?: \[|: )|WARNING(?: \[|: ).*(?:Executor rejected socket|insufficient free space available after evicting))`)

// IsError implements adapter.Verifiable.
func (Server) IsError(line string) bool {
	return logsError.MatchString(line) || adapter.IsJavaError(line)
}

// The lines of all versions from 8.5 on. How they begin depends on logging.properties,
// which the user may replace.
var (
	logsVersion   = regexp.MustCompile(`Server version name: +(Apache Tomcat/\S+)`)
	logsEngine    = regexp.MustCompile(`Starting Servlet engine: \[(Apache Tomcat/[^\]\s]+)\]`)
	logsJava      = regexp.MustCompile(`JVM Version: +(\S+)`)
	logsVendor    = regexp.MustCompile(`JVM Vendor: +(\S[^\r\n]*)`)
	logsNative    = regexp.MustCompile(`Loaded Apache Tomcat Native library \[([^\]]+)\] using APR version \[([^\]]+)\]`)
	logsOpenSSL   = regexp.MustCompile(`OpenSSL successfully initialized(?: using FFM)? \[(\S+ [^\]\s]+)`)
	logsStarting  = regexp.MustCompile(`Starting ProtocolHandler \["([^"]+)"\]`)
	logsPreparing = regexp.MustCompile(`Initializing ProtocolHandler \["([^"]+)"\]|Failed to initialize component \[Connector\["([^"]+)"\]\]`)
	logsService   = regexp.MustCompile(`Starting service \[([^\]]+)\]`)
)

// logsRefusal matches the lines about what Tomcat doesn't have, or omits.
var logsRefusal = regexp.MustCompile(`Apache Tomcat Native library .*was not found` +
	`|Apache Tomcat Native library failed to load` +
	`|An incompatible version \[[^\]]*\] of the Apache Tomcat Native library` +
	`|requires the APR/native library which is not available` +
	`|ClassNotFoundException: org\.apache\.` +
	`|The FFM API from Java 22 is not available` +
	`|Cannot open library: \S+` +
	`|Match \[Server/Service/Connector(?:/\w+)*\] failed to set property \[` +
	`|Virtual threads require a minimum Java version` +
	`|Some of the specified \[\w+\] are not supported` +
	`|None of the \[\w+\] specified are supported` +
	`|Sendfile is not supported`)

// Limits of the refusals that are kept.
const (
	maxRefusals      = 16
	maxRefusalLength = 600
)

// readLog reads the log of a Tomcat that has started, or has failed to.
func readLog(log string) logged {
	l := logged{
		Log:     adapter.Log{Version: adapter.FirstMatch(log, logsVersion, logsEngine)},
		service: adapter.FirstMatch(log, logsService),
	}
	for _, says := range []*regexp.Regexp{logsStarting, logsPreparing} {
		if l.Connector == "" {
			l.Connector = strings.Join(every(log, says), ", ")
			l.Preparing = l.Connector != "" && says == logsPreparing
		}
	}
	if java := adapter.FirstMatch(log, logsJava); java != "" {
		library := javaLibrary + java
		if vendor := adapter.FirstMatch(log, logsVendor); vendor != "" {
			library += " (" + strings.TrimSpace(vendor) + ")"
		}
		l.Libraries = append(l.Libraries, library)
	}
	if m := logsNative.FindStringSubmatch(log); m != nil {
		l.Libraries = append(l.Libraries, "Apache Tomcat Native "+m[1], "APR "+m[2])
	}
	if openSSL := adapter.FirstMatch(log, logsOpenSSL); openSSL != "" {
		l.Libraries = append(l.Libraries, openSSL)
	}
	for line := range strings.Lines(log) {
		if len(l.refusals) == maxRefusals {
			break
		}
		if at := logsRefusal.FindStringIndex(line); at != nil {
			line = strings.TrimSpace(line[at[0]:])
			if line = line[:min(len(line), maxRefusalLength)]; !slices.Contains(l.refusals, line) {
				l.refusals = append(l.refusals, line)
			}
		}
	}
	return l
}

// every returns the matches of an expression, each once.
func every(log string, e *regexp.Regexp) []string {
	var all []string
	for _, m := range e.FindAllStringSubmatch(log, maxRefusals) {
		if found := strings.Join(m[1:], ""); !slices.Contains(all, found) {
			all = append(all, found)
		}
	}
	return all
}

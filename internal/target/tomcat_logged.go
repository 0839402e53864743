package target

import (
	"regexp"
	"slices"
	"strings"
)

// What Tomcat says of itself, in all versions from 8.5 on. The lines' beginnings
// depend on its logging.properties, which the user may replace.
var (
	tomcatSaysVersion   = regexp.MustCompile(`Server version name: +(Apache Tomcat/\S+)`)
	tomcatSaysEngine    = regexp.MustCompile(`Starting Servlet engine: \[(Apache Tomcat/[^\]\s]+)\]`)
	tomcatSaysJava      = regexp.MustCompile(`JVM Version: +(\S+)`)
	tomcatSaysVendor    = regexp.MustCompile(`JVM Vendor: +(\S[^\r\n]*)`)
	tomcatSaysNative    = regexp.MustCompile(`Loaded Apache Tomcat Native library \[([^\]]+)\] using APR version \[([^\]]+)\]`)
	tomcatSaysOpenSSL   = regexp.MustCompile(`OpenSSL successfully initialized \[(\S+ [^\]\s]+)`)
	tomcatSaysStarting  = regexp.MustCompile(`Starting ProtocolHandler \["([^"]+)"\]`)
	tomcatSaysPreparing = regexp.MustCompile(`Initializing ProtocolHandler \["([^"]+)"\]|Failed to initialize component \[Connector\["([^"]+)"\]\]`)
	tomcatSaysService   = regexp.MustCompile(`Starting service \[([^\]]+)\]`)
)

// tomcatRefuses are the lines in which Tomcat says that it hasn't or leaves out
// what it is asked for.
var tomcatRefuses = regexp.MustCompile(`Apache Tomcat Native library .*was not found` +
	`|Apache Tomcat Native library failed to load` +
	`|An incompatible version \[[^\]]*\] of the Apache Tomcat Native library` +
	`|requires the APR/native library which is not available` +
	`|ClassNotFoundException: org\.apache\.` +
	`|Virtual threads require a minimum Java version` +
	`|Some of the specified \[\w+\] are not supported` +
	`|None of the \[\w+\] specified are supported` +
	`|Sendfile is not supported`)

// The bounds of what is kept of a log's refusals.
const (
	maxRefusals      = 16
	maxRefusalLength = 600
)

// readTomcat reads what Tomcat says of itself when it starts, and when it
// fails to.
func readTomcat(log string) Logged {
	l := Logged{
		Version: first(log, tomcatSaysVersion, tomcatSaysEngine),
		service: first(log, tomcatSaysService),
	}
	for _, says := range []*regexp.Regexp{tomcatSaysStarting, tomcatSaysPreparing} {
		if l.Connector == "" {
			l.Connector = strings.Join(every(log, says), ", ")
			l.Preparing = l.Connector != "" && says == tomcatSaysPreparing
		}
	}
	if java := first(log, tomcatSaysJava); java != "" {
		library := tomcatJava + java
		if vendor := first(log, tomcatSaysVendor); vendor != "" {
			library += " (" + strings.TrimSpace(vendor) + ")"
		}
		l.Libraries = append(l.Libraries, library)
	}
	if m := tomcatSaysNative.FindStringSubmatch(log); m != nil {
		l.Libraries = append(l.Libraries, "Apache Tomcat Native "+m[1], "APR "+m[2])
	}
	if openSSL := first(log, tomcatSaysOpenSSL); openSSL != "" {
		l.Libraries = append(l.Libraries, openSSL)
	}
	for line := range strings.Lines(log) {
		if len(l.refusals) == maxRefusals {
			break
		}
		if at := tomcatRefuses.FindStringIndex(line); at != nil {
			line = strings.TrimSpace(line[at[0]:])
			if line = line[:min(len(line), maxRefusalLength)]; !slices.Contains(l.refusals, line) {
				l.refusals = append(l.refusals, line)
			}
		}
	}
	return l
}

// first is what the first of some expressions found, where it first did.
func first(log string, expressions ...*regexp.Regexp) string {
	for _, e := range expressions {
		if m := e.FindStringSubmatch(log); m != nil {
			return m[1]
		}
	}
	return ""
}

// every is all that an expression found, each once.
func every(log string, e *regexp.Regexp) []string {
	var all []string
	seen := map[string]bool{}
	for _, m := range e.FindAllStringSubmatch(log, maxRefusals) {
		found := strings.Join(m[1:], "")
		if !seen[found] {
			seen[found] = true
			all = append(all, found)
		}
	}
	return all
}

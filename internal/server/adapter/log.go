package adapter

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Log holds the facts about a server that its log states. A field is empty if the log doesn't have
// it.
type Log struct {
	// Version is the server's name and version, such as Apache Tomcat/9.0.98.
	Version string
	// Connector names the server's connector, such as https-openssl-apr-8443 or mpm_event.
	Connector string
	// Preparing reports whether the server logged its connector before opening it, which may still
	// fail.
	Preparing bool
	// Libraries are the versions of what the server runs on, such as OpenSSL 3.0.15.
	Libraries []string
}

// Opened returns the connector, or an empty string if the server didn't log that it opened it.
func (l Log) Opened() string {
	if l.Preparing {
		return ""
	}
	return l.Connector
}

// Mismatch is a difference between what was declared and what the server reports.
type Mismatch struct {
	// Field is the field of the spec, such as spec.target.server.tomcat.connector.protocol.
	Field string
	// Declared is the value of the field, Real what the server reports.
	Declared, Real string
	// Remedy says what to do. It begins in lowercase and ends without a period.
	Remedy string
	// Unsupported reports whether this version of the server can't do it at all.
	Unsupported bool
}

// String returns the mismatch and the remedy, a sentence each.
func (m Mismatch) String() string {
	text := fmt.Sprintf("%s is %s, but the server reports: %s.", m.Field, m.Declared, m.Real)
	if m.Remedy != "" {
		text += " " + strings.ToUpper(m.Remedy[:1]) + m.Remedy[1:] + "."
	}
	return text
}

// Mismatches collects the mismatches of a server. Its methods take the field as Input.Field does.
type Mismatches struct {
	In  *Input
	All []Mismatch
}

// Differs adds a mismatch of a server that could be as declared.
func (m *Mismatches) Differs(field, declared, real, remedy string) {
	m.All = append(m.All, Mismatch{Field: m.In.Field(field), Declared: declared, Real: real, Remedy: remedy})
}

// Unsupported adds a mismatch of a server that can't be as declared.
func (m *Mismatches) Unsupported(field, declared, real, remedy string) {
	m.Differs(field, declared, real, remedy)
	m.All[len(m.All)-1].Unsupported = true
}

// Refusal is a line that a server logs when it can't do what is declared.
type Refusal struct {
	line          *regexp.Regexp
	field, remedy string
	declared      func(*Input) string
}

// Refuses returns the refusal whose line matches the expression. The field, as Input.Field takes
// it, has the declared value.
func Refuses(line, field string, declared func(*Input) string, remedy string) Refusal {
	return Refusal{line: regexp.MustCompile(line), field: field, declared: declared, remedy: remedy}
}

// Refusals adds the refusals in a log, each line once, by the first of table that matches it.
func (m *Mismatches) Refusals(log string, table []Refusal) {
	var seen []string
	for _, r := range table {
		if line := r.line.FindString(log); line != "" && !slices.Contains(seen, line) {
			seen = append(seen, line)
			m.Unsupported(r.field, r.declared(m.In), strings.TrimSpace(line), r.remedy)
		}
	}
}

// IsSet is the value of a field for which it only matters that it is set.
func IsSet(*Input) string { return "set" }

// FirstMatch returns the first group of the first expression that matches the log, or an empty
// string.
func FirstMatch(log string, expressions ...*regexp.Regexp) string {
	for _, e := range expressions {
		if m := e.FindStringSubmatch(log); m != nil {
			return m[1]
		}
	}
	return ""
}

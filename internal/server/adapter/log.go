package adapter

import (
	"fmt"
	"regexp"
)

// Log is what a server says of itself in its log. A field is empty if the log
// doesn't say it.
type Log struct {
	// Version is the server's name and version, such as Apache Tomcat/9.0.98.
	Version string
	// Connector is how the server accepts connections, such as
	// https-openssl-apr-8443 or mpm_event.
	Connector string
	// Preparing reports whether the server named its connector before it opened it:
	// it may still fail to.
	Preparing bool
	// Libraries are the versions of what the server runs on, such as OpenSSL 3.0.15.
	Libraries []string
}

// Opened returns the connector, or an empty string if the server didn't log that
// it opened it.
func (l Log) Opened() string {
	if l.Preparing {
		return ""
	}
	return l.Connector
}

// Mismatch is a difference between what was declared and what the server says.
type Mismatch struct {
	// Field is the field of the spec, such as spec.target.server.tomcat.connector.protocol.
	Field string
	// Declared is the field's value, Real what the server says.
	Declared, Real string
	// Remedy says what to do.
	Remedy string
	// Unsupported reports whether this version of the server can't do it at all.
	Unsupported bool
}

// String returns both values and the remedy.
func (m Mismatch) String() string {
	return fmt.Sprintf("%s is %s, but the server says: %s; %s", m.Field, m.Declared, m.Real, m.Remedy)
}

// FirstMatch returns the first group of the first expression that matches the
// log, or an empty string.
func FirstMatch(log string, expressions ...*regexp.Regexp) string {
	for _, e := range expressions {
		if m := e.FindStringSubmatch(log); m != nil {
			return m[1]
		}
	}
	return ""
}

// FirstMatches returns the first match of each expression in the log.
func FirstMatches(log string, expressions []*regexp.Regexp) []string {
	var found []string
	for _, e := range expressions {
		if match := e.FindString(log); match != "" {
			found = append(found, match)
		}
	}
	return found
}

package target

import (
	"fmt"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/printable"
)

// Logged is what a server says of itself in its log. What it doesn't say is
// empty.
type Logged struct {
	// Version is the server's name and version, such as Apache Tomcat/9.0.98.
	Version string
	// Connector is how it accepts connections, such as https-openssl-apr-8443 or
	// mpm_event.
	Connector string
	// Preparing is whether it says so before it does: it may still fail to.
	Preparing bool
	// Libraries are the versions of what it runs on, such as OpenSSL 3.0.15.
	Libraries []string

	// refusals are what it says that it hasn't, or leaves out.
	refusals []string
	// service is the name of what it serves by, where it has one.
	service string
	// workers is how many worker processes it has started, where it says so.
	workers int
	// adjustments are what it says it does otherwise than it was told.
	adjustments []adjustment
}

// Contradiction is a difference between what was declared and what the server
// says.
type Contradiction struct {
	// Field is the field of the spec, such as spec.target.server.tomcat.connector.protocol.
	Field string
	// Declared is what it asks for, Real what the server says.
	Declared, Real string
	// Mend says what to do.
	Mend string
	// Unsupported is whether this version of the server can't do it at all.
	Unsupported bool
}

// String says both and the mend.
func (c Contradiction) String() string {
	return fmt.Sprintf("%s is %s, but the server says: %s; %s", c.Field, c.Declared, c.Real, c.Mend)
}

// ReadLogs reads what the servers of a target say of themselves in their logs,
// by container.
func ReadLogs(t *v1alpha1.Target, logs map[string]string) map[string]Logged {
	read := map[string]Logged{}
	for _, in := range inputs(t, nil) {
		if log, ok := logs[in.name]; ok {
			read[in.name] = readable(adapterOf(in.server).read(log))
		}
	}
	return read
}

// readable leaves out of what a server logged what a terminal would obey.
func readable(l Logged) Logged {
	l.Version, l.Connector = printable.Text(l.Version), printable.Text(l.Connector)
	for i, library := range l.Libraries {
		l.Libraries[i] = printable.Text(library)
	}
	return l
}

// Contradictions compares what was declared with what the servers say, by
// container.
func Contradictions(t *v1alpha1.Target, read map[string]Logged) []Contradiction {
	var found []Contradiction
	for _, in := range inputs(t, nil) {
		if logged, ok := read[in.name]; ok {
			found = append(found, adapterOf(in.server).check(in, logged)...)
		}
	}
	return found
}

// field is the path of a field of a server in the spec.
func (in *input) field(path string) string {
	if in.name == ContainerName {
		return "spec.target.server." + path
	}
	return fmt.Sprintf("spec.target.backends[%s].server.%s", in.name, path)
}

// Logs is whether the server that clients talk to says in its log what it is,
// as far as Assay can read it.
func Logs(t *v1alpha1.Target) bool { return t.Server.Generic == nil && t.Server.External == nil }

// Package adapter defines the interface of a server's adapter, its input and its output, and the
// paths of the run's files in a container. Each adapter is a package of its own next to this one.
// Package server has the table of all adapters.
package adapter

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// Server is one kind of server.
type Server interface {
	// Describe describes the server that in declares, or returns nil if it is of another kind.
	Describe(in *Input) *Description
	// Render returns the server's configuration files and container. An error is the user's to
	// fix, and names the field.
	Render(in *Input) (*Rendering, error)
}

// Verifiable is a Server whose log says what was really started.
type Verifiable interface {
	Server
	// ReadLog returns what the server's log says about the server, and where that differs from
	// what was declared.
	ReadLog(in *Input, log string) (Log, []Mismatch)
	// IsError reports whether the server marks a line of its log as an error.
	IsError(line string) bool
}

// Description describes a server without rendering it.
type Description struct {
	// Name is the name of the server and its connector, as in "Tomcat NIO".
	Name string
	// Detail tells it from other servers in a table, such as "+ JSSE". It may be empty.
	Detail string
	// Port is the TCP port on which the server listens, or 0 if Assay doesn't start it.
	Port int32
	// AJPPort is the TCP port on which it listens for AJP, or 0 if it doesn't.
	AJPPort int32
	// Configuration is the user's own configuration, or nil if there is none.
	Configuration *v1alpha1.Configuration
	// Files say what its files can do.
	Files *FileRules
	Limits
}

// Limits are those of a server's settings, by the default of the server if the run doesn't set them.
type Limits struct {
	// Concurrency is the largest number of requests that the server processes at a time.
	Concurrency Limit
	// Streams is the largest number of requests of an HTTP/2 connection that the server processes at a time.
	Streams Limit
	// Connections is the largest number of connections that the server serves at a time.
	Connections Limit
	// KeepAlive is the largest number of requests on a connection.
	KeepAlive Limit
	// Backlog is the length of the accept queue that the run sets. It has no default.
	Backlog Limit
}

// Limit is the largest value that a setting allows. Its zero value is no limit, or an unknown one.
type Limit struct {
	// Setting is the name of the field that sets it, such as maxThreads.
	Setting string
	// Value is 0 if only the setting is known, and -1 if it is set to no limit.
	Value int32
}

// LimitOf returns the limit of a setting, or its default if the setting is nil.
func LimitOf(setting string, value *int32, byDefault int32) Limit {
	if value != nil {
		byDefault = *value
	}
	return Limit{Setting: setting, Value: byDefault}
}

// ContainerName is the name of the container of the server that clients talk to.
const ContainerName = "server"

// Input holds the declarations of a run about a server.
type Input struct {
	// Name is the name of the server's container.
	Name   string
	Image  string
	Server *v1alpha1.Server
	// TLS is nil if the server doesn't speak TLS.
	TLS *v1alpha1.TLS
	// CPUs is the container's CPU limit, rounded up to whole CPUs.
	CPUs int32
	// Backends maps the names of the backends to their ports, AJP to those for AJP of those that
	// have one.
	Backends, AJP map[string]int32
	// Content are the paths of the run's content in the server's URLs.
	Content []string
	// Files are the files of the user's own configuration, by name.
	Files map[string]string
	// Own is what these do, or nil if that isn't known, or there is none.
	Own *Own
}

// Field returns the path in the spec of a field of the server, such as tomcat.home, or of its TLS,
// such as tls.protocols.
func (in *Input) Field(path string) string {
	switch {
	case path == "tls" || strings.HasPrefix(path, "tls."):
		return "spec.target." + path
	case in.Name == ContainerName:
		return "spec.target.server." + path
	}
	return fmt.Sprintf("spec.target.backends[%s].server.%s", in.Name, path)
}

// Port returns port if it is set, or else the usual port.
func (in *Input) Port(port *int32) int32 {
	switch {
	case port != nil:
		return *port
	case in.TLS != nil:
		return 8443
	}
	return 8080
}

// FileNames returns the names of the user's own configuration files in alphabetical order.
func (in *Input) FileNames() []string { return slices.Sorted(maps.Keys(in.Files)) }

// pathSyntax is the pattern that the API server checks too. It must not be the only check that
// keeps a value from adding a line to a file.
var pathSyntax = regexp.MustCompile(`^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$`)

// CheckPath returns an error if value, which is that of field, isn't the absolute path of a file or
// directory.
func (in *Input) CheckPath(field, value, example string) error {
	if !pathSyntax.MatchString(value) {
		return fmt.Errorf("%s: %q must be an absolute path of letters, digits, '.', '_' and '-', such as %s",
			in.Field(field), value, example)
	}
	return nil
}

// CheckFiles returns an error with the remedy if a file of the user's own configuration, which is
// that of field, has a name that doesn't match syntax.
func (in *Input) CheckFiles(field string, syntax *regexp.Regexp, remedy string) error {
	for _, name := range in.FileNames() {
		if !syntax.MatchString(name) {
			return fmt.Errorf("%s: the ConfigMap has the key %q, which %s", in.Field(field), name, remedy)
		}
	}
	return nil
}

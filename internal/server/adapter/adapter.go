// Package adapter defines the interface of a server's adapter, its input and its
// output, and the paths of the run's files in a container. Each adapter is a package of
// its own next to this one. Package server has the table of all adapters.
package adapter

import (
	"fmt"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// Server is one kind of server.
type Server interface {
	// Declared reports whether spec declares a server of this kind.
	Declared(spec *v1alpha1.Server) bool
	// Describe returns the name of the server and its connector, as in "Tomcat
	// NIO", and what else tells it from other servers in a table, such as "+ JSSE";
	// empty for nothing.
	Describe(in *Input) (name, detail string)
	// Port returns the TCP port on which the server listens.
	Port(spec *v1alpha1.Server, tls bool) int32
	// Configuration returns the user's own configuration, or nil if there is none.
	Configuration(spec *v1alpha1.Server) *v1alpha1.Configuration
	// Render returns the server's configuration files and container. An error is the
	// user's to fix, and names the field.
	Render(in *Input) (*Rendering, error)
}

// Verifiable is a Server whose log says what was really started.
type Verifiable interface {
	Server
	// ReadLog returns what the server's log says about the server, and where that
	// differs from what was declared.
	ReadLog(in *Input, log string) (Log, []Mismatch)
}

// External is a Server that Assay doesn't start. It has no port of its own and
// can't be rendered.
type External interface {
	Server
	// URL returns the URL as the user wrote it.
	URL(spec *v1alpha1.Server) string
	// Address returns the host and port at which the server is found.
	Address(spec *v1alpha1.Server) string
	// Host returns the Host header that requests have.
	Host(spec *v1alpha1.Server) string
	// TLSServerName returns the name that the server's certificate must have, or an
	// empty string if the server doesn't speak TLS.
	TLSServerName(spec *v1alpha1.Server) string
	// CertificateAuthority returns the source of the CA bundle that verifies the server's
	// certificate, or nil for the CAs of the clients' image.
	CertificateAuthority(spec *v1alpha1.Server) *v1alpha1.CertificateAuthority
}

// ContainerName is the name of the container of the server that clients talk to.
const ContainerName = "server"

// Input is the input of Render.
type Input struct {
	// Name is the name of the server's container.
	Name   string
	Image  string
	Server *v1alpha1.Server
	// TLS is nil if the server doesn't speak TLS.
	TLS *v1alpha1.TLS
	// CPUs is the container's CPU limit, rounded up to whole CPUs.
	CPUs int32
	// Backends maps the names of the backends to their ports.
	Backends map[string]int32
	// Files are the files of the user's own configuration, by name.
	Files map[string]string
}

// Field returns the path of a field of the server in the spec.
func (in *Input) Field(path string) string {
	if in.Name == ContainerName {
		return "spec.target.server." + path
	}
	return fmt.Sprintf("spec.target.backends[%s].server.%s", in.Name, path)
}

// Port returns port if it is set, else the usual port.
func Port(port *int32, tls bool) int32 {
	switch {
	case port != nil:
		return *port
	case tls:
		return 8443
	}
	return 8080
}

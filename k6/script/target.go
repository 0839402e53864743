package script

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/x509roots/fallback/bundle"

	"go.k6.io/k6/v2/lib"

	"github.com/assay-dev/assay/internal/cipher"
	"github.com/assay-dev/assay/internal/load/client"
	"github.com/assay-dev/assay/internal/session"
)

// location holds the parts of the target's URL, as a script uses it.
type location struct {
	scheme, host, port string
	// address is the IP address that k6 must resolve host to, or empty if DNS resolves it.
	address string
}

// locate returns the location of the target. With TLS the host is the name in the
// target's certificate, so that k6 can verify the certificate.
func locate(plan *session.Plan, address string) location {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	l := location{scheme: "http", host: host, port: port}
	if plan.TLS == nil {
		return l
	}
	l.scheme = "https"
	if name := plan.TLS.ServerName; name != "" && name != host {
		l.host, l.address = name, host
	}
	return l
}

func (l location) environment() map[string]string {
	return map[string]string{
		"ASSAY_TARGET_URL":  l.scheme + "://" + net.JoinHostPort(l.host, l.port),
		"ASSAY_TARGET_HOST": l.host,
		"ASSAY_TARGET_PORT": l.port,
	}
}

// Names of the files that are written for k6, in the work directory.
const (
	configurationFile = "k6.json"
	caFile            = "ca.pem"
)

// versions maps session.Protocols to k6's names of TLS versions.
var versions = map[string]string{"TLSv1": "tls1.0", "TLSv1.1": "tls1.1", "TLSv1.2": "tls1.2", "TLSv1.3": "tls1.3"}

// configuration is k6's configuration file. Options of the script take precedence over it.
type configuration struct {
	Hosts           map[string]string `json:"hosts,omitempty"`
	TLSAuth         []tlsAuth         `json:"tlsAuth,omitempty"`
	TLSVersion      *tlsVersion       `json:"tlsVersion,omitempty"`
	TLSCipherSuites []string          `json:"tlsCipherSuites,omitempty"`
	Tags            map[string]string `json:"tags,omitempty"`
}

type tlsAuth struct {
	Cert    string   `json:"cert"`
	Key     string   `json:"key"`
	Domains []string `json:"domains"`
}

type tlsVersion struct {
	Min string `json:"min"`
	Max string `json:"max"`
}

// configure writes k6's configuration and, with TLS, the CA bundle for k6.
func (c *Client) configure(plan *session.Plan, address string) error {
	l := locate(plan, address)
	config := configuration{Tags: plan.Script.Tags, Hosts: map[string]string{}}
	for _, name := range plan.Script.HostNames {
		config.Hosts[name] = address
	}
	if l.address != "" {
		config.Hosts[l.host] = l.address
	}
	if t := plan.TLS; t != nil {
		if err := config.setTLS(t, l.host, c.tlsDirectory); err != nil {
			return err
		}
		if err := c.writeCABundle(); err != nil {
			return err
		}
	}
	encoded, err := json.Marshal(config)
	if err != nil {
		return fmt.Errorf("encode k6's configuration: %w", err)
	}
	return c.write(configurationFile, encoded)
}

// setTLS sets k6's options for TLS: versions, cipher suites and the client
// certificate in the given directory.
func (config *configuration) setTLS(t *session.TLS, host, directory string) error {
	if len(t.Protocols) > 0 {
		config.TLSVersion = &tlsVersion{Min: versions[t.Protocols[0]], Max: versions[t.Protocols[len(t.Protocols)-1]]}
	}
	names := map[uint16]string{}
	for name, id := range lib.SupportedTLSCipherSuites {
		names[id] = name
	}
	for _, name := range t.Ciphers {
		id, err := cipher.ID(name)
		if err != nil {
			return err
		}
		if known, ok := names[id]; ok && !cipher.IsTLS13(name) {
			config.TLSCipherSuites = append(config.TLSCipherSuites, known)
		}
	}
	if !t.ClientCertificate {
		return nil
	}
	certificate, err := os.ReadFile(inDirectory(directory, session.TLSClientPath))
	if err != nil {
		return fmt.Errorf("read client certificate: %w", err)
	}
	key, err := os.ReadFile(inDirectory(directory, session.TLSClientKeyPath))
	if err != nil {
		return fmt.Errorf("read client certificate's key: %w", err)
	}
	config.TLSAuth = []tlsAuth{{Cert: string(certificate), Key: string(key), Domains: []string{host}}}
	return nil
}

// writeCABundle writes the CA bundle that k6 uses instead of the system's. It
// contains the run's CA, the target's certificate and Mozilla's root certificates.
func (c *Client) writeCABundle() error {
	var all []byte
	for _, path := range []string{session.TLSCAPath, session.TLSServerPath} {
		data, err := os.ReadFile(inDirectory(c.tlsDirectory, path))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("read CA bundle of the target: %w", err)
		}
		all = append(append(all, data...), '\n')
	}
	for root := range bundle.Roots() {
		all = append(all, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})...)
	}
	return c.write(caFile, all)
}

func (c *Client) write(name string, data []byte) error {
	if err := os.WriteFile(filepath.Join(c.workDirectory, name), data, 0o600); err != nil {
		return fmt.Errorf("write configuration for k6: %w", err)
	}
	return nil
}

// inDirectory returns the path of a pod's file in another directory.
func inDirectory(directory, path string) string { return filepath.Join(directory, filepath.Base(path)) }

// environment returns k6's environment variables, which scripts read as __ENV:
// those of this process except Assay's internal ones, the target's location, CA
// bundle and the limits of the Go runtime.
func (c *Client) environment() map[string]string {
	env := map[string]string{}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		env[name] = value
	}
	for _, name := range []string{"ASSAY_MANAGER", client.CPULimitVariable, client.MemoryLimitVariable} {
		delete(env, name)
	}
	if c.address != "" { // without a manager the script has URLs of its own
		maps.Copy(env, locate(c.plan, c.address).environment())
		if _, given := env["BASE_URL"]; !given {
			env["BASE_URL"] = env["ASSAY_TARGET_URL"]
		}
	}
	if t := c.plan.TLS; t != nil {
		env["SSL_CERT_FILE"] = filepath.Join(c.workDirectory, caFile)
		if t.Unverified {
			env["K6_INSECURE_SKIP_TLS_VERIFY"] = "true"
		}
	}
	maps.Copy(env, client.LimitVariables())
	return env
}

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
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/load/client"
)

// location is where a script finds the target.
type location struct {
	scheme, host, port string
	// address is what the host resolves to, where it is a name that no DNS knows;
	// else empty.
	address string
}

// locate finds the target's URL: with the name that its certificate has, where
// there is TLS, so that it is verified as anywhere.
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

// Names of the files that are written for k6, below the folder for work.
const (
	configurationFile = "k6.json"
	inspectionFile    = "inspect.json"
	authoritiesFile   = "authorities.pem"
)

// versions are k6's names of TLS versions, in the order of session.Protocols.
var versions = map[string]string{"TLSv1": "tls1.0", "TLSv1.1": "tls1.1", "TLSv1.2": "tls1.2", "TLSv1.3": "tls1.3"}

// configuration are the options that k6 takes from a file: where the script has
// its own, those stand.
type configuration struct {
	Hosts           map[string]string `json:"hosts,omitempty"`
	TLSAuth         []tlsAuth         `json:"tlsAuth,omitempty"`
	TLSVersion      *tlsVersion       `json:"tlsVersion,omitempty"`
	TLSCipherSuites []string          `json:"tlsCipherSuites,omitempty"`
	Tags            map[string]string `json:"tags,omitempty"`
	VUs             int               `json:"vus,omitempty"`
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

// configure writes what k6 needs to know of the target, and of whom to trust.
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
		if err := config.secure(t, l.host, c.tlsFolder); err != nil {
			return err
		}
		if err := c.trust(); err != nil {
			return err
		}
	}
	if err := c.writeConfiguration(configurationFile, config); err != nil {
		return err
	}
	config.VUs = 1 // k6's own default, which its inspect forgets
	return c.writeConfiguration(inspectionFile, config)
}

// secure sets what of TLS k6 has as options.
func (config *configuration) secure(t *session.TLS, host, folder string) error {
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
		if known, ok := names[id]; ok && !cipher.Modern(name) {
			config.TLSCipherSuites = append(config.TLSCipherSuites, known)
		}
	}
	if !t.ClientCertificate {
		return nil
	}
	certificate, err := os.ReadFile(inFolder(folder, session.TLSClientPath))
	if err != nil {
		return fmt.Errorf("the client's certificate: %w", err)
	}
	key, err := os.ReadFile(inFolder(folder, session.TLSClientKeyPath))
	if err != nil {
		return fmt.Errorf("the client's certificate: %w", err)
	}
	config.TLSAuth = []tlsAuth{{Cert: string(certificate), Key: string(key), Domains: []string{host}}}
	return nil
}

// trust writes the file of authorities that k6 is to trust in place of the
// system's: who vouches for the target, and Mozilla's root program.
func (c *Client) trust() error {
	var all []byte
	for _, path := range []string{session.TLSAuthorityPath, session.TLSServerPath} {
		data, err := os.ReadFile(inFolder(c.tlsFolder, path))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("the certificates that vouch for the target: %w", err)
		}
		all = append(append(all, data...), '\n')
	}
	for root := range bundle.Roots() {
		all = append(all, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})...)
	}
	return c.write(authoritiesFile, all)
}

func (c *Client) writeConfiguration(name string, config configuration) error {
	encoded, err := json.Marshal(config)
	if err != nil {
		return fmt.Errorf("encode k6's configuration: %w", err)
	}
	return c.write(name, encoded)
}

func (c *Client) write(name string, data []byte) error {
	if err := os.WriteFile(filepath.Join(c.workFolder, name), data, 0o600); err != nil {
		return fmt.Errorf("write what k6 needs to know of the target: %w", err)
	}
	return nil
}

// inFolder is a file of a pod's in another folder than a pod's.
func inFolder(folder, path string) string { return filepath.Join(folder, filepath.Base(path)) }

// environment is what scripts read as __ENV, and k6 as its options: this
// process's, without what is Assay's own business, and where the target is.
func (c *Client) environment() map[string]string {
	env := map[string]string{}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		env[name] = value
	}
	for _, name := range []string{"ASSAY_MANAGER", client.CPULimitVariable, client.MemoryLimitVariable} {
		delete(env, name)
	}
	maps.Copy(env, locate(c.plan, c.address).environment())
	if _, given := env["BASE_URL"]; !given {
		env["BASE_URL"] = env["ASSAY_TARGET_URL"]
	}
	if t := c.plan.TLS; t != nil {
		env["SSL_CERT_FILE"] = filepath.Join(c.workFolder, authoritiesFile)
		if t.Unverified {
			env["K6_INSECURE_SKIP_TLS_VERIFY"] = "true"
		}
	}
	maps.Copy(env, client.LimitVariables())
	return env
}

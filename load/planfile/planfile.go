// Package planfile reads the load that `assay-load run` runs from YAML. Its field load has the API's
// own types: it can be copied from a BenchmarkRun and back.
package planfile

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/load/standalone"
)

// file is a plan as in its file.
type file struct {
	URL  string `json:"url"`
	Host string `json:"host"`
	// CredentialsDirectory holds a file for each key that the Secret of load.authentication has.
	CredentialsDirectory string `json:"credentialsDirectory"`
	// RequestsFile is a list of requests, as in the ConfigMap of load.requestsFrom.
	RequestsFile string        `json:"requestsFile"`
	Load         v1alpha1.Load `json:"load"`
	TLS          *tls          `json:"tls"`
}

type tls struct {
	ServerName               string   `json:"serverName"`
	Protocols                []string `json:"protocols"`
	Ciphers                  []string `json:"ciphers"`
	Verification             string   `json:"verification"`
	SessionResumption        string   `json:"sessionResumption"`
	CertificateAuthorityFile string   `json:"certificateAuthorityFile"`
	ClientCertificateFile    string   `json:"clientCertificateFile"`
	ClientKeyFile            string   `json:"clientKeyFile"`
}

// Read returns the job of a plan. Paths in the plan are relative to directory. name is the job's name
// in reports. The error names all fields that are wrong, and what is right.
func Read(data []byte, name, directory string) (*standalone.Job, error) {
	f, err := decode(data)
	if err != nil {
		return nil, err
	}
	c := &converter{directory: directory}
	job := c.job(f)
	if err := errors.Join(c.errors...); err != nil {
		return nil, err
	}
	if err := job.Plan.Check(); err != nil {
		return nil, err
	}
	job.Name = name
	return job, nil
}

// converter converts a file to a job and collects errors.
type converter struct {
	directory string
	errors    []error
}

// reject adds an error about a field.
func (c *converter) reject(field, format string, args ...any) {
	c.errors = append(c.errors, fmt.Errorf("%s: %s", field, fmt.Sprintf(format, args...)))
}

func (c *converter) rejectIf(wrong bool, field, format string, args ...any) {
	if wrong {
		c.reject(field, format, args...)
	}
}

// path returns a path of the file, which is relative to the file's directory.
func (c *converter) path(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.directory, path)
}

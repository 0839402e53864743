// Package planfile reads the load that `assay-load run` drives from YAML. What
// stands under load is what stands there in a BenchmarkRun, in the
// API's own types: it can be moved from one to the other.
package planfile

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/load/standalone"
)

// file is a plan as it is written.
type file struct {
	URL  string `json:"url"`
	Host string `json:"host"`
	// CredentialsDirectory has the files that load.authentication's Secret has as keys.
	CredentialsDirectory string `json:"credentialsDirectory"`
	// RequestsFile is a list of requests, as load.requestsFrom's ConfigMap has it.
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

// Read returns the job that a plan describes. Paths in it are relative to a folder, name is what
// reports call it. Its error names all that is wrong, each with the field and what would be right.
func Read(data []byte, name, folder string) (*standalone.Job, error) {
	f, err := decode(data)
	if err != nil {
		return nil, err
	}
	c := &converter{folder: folder}
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

// converter makes a job of a file and collects what is wrong with it.
type converter struct {
	folder string
	errors []error
}

func (c *converter) wrong(field, format string, args ...any) {
	c.errors = append(c.errors, fmt.Errorf("%s: %s", field, fmt.Sprintf(format, args...)))
}

// path is a path of the file's, as seen from here.
func (c *converter) path(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.folder, path)
}

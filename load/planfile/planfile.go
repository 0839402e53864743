// Package planfile reads the load that `assay-load run` drives from YAML. Its
// fields are those of a BenchmarkRun where they mean the same: what stands
// under load can be moved from one to the other.
package planfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"gopkg.in/yaml.v3"

	"github.com/assay-dev/assay/load/standalone"
)

// file is a plan as it is written.
type file struct {
	URL    string  `yaml:"url"`
	Host   string  `yaml:"host"`
	Load   load    `yaml:"load"`
	Warmup *warmup `yaml:"warmup"`
	TLS    *tls    `yaml:"tls"`
}

type load struct {
	Requests   []request  `yaml:"requests"`
	Connection connection `yaml:"connection"`
	Closed     *closed    `yaml:"closed"`
}

type request struct {
	Path   string `yaml:"path"`
	Weight *int   `yaml:"weight"`
	Length *int64 `yaml:"length"`
}

type connection struct {
	KeepAlive      *string `yaml:"keepAlive"`
	TimeoutSeconds *int    `yaml:"timeoutSeconds"`
}

type closed struct {
	Connections *int `yaml:"connections"`
	amount      `yaml:",inline"`
}

type amount struct {
	Requests        *int64 `yaml:"requests"`
	DurationSeconds *int64 `yaml:"durationSeconds"`
}

type warmup struct {
	amount `yaml:",inline"`
	Steady *steadyState `yaml:"steady"`
}

type steadyState struct {
	WindowSeconds     *int `yaml:"windowSeconds"`
	Windows           *int `yaml:"windows"`
	ThroughputPercent *int `yaml:"throughputPercent"`
	P99Percent        *int `yaml:"p99Percent"`
	LimitSeconds      *int `yaml:"limitSeconds"`
}

type tls struct {
	ServerName               string   `yaml:"serverName"`
	Protocols                []string `yaml:"protocols"`
	Ciphers                  []string `yaml:"ciphers"`
	Verification             *string  `yaml:"verification"`
	SessionResumption        *string  `yaml:"sessionResumption"`
	CertificateAuthorityFile string   `yaml:"certificateAuthorityFile"`
	ClientCertificateFile    string   `yaml:"clientCertificateFile"`
	ClientKeyFile            string   `yaml:"clientKeyFile"`
}

// Read returns the job that a plan describes. Paths in it are relative to a
// folder, name is what reports call it. Its error names all that is wrong, each
// with the field and what would be right.
func Read(data []byte, name, folder string) (*standalone.Job, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	var f file
	switch err := decoder.Decode(&f); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it's empty: give at least url and load.closed")
	case err != nil:
		return nil, explain(err)
	}
	if err := decoder.Decode(&file{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one document in it: give each a file of its own")
	}
	c := &converter{folder: folder}
	job := c.job(&f)
	if err := errors.Join(c.errors...); err != nil {
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

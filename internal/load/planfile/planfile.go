// Package planfile reads the load that `assay-load run` runs from YAML. Its field load has the API's
// own types: it can be copied from a BenchmarkRun and back.
package planfile

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/cipher"
	"github.com/assay-dev/assay/internal/load/standalone"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/requestlist"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
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
	Groups                   []string `json:"groups"`
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

func (c *converter) job(f *file) *standalone.Job {
	job := &standalone.Job{URL: c.url(f.URL), Plan: &session.Plan{}}
	list := c.requests(f, job)
	c.load(&f.Load)
	if f.Load.Warmup != nil {
		c.warmup(f.Load.Warmup, &f.Load)
	}
	c.credentials(f)
	if len(c.errors) == 0 {
		spec := &v1alpha1.BenchmarkRunSpec{Load: f.Load}
		plans := loadplan.Plans(&v1alpha1.BenchmarkRun{Spec: *spec}, nil)
		loadplan.AddList(plans, list, nil)
		job.Plan = plans[0]
		job.Plan.Probe = "" // Job.Prepare probes the target
		job.ProbeFirstRequest = job.Plan.Authentication != "" || len(f.Load.Requests) > 0 && hasStatuses(&f.Load.Requests[0])
		if w := f.Load.Warmup; w != nil && w.Steady != nil {
			job.Steady = new(loadplan.Steady(w.Steady))
		}
		job.Load, job.Stages = loadplan.Shape(spec), stagesOf(spec)
	}
	job.Plan.Host, job.Credentials = f.Host, c.path(f.CredentialsDirectory)
	if job.URL != nil {
		c.security(f, job)
	}
	return job
}

// stagesOf describes a load in stages; nil for another load.
func stagesOf(spec *v1alpha1.BenchmarkRunSpec) *standalone.Stages {
	if spec.Load.Stages == nil {
		return nil
	}
	s := &standalone.Stages{StopAt: loadplan.StopAt(spec.Load.Stages), Bounds: loadplan.BreakingPoints(spec)}
	s.Levels, s.Steps = loadplan.Levels(spec)
	s.Load.Profile, s.Load.Rate = loadplan.Profile(spec), loadplan.Shape(spec) == result.LoadOpen
	s.Load.End = int64(s.Load.Profile.Duration() / time.Second)
	return s
}

func (c *converter) url(text string) *url.URL {
	const form = "must be http:// or https:// with a host and, if it isn't 80 or 443, a port, such as http://127.0.0.1:8080"
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		c.reject("url", "%q %s", text, form)
		return nil
	}
	if port, err := strconv.Atoi(u.Port()); u.Port() != "" && (err != nil || port < 1 || port > 65535) {
		c.reject("url", "%q: the port must be from 1 to 65535", text)
		return nil
	}
	return u
}

// requests returns the list of requests, if the plan has one. Without requests of its own or a list
// the load has one request, for the path of the url.
func (c *converter) requests(f *file, job *standalone.Job) (list []byte) {
	c.rejectIf(f.Load.RequestsFrom != nil, "load.requestsFrom", "ConfigMaps are not available: use requestsFile, with the ConfigMap's content, instead")
	u, err := url.Parse(f.URL)
	if err != nil {
		return nil // c.url has rejected it
	}
	switch hasPath := u.Path != "" && u.Path != "/" || u.RawQuery != ""; {
	case len(f.Load.Requests) > 0 && f.RequestsFile != "":
		c.reject("requestsFile", "must not be set together with load.requests")
	case len(f.Load.Requests) > 0 && hasPath:
		c.reject("url", "must not have a path together with load.requests")
	case f.RequestsFile != "" && hasPath:
		c.reject("url", "must not have a path together with requestsFile")
	case f.RequestsFile != "":
		job.RequestList = &result.RequestList{File: f.RequestsFile}
		list, job.RequestList.Requests, err = readList(c.path(f.RequestsFile))
		if err != nil {
			c.reject("requestsFile", "%s", err)
		}
	case len(f.Load.Requests) == 0:
		f.Load.Requests = []v1alpha1.Request{{Path: u.RequestURI()}}
	}
	return list
}

// readList reads a list of requests. It returns the encoded list and its length.
func readList(path string) (list []byte, length int64, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, err
	}
	entries, err := requestlist.Parse(string(text))
	if err != nil {
		return nil, 0, err
	}
	list, err = requestlist.Encode(entries)
	return list, int64(len(entries)), err
}

// hasStatuses reports whether a request defines which statuses are a success.
func hasStatuses(r *v1alpha1.Request) bool { return r.Expect != nil && len(r.Expect.Statuses) > 0 }

// credentials checks that the plan has credentials if and only if the load authenticates.
func (c *converter) credentials(f *file) {
	a := f.Load.Authentication
	switch {
	case a == nil:
		c.rejectIf(f.CredentialsDirectory != "", "credentialsDirectory", "must not be set without load.authentication")
	case a.SecretName != "":
		c.reject("load.authentication.secretName", "Secrets are not available: use credentialsDirectory, with the keys as files, instead")
	case f.CredentialsDirectory == "":
		c.reject("credentialsDirectory", "must be set to a directory with the files %s", strings.Join(session.CredentialKeys(string(a.Scheme)), " and "))
	}
}

func (c *converter) security(f *file, job *standalone.Job) {
	if job.URL.Scheme != "https" {
		c.rejectIf(f.TLS != nil, "tls", "must not be set unless the url begins with https")
		return
	}
	t := ptr.Deref(f.TLS, tls{})
	for i, name := range t.Protocols {
		c.rejectIf(!slices.Contains(session.Protocols, name), fmt.Sprintf("tls.protocols[%d]", i), "must be one of %v, not %q", session.Protocols, name)
	}
	for i, name := range t.Ciphers {
		if _, err := cipher.ID(name); err != nil {
			c.reject(fmt.Sprintf("tls.ciphers[%d]", i), "%s", err)
		}
	}
	for i, name := range t.Groups {
		if _, err := cipher.GroupID(name); err != nil {
			c.reject(fmt.Sprintf("tls.groups[%d]", i), "%s", err)
		}
	}
	c.rejectIf(t.ClientKeyFile != "" && t.ClientCertificateFile == "", "tls.clientKeyFile", "must not be set without clientCertificateFile")
	job.Plan.TLS = &session.TLS{
		ServerName: t.ServerName, Protocols: t.Protocols, Ciphers: t.Ciphers, Groups: t.Groups,
		Unverified:        choice(c, "tls.verification", t.Verification, "Full", "None") == "None",
		Resume:            choice(c, "tls.sessionResumption", t.SessionResumption, "Disabled", "Enabled") == "Enabled",
		ClientCertificate: t.ClientCertificateFile != "",
	}
	certificate := c.path(t.ClientCertificateFile)
	job.Files = standalone.Files{
		CA: c.path(t.CertificateAuthorityFile), Certificate: certificate, Key: cmp.Or(c.path(t.ClientKeyFile), certificate),
	}
}

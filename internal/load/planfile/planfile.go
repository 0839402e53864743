// Package planfile reads the load that `assay-load run` runs from YAML. Its field load has the API's
// own types: it can be copied from a BenchmarkRun and back.
package planfile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/idna"
	"gopkg.in/yaml.v3"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/hint"
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

// tls is the TLS of a plan. A file stands for what is an object in a BenchmarkRun.
type tls struct {
	v1alpha1.TLS
	CertificateAuthorityFile string `json:"certificateAuthorityFile"`
	ClientCertificateFile    string `json:"clientCertificateFile"`
	ClientKeyFile            string `json:"clientKeyFile"`
}

// Read returns the job of a plan. Paths in the plan are relative to directory. name is the job's name
// in reports. The error names all fields that are wrong with their lines, and what is right.
func Read(data []byte, name, directory string) (*standalone.Job, error) {
	values, document, err := decode(data)
	if err != nil {
		return nil, err
	}
	c := &converter{directory: directory, document: document}
	address := c.substitute(values)
	if err := c.check(values); err != nil {
		return nil, err
	}
	var job *standalone.Job
	if len(c.errors) == 0 {
		text, err := json.Marshal(values)
		if err != nil {
			return nil, err
		}
		f := &file{}
		if err := json.Unmarshal(text, f); err != nil {
			return nil, err
		}
		job = c.job(f, address)
	}
	if err := errors.Join(c.errors...); err != nil {
		return nil, err
	}
	if err := job.Plan.Check(); err != nil {
		return nil, err
	}
	job.Name, job.Text = name, string(data)
	return job, nil
}

// converter converts a file to a job and collects errors.
type converter struct {
	directory string
	document  *yaml.Node
	// ofURL says that the one request of the load is that of the url.
	ofURL  bool
	errors []error
}

// reject adds an error about a field.
func (c *converter) reject(field, format string, args ...any) {
	if c.ofURL && strings.HasPrefix(field, "load.requests[0]") {
		field = "url"
	}
	c.errors = append(c.errors, fmt.Errorf("line %d: %s: %s", hint.Line(c.document, field), field, fmt.Sprintf(format, args...)))
}

func (c *converter) rejectIf(wrong bool, field, format string, args ...any) {
	if wrong {
		c.reject(field, format, args...)
	}
}

// substitute puts what stands in for Kubernetes' objects into a plan, so that its load is that of a BenchmarkRun, and
// rejects the objects themselves. Without requests of its own or a list the load has one request, for the path of the
// url, which is returned.
func (c *converter) substitute(values map[string]any) *url.URL {
	text, _ := values["url"].(string)
	u := c.url(text)
	load, is := values["load"].(map[string]any)
	if !is {
		return u // the schema rejects it
	}
	if a, is := load["authentication"].(map[string]any); is {
		c.rejectIf(a["secretName"] != nil, "load.authentication.secretName", "Secrets are not available: use credentialsDirectory, with the keys as files, instead")
		a["secretName"] = "credentials"
	}
	c.rejectIf(load["requestsFrom"] != nil, "load.requestsFrom", "ConfigMaps are not available: use requestsFile, with the ConfigMap's content, instead")
	path := "/"
	if u != nil {
		path = u.RequestURI()
	}
	hasFile, hasPath := values["requestsFile"] != nil, path != "/"
	switch {
	case load["requests"] != nil && hasFile:
		c.reject("requestsFile", "must not be set together with load.requests")
	case load["requests"] != nil && hasPath:
		c.reject("url", "must not have a path together with load.requests")
	case hasFile && hasPath:
		c.reject("url", "must not have a path together with requestsFile")
	case hasFile:
		load["requestsFrom"] = map[string]any{"configMapKeyRef": map[string]any{"name": "requests", "key": "requests"}}
	case load["requests"] == nil:
		c.ofURL = true
		load["requests"] = []any{map[string]any{"path": path}}
	}
	return u
}

// path returns a path of the file, which is relative to the file's directory.
func (c *converter) path(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.directory, path)
}

func (c *converter) job(f *file, address *url.URL) *standalone.Job {
	run := &v1alpha1.BenchmarkRun{Spec: v1alpha1.BenchmarkRunSpec{Load: f.Load}}
	spec := &run.Spec
	var files standalone.Files
	spec.Target.TLS, files = c.security(f, address.Scheme)
	plans := loadplan.Plans(run, nil)
	job := &standalone.Job{
		URL: address, Plan: plans[0], Load: loadplan.Shape(spec), Stages: stagesOf(spec), Credentials: c.path(f.CredentialsDirectory), Files: files,
	}
	job.Plan.Probes = nil // Job.Prepare probes the target
	job.Plan.Host = f.Host
	job.ProbeAnyStatus = job.Plan.Authentication != "" || len(f.Load.Requests) > 0 && hasStatuses(&f.Load.Requests[0])
	if w := f.Load.Warmup; w != nil && w.Steady != nil {
		job.Steady = new(loadplan.Steady(w.Steady))
	}
	if f.Load.Stages != nil {
		for i, t := range f.Load.Stages.StopAt {
			c.rejectIf(t.Metric == v1alpha1.MetricTargetCPU, fmt.Sprintf("load.stages.stopAt[%d]", i),
				"TargetCPU is for runs in a cluster: nothing is known of the target's CPU")
		}
	}
	if f.RequestsFile != "" {
		list, length, err := readList(c.path(f.RequestsFile))
		if err != nil {
			c.reject("requestsFile", "%s", err)
		}
		job.RequestList = &result.RequestList{File: f.RequestsFile, Requests: length}
		loadplan.AddList(plans, list, nil)
	}
	switch a := f.Load.Authentication; {
	case a == nil:
		c.rejectIf(f.CredentialsDirectory != "", "credentialsDirectory", "must not be set without load.authentication")
	case f.CredentialsDirectory == "":
		c.reject("credentialsDirectory", "must be set to a directory with the files %s", strings.Join(session.CredentialKeys(string(a.Scheme)), " and "))
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
	if err == nil && strings.ContainsFunc(u.Host, func(r rune) bool { return r > unicode.MaxASCII }) {
		port := u.Port()
		u.Host, err = idna.Lookup.ToASCII(u.Hostname())
		if port != "" {
			u.Host += ":" + port
		}
	}
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

// security returns the TLS of the target, or nil for a url without TLS, and the files of the clients.
func (c *converter) security(f *file, scheme string) (*v1alpha1.TLS, standalone.Files) {
	if scheme != "https" {
		c.rejectIf(f.TLS != nil, "tls", "must not be set unless the url begins with https")
		return nil, standalone.Files{}
	}
	t := ptr.Deref(f.TLS, tls{})
	c.rejectIf(t.ClientKeyFile != "" && t.ClientCertificateFile == "", "tls.clientKeyFile", "must not be set without clientCertificateFile")
	certificate := c.path(t.ClientCertificateFile)
	if certificate != "" {
		t.ClientAuthentication = &v1alpha1.ClientAuthentication{}
	}
	return &t.TLS, standalone.Files{
		CA: c.path(t.CertificateAuthorityFile), Certificate: certificate, Key: cmp.Or(c.path(t.ClientKeyFile), certificate),
	}
}

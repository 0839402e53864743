package planfile

import (
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/cipher"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/requestlist"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/load/standalone"
)

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
		job.Plan.Probe = "" // the target is asked before the load
		job.ProbeFirstRequest = job.Plan.Authentication != "" || len(f.Load.Requests) > 0 && hasStatuses(&f.Load.Requests[0])
		if w := f.Load.Warmup; w != nil && w.Steady != nil {
			job.Steady = new(loadplan.Steady(w.Steady))
		}
		job.Load, job.Levels = loadplan.Shape(spec), loadplan.Levels(spec)
	}
	job.Plan.Host, job.Credentials = f.Host, c.path(f.CredentialsDirectory)
	if job.URL != nil {
		c.security(f, job)
	}
	return job
}

func (c *converter) url(text string) *url.URL {
	const form = "give http:// or https:// with a host and, if it isn't 80 or 443, a port, such as http://127.0.0.1:8080"
	if text == "" {
		c.wrong("url", "it's missing: %s", form)
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		c.wrong("url", "%q can't be used: %s", text, form)
		return nil
	}
	if port, err := strconv.Atoi(u.Port()); u.Port() != "" && (err != nil || port < 1 || port > 65535) {
		c.wrong("url", "%q has no port that there can be: %s", text, form)
		return nil
	}
	return u
}

// requests sees to it that the load has some: those of the file, those of a list,
// which it returns, or the one that the url names.
func (c *converter) requests(f *file, job *standalone.Job) (list []byte) {
	u, err := url.Parse(f.URL)
	if err != nil {
		return nil // said before
	}
	if f.Load.RequestsFrom != nil {
		c.wrong("load.requestsFrom", "there are no ConfigMaps here: give requestsFile, with what it would have, instead")
	}
	switch hasPath := u.Path != "" && u.Path != "/" || u.RawQuery != ""; {
	case len(f.Load.Requests) > 0 && f.RequestsFile != "":
		c.wrong("requestsFile", "there is load.requests beside it: leave one of them out")
	case len(f.Load.Requests) > 0 && hasPath:
		c.wrong("url", "it has a path beside load.requests: leave one of them out")
	case f.RequestsFile != "" && hasPath:
		c.wrong("url", "it has a path beside requestsFile: leave one of them out")
	case f.RequestsFile != "":
		job.RequestList = &result.RequestList{File: f.RequestsFile}
		list, job.RequestList.Requests = c.list(c.path(f.RequestsFile))
		return list
	case len(f.Load.Requests) == 0:
		f.Load.Requests = []v1alpha1.Request{{Path: u.RequestURI()}}
	}
	return nil
}

// list reads a list of requests; number is how many there are.
func (c *converter) list(path string) (list []byte, number int64) {
	text, err := os.ReadFile(path)
	var entries []requestlist.Entry
	if err == nil {
		entries, err = requestlist.Parse(string(text))
	}
	if err == nil {
		list, err = requestlist.Encode(entries)
	}
	if err != nil {
		c.wrong("requestsFile", "%s", err)
	}
	return list, int64(len(entries))
}

// hasStatuses is whether a request says itself what a success is.
func hasStatuses(r *v1alpha1.Request) bool { return r.Expect != nil && len(r.Expect.Statuses) > 0 }

// credentials sees to it that there are files where the load authenticates.
func (c *converter) credentials(f *file) {
	a := f.Load.Authentication
	switch {
	case a == nil && f.CredentialsDirectory != "":
		c.wrong("credentialsDirectory", "nothing authenticates: give load.authentication, or leave it out")
	case a == nil:
	case a.SecretName != "":
		c.wrong("load.authentication.secretName", "there are no Secrets here: give credentialsDirectory, with the keys as files, instead")
	case f.CredentialsDirectory == "":
		c.wrong("credentialsDirectory", "it's missing: give a folder with the files %s", strings.Join(session.CredentialKeys(string(a.Scheme)), " and "))
	}
}

func (c *converter) security(f *file, job *standalone.Job) {
	if job.URL.Scheme != "https" {
		if f.TLS != nil {
			c.wrong("tls", "the url begins with http: write https, or leave tls out")
		}
		return
	}
	t := f.TLS
	if t == nil {
		t = &tls{}
	}
	for i, name := range t.Protocols {
		if !slices.Contains(session.Protocols, name) {
			c.wrong("tls.protocols["+strconv.Itoa(i)+"]", "there is no %s: take some of %s", name, strings.Join(session.Protocols, ", "))
		}
	}
	for i, name := range t.Ciphers {
		if _, err := cipher.ID(name); err != nil {
			c.wrong("tls.ciphers["+strconv.Itoa(i)+"]", "%s", err)
		}
	}
	if t.ClientKeyFile != "" && t.ClientCertificateFile == "" {
		c.wrong("tls.clientKeyFile", "there is no certificate for it: give clientCertificateFile")
	}
	job.Plan.TLS = &session.TLS{
		ServerName: t.ServerName, Protocols: t.Protocols, Ciphers: t.Ciphers,
		Unverified:        choice(c, "tls.verification", t.Verification, "Full", "None") == "None",
		Resume:            choice(c, "tls.sessionResumption", t.SessionResumption, "Disabled", "Enabled") == "Enabled",
		ClientCertificate: t.ClientCertificateFile != "",
	}
	job.Files = standalone.Files{
		CA: c.path(t.CertificateAuthorityFile), Certificate: c.path(t.ClientCertificateFile), Key: c.path(t.ClientKeyFile),
	}
	if job.Files.Key == "" {
		job.Files.Key = job.Files.Certificate
	}
}

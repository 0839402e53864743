// Package standalone runs a load without a cluster, for `assay-load run` and
// `assay-load ab`. It uses the same client, runner, driver and recorder as a
// client pod. Packages planfile and ab create the job from a file or from options.
package standalone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/breakingpoint"
	"github.com/assay-dev/assay/internal/load/client"
	"github.com/assay-dev/assay/internal/load/driver"
	"github.com/assay-dev/assay/internal/probe"
	"github.com/assay-dev/assay/internal/requestlist"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/steady"
)

// Job is a load and its target.
type Job struct {
	// Name is the name of the load in reports.
	Name string
	// URL is the target's URL. Its path and query are not used.
	URL *url.URL
	// Plan is the load. Prepare sets its Host and its TLS.ServerName if they are empty.
	Plan *session.Plan
	// Steady is the criterion that ends the plan's warm-up early, or nil if the
	// warm-up runs to its end.
	Steady *steady.Criterion
	// Load is the load's shape, as in result.Run.
	Load string
	// Stages describes a load in stages, or is nil for another load.
	Stages *Stages
	// Files holds the paths of the files for TLS.
	Files Files
	// Credentials is the directory with the files for Plan.Authentication, or empty
	// if there are none.
	Credentials string
	// RequestList is the source of the plan's list of requests, or nil if it has none.
	RequestList *result.RequestList
	// MaxDuration limits the measurement, even if requests are left. Zero means no
	// limit. It has no effect on a load with a warm-up.
	MaxDuration time.Duration
	// Version is the version of this program.
	Version string
	// NewClient returns the client that runs the plan. If it is nil, that is the client with the native driver.
	NewClient func(client.Session, *slog.Logger) Client
	// Text is the plan as written, for pages; empty if there is none.
	Text string
	// Advice replaces the names of settings in errors of Prepare, or is nil.
	Advice *strings.Replacer
	// ProbeAnyStatus makes Prepare accept a response of any status to its probe, which is the load's first
	// request without credentials. Otherwise the status must be a success, if the method is GET.
	ProbeAnyStatus bool

	address   string // the target's IP address and port; set by Prepare
	probed    *session.ProbeResult
	directory string // of temporary files
}

// Client is the client of a load. Package client documents the methods.
type Client interface {
	UseDirectories(tls, credentials string)
	Run(ctx context.Context) error
	Finish()
}

// Stages describes a load in stages.
type Stages struct {
	// Levels and Steps are its levels and the steps between them, without metrics.
	Levels []result.Level
	Steps  []result.Step
	// Load is the load over time. StopAt are the breaking points that end it early, Bounds those to
	// look for in the result.
	Load           breakingpoint.Load
	StopAt, Bounds breakingpoint.Bounds
}

// Files holds the paths of PEM files. An empty path means that there is no file.
type Files struct {
	// CA holds the CA certificates that verify the target's certificate.
	CA string
	// Certificate and Key are the client's certificate and key. They may be the same file.
	Certificate, Key string
}

// Target returns the host and port of a URL.
func Target(u *url.URL) string { return net.JoinHostPort(u.Hostname(), Port(u)) }

// Port returns the port of a URL, or its scheme's default port if it has none.
func Port(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

// ProbeResult returns the result of the probe, or nil before Prepare.
func (j *Job) ProbeResult() *session.ProbeResult { return j.probed }

// Prepare probes the target once, so that a load that can't succeed isn't
// started. If the target has several addresses, the load uses the first one whose
// probe succeeds. The caller must call Clean when the job is done.
func (j *Job) Prepare(ctx context.Context) error {
	target := Target(j.URL)
	j.Plan.Host = session.HostHeader(j.Plan.Host, target, j.Plan.TLS != nil)
	if err := j.prepareFiles(); err != nil {
		return err
	}
	if j.Plan.TLS != nil {
		j.Plan.TLS.ServerName = cmp.Or(j.Plan.TLS.ServerName, j.URL.Hostname())
	}
	config, err := client.TLSConfig(j.Plan, target, j.directory)
	if err != nil {
		return err
	}
	if err := j.Plan.Check(); err != nil {
		return err
	}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", j.URL.Hostname())
	if err != nil {
		return fmt.Errorf("resolve target: %w", err)
	}
	first, err := j.firstRequest()
	if err != nil {
		return err
	}
	plan := *j.Plan
	var failures []error
	for _, address := range addresses {
		j.address = net.JoinHostPort(address.Unmap().String(), Port(j.URL))
		plan.Probes = []session.Probe{{Request: *first, AnyStatus: j.ProbeAnyStatus || first.Method != ""}}
		probed, err := probe.Once(ctx, client.Probes(&plan, target, j.address, driver.Access{TLS: config})[0])
		if err == nil {
			j.probed = probed
			return nil
		}
		failures = append(failures, fmt.Errorf("%s: %s", j.address, j.advise(err)))
	}
	return fmt.Errorf("probe target: %w", errors.Join(failures...))
}

// fields has the names of settings in a plan, which the probe knows by those of a BenchmarkRun.
var fields = strings.NewReplacer("set the CA's certificate", "set tls.certificateAuthorityFile to the CA's certificate", "tls.clientAuthentication", "tls.clientCertificateFile")

func (j *Job) advise(err error) string {
	text := fields.Replace(err.Error())
	if j.Advice != nil {
		text = j.Advice.Replace(text)
	}
	return text
}

// firstRequest returns the first request of the plan, of its pages or of its list.
func (j *Job) firstRequest() (*session.PlannedRequest, error) {
	if len(j.Plan.Requests) > 0 {
		return &j.Plan.Requests[0], nil
	}
	if len(j.Plan.Pages) > 0 {
		return &j.Plan.Pages[0].Document, nil
	}
	entries, err := requestlist.Decode(j.Plan.RequestList)
	if err != nil {
		return nil, err
	}
	r := &session.PlannedRequest{Path: entries[0].Path} // Decode returns at least one entry
	if method := entries[0].Method; method != http.MethodGet {
		r.Method = method
	}
	return r, nil
}

// prepareFiles creates a temporary directory with symbolic
// links to the files for TLS, named as in a pod. The files aren't copied, so that
// no copy of a private key is left behind.
func (j *Job) prepareFiles() error {
	var err error
	if j.directory, err = os.MkdirTemp("", "assay-load-"); err != nil {
		return err
	}
	for name, path := range map[string]string{
		session.TLSCAPath: j.Files.CA, session.TLSClientPath: j.Files.Certificate, session.TLSClientKeyPath: j.Files.Key,
	} {
		if path == "" {
			continue
		}
		if path, err = filepath.Abs(path); err != nil {
			return err
		}
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("find file for TLS: %w", err)
		}
		if err := os.Symlink(path, filepath.Join(j.directory, filepath.Base(name))); err != nil {
			return err
		}
	}
	return nil
}

// Clean removes the temporary files of Prepare. It may be called more than once.
func (j *Job) Clean() {
	if j.directory != "" {
		_ = os.RemoveAll(j.directory) // a leftover temporary directory doesn't affect the result
	}
}

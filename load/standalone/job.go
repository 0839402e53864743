// Package standalone drives a load without a manager: on a laptop, in a script.
// The load goes the same way as in a pod: the same client, carried by k6, the
// same driver and recorder. What the load is comes from packages planfile and
// ab, which also print what was measured.
package standalone

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/probe"
	"github.com/assay-dev/assay/internal/requestlist"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/steady"
	"github.com/assay-dev/assay/internal/targettls"
)

// Job is a load and where it goes.
type Job struct {
	// Name is what the load is called in reports.
	Name string
	// URL is the target's: scheme, host and port count.
	URL *url.URL
	// Plan is the load. Prepare completes its Host and the server's name in TLS.
	Plan *session.Plan
	// Steady is when the target counts as warmed up, which ends the plan's warm-up
	// before its time; nil for not.
	Steady *steady.Criterion
	// Load is the load's shape, as results name it.
	Load string
	// Levels are the load's levels, without figures; none where it has none.
	Levels []result.Level
	// Files are those for TLS.
	Files Files
	// Credentials is a folder with the files for Plan's Authentication; empty for
	// none.
	Credentials string
	// RequestList is where the plan's list is from; nil where it has none.
	RequestList *result.RequestList
	// Longest is how long the measurement may take, also when requests are left;
	// 0 for any time.
	Longest time.Duration
	// Version is this program's.
	Version string
	// AsksAsIs has Prepare make the first request as it is, without credentials and
	// whatever it's answered with, instead of a GET that must succeed. So it does
	// with any other than a GET.
	AsksAsIs bool

	address  string // with the host as a number, once Prepare has found it
	evidence *session.Evidence
	folder   string
}

// Files are the paths of files in PEM; empty for none.
type Files struct {
	// Authority has the certificates that vouch for the target.
	Authority string
	// Certificate and Key are presented to the target; they may be one file.
	Certificate, Key string
}

// Target is the host and port that a URL names.
func Target(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// Evidence is what the target showed when Prepare asked it.
func (j *Job) Evidence() *session.Evidence { return j.evidence }

// Prepare asks the target once for the first request's path, so that a load
// isn't begun that can't succeed; see AsksAsIs. The load goes to that address of
// the target that answers. Clean must be called at last.
func (j *Job) Prepare(ctx context.Context) error {
	target := Target(j.URL)
	j.Plan.Host = session.HostHeader(j.Plan.Host, target, j.Plan.TLS != nil)
	if err := j.prepareFiles(); err != nil {
		return err
	}
	var config *tls.Config
	if j.Plan.TLS != nil {
		if j.Plan.TLS.ServerName == "" {
			j.Plan.TLS.ServerName = j.URL.Hostname()
		}
		var err error
		if config, err = targettls.Config(j.Plan.TLS, target, j.folder); err != nil {
			return err
		}
	}
	if err := j.Plan.Check(); err != nil {
		return err
	}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", j.URL.Hostname())
	if err != nil {
		return fmt.Errorf("find the target: %w", err)
	}
	_, port, err := net.SplitHostPort(target)
	if err != nil {
		return err
	}
	first, err := j.first()
	if err != nil {
		return err
	}
	var refusals []error
	for _, address := range addresses {
		j.address = net.JoinHostPort(address.Unmap().String(), port)
		question := &probe.Question{
			Address: j.address, Path: first.Path, Host: j.Plan.Host, UserAgent: "assay-load", TLS: config, Streams: j.Plan.Streams,
			Timeout: max(probe.Timeout, time.Duration(j.Plan.TimeoutMicroseconds)*time.Microsecond),
		}
		if j.AsksAsIs || first.Method != "" {
			question.As = first
		}
		evidence, err := probe.Ask(ctx, question)
		if err == nil {
			j.evidence = evidence
			return nil
		}
		refusals = append(refusals, fmt.Errorf("%s: %w", j.address, err))
	}
	return errors.Join(refusals...)
}

// first is the first request that there is.
func (j *Job) first() (*session.PlannedRequest, error) {
	if len(j.Plan.Requests) > 0 {
		return &j.Plan.Requests[0], nil
	}
	entries, err := requestlist.Decode(j.Plan.RequestList)
	if err != nil {
		return nil, err
	}
	r := &session.PlannedRequest{Path: entries[0].Path} // none are without any
	if method := entries[0].Method; method != http.MethodGet {
		r.Method = method
	}
	return r, nil
}

// prepareFiles makes a folder where the files are found under the names that
// they have in a pod. They aren't copied: keys stay where they are.
func (j *Job) prepareFiles() error {
	var err error
	if j.folder, err = os.MkdirTemp("", "assay-load-"); err != nil {
		return err
	}
	for name, path := range map[string]string{
		session.TLSAuthorityPath: j.Files.Authority, session.TLSClientPath: j.Files.Certificate, session.TLSClientKeyPath: j.Files.Key,
	} {
		if path == "" {
			continue
		}
		if path, err = filepath.Abs(path); err != nil {
			return err
		}
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("a file for TLS: %w", err)
		}
		if err := os.Symlink(path, filepath.Join(j.folder, filepath.Base(name))); err != nil {
			return err
		}
	}
	return os.WriteFile(j.k6Config(), []byte("{}\n"), 0o600)
}

// Clean removes what Prepare made. It may be called more than once.
func (j *Job) Clean() {
	if j.folder != "" {
		_ = os.RemoveAll(j.folder) // an empty folder more in the temporary one is no reason to fail
	}
}

func (j *Job) k6Config() string { return filepath.Join(j.folder, "k6.json") }

// isolate keeps away from k6 what its user has set for other tests: it would
// change the scenario that carries the load.
func (j *Job) isolate() error {
	for _, setting := range os.Environ() {
		if name, _, _ := strings.Cut(setting, "="); strings.HasPrefix(name, "K6_") {
			if err := os.Unsetenv(name); err != nil {
				return err
			}
		}
	}
	return os.Setenv("K6_CONFIG", j.k6Config())
}

package httpd

import (
	"cmp"
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
	"github.com/assay-dev/assay/internal/server/webserver"
)

// httpd's own figures (https://httpd.apache.org/docs/2.4/mod/mpm_common.html).
// What doesn't fit together it lowers with no more than a warning, or none.
const (
	defaultStartServers    = 3
	defaultServerLimit     = 16
	defaultThreadsPerChild = 25
	defaultThreadLimit     = 64
	// minThreads is the least number of threads that a process gets unless it
	// is given.
	minThreads = 8
	// maxServers is the hard limit of ServerLimit for Event and Worker, and
	// the field's for all.
	maxServers = 20000
	maxWorkers = 1000000

	defaultPreforkStartServers = 5
	defaultPreforkServerLimit  = 256
)

// processCounts are the numbers of processes and threads. Zero leaves one to
// httpd.
type processCounts struct {
	startServers, serverLimit, threadLimit, threadsPerChild, maxRequestWorkers int32
}

func (f processCounts) write(c *webserver.Text) {
	for _, directive := range []struct {
		name  string
		value int32
	}{
		{"ServerLimit", f.serverLimit},
		{"ThreadLimit", f.threadLimit},
		{"StartServers", f.startServers},
		{"ThreadsPerChild", f.threadsPerChild},
		{"MaxRequestWorkers", f.maxRequestWorkers},
	} {
		if directive.value != 0 {
			c.Line("%s %d", directive.name, directive.value)
		}
	}
}

// mpmOf returns the multi-processing module, Event by default.
func mpmOf(h *v1alpha1.HTTPDServer) v1alpha1.HTTPDMPM { return cmp.Or(h.MPM, v1alpha1.HTTPDEvent) }

// processesOf completes the declared figures to a set that httpd accepts as it
// is. An error names those that can't go together.
func processesOf(in *adapter.Input) (processCounts, error) {
	h := in.Server.HTTPD
	var figures processCounts
	var err error
	switch mpmOf(h) {
	case v1alpha1.HTTPDPrefork:
		figures, err = preforkProcesses(in)
	case v1alpha1.HTTPDEvent, v1alpha1.HTTPDWorker:
		figures, err = threadedProcesses(in)
	default:
		return figures, fmt.Errorf("%s: %q must be Event, Worker or Prefork", in.Field("httpd.mpm"), h.MPM)
	}
	if err != nil {
		return processCounts{}, err
	}
	limit, usual := int32(defaultServerLimit), int32(defaultStartServers)
	if h.MPM == v1alpha1.HTTPDPrefork {
		limit, usual = defaultPreforkServerLimit, defaultPreforkStartServers
	}
	if figures.maxRequestWorkers != 0 {
		limit = figures.maxRequestWorkers / max(figures.threadsPerChild, 1)
	}
	switch {
	case h.StartServers == nil && usual > limit:
		// More would be lowered without a word.
		figures.startServers = limit
	case h.StartServers != nil && *h.StartServers > limit:
		return processCounts{}, fmt.Errorf("%s is %d, but there are at most %d processes: raise serverLimit or maxRequestWorkers, or lower it",
			in.Field("httpd.startServers"), *h.StartServers, limit)
	case h.StartServers != nil:
		figures.startServers = *h.StartServers
	}
	return figures, nil
}

func preforkProcesses(in *adapter.Input) (processCounts, error) {
	h := in.Server.HTTPD
	if h.ThreadsPerChild != nil {
		return processCounts{}, fmt.Errorf("%s has no meaning with the mpm Prefork, whose processes have one thread each: leave it out",
			in.Field("httpd.threadsPerChild"))
	}
	workers, limit := h.MaxRequestWorkers, h.ServerLimit
	switch {
	case workers == nil && limit == nil:
		if start := ptr.Deref(h.StartServers, 0); start > defaultPreforkServerLimit {
			workers, limit = &start, &start
		} else {
			return processCounts{}, nil
		}
	case workers == nil:
		workers = limit
	case limit == nil:
		limit = workers
	}
	if *workers > *limit {
		return processCounts{}, fmt.Errorf("%s is %d, but serverLimit %d allows no more processes, and with the mpm Prefork each serves one request: "+
			"raise serverLimit or leave it out", in.Field("httpd.maxRequestWorkers"), *workers, *limit)
	}
	if *limit > maxServers {
		return processCounts{}, fmt.Errorf("%s is %d, but with the mpm Prefork each request has a process, of which there can be %d: lower it, or use the mpm Event",
			in.Field("httpd.maxRequestWorkers"), *workers, maxServers)
	}
	return processCounts{serverLimit: *limit, maxRequestWorkers: *workers}, nil
}

func threadedProcesses(in *adapter.Input) (processCounts, error) {
	h := in.Server.HTTPD
	start := ptr.Deref(h.StartServers, 0)
	if h.MaxRequestWorkers == nil {
		if h.ServerLimit == nil && h.ThreadsPerChild == nil && start <= defaultServerLimit {
			return processCounts{}, nil
		}
		servers, threads := ptr.Deref(h.ServerLimit, max(defaultServerLimit, start)), ptr.Deref(h.ThreadsPerChild, defaultThreadsPerChild)
		if int64(servers)*int64(threads) > maxWorkers {
			return processCounts{}, fmt.Errorf("%s: serverLimit %d with threadsPerChild %d is more than %d requests at a time: lower one of them, or give maxRequestWorkers",
				in.Field("httpd"), servers, threads, maxWorkers)
		}
		return threaded(servers, threads), nil
	}
	workers, limit := *h.MaxRequestWorkers, ptr.Deref(h.ServerLimit, maxServers)
	if h.ThreadsPerChild != nil {
		threads := *h.ThreadsPerChild
		switch {
		case workers%threads != 0:
			return processCounts{}, fmt.Errorf("%s is %d, which isn't a multiple of threadsPerChild %d: httpd would lower it to %d; take a multiple",
				in.Field("httpd.maxRequestWorkers"), workers, threads, workers/threads*threads)
		case workers/threads > limit:
			return processCounts{}, fmt.Errorf("%s is %d, but serverLimit %d with threadsPerChild %d allows %d: raise one of them, or leave serverLimit out",
				in.Field("httpd.maxRequestWorkers"), workers, limit, threads, int64(limit)*int64(threads))
		}
		return threadedFor(h, workers, threads), nil
	}
	fits := func(threads int32) bool { return workers%threads == 0 && workers/threads <= limit }
	if fits(defaultThreadsPerChild) {
		return threadedFor(h, workers, defaultThreadsPerChild), nil
	}
	for threads := int32(defaultThreadLimit); threads >= min(minThreads, workers); threads-- {
		if fits(threads) {
			return threadedFor(h, workers, threads), nil
		}
	}
	return processCounts{}, fmt.Errorf("%s is %d, which no threadsPerChild from %d to %d divides into at most %d processes: "+
		"give a threadsPerChild that does, raise serverLimit, or take another number",
		in.Field("httpd.maxRequestWorkers"), workers, minThreads, defaultThreadLimit, limit)
}

// threaded returns the figures of processes with threads that are all used.
func threaded(servers, threads int32) processCounts {
	return processCounts{
		serverLimit: servers, threadsPerChild: threads, threadLimit: max(threads, defaultThreadLimit), maxRequestWorkers: servers * threads,
	}
}

// threadedFor returns the figures for a number of requests at a time.
func threadedFor(h *v1alpha1.HTTPDServer, workers, threads int32) processCounts {
	f := threaded(workers/threads, threads)
	f.serverLimit = ptr.Deref(h.ServerLimit, f.serverLimit)
	return f
}

package httpd

import (
	"cmp"
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
)

// httpd's defaults and limits (https://httpd.apache.org/docs/2.4/mod/mpm_common.html).
// If values don't fit together, httpd lowers some, with a warning or silently.
const (
	defaultStartServers    = 3
	defaultServerLimit     = 16
	defaultThreadsPerChild = 25
	defaultThreadLimit     = 64
	// minThreads is the smallest number of threads per process, unless it is set.
	minThreads = 8
	// maxServers is the hard limit of ServerLimit for Event and Worker, and the field's for all.
	maxServers = 20000
	maxWorkers = 1000000

	// eventConnections is the number of connections that Event has open for each of its workers at most: 1 and AsyncRequestWorkerFactor.
	eventConnections = 3

	defaultPreforkStartServers = 5
	defaultPreforkServerLimit  = 256
)

// processCounts are the numbers of processes and threads. Zero leaves one to httpd.
type processCounts struct {
	startServers, serverLimit, threadLimit, threadsPerChild, maxRequestWorkers int32
}

// directive is a setting of httpd for a field of the spec.
type directive struct {
	name, field string
	value       int32
}

func (f processCounts) directives() []directive {
	return []directive{
		{"ServerLimit", "serverLimit", f.serverLimit},
		{"ThreadLimit", "threadsPerChild", f.threadLimit},
		{"StartServers", "startServers", f.startServers},
		{"ThreadsPerChild", "threadsPerChild", f.threadsPerChild},
		{"MaxRequestWorkers", "maxRequestWorkers", f.maxRequestWorkers},
	}
}

// mpmOf returns the multi-processing module, Event by default.
func mpmOf(in *adapter.Input) string { return string(cmp.Or(in.Server.HTTPD.MPM, v1alpha1.HTTPDEvent)) }

// processesOf completes the declared counts, which the API server has checked one against another, to
// a set that httpd accepts as it is. An error names those that can't be completed.
func processesOf(in *adapter.Input) (processCounts, error) {
	h := in.Server.HTTPD
	var counts processCounts
	var err error
	switch v1alpha1.HTTPDMPM(mpmOf(in)) {
	case v1alpha1.HTTPDPrefork:
		counts, err = preforkProcesses(in)
	case v1alpha1.HTTPDEvent, v1alpha1.HTTPDWorker:
		counts, err = threadedProcesses(in)
	default:
		return counts, fmt.Errorf("%s: %q must be Event, Worker or Prefork", in.Field("httpd.mpm"), h.MPM)
	}
	if err != nil {
		return processCounts{}, err
	}
	limit, usual := int32(defaultServerLimit), int32(defaultStartServers)
	if h.MPM == v1alpha1.HTTPDPrefork {
		limit, usual = defaultPreforkServerLimit, defaultPreforkStartServers
	}
	if counts.maxRequestWorkers != 0 {
		limit = counts.maxRequestWorkers / max(counts.threadsPerChild, 1)
	}
	switch {
	case h.StartServers == nil && usual > limit:
		// httpd would silently lower more.
		counts.startServers = limit
	case h.StartServers != nil && *h.StartServers > limit:
		return processCounts{}, fmt.Errorf("%s is %d, but there are at most %d processes: increase serverLimit or maxRequestWorkers, or decrease it",
			in.Field("httpd.startServers"), *h.StartServers, limit)
	case h.StartServers != nil:
		counts.startServers = *h.StartServers
	}
	return counts, nil
}

// defaultWorkers returns httpd's own MaxRequestWorkers: a request for each thread or, with Prefork, process.
func defaultWorkers(mpm v1alpha1.HTTPDMPM) int32 {
	if mpm == v1alpha1.HTTPDPrefork {
		return defaultPreforkServerLimit
	}
	return defaultServerLimit * defaultThreadsPerChild
}

func preforkProcesses(in *adapter.Input) (processCounts, error) {
	h := in.Server.HTTPD
	workers, start := cmp.Or(h.MaxRequestWorkers, h.ServerLimit), ptr.Deref(h.StartServers, 0)
	if workers == nil && start > defaultPreforkServerLimit {
		workers = &start
	}
	if workers == nil {
		return processCounts{}, nil
	}
	limit := cmp.Or(h.ServerLimit, workers)
	if *limit > maxServers {
		return processCounts{}, fmt.Errorf("%s is %d, but with the mpm Prefork each request has a process, of which there can be %d: decrease it, or use the mpm Event",
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
			return processCounts{}, fmt.Errorf("%s: serverLimit %d with threadsPerChild %d is more than %d requests at a time: decrease one of them, or set maxRequestWorkers",
				in.Field("httpd"), servers, threads, maxWorkers)
		}
		return threaded(servers, threads), nil
	}
	workers, limit := *h.MaxRequestWorkers, ptr.Deref(h.ServerLimit, maxServers)
	if h.ThreadsPerChild != nil {
		return threadedFor(h, workers, *h.ThreadsPerChild), nil
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
		"set a threadsPerChild that does, increase serverLimit, or use another number",
		in.Field("httpd.maxRequestWorkers"), workers, minThreads, defaultThreadLimit, limit)
}

// threaded returns the counts of processes with threads that are all used.
func threaded(servers, threads int32) processCounts {
	return processCounts{
		serverLimit: servers, threadsPerChild: threads, threadLimit: max(threads, defaultThreadLimit), maxRequestWorkers: servers * threads,
	}
}

// threadedFor returns the counts for a number of requests at a time.
func threadedFor(h *v1alpha1.HTTPDServer, workers, threads int32) processCounts {
	f := threaded(workers/threads, threads)
	f.serverLimit = ptr.Deref(h.ServerLimit, f.serverLimit)
	return f
}

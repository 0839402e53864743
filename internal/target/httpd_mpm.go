package target

import (
	"cmp"
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// httpd's own figures (https://httpd.apache.org/docs/2.4/mod/mpm_common.html).
// What doesn't fit together it lowers with no more than a warning, or none.
const (
	httpdStartServers    = 3
	httpdServerLimit     = 16
	httpdThreadsPerChild = 25
	httpdThreadLimit     = 64
	// httpdFewThreads is the least number of threads that a process gets unless it
	// is given.
	httpdFewThreads = 8
	// httpdMostServers is the hard limit of ServerLimit for Event and Worker, and
	// the field's for all.
	httpdMostServers = 20000
	httpdMostWorkers = 1000000

	httpdPreforkStartServers = 5
	httpdPreforkServerLimit  = 256
)

// httpdFigures are the numbers of processes and threads; 0 is left to httpd.
type httpdFigures struct {
	startServers, serverLimit, threadLimit, threadsPerChild, maxRequestWorkers int32
}

func (f httpdFigures) write(c *confText) {
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
			c.line("%s %d", directive.name, directive.value)
		}
	}
}

// httpdProcesses makes of the given figures a set that httpd takes as it is. An
// error names those that can't go together.
func httpdProcesses(in *input) (httpdFigures, error) {
	h := in.server.HTTPD
	var figures httpdFigures
	var err error
	switch cmp.Or(h.MPM, v1alpha1.HTTPDEvent) {
	case v1alpha1.HTTPDPrefork:
		figures, err = httpdPreforkProcesses(in)
	case v1alpha1.HTTPDEvent, v1alpha1.HTTPDWorker:
		figures, err = httpdThreadedProcesses(in)
	default:
		return figures, fmt.Errorf("%s: %q must be Event, Worker or Prefork", in.field("httpd.mpm"), h.MPM)
	}
	if err != nil {
		return httpdFigures{}, err
	}
	limit, usual := int32(httpdServerLimit), int32(httpdStartServers)
	if h.MPM == v1alpha1.HTTPDPrefork {
		limit, usual = httpdPreforkServerLimit, httpdPreforkStartServers
	}
	if figures.maxRequestWorkers != 0 {
		limit = figures.maxRequestWorkers / max(figures.threadsPerChild, 1)
	}
	switch {
	case h.StartServers == nil && usual > limit:
		// More would be lowered without a word.
		figures.startServers = limit
	case h.StartServers != nil && *h.StartServers > limit:
		return httpdFigures{}, fmt.Errorf("%s is %d, but there are at most %d processes: raise serverLimit or maxRequestWorkers, or lower it",
			in.field("httpd.startServers"), *h.StartServers, limit)
	case h.StartServers != nil:
		figures.startServers = *h.StartServers
	}
	return figures, nil
}

func httpdPreforkProcesses(in *input) (httpdFigures, error) {
	h := in.server.HTTPD
	if h.ThreadsPerChild != nil {
		return httpdFigures{}, fmt.Errorf("%s has no meaning with the mpm Prefork, whose processes have one thread each: leave it out",
			in.field("httpd.threadsPerChild"))
	}
	workers, limit := h.MaxRequestWorkers, h.ServerLimit
	switch {
	case workers == nil && limit == nil:
		if start := ptr.Deref(h.StartServers, 0); start > httpdPreforkServerLimit {
			workers, limit = &start, &start
		} else {
			return httpdFigures{}, nil
		}
	case workers == nil:
		workers = limit
	case limit == nil:
		limit = workers
	}
	if *workers > *limit {
		return httpdFigures{}, fmt.Errorf("%s is %d, but serverLimit %d allows no more processes, and with the mpm Prefork each serves one request: "+
			"raise serverLimit or leave it out", in.field("httpd.maxRequestWorkers"), *workers, *limit)
	}
	if *limit > httpdMostServers {
		return httpdFigures{}, fmt.Errorf("%s is %d, but with the mpm Prefork each request has a process, of which there can be %d: lower it, or use the mpm Event",
			in.field("httpd.maxRequestWorkers"), *workers, httpdMostServers)
	}
	return httpdFigures{serverLimit: *limit, maxRequestWorkers: *workers}, nil
}

func httpdThreadedProcesses(in *input) (httpdFigures, error) {
	h := in.server.HTTPD
	start := ptr.Deref(h.StartServers, 0)
	if h.MaxRequestWorkers == nil {
		if h.ServerLimit == nil && h.ThreadsPerChild == nil && start <= httpdServerLimit {
			return httpdFigures{}, nil
		}
		servers, threads := ptr.Deref(h.ServerLimit, max(httpdServerLimit, start)), ptr.Deref(h.ThreadsPerChild, httpdThreadsPerChild)
		if int64(servers)*int64(threads) > httpdMostWorkers {
			return httpdFigures{}, fmt.Errorf("%s: serverLimit %d with threadsPerChild %d is more than %d requests at a time: lower one of them, or give maxRequestWorkers",
				in.field("httpd"), servers, threads, httpdMostWorkers)
		}
		return httpdThreaded(servers, threads), nil
	}
	workers, limit := *h.MaxRequestWorkers, ptr.Deref(h.ServerLimit, httpdMostServers)
	if h.ThreadsPerChild != nil {
		threads := *h.ThreadsPerChild
		switch {
		case workers%threads != 0:
			return httpdFigures{}, fmt.Errorf("%s is %d, which isn't a multiple of threadsPerChild %d: httpd would lower it to %d; take a multiple",
				in.field("httpd.maxRequestWorkers"), workers, threads, workers/threads*threads)
		case workers/threads > limit:
			return httpdFigures{}, fmt.Errorf("%s is %d, but serverLimit %d with threadsPerChild %d allows %d: raise one of them, or leave serverLimit out",
				in.field("httpd.maxRequestWorkers"), workers, limit, threads, int64(limit)*int64(threads))
		}
		return httpdThreadedFor(h, workers, threads), nil
	}
	fits := func(threads int32) bool { return workers%threads == 0 && workers/threads <= limit }
	if fits(httpdThreadsPerChild) {
		return httpdThreadedFor(h, workers, httpdThreadsPerChild), nil
	}
	for threads := int32(httpdThreadLimit); threads >= min(httpdFewThreads, workers); threads-- {
		if fits(threads) {
			return httpdThreadedFor(h, workers, threads), nil
		}
	}
	return httpdFigures{}, fmt.Errorf("%s is %d, which no threadsPerChild from %d to %d divides into at most %d processes: "+
		"give a threadsPerChild that does, raise serverLimit, or take another number",
		in.field("httpd.maxRequestWorkers"), workers, httpdFewThreads, httpdThreadLimit, limit)
}

// httpdThreaded are the figures of processes with threads that are all used.
func httpdThreaded(servers, threads int32) httpdFigures {
	return httpdFigures{
		serverLimit: servers, threadsPerChild: threads, threadLimit: max(threads, httpdThreadLimit), maxRequestWorkers: servers * threads,
	}
}

// httpdThreadedFor are the figures for a number of requests at a time.
func httpdThreadedFor(h *v1alpha1.HTTPDServer, workers, threads int32) httpdFigures {
	f := httpdThreaded(workers/threads, threads)
	f.serverLimit = ptr.Deref(h.ServerLimit, f.serverLimit)
	return f
}

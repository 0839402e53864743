package httpd

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
)

func TestProcesses(t *testing.T) {
	const field = "spec.target.server.httpd."
	// 0 means not set, in given and in want.
	type given struct {
		mpm                             v1alpha1.HTTPDMPM
		start, limit, threads, requests int32
	}
	tests := map[string]struct {
		given given
		want  processCounts
		err   string
	}{
		"nothing":                   {},
		"nothing, prefork":          {given: given{mpm: v1alpha1.HTTPDPrefork}},
		"requests":                  {given: given{requests: 1000}, want: processCounts{serverLimit: 40, threadsPerChild: 25, threadLimit: 64, maxRequestWorkers: 1000}},
		"requests, worker":          {given: given{mpm: v1alpha1.HTTPDWorker, requests: 150}, want: processCounts{serverLimit: 6, threadsPerChild: 25, threadLimit: 64, maxRequestWorkers: 150}},
		"no multiple of 25":         {given: given{requests: 256}, want: processCounts{serverLimit: 4, threadsPerChild: 64, threadLimit: 64, maxRequestWorkers: 256}},
		"few requests":              {given: given{requests: 3}, want: processCounts{startServers: 1, serverLimit: 1, threadsPerChild: 3, threadLimit: 64, maxRequestWorkers: 3}},
		"one request":               {given: given{requests: 1}, want: processCounts{startServers: 1, serverLimit: 1, threadsPerChild: 1, threadLimit: 64, maxRequestWorkers: 1}},
		"a prime number":            {given: given{requests: 101}, err: field + "maxRequestWorkers is 101, which no threadsPerChild from 8 to 64 divides"},
		"a prime number of threads": {given: given{requests: 101, threads: 101}, want: processCounts{startServers: 1, serverLimit: 1, threadsPerChild: 101, threadLimit: 101, maxRequestWorkers: 101}},
		"requests and threads":      {given: given{requests: 1000, threads: 100}, want: processCounts{serverLimit: 10, threadsPerChild: 100, threadLimit: 100, maxRequestWorkers: 1000}},
		"requests and limit":        {given: given{requests: 1000, limit: 20}, want: processCounts{serverLimit: 20, threadsPerChild: 50, threadLimit: 64, maxRequestWorkers: 1000}},
		"a limit to spare":          {given: given{requests: 100, limit: 20}, want: processCounts{serverLimit: 20, threadsPerChild: 25, threadLimit: 64, maxRequestWorkers: 100}},
		"limit and threads":         {given: given{limit: 4, threads: 100}, want: processCounts{serverLimit: 4, threadsPerChild: 100, threadLimit: 100, maxRequestWorkers: 400}},
		"limit":                     {given: given{limit: 40}, want: processCounts{serverLimit: 40, threadsPerChild: 25, threadLimit: 64, maxRequestWorkers: 1000}},
		"threads":                   {given: given{threads: 64}, want: processCounts{serverLimit: 16, threadsPerChild: 64, threadLimit: 64, maxRequestWorkers: 1024}},
		"start":                     {given: given{start: 5}, want: processCounts{startServers: 5}},
		"a start beyond the usual":  {given: given{start: 20}, want: processCounts{startServers: 20, serverLimit: 20, threadsPerChild: 25, threadLimit: 64, maxRequestWorkers: 500}},
		"everything":                {given: given{start: 4, limit: 4, threads: 25, requests: 100}, want: processCounts{startServers: 4, serverLimit: 4, threadsPerChild: 25, threadLimit: 64, maxRequestWorkers: 100}},
		"beyond the limit":          {given: given{requests: 1000, limit: 4}, err: field + "maxRequestWorkers is 1000, which no threadsPerChild from 8 to 64 divides into at most 4 processes"},
		"more at the start":         {given: given{start: 5, limit: 4}, err: field + "startServers is 5, but there are at most 4 processes"},
		"more than derived":         {given: given{start: 5, requests: 100}, err: field + "startServers is 5, but there are at most 4 processes"},
		"too much of all":           {given: given{limit: 20000, threads: 15000}, err: field[:len(field)-1] + ": serverLimit 20000 with threadsPerChild 15000 is more than 1000000 requests"},
		"a million":                 {given: given{requests: 1000000}, want: processCounts{serverLimit: 15625, threadsPerChild: 64, threadLimit: 64, maxRequestWorkers: 1000000}},

		"prefork":                    {given: given{mpm: v1alpha1.HTTPDPrefork, requests: 300}, want: processCounts{serverLimit: 300, maxRequestWorkers: 300}},
		"prefork, few":               {given: given{mpm: v1alpha1.HTTPDPrefork, requests: 2}, want: processCounts{startServers: 2, serverLimit: 2, maxRequestWorkers: 2}},
		"prefork, limit":             {given: given{mpm: v1alpha1.HTTPDPrefork, limit: 500}, want: processCounts{serverLimit: 500, maxRequestWorkers: 500}},
		"prefork, both":              {given: given{mpm: v1alpha1.HTTPDPrefork, limit: 500, requests: 100, start: 50}, want: processCounts{startServers: 50, serverLimit: 500, maxRequestWorkers: 100}},
		"prefork, start":             {given: given{mpm: v1alpha1.HTTPDPrefork, start: 300}, want: processCounts{startServers: 300, serverLimit: 300, maxRequestWorkers: 300}},
		"prefork, too many":          {given: given{mpm: v1alpha1.HTTPDPrefork, requests: 20001}, err: field + "maxRequestWorkers is 20001, but with the mpm Prefork"},
		"prefork, more at the start": {given: given{mpm: v1alpha1.HTTPDPrefork, requests: 10, start: 11}, err: field + "startServers is 11, but there are at most 10"},
		"prefork, all at the start":  {given: given{mpm: v1alpha1.HTTPDPrefork, requests: 300, limit: 400, start: 350}, err: field + "startServers is 350, but there are at most 300"},
		"an unknown mpm":             {given: given{mpm: "Winnt"}, err: field + `mpm: "Winnt" must be Event, Worker or Prefork`},
	}
	optional := func(n int32) *int32 {
		if n == 0 {
			return nil
		}
		return ptr.To(n)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := test.given
			got, err := processesOf(&adapter.Input{Name: adapter.ContainerName, Server: &v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{
				MPM: g.mpm, StartServers: optional(g.start), ServerLimit: optional(g.limit), ThreadsPerChild: optional(g.threads), MaxRequestWorkers: optional(g.requests),
			}}})
			if (err == nil) != (test.err == "") || err != nil && !strings.HasPrefix(err.Error(), test.err) {
				t.Fatalf("got the error %v, want %s", err, test.err)
			}
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

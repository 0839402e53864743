package hint

import "strings"

// meanings has the fields that the words of other load generators, of servers' own files and of pods mean. Fields are below
// the spec of a run, perhaps with a value, or after an exclamation mark there is what to do. Words are written as plain
// returns them, perhaps after that of the object and a dot; one may have several meanings. A field need not be there, as
// spec.target isn't in plans: then it isn't offered.
var meanings = []struct{ fields, words string }{
	{"load.closed.connections load.stages.levels[].connections", "vus virtualusers concurrency concurrentusers concurrentconnections parallelism parallel workers conns numconnections threads target"},
	{"load.open.maxConnections load.stages.maxConnections", "preallocatedvus maxvus"},
	{"load.open.requestsPerSecond load.stages.levels[].requestsPerSecond", "rps qps tps rate arrivalrate requestrate throughput target"},
	{"load.closed.requestCount load.open.requestCount load.warmup.requestCount", "iterations numrequests numberofrequests totalrequests maxrequests loops amount"},
	{"load.closed.durationSeconds load.open.durationSeconds load.warmup.durationSeconds load.stages.levels[].holdSeconds", "duration runtime testduration period holdfor time"},
	{"load.closed.rampSeconds load.open.ramp load.stages.levels[].rampSeconds", "rampup rampuptime rampupperiod rampduration"},
	{"activeDeadlineSeconds load.client.timeoutSeconds target.readiness.timeoutSeconds", "timeout deadline requesttimeout"},
	{"load.closed.thinkTime.minMilliseconds load.stages.thinkTime.minMilliseconds", "thinktime pacing sleep think delay"},
	{"target.server.external.url load.requests[].path url", "url uri endpoint baseurl targeturl"},
	{"load.requests[].expect.statuses", "status statuscode statuscodes expectedstatus expectstatus"},
	{"load.requests[].body", "payload data"},
	{"load.requests[].method", "verb"},
	{"load.authentication", "auth basicauth"},
	{"load.client.protocol=HTTP2", "http2 h2"},
	{"load", "scenario scenarios"},
	{"thresholds", "assertions slo slos sla checks criteria"},
	{"thresholds[].metric load.stages.stopAt[].metric", "percentile"},
	{"thresholds[].below load.stages.stopAt[].below", "max maximum lessthan lt"},
	{"thresholds[].above load.stages.stopAt[].above", "min minimum greaterthan gt"},
	{"ttlSecondsAfterFinished", "ttl ttlseconds cleanup"},
	{"lane", "queue"},
	{"clients.replicas", "clientcount numclients instances"},
	{"target", "sut systemundertest deployment"},
	{"target.tls", "ssl"},
	{"target.tls.verification=None", "insecure insecureskipverify skipverify insecureskiptlsverify"},
	{"target.tls.serverName", "sni"},
	{"target.tls.protocols", "tlsversion tlsversions sslprotocols minversion sslenabledprotocols"},
	{"target.tls.ciphers", "ciphersuites sslciphers"},
	{"target.tls.groups", "curves curvepreferences namedgroups"},
	{"target.readiness", "probe readinessprobe healthcheck"},
	{"target.readiness.path", "httpget"},
	{"target.content", "files static staticfiles"},
	{"target.imagePullPolicy", "pullpolicy"},
	{"target.imagePullSecrets", "pullsecrets imagepullsecret"},
	{"!put cpu and memory into resources itself: requests and limits are equal", "resources.requests resources.limits"},
	{"target.env", "environment envs envvars variables env"},
	{"!put labels, env, volumes and the like directly into target, or into clients", "pod podtemplate"},
	{"target.server.generic.port", "containerport"},
	{"target.server.generic.command", "entrypoint cmd"},
	{"target.server.tomcat.jvmOptions target.server.jetty.jvmOptions", "jvmopts javaopts catalinaopts jvmargs javaoptions javatooloptions jvmarguments jvm"},
	{"target.server.tomcat.jvmOptions=[-Xmx512m] target.server.jetty.jvmOptions=[-Xmx512m]", "heap xmx maxheap heapsize"},
	{"target.server.jetty.threads.type=Virtual target.server.tomcat.connector.executor=VirtualThreads", "virtualthreads usevirtualthreads"},
	{"target.server.tomcat.connector.maxThreads target.server.jetty.threads.max target.server.httpd.threadsPerChild", "threads maxthreads threadpool"},
	{"target.server.tomcat.connector.minSpareThreads target.server.jetty.threads.min", "minthreads minsparethreads"},
	{"target.server.tomcat.connector.acceptCount target.server.jetty.connector.acceptQueueSize target.server.nginx.backlog target.server.httpd.listenBacklog",
		"acceptcount backlog listenbacklog acceptqueuesize"},
	{"target.server.tomcat.connector.keepAlive.timeoutMilliseconds target.server.jetty.connector.keepAlive.timeoutMilliseconds " +
		"target.server.nginx.keepAlive.timeoutMilliseconds target.server.httpd.keepAlive.timeoutMilliseconds", "keepalivetimeout idletimeout connectiontimeout"},
	{"target.server.tomcat.connector.keepAlive.maxRequests target.server.nginx.keepAlive.maxRequests target.server.httpd.keepAlive.maxRequests", "keepaliverequests maxkeepaliverequests maxrequests"},
	{"target.server.nginx.workerProcesses", "workers"},
	{"target.server.nginx.configuration.configMapName target.server.httpd.configuration.configMapName " +
		"target.server.tomcat.configuration.configMapName target.server.jetty.configuration.configMapName", "serverxml config configmap nginxconf httpdconf configmapref"},
}

// words has the meanings by word.
var words = func() map[string]string {
	all := map[string]string{}
	for _, m := range meanings {
		for _, word := range strings.Fields(m.words) {
			all[word] = strings.TrimSpace(all[word] + " " + m.fields)
		}
	}
	return all
}()

// values has the values of the API that the words of other tools mean, written as plain returns them.
var values = map[string]string{
	"p50": "LatencyP50", "median": "LatencyP50", "p90": "LatencyP90", "p95": "LatencyP95", "p99": "LatencyP99", "p(99)": "LatencyP99", "p(95)": "LatencyP95", "p999": "LatencyP999",
	"mean": "LatencyMean", "avg": "LatencyMean", "average": "LatencyMean", "latency": "LatencyMean", "errors": "ErrorRate", "httpreqfailed": "ErrorRate", "failures": "FailedRequests",
	"rps": "RequestsPerSecond", "throughput": "RequestsPerSecond", "httpreqduration": "LatencyMean",
	"true": "Enabled", "on": "Enabled", "yes": "Enabled", "false": "Disabled", "off": "Disabled", "no": "Disabled",
	"h2": "HTTP2", "http/2": "HTTP2", "http/1.1": "HTTP1", "http1.1": "HTTP1", "tls1.2": "TLSv1.2", "tls1.3": "TLSv1.3", "virtual": "VirtualThreads",
	"uniform": "Constant", "exponential": "Poisson", "roundrobin": "Sequential",
}

package main

import (
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/validity"
	"github.com/assay-dev/assay/test/local"
	"github.com/assay-dev/assay/test/wrapper"
)

// maxFalseWarnings is the number of warnings that all clean runs together may have.
const maxFalseWarnings = 1

// cleanRuns are five kinds of runs with which nothing is wrong, for a machine on which nothing else runs.
var cleanRuns = []scenario{
	{name: "tomcat", about: "25 keep-alive connections to Tomcat", run: func() *wrapper.Run {
		return limitedTo(-1, served(tomcatImage).Tomcat())
	}},
	{name: "tomcat-close", about: "a connection for each request to Tomcat", run: func() *wrapper.Run {
		return served(tomcatImage).Tomcat().KeepAlive(v1alpha1.Disabled)
	}},
	{name: "nginx", about: "25 keep-alive connections to nginx", run: func() *wrapper.Run {
		return served("localhost/assay-test/nginx:1").Nginx()
	}},
	{name: "httpd", about: "25 keep-alive connections to httpd", run: func() *wrapper.Run {
		r := served("localhost/assay-test/httpd:2.4").HTTPD()
		r.Spec.Target.Server.HTTPD.KeepAlive = &v1alpha1.HTTPDKeepAlive{MaxRequests: ptr.To(int32(0))} // no limit
		return r
	}},
	{name: "open", about: "1,000 requests/s for a server that takes 2 ms", run: func() *wrapper.Run {
		return wrapper.NewRun("", "", local.ServerImage).Path("/fixed/2000/100").TargetResources("1", "256Mi").Clients(1, "700m", "128Mi").
			WarmupSeconds(3).Rate(1000, 12)
	}},
}

func served(image string) *wrapper.Run {
	return wrapper.NewRun("", "", image).Content("/page.html", 31819).TargetResources("1", "1Gi").Clients(1, "740m", "256Mi").
		WarmupSeconds(6).Seconds(25, 12)
}

// cleanScenarios returns n runs of the five kinds in turn.
func cleanScenarios(n int) []scenario {
	var all []scenario
	for i := range n {
		s := cleanRuns[i%len(cleanRuns)]
		of := s.run
		s.run = func() *wrapper.Run {
			r := of()
			r.Spec.Accept = []v1alpha1.FindingReason{validity.ReasonSharedNode} // true on a cluster with one node
			return r
		}
		s.name = fmt.Sprintf("%s-%d", s.name, i/len(cleanRuns)+1)
		all = append(all, s)
	}
	return all
}

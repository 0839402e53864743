package main

import (
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
	"github.com/assay-dev/assay/test/harness"
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
		return slower(served(tomcatImage).Tomcat().KeepAlive(v1alpha1.Disabled))
	}},
	{name: "nginx", about: "a TLS handshake with nginx for each request", run: func() *wrapper.Run {
		return handshakes(served(nginxImage).Nginx())
	}},
	{name: "httpd", about: "a TLS handshake with httpd for each request", run: func() *wrapper.Run {
		return handshakes(served("localhost/assay-test/httpd:2.4").HTTPD())
	}},
	{name: "open", about: "1,000 requests/s for a server that takes 2 ms", run: func() *wrapper.Run {
		return wrapper.NewRun("", "", harness.ServerImage).Path("/fixed/2000/100").TargetResources("1", "256Mi").Clients(1, "700m", "128Mi").
			WarmupSeconds(3).Rate(1000, 12)
	}},
}

func served(image string) *wrapper.Run {
	return wrapper.NewRun("", "", image).Content("/page.html", 31819).TargetResources("1", "1Gi").Clients(1, "740m", "256Mi").
		WarmupSeconds(6).Seconds(25, 12)
}

// slower has a Tomcat whose Java virtual machine interprets. Compiled, even by the first compiler alone, it needs so little CPU time for a
// connection that the client is saturated on machines with two CPUs.
func slower(r *wrapper.Run) *wrapper.Run {
	r.Spec.Target.Server.Tomcat.JVMOptions = append(r.Spec.Target.Server.Tomcat.JVMOptions, "-Xint")
	return r.Seconds(25, 34)
}

// handshakes makes each request open a connection, for which the server signs with an RSA key of 3072 bits. Without that
// nginx needs less CPU time for a request than the client has, and httpd not much more, so that the client would be
// saturated. With 2048 bits nginx needs 0.6 ms and the client 0.4, with 3072 bits 2 ms and 0.7. A server that makes 200
// handshakes/s comes to the 10,000 requests of TooFewSamples.
func handshakes(r *wrapper.Run) *wrapper.Run {
	r.Spec.Target.TLS = &v1alpha1.TLS{Certificate: &v1alpha1.Certificate{
		SelfSigned: &v1alpha1.SelfSigned{}, PrivateKey: &v1alpha1.PrivateKey{Size: ptr.To(int32(3072))},
	}}
	return r.KeepAlive(v1alpha1.Disabled).Seconds(25, 50)
}

// undisturbed says how much of what would be a finding there was although nothing is wrong: what others had of the
// target's CPUs, and for how long processes of its node waited for memory.
func undisturbed(r *result.Result) string {
	u := r.NodeUsage
	if u == nil {
		return "what happened around the target is unknown"
	}
	waited := "is unknown"
	if u.MemoryPressure != result.Unknown {
		waited = fmt.Sprintf("was %.3f%% of the time", 100*float64(u.MemoryPressure)/float64(max(r.DurationMicroseconds, 1)))
	}
	return fmt.Sprintf("others had %.2f%% of the target's CPUs, the hypervisor %.2f%%; the wait for memory %s", u.ProcessPercent(), u.CPUPercent(u.Steal), waited)
}

// cleanScenarios returns n runs of the five kinds in turn.
func cleanScenarios(n int) []scenario {
	var all []scenario
	for i := range n {
		s := cleanRuns[i%len(cleanRuns)]
		of := s.run
		s.run = func() *wrapper.Run {
			r := of()
			r.Spec.AcceptedFindings = []v1alpha1.FindingReason{validity.ReasonSharedNode} // true on a cluster with one node
			return r
		}
		s.name = fmt.Sprintf("%s-%d", s.name, i/len(cleanRuns)+1)
		all = append(all, s)
	}
	return all
}

package standalone

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// result returns the job's result with its findings.
func (j *Job) result(totals *result.Totals, s *localSession) *result.Result {
	plan := j.Plan
	r := &result.Result{
		SchemaVersion: result.SchemaVersion,
		Run: result.Run{
			Standalone: true, RequestList: j.RequestList, Name: j.Name, Server: j.URL.Scheme + "://" + j.URL.Host, Load: j.Load,
			Connections: int64(plan.Connections), Streams: int64(plan.Streams), KeepAlive: plan.KeepAlive,
			Sequential: plan.Sequential, Cookies: plan.Cookies, Authentication: plan.Authentication, MeasurementTime: time.UnixMicro(totals.StartedAt).UTC(),
		},
		Environment: result.Environment{
			TargetAddress: Target(j.URL), ServerSoftware: j.probed.Software, DocumentLength: j.probed.DocumentLength,
			HTTP: j.probed.HTTP, TLS: j.probed.TLS, ClientCPULimit: int64(runtime.GOMAXPROCS(0)) * 1000, Assay: j.Version,
		},
		Series: s.series,
	}
	for _, q := range plan.Requests {
		r.Run.Requests = append(r.Run.Requests, result.Request{Method: q.Method, Path: q.Path, Weight: int64(q.Weight), Length: q.Length})
	}
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	r.AddClients([]result.Client{{Node: host, Totals: *totals}})
	if r.Warmup != nil {
		r.Warmup.Steady = s.steady
	}
	r.AddLevels(j.Levels)
	r.Findings = validity.Judge(r)
	return r
}

// interruptedFinding returns the finding for a measurement that a signal ended.
func interruptedFinding(r *result.Result) result.Finding {
	return result.Finding{
		Reason: "Interrupted", Severity: result.Warns,
		Message: fmt.Sprintf("The measurement was interrupted after %.3fs and %d requests. The result covers that time only.",
			float64(r.DurationMicroseconds)/1e6, r.Merged.Requests),
	}
}

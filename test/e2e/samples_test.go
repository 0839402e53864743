//go:build e2e

package e2e

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// samplePath returns the path of a sample, or of a small file of a published report.
func samplePath(t *testing.T, name string) string {
	t.Helper()
	for _, pattern := range []string{"../../config/samples", "../../config/reports/*/small"} {
		if paths, err := filepath.Glob(filepath.Join(pattern, name+".yaml")); err == nil && len(paths) == 1 {
			return paths[0]
		}
	}
	t.Fatalf("no sample %s", name)
	return ""
}

// applySample applies a sample with kubectl, waits until its runs have succeeded, and
// returns them ordered by name.
func (c *cluster) applySample(t *testing.T, ns, name string, limit time.Duration) []*v1alpha1.BenchmarkRun {
	t.Helper()
	kubectlApply(t, ns, name)
	var created v1alpha1.BenchmarkRunList
	if err := c.List(t.Context(), &created, client.InNamespace(ns), client.MatchingLabels{"series": name}); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(created.Items, func(a, b v1alpha1.BenchmarkRun) int { return strings.Compare(a.Name, b.Name) })
	deadline := time.Now().Add(limit)
	var runs []*v1alpha1.BenchmarkRun
	for i := range created.Items {
		done := c.finished(t, &created.Items[i], time.Until(deadline))
		wantSucceeded(t, done)
		t.Logf("%s: %s requests/s, %s", done.Name, done.Status.Result.RequestsPerSecond, condition(done, v1alpha1.ConditionValid).Reason)
		runs = append(runs, done)
	}
	return runs
}

// kubectlApply applies a sample and returns the output of kubectl.
func kubectlApply(t *testing.T, ns, name string) string {
	t.Helper()
	out, err := exec.Command("kubectl", "apply", "--namespace", ns, "--filename", samplePath(t, name)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// wantAllRequests fails the test unless the run completed the declared number of
// requests and exactly the expected number of them failed.
func wantAllRequests(t *testing.T, run *v1alpha1.BenchmarkRun, expected int64) {
	t.Helper()
	r := run.Status.Result
	if want := int64(*run.Spec.Clients.Replicas) * *run.Spec.Load.Closed.RequestCount; *r.Requests != want {
		t.Errorf("%s: %d requests, want %d", run.Name, *r.Requests, want)
	}
	if failed := *r.Errors.Total; failed != expected {
		t.Errorf("%s: %d requests failed, want %d: connect %d, TLS %d, timeout %d, receive %d, length %d, status %d, exception %d", run.Name, failed, expected,
			*r.Errors.Connect, *r.Errors.TLS, *r.Errors.Timeout, *r.Errors.Receive, *r.Errors.Length, *r.Errors.Status, *r.Errors.Exception)
	}
}

// r1Row holds the cells of a row of R1's table except its metrics.
type r1Row struct{ connector, file, options string }

// TestSampleR1 applies small versions of R1's seven tests, which run one after the
// other, and prints their table.
func TestSampleR1(t *testing.T) {
	c := theCluster
	ns := c.namespace(t)
	runs := c.applySample(t, ns, "r1-small", 6*time.Minute)
	const tls = ", TLSv1.2 ECDHE-RSA-AES256-GCM-SHA384"
	want := []r1Row{
		{"Tomcat NIO", "31,819 B", "no keep-alive, -c 25"},
		{"Tomcat NIO", "31,819 B", "keep-alive, -c 25"},
		{"Tomcat NIO", "109,518 B", "no keep-alive, -c 25"},
		{"Tomcat NIO", "5,242,880 B", "no keep-alive, -c 250"},
		{"Tomcat NIO + JSSE", "31,819 B", "keep-alive, -c 25" + tls},
		{"Tomcat APR", "31,819 B", "keep-alive, -c 25"},
		{"Tomcat APR + OpenSSL", "31,819 B", "keep-alive, -c 25" + tls},
	}
	if len(runs) != len(want) {
		t.Fatalf("%d runs, want %d", len(runs), len(want))
	}
	for i, run := range runs {
		expected := int64(0)
		if run.Name == "r1-test4-small" {
			expected = *run.Status.Result.Errors.Timeout // as in R1
		}
		wantAllRequests(t, run, expected)
		if i > 0 && run.Status.AdmissionTime.Before(runs[i-1].Status.CompletionTime) {
			t.Errorf("%s was admitted at %s, before %s had finished at %s",
				run.Name, run.Status.AdmissionTime, runs[i-1].Name, runs[i-1].Status.CompletionTime)
		}
	}
	for _, again := range []string{"r1-small", "r1-test2-small"} { // the second is one of the first's runs
		if said := kubectlApply(t, ns, again); strings.Count(said, "\n") != strings.Count(said, " unchanged\n") {
			t.Errorf("%s, applied again, is not unchanged:\n%s", again, said)
		}
	}
	table := plugin(t, 0, "table", "-n", ns, "-l", "series=r1-small")
	t.Logf("\n%s", table)
	lines := strings.Split(table, "\n")
	for i, row := range want {
		wantRow(t, lines[i+1], runs[i].Name, row.connector, row.file, row.options)
	}
	if after := lines[len(want)+1]; after != "" {
		t.Errorf("more than %d rows: %s", len(want), after)
	}
	for i, run := range runs {
		if tls := run.Status.Target.TLS; (tls != nil) != (i == 4 || i == 6) || tls != nil && *tls.KeySize != 4096 {
			t.Errorf("%s: negotiated TLS %+v", run.Name, tls)
		}
	}
}

// Patterns of a table's cells: metrics of two clients, of all clients, and latencies
// of each client.
const (
	number         = `[\d,]*\d(\.\d+)?`
	ratesOfTwo     = number + `, ` + number + ` +` + number
	latencies      = number + `/` + number + `/` + number
	latenciesOfTwo = latencies + `, ` + latencies + ` +` + latencies
)

// wantRow fails the test unless a line of a table is that of the run, with those
// cells and the metrics of two clients.
func wantRow(t *testing.T, line, name string, cells ...string) {
	t.Helper()
	pattern := "^" + regexp.QuoteMeta(name)
	for _, cell := range cells {
		pattern += " +" + regexp.QuoteMeta(cell)
	}
	pattern += " +" + ratesOfTwo + " +" + latenciesOfTwo + ` +(0|\d+, \d+ \(timeout\)) +` + number + ` +` + number + `/` + number + ` +(yes|NO)`
	if !regexp.MustCompile(pattern).MatchString(line) {
		t.Errorf("want a row like %s, got:\n%s", pattern, line)
	}
}

// TestSamples applies the small samples of the other reports.
func TestSamples(t *testing.T) {
	for _, s := range []struct {
		name string
		runs []string
		want func(t *testing.T, run *v1alpha1.BenchmarkRun)
		// table lists texts that the table must contain.
		table []string
	}{
		{
			name: "r3-small", runs: []string{"r3-nanohttpd-small", "r3-nio-small", "r3-simplehttp-small"},
			want: func(t *testing.T, run *v1alpha1.BenchmarkRun) {
				t.Helper()
				r, failed := run.Status.Result, int64(0)
				if run.Name == "r3-nanohttpd-small" {
					// It has 50 places for 300 connections and closes a connection without a request for 5 s. A
					// request that found no place may be sent again later than that.
					if theCluster.findingOf(t, run, validity.ReasonAcceptQueueOverflow) != result.Warns {
						t.Errorf("%s: no finding of a full accept queue", run.Name)
					}
					failed = *r.Errors.Receive
				}
				wantAllRequests(t, run, failed)
				if *r.KeepAliveRequests != 0 || *r.Latency.Connect.Count != *r.Requests-failed || *r.Target.MaxResidentBytes == 0 {
					t.Errorf("%s: %d requests on kept connections, %d connections, %d bytes resident",
						run.Name, *r.KeepAliveRequests, *r.Latency.Connect.Count, *r.Target.MaxResidentBytes)
				}
			},
			table: []string{"Generic jdkhttp:dev", "Generic nanohttpd:dev", "Generic blocking:dev", "84 B", "88 B", "no keep-alive, -c 300"},
		},
		{
			name: "r4-small", runs: []string{"r4-page-keepalive-small", "r4-page-small"},
			want: func(t *testing.T, run *v1alpha1.BenchmarkRun) {
				t.Helper()
				wantAllRequests(t, run, 0)
				// Tomcat closes a connection after 100 requests. The client closes its
				// connections at the end.
				r := run.Status.Result
				fewest, most := *r.Requests, *r.Requests
				if run.Name == "r4-page-keepalive-small" {
					fewest = *r.Requests / 100
					most = fewest + int64(run.Spec.Load.Closed.Connections)
				}
				if opened := *r.Latency.Connect.Count; opened < fewest || opened > most || *r.KeepAliveRequests != *r.Requests-opened {
					t.Errorf("%s: %d connections, want %d to %d; %d of %d requests on kept ones",
						run.Name, opened, fewest, most, *r.KeepAliveRequests, *r.Requests)
				}
			},
			table: []string{"no keep-alive, -c 149", "  keep-alive, -c 149", "8,132 B"},
		},
	} {
		t.Run(s.name, func(t *testing.T) {
			ns := theCluster.namespace(t)
			runs := theCluster.applySample(t, ns, s.name, 4*time.Minute)
			var names []string
			for _, run := range runs {
				names = append(names, run.Name)
				s.want(t, run)
			}
			if !slices.Equal(names, s.runs) {
				t.Errorf("runs %v, want %v", names, s.runs)
			}
			table := plugin(t, 0, "table", "-n", ns, "-l", "series="+s.name)
			t.Logf("\n%s", table)
			for _, text := range append(s.table, s.runs...) {
				if !strings.Contains(table, text) {
					t.Errorf("the table does not contain %q", text)
				}
			}
		})
	}
}

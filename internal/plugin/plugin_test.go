package plugin_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/plugin"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/wrapper"
)

// output stores what a command writes. A test can wait for a text in it.
type output struct {
	mutex sync.Mutex
	text  bytes.Buffer
	wrote chan struct{}
}

func newOutput() *output { return &output{wrote: make(chan struct{}, 1)} }

func (o *output) Write(p []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	select {
	case o.wrote <- struct{}{}:
	default:
	}
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.text.String()
}

func (o *output) waitFor(t *testing.T, text string) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for !strings.Contains(o.String(), text) {
		select {
		case <-o.wrote:
		case <-deadline:
			t.Fatalf("timed out waiting for %q in:\n%s", text, o)
		}
	}
}

// started is a running command.
type started struct {
	out  *output
	code chan int
}

// start runs the plugin against a server, in the background.
func start(t *testing.T, server *apiServer, args ...string) *started {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	c := &started{out: newOutput(), code: make(chan int, 1)}
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: c.out, ErrOut: c.out}
	cmd := plugin.NewCommand(streams, "v1.2.3")
	cmd.SetArgs(slices.Insert(args, 1, "--server", server.URL(), "--kubeconfig", kubeconfig))
	go func() { c.code <- exit.Report(c.out, cmd.ExecuteContext(ctx)) }()
	return c
}

func (c *started) wantEnd(t *testing.T, code int, texts ...string) {
	t.Helper()
	select {
	case got := <-c.code:
		if got != code {
			t.Errorf("exit code %d, want %d", got, code)
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("timed out waiting for the command to end; output:\n%s", c.out)
	}
	for _, text := range texts {
		if !strings.Contains(c.out.String(), text) {
			t.Errorf("%q not found in:\n%s", text, c.out)
		}
	}
}

// run returns a run whose condition Succeeded has the given status, reason and
// message, with further conditions.
func run(state metav1.ConditionStatus, reason, message string, more ...metav1.Condition) *v1alpha1.BenchmarkRun {
	r := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Name: "tomcat", Namespace: "default", UID: "uid-1"}}
	finished := metav1.ConditionTrue
	if state == metav1.ConditionUnknown {
		finished = metav1.ConditionFalse
	}
	r.Status.Conditions = append([]metav1.Condition{
		{Type: v1alpha1.ConditionSucceeded, Status: state, Reason: reason, Message: message},
		{Type: v1alpha1.ConditionFinished, Status: finished, Reason: "Any"},
	}, more...)
	return r
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

func measuring(percent int32) *v1alpha1.BenchmarkRun {
	r := run(metav1.ConditionUnknown, v1alpha1.ReasonMeasuring, "measuring")
	errors, remaining := int64(3), int64(75)
	r.Status.Progress = &v1alpha1.Progress{State: "Measuring", Percent: &percent, RequestsPerSecond: "1234.5", Errors: &errors, RemainingSeconds: &remaining}
	return r
}

func succeeded(more ...metav1.Condition) *v1alpha1.BenchmarkRun {
	return run(metav1.ConditionTrue, v1alpha1.ReasonCompleted, "done", more...)
}

var (
	valid   = condition(v1alpha1.ConditionValid, metav1.ConditionTrue, v1alpha1.ReasonValid, "nothing found")
	invalid = condition(v1alpha1.ConditionValid, metav1.ConditionFalse, "ClientSaturated", "ClientSaturated: client 0 used 97 %")
	met     = condition(v1alpha1.ConditionThresholdsMet, metav1.ConditionTrue, v1alpha1.ReasonThresholdsMet, "1 of 1")
	missed  = condition(v1alpha1.ConditionThresholdsMet, metav1.ConditionFalse, v1alpha1.ReasonThresholdsMissed, "LatencyP99 is 99ms")
)

func withThresholds(r *v1alpha1.BenchmarkRun) *v1alpha1.BenchmarkRun {
	r.Spec.Thresholds = []v1alpha1.Threshold{{Metric: "LatencyP99", Below: "50ms"}}
	return r
}

func TestWatchFollowsARun(t *testing.T) {
	server := startAPIServer(t)
	server.SetRun(&v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Name: "tomcat", UID: "uid-1"}})
	c := start(t, server, "watch", "tomcat")
	c.out.waitFor(t, "waiting for the operator")
	server.SetRun(run(metav1.ConditionUnknown, v1alpha1.ReasonQueued, "behind default/other"))
	c.out.waitFor(t, "Queued      behind default/other\n")
	server.SetRun(measuring(42))
	c.out.waitFor(t, "Measuring   42%  1234.5 requests/s, 3 errors, 1m15s left\n")
	server.SetRun(measuring(42))
	server.SetRun(withThresholds(succeeded(valid, met)))
	c.wantEnd(t, exit.Success, "tomcat succeeded", "Valid: nothing found", "Thresholds met: 1 of 1", "kubectl assay report tomcat")
	if n := strings.Count(c.out.String(), "42%"); n != 1 {
		t.Errorf("an unchanged state was printed %d times", n)
	}
}

func TestWatchExitCodes(t *testing.T) {
	for name, tc := range map[string]struct {
		run  *v1alpha1.BenchmarkRun
		code int
		text string
	}{
		"valid":                      {succeeded(valid), 0, "Valid: nothing found"},
		"failed":                     {run(metav1.ConditionFalse, v1alpha1.ReasonTargetCrashed, "exit code 137"), 1, "tomcat failed: TargetCrashed: exit code 137"},
		"thresholds missed":          {withThresholds(succeeded(valid, missed)), 2, "Thresholds MISSED: LatencyP99 is 99ms"},
		"not valid":                  {succeeded(invalid), 3, "NOT VALID: ClientSaturated: client 0 used 97 %"},
		"not valid and missed":       {withThresholds(succeeded(invalid, missed)), 3, "Thresholds MISSED"},
		"no word on validity":        {succeeded(), 4, "Valid: unknown"},
		"no word on thresholds":      {withThresholds(succeeded(valid)), 4, "ThresholdsMet: unknown"},
		"missed with the wrong type": {succeeded(valid, missed), 0, "Valid"},
	} {
		t.Run(name, func(t *testing.T) {
			server := startAPIServer(t)
			server.SetRun(tc.run)
			start(t, server, "watch", "tomcat").wantEnd(t, tc.code, tc.text)
		})
	}
}

func TestWatchSurvivesAnAPIServerRestart(t *testing.T) {
	server := startAPIServer(t)
	server.SetRun(measuring(10))
	c := start(t, server, "watch", "tomcat")
	c.out.waitFor(t, "10%")
	server.Down()
	c.out.waitFor(t, "lost contact with the API server, retrying")
	server.SetRun(measuring(60))
	server.Reject(apierrors.NewForbidden(schema.GroupResource{Resource: "benchmarkruns"}, "", nil))
	server.Up()
	server.Reject(nil)
	c.out.waitFor(t, "reconnected to the API server")
	c.out.waitFor(t, "60%")
	server.EndWatches()
	server.SetRun(succeeded(valid))
	c.wantEnd(t, exit.Success)
}

func TestWatchOfADeletedRun(t *testing.T) {
	t.Run("deleted while watched", func(t *testing.T) {
		server := startAPIServer(t)
		server.SetRun(measuring(10))
		c := start(t, server, "watch", "tomcat")
		c.out.waitFor(t, "10%")
		server.SetRun(nil)
		c.wantEnd(t, exit.Unknown, "was deleted while it was Measuring")
	})
	t.Run("recreated while the API server was down", func(t *testing.T) {
		server := startAPIServer(t)
		server.SetRun(measuring(10))
		c := start(t, server, "watch", "tomcat")
		c.out.waitFor(t, "10%")
		server.Down()
		other := succeeded(valid)
		other.UID = "uid-2"
		server.SetRun(other)
		server.Up()
		c.wantEnd(t, exit.Unknown, "was deleted")
	})
}

func TestWatchOfAMissingRun(t *testing.T) {
	server := startAPIServer(t)
	start(t, server, "watch", "tomcat").wantEnd(t, exit.Unknown, `BenchmarkRun "tomcat" not found in namespace "default"`)

	c := start(t, server, "watch", "tomcat", "--wait-for-creation")
	c.out.waitFor(t, "does not exist yet")
	server.SetRun(succeeded(valid))
	c.wantEnd(t, exit.Success)
}

func TestWatchTimeout(t *testing.T) {
	server := startAPIServer(t)
	server.SetRun(measuring(10))
	start(t, server, "watch", "tomcat", "--timeout", "1s").wantEnd(t, exit.Unknown, "timed out waiting for", "is still Measuring")
}

func TestUnusableCluster(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "benchmarkruns"}, "tomcat", nil)
	unserved := apierrors.NewGenericServerResponse(404, "get", schema.GroupResource{Resource: "benchmarkruns"}, "tomcat", "404 page not found", 0, true)
	for _, verb := range []string{"watch", "report", "table"} {
		t.Run(verb, func(t *testing.T) {
			server := startAPIServer(t)
			server.Reject(forbidden)
			start(t, server, verb, "tomcat").wantEnd(t, exit.Unknown, "the API server rejected the request", "forbidden")
			server.Reject(unserved)
			start(t, server, verb, "tomcat").wantEnd(t, exit.Unknown, "is Assay installed?")
			server.Down()
			start(t, server, verb, "tomcat").wantEnd(t, exit.Unknown, "cannot reach the API server")
		})
	}
}

func stored(t *testing.T, uid string) *corev1.ConfigMap {
	t.Helper()
	r := &result.Result{
		SchemaVersion: result.SchemaVersion,
		Run:           result.Run{Namespace: "default", Name: "tomcat", UID: uid, Load: "closed"},
		Environment:   result.Environment{ServerSoftware: "Apache-Coyote/1.1"},
	}
	r.AddClients([]result.Client{{}, {Index: 1}})
	data, err := artifact.Encode(r, artifact.ConfigMapLimit)
	if err != nil {
		t.Fatal(err)
	}
	config, _ := wrapper.Artifact("default", "tomcat-result", artifact.Key, data)
	return config
}

// reference refers to what stored returns.
func reference(t *testing.T, uid string) *v1alpha1.ArtifactReference {
	t.Helper()
	_, reference := wrapper.Artifact("default", "tomcat-result", artifact.Key, stored(t, uid).BinaryData[artifact.Key])
	return reference
}

func TestReport(t *testing.T) {
	server := startAPIServer(t)
	finished := succeeded(valid)
	finished.Status.Artifact = reference(t, "uid-1")
	finished.Annotations = map[string]string{v1alpha1.AnnotationNote: "after the update"}
	server.SetRun(finished)
	start(t, server, "report", "tomcat").wantEnd(t, exit.Unknown, `ConfigMap "tomcat-result" with the result not found`)
	server.SetConfigMap(stored(t, "uid-1"))
	start(t, server, "report", "tomcat").wantEnd(t, exit.Success, "BenchmarkRun default/tomcat", "Note: after the update\n", "Server Software:        Apache-Coyote/1.1")
	start(t, server, "report", "tomcat", "-o", "svg=verdict").wantEnd(t, exit.Success, "<svg ", "default/tomcat")
	start(t, server, "report", "tomcat", "--plot").wantEnd(t, exit.Success, "Server Software:        Apache-Coyote/1.1", "No request succeeded: there is no percentile curve.")
	start(t, server, "report", "tomcat", "--plot", "-o", "json").wantEnd(t, exit.Unknown, "--plot needs the name of a BenchmarkRun and -o text")
	start(t, server, "report", "tomcat", "-o", "json").wantEnd(t, exit.Success, `"serverSoftware": "Apache-Coyote/1.1"`)
	start(t, server, "report", "tomcat", "-o", "html").wantEnd(t, exit.Success, "<!DOCTYPE html>", "default/tomcat")
	start(t, server, "report", "tomcat", "-o", "svg=levels").wantEnd(t, exit.Failed, `has nothing for the picture "levels"`)
	start(t, server, "report", "tomcat", "-o", "yaml").wantEnd(t, exit.Unknown, `unknown output format "yaml": use one of benchstat, csv[=levels|percentiles|requests|series], hgrm`)
	checkOpen(t, server)
	start(t, server, "report", "other").wantEnd(t, exit.Unknown, `BenchmarkRun "other" not found`)
	foreign := stored(t, "uid-2")
	server.SetConfigMap(foreign)
	start(t, server, "report", "tomcat").wantEnd(t, exit.Unknown, "holds another result than that of the run: its SHA-256")
	finished.Status.Artifact.SHA256 = artifact.Identify(foreign.BinaryData[artifact.Key]).SHA256
	server.SetRun(finished)
	start(t, server, "report", "tomcat").wantEnd(t, exit.Unknown, "the result of another run")
	// What isn't the announced bytes isn't decoded.
	replaced := stored(t, "uid-1")
	replaced.BinaryData[artifact.Key] = []byte("no gzip")
	server.SetConfigMap(replaced)
	start(t, server, "report", "tomcat").wantEnd(t, exit.Unknown, "holds another result than that of the run: its SHA-256")
	empty := stored(t, "uid-1")
	empty.BinaryData = nil
	server.SetConfigMap(empty)
	start(t, server, "report", "tomcat").wantEnd(t, exit.Unknown, `key "result.json.gz" not found`)
}

// checkOpen checks that --open gives the page to what opens files, and keeps it.
func checkOpen(t *testing.T, server *apiServer) {
	t.Helper()
	programs, pages := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", pages)
	t.Setenv("PATH", programs+":"+os.Getenv("PATH"))
	start(t, server, "report", "tomcat", "--open", "-o", "json").wantEnd(t, exit.Unknown, "--open shows the page of -o html, not -o json")
	for _, script := range []string{"#!/bin/sh\ncp \"$1\" " + programs + "/opened\n", "#!/bin/sh\nexit 3\n"} {
		for _, name := range []string{"xdg-open", "open"} {
			if err := os.WriteFile(filepath.Join(programs, name), []byte(script), 0o700); err != nil { //nolint:gosec // a program
				t.Fatal(err)
			}
		}
		code, text := exit.Success, "The page is in "+pages
		if strings.Contains(script, "exit 3") {
			code, text = exit.Unknown, "open the file yourself"
		}
		start(t, server, "report", "tomcat", "--open").wantEnd(t, code, text)
	}
	if page, err := os.ReadFile(filepath.Join(programs, "opened")); err != nil || !bytes.Contains(page, []byte("<!DOCTYPE html>")) {
		t.Errorf("%v: %s", err, page)
	}
	start(t, server, "report", "other", "--open").wantEnd(t, exit.Unknown, "not found")
	if files, err := os.ReadDir(pages); err != nil || len(files) != 2 {
		t.Errorf("%d files, %v", len(files), err)
	}
}

func TestTable(t *testing.T) {
	server := startAPIServer(t)
	server.SetRun(measuring(42))
	start(t, server, "table").wantEnd(t, exit.Failed, `[1] tomcat has no result yet (wait for it with "kubectl assay watch tomcat"): it is Measuring (42%): measuring`)
	finished := succeeded(valid)
	finished.Status.Artifact = reference(t, "uid-1")
	server.SetRun(finished)
	server.SetConfigMap(stored(t, "uid-1"))
	start(t, server, "table", "tomcat").wantEnd(t, exit.Success, "requests/s per client", "tomcat")
	start(t, server, "table", "-l", "", "-o", "json").wantEnd(t, exit.Success, `"name": "tomcat"`)
	start(t, server, "table", "-o", "yaml").wantEnd(t, exit.Unknown, `unknown output format "yaml"`)
	start(t, server, "table", "tomcat", "-l", "a=b").wantEnd(t, exit.Unknown, "must not be used together")
}

func TestReportOfARunWithoutResult(t *testing.T) {
	for name, tc := range map[string]struct {
		run  *v1alpha1.BenchmarkRun
		text string
	}{
		"new":    {&v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Name: "tomcat"}}, "the operator hasn't processed it"},
		"active": {measuring(42), `has no result yet (wait for it with "kubectl assay watch tomcat"): it is Measuring (42%): measuring`},
		"failed": {run(metav1.ConditionFalse, v1alpha1.ReasonDeadlineExceeded, "3600 s passed"), "it failed with DeadlineExceeded: 3600 s passed"},
	} {
		t.Run(name, func(t *testing.T) {
			server := startAPIServer(t)
			server.SetRun(tc.run)
			start(t, server, "report", "tomcat").wantEnd(t, exit.Failed, tc.text)
			page := start(t, server, "report", "tomcat", "-o", "html")
			page.wantEnd(t, exit.Failed, tc.text)
			if has := strings.Contains(page.out.String(), "<!DOCTYPE html>"); has != (name == "failed") {
				t.Errorf("a page: %t", has)
			}
		})
	}
}

func TestCompletionOfNames(t *testing.T) {
	server := startAPIServer(t)
	server.SetRun(measuring(1))
	for _, verb := range []string{"watch", "report", "table"} {
		start(t, server, "__complete", verb, "").wantEnd(t, exit.Success, "tomcat\n")
	}
	start(t, server, "__complete", "table", "other", "").wantEnd(t, exit.Success, "tomcat\n")
	for _, verb := range []string{"watch", "report", "table"} {
		c := start(t, server, "__complete", verb, "tomcat", "")
		c.wantEnd(t, exit.Success)
		if strings.Contains(c.out.String(), "tomcat") {
			t.Errorf("%s: completion repeats a name of the command line", verb)
		}
	}
	start(t, server, "__complete", "table", "--output", "").wantEnd(t, exit.Success, "benchstat\ncsv\njson\njunit\nmarkdown\ntext\n")
}

func TestVersion(t *testing.T) {
	start(t, startAPIServer(t), "version").wantEnd(t, exit.Success, "kubectl-assay v1.2.3\n")
}

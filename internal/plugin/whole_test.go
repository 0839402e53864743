package plugin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/result"
)

// whole stores the whole result of a run in a directory, and returns the reference to it.
func whole(t *testing.T, directory, uid string) *v1alpha1.ArtifactObject {
	t.Helper()
	r := &result.Result{Run: result.Run{Namespace: "default", Name: "tomcat", UID: uid}, Series: []result.Second{{Seconds: 1, Latency: result.NewHistogram()}}}
	r.Series[0].Latency.Record(1234)
	r.Merged.Latencies.Of(result.Total).Record(1234)
	data, err := artifact.EncodeWhole(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, "key"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	identity := artifact.Identify(data)
	return &v1alpha1.ArtifactObject{Bucket: "file://" + directory, Key: "key", SizeBytes: &identity.SizeBytes, SHA256: identity.SHA256}
}

func TestReportFromABucket(t *testing.T) {
	server := startAPIServer(t)
	finished := succeeded(valid)
	finished.Status.Artifact = reference(t, "uid-1")
	server.SetRun(finished)
	start(t, server, "report", "tomcat", "--whole").wantEnd(t, exit.Unknown, `BenchmarkRun "tomcat" has no whole result: its namespace had no bucket`)
	meta.SetStatusCondition(&finished.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionArchived, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonBucketUnavailable, Message: "connection refused"})
	server.SetRun(finished)
	start(t, server, "report", "tomcat", "--whole").wantEnd(t, exit.Unknown, "has no whole result: connection refused")

	directory := t.TempDir()
	finished.Status.Artifact.Object = whole(t, directory, "uid-1")
	server.SetRun(finished)
	start(t, server, "report", "tomcat", "--whole", "-o", "json").wantEnd(t, exit.Success, `"latency": {`)

	finished.Status.Artifact.Object.Bucket = "file:///does/not/exist"
	server.SetRun(finished)
	start(t, server, "report", "tomcat", "--whole").wantEnd(t, exit.Unknown, "open bucket file:///does/not/exist: ")
	start(t, server, "report", "tomcat", "--whole", "--bucket", "file://"+directory, "-o", "json").wantEnd(t, exit.Success, `"latency": {`)
	start(t, server, "report", "tomcat", "--whole", "--bucket", "http://results").wantEnd(t, exit.Unknown, "--bucket must begin with one of")
	start(t, server, "report", "tomcat", "--bucket", "file://"+directory).wantEnd(t, exit.Unknown, "--bucket needs --whole")
	start(t, server, "report", "benchmark/tomcat", "--whole").wantEnd(t, exit.Unknown, "--whole needs the name of a BenchmarkRun")

	finished.Status.Artifact.Object = whole(t, directory, "uid-2")
	server.SetRun(finished)
	start(t, server, "report", "tomcat", "--whole").wantEnd(t, exit.Unknown, "holds the result of another run (UID uid-2, not uid-1)")
	finished.Status.Artifact.Object.SHA256 = strings.Repeat("0", 64)
	server.SetRun(finished)
	start(t, server, "report", "tomcat", "--whole").wantEnd(t, exit.Unknown, "the object under the key is another one")
}

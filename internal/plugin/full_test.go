package plugin_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/result"
)

// TestReportOfAFullResult has copies of the object in the bucket of a run, and what isn't one.
func TestReportOfAFullResult(t *testing.T) {
	server := startAPIServer(t)
	finished := succeeded(valid)
	finished.Status.Artifact = reference(t, "uid-1")
	server.SetRun(finished)
	h := result.NewHistogram()
	h.Record(1234)
	r := &result.Result{Run: result.Run{Namespace: "default", Name: "tomcat", UID: "uid-1"}, Series: []result.Second{{Seconds: 1, Sketch: h.Sketch()}}}
	r.Merged.Latencies.Of(result.Total).Record(1234)
	data, err := artifact.EncodeFull(r)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	copied, other := file("copied", data), file("other", append(data[:len(data):len(data)], 0))
	start(t, server, "report", "tomcat", "--file", copied).wantEnd(t, exit.Unknown, `BenchmarkRun "tomcat" has no full result in a bucket`)

	identity := artifact.Identify(data)
	finished.Status.Artifact.Object = &v1alpha1.ArtifactObject{Bucket: "s3://results", Key: "key", SizeBytes: &identity.SizeBytes, SHA256: identity.SHA256}
	server.SetRun(finished)
	start(t, server, "report", "tomcat", "--file", copied, "-o", "json").wantEnd(t, exit.Success, `"sketch": "`)
	start(t, server, "report", "tomcat", "--file", other).wantEnd(t, exit.Unknown, "is not a copy of object key in bucket s3://results: its SHA-256 is ")
	start(t, server, "report", "tomcat", "--file", filepath.Join(dir, "missing")).wantEnd(t, exit.Unknown, "missing: no such file or directory")
	start(t, server, "report", "benchmark/tomcat", "--file", copied).wantEnd(t, exit.Unknown, "--file needs the name of a BenchmarkRun")
}

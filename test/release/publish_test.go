package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnpublished asks whether a version is published, with a crane that answers as registries do.
func TestUnpublished(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(root, "hack/release/publish.sh"))
	if err != nil {
		t.Fatal(err)
	}
	_, function, _ := strings.Cut(string(script), "\nunpublished() {\n")
	function, _, found := strings.Cut(function, "\n}\n")
	if !found {
		t.Fatal("publish.sh has no function unpublished")
	}
	for answer, want := range map[string]string{
		"echo sha256:1": "",
		"echo sha256:2": "is published already as sha256:2, and this is sha256:1",
		"echo 'MANIFEST_UNKNOWN: manifest unknown' >&2; exit 1":                                         "",
		"echo 'HEAD https://r.test/v2/a/manifests/1: unexpected status code 404 Not Found' >&2; exit 1": "",
		"echo 'NAME_UNKNOWN: repository name not known to registry' >&2; exit 1":                        "",
		"echo 'UNAUTHORIZED: authentication required' >&2; exit 1":                                      "is unknown: UNAUTHORIZED",
		"echo 'dial tcp: lookup r.test: no such host' >&2; exit 1":                                      "is unknown: dial tcp",
		"echo 'unexpected status code 503 Service Unavailable' >&2; exit 1":                             "is unknown: unexpected status code 503",
	} {
		text := "set -euo pipefail\ncrane() (\n" + answer + "\n)\nunpublished() {\n" + function + "\n}\nunpublished r.test/a:1 sha256:1\n"
		out, err := exec.CommandContext(t.Context(), "bash", "-c", text).CombinedOutput()
		if (err == nil) != (want == "") || !strings.Contains(string(out), want) {
			t.Errorf("crane %q: %v: %s", answer, err, out)
		}
	}
}

package script

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/k6/internal/scriptserver"
)

// published lists scripts from k6's examples. They use no network, or a site for
// which scriptserver is a substitute.
var published = []string{
	"base64.js", "cookies.js", "crypto.js", "custom_metrics.js", "experimental/csv-parse.js", "html_form_post.js", "http_basic_auth.js",
	"http_digest_auth.js", "http_verbs.js", "json.js", "jwt.js", "logging.js", "tagging.js", "thresholds.js", "timers.js",
	"webcrypto/digest.js", "webcrypto/getRandomValues.js", "webcrypto/randomUUID.js",
}

// k6Directory returns the directory of k6's source in the module cache.
func k6Directory(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "go.k6.io/k6/v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestPublishedExamples runs unmodified scripts from k6's examples to their end.
// All their checks must succeed.
func TestPublishedExamples(t *testing.T) {
	server := scriptserver.New(t)
	examples := filepath.Join(k6Directory(t), "examples")
	for _, name := range published {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(examples, name)); err != nil {
				t.Fatal(err)
			}
			p := plans(1)
			p[0].Script.File, p[0].Script.HostNames = name, []string{"httpbin.org"}
			sessions, errs := run(t, examples, p, strings.TrimPrefix(server.URL, "http://"))
			totals := of[result.Totals](sessions[0])
			if errs[0] != nil || len(totals) != 1 {
				t.Fatalf("%v, events %+v", errs[0], sessions[0].Events())
			}
			r := &result.Result{}
			r.AddClients([]result.Client{{Totals: totals[0]}})
			r.AddScript()
			if r.Script.Iterations == 0 || r.Merged.Errors.Total() > 2 { // the challenges of http_*_auth.js count as errors
				t.Errorf("%d iterations, %+v", r.Script.Iterations, r.Merged.Counts)
			}
			if checks := r.Script.Metric("checks"); checks != nil && checks.Sum != float64(checks.Samples) {
				t.Errorf("%v of %d checks succeeded", checks.Sum, checks.Samples)
			}
			for _, outcome := range r.Thresholds {
				if !outcome.Met {
					t.Errorf("threshold %+v", outcome)
				}
			}
		})
	}
}

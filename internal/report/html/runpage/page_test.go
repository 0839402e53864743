package runpage_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/report/html/runpage"
	"github.com/assay-dev/assay/internal/report/reporttest"
	"github.com/assay-dev/assay/internal/result"
)

var update = flag.Bool("update", false, "write the golden files")

// results are results of each kind.
var results = map[string]func() *result.Result{
	"tomcat": reporttest.Tomcat, "failing": reporttest.Failing, "nothing": reporttest.Nothing, "forwarding": reporttest.Forwarding,
	"standalone": reporttest.Standalone, "open": reporttest.Opened, "stages": reporttest.Staged,
	"measured": func() *result.Result { return reporttest.Measured(2, 22) },
}

func write(t *testing.T, r *result.Result) string {
	t.Helper()
	var page bytes.Buffer
	if err := runpage.Write(&page, r, runpage.Extras{Spec: "load:\n  closed:\n    connections: 50\n"}); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

func TestPictures(t *testing.T) {
	for name, of := range results {
		for _, picture := range runpage.Pictures() {
			t.Run(name+"."+picture, func(t *testing.T) {
				var got bytes.Buffer
				if err := runpage.WriteSVG(&got, picture, of()); err != nil {
					t.Skip(err)
				}
				golden := filepath.Join("testdata", name+"."+picture+".svg")
				if *update {
					if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got.String()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

func BenchmarkHour(b *testing.B) {
	r := reporttest.Measured(10, 3600)
	var page bytes.Buffer
	for b.Loop() {
		page.Reset()
		if err := runpage.Write(&page, r, runpage.Extras{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(page.Len()), "bytes")
}

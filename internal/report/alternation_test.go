package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/report"
)

// TestAlternation checks that reports say that a load alternated.
func TestAlternation(t *testing.T) {
	r := tomcat()
	for variants, want := range map[int64]bool{0: false, 3: true} {
		r.Run.Variants = variants
		for _, format := range []string{"text", "markdown"} {
			var got bytes.Buffer
			if err := report.Write(&got, format, r); err != nil {
				t.Fatal(err)
			}
			words := strings.Join(strings.Fields(got.String()), " ")
			if strings.Contains(words, "The load alternated between 3 variants in slices of 1s: the 3 variants were up at the same time") != want {
				t.Errorf("a report as %s of %d variants:\n%.3000s", format, variants, &got)
			}
		}
	}
}

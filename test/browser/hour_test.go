package browser_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/assay-dev/assay/internal/report/html/runpage"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/browser"
)

// firstPaint is the time from the start of the navigation to the first paint, in milliseconds.
const firstPaint = `new Promise((resolve) => new PerformanceObserver((list, observer) => {
	observer.disconnect();
	resolve(list.getEntriesByName('first-contentful-paint')[0].startTime);
}).observe({type: 'paint', buffered: true}))`

// BenchmarkHour measures how long it takes to write the page of an hour with ten clients, how large the page is, and how
// long Chromium takes to its first paint.
func BenchmarkHour(b *testing.B) {
	r := lasting(10, hour)
	b.Run("write", func(b *testing.B) {
		size := 0
		for b.Loop() {
			size = len(hourPage(b, r))
		}
		b.ReportMetric(float64(size), "bytes")
	})
	b.Run("paint", func(b *testing.B) {
		chromium, end, err := browser.Start(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		defer end()
		path := filepath.Join(b.TempDir(), "hour.html")
		if err := os.WriteFile(path, hourPage(b, r), 0o600); err != nil {
			b.Fatal(err)
		}
		sum, n := 0.0, 0
		for b.Loop() {
			tab, closeTab, err := chromium.Open(path, true)
			if err != nil {
				b.Fatal(err)
			}
			milliseconds, err := browser.Evaluate[float64](tab, firstPaint)
			if err != nil {
				b.Fatal(err)
			}
			closeTab()
			sum, n = sum+milliseconds, n+1
		}
		b.ReportMetric(sum/float64(n), "first-paint-ms")
	})
}

func hourPage(b *testing.B, r *result.Result) []byte {
	b.Helper()
	var page bytes.Buffer
	if err := runpage.Write(&page, r, ""); err != nil {
		b.Fatal(err)
	}
	return page.Bytes()
}

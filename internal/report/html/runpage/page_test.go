package runpage_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/golden"
	pages "github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/html/runpage"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/reporttest"
	"github.com/assay-dev/assay/internal/result"
)

// results are results of each kind.
var results = map[string]func() *result.Result{
	"tomcat": reporttest.Tomcat, "failing": reporttest.Failing, "nothing": reporttest.Nothing, "forwarding": reporttest.Forwarding,
	"standalone": reporttest.Standalone, "open": reporttest.Opened, "stages": reporttest.Staged, "pages": reporttest.Paged,
	"measured": func() *result.Result { return reporttest.Measured(2, 22) }, "full": func() *result.Result { return reporttest.Full(2, 22) }, "script": scripted,
}

// scripted returns a result of a k6 script.
func scripted() *result.Result {
	r := reporttest.Measured(1, 3)
	r.Run.Load = result.LoadScript
	r.Script = &result.Script{VirtualUsers: 10, Iterations: 60, DroppedIterations: 2, Metrics: []k6metric.Summary{
		{Name: "price", Kind: k6metric.Trend, Samples: 60, Sum: 2970, Min: 1, Max: 99, Percentiles: []float64{48.9599, 90.1, 95.2, 98.5, 99, 99}},
		{Name: "iterations", Kind: k6metric.Counter, Samples: 60, Sum: 60},
		{Name: "vus", Kind: k6metric.Gauge, Samples: 3, Last: 10, Min: 1, Max: 10},
		{Name: "checks", Kind: k6metric.Rate, Samples: 100_000, Sum: 99_999},
	}}
	return r
}

func write(t testing.TB, r *result.Result) string {
	t.Helper()
	var page bytes.Buffer
	if err := runpage.Write(&page, r, "load:\n  closed:\n    connections: 50\n"); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// text returns the texts that a reader of the page sees, with the words of pictures, in lines.
func text(t testing.TB, page string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.ElementNode {
			picture, label := false, ""
			for _, a := range n.Attr {
				picture = picture || a.Key == "role" && a.Val == "img"
				if a.Key == "aria-label" {
					label = a.Val
				}
			}
			if picture {
				fmt.Fprintf(&b, "[%s]\n", label)
				return
			}
			if n.Data == "script" || n.Data == "style" || n.Data == "svg" {
				return
			}
		}
		if n.Type == html.TextNode && strings.TrimSpace(n.Data) != "" {
			b.WriteString(strings.TrimSpace(n.Data))
			if n.Parent.Data == "td" || n.Parent.Data == "th" {
				b.WriteString(" | ")
			} else {
				b.WriteString("\n")
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
		if n.Type == html.ElementNode && n.Data == "tr" {
			b.WriteString("\n")
		}
	}
	walk(root)
	return b.String()
}

// TestWordsOfPages compares what pages say in words, those of the pictures included, with golden files.
func TestWordsOfPages(t *testing.T) {
	for name, of := range results {
		t.Run(name, func(t *testing.T) {
			golden.Compare(t, filepath.Join("testdata", name+".words.golden"), text(t, write(t, of())))
		})
	}
}

// TestPictures compares pictures with golden files, and which results have which.
func TestPictures(t *testing.T) {
	want := map[string]string{
		"tomcat": "histogram percentiles phases verdict", "failing": "histogram percentiles phases verdict", "nothing": "verdict", "standalone": "histogram percentiles phases verdict",
		"open": "arrivals histogram percentiles phases verdict", "stages": "histogram levels percentiles phases verdict", "pages": "histogram levels percentiles phases verdict",
		"forwarding": "cpu errors histogram latency percentiles phases throughput verdict", "measured": "cpu errors histogram latency percentiles phases throughput verdict",
		"script": "cpu errors histogram latency percentiles phases throughput verdict", "full": "cpu errors heatmap histogram latency percentiles phases throughput verdict",
	}
	drawn := map[string]bool{"tomcat.phases": true, "failing.percentiles": true, "open.arrivals": true, "measured.latency": true, "full.heatmap": true, "measured.errors": true, "stages.levels": true, "forwarding.cpu": true}
	for name, of := range results {
		t.Run(name, func(t *testing.T) {
			var have []string
			for _, p := range runpage.Pictures() {
				var got bytes.Buffer
				switch err := runpage.WriteSVG(&got, p, of()); {
				case errors.Is(err, pages.ErrNoPicture):
				case err != nil:
					t.Error(err)
				default:
					have = append(have, p)
					if drawn[name+"."+p] {
						golden.Compare(t, filepath.Join("testdata", name+"."+p+".svg"), got.String())
					}
				}
			}
			if diff := cmp.Diff(want[name], strings.Join(have, " ")); diff != "" {
				t.Errorf("pictures (-want +got):\n%s", diff)
			}
		})
	}
	if err := runpage.WriteSVG(&bytes.Buffer{}, "pie", reporttest.Tomcat()); err == nil || !strings.Contains(err.Error(), "latency") {
		t.Errorf("error %v of an unknown picture, want one that names those that exist", err)
	}
}

func TestSameResultSameBytes(t *testing.T) {
	for name, of := range results {
		if first, again := write(t, of()), write(t, of()); first != again {
			t.Errorf("%s: the same result gives other bytes", name)
		}
	}
}

// TestPolicyAllowsOnlyThePagesOwn checks that the hashes of the policy are those of the page's script and style, and that
// nothing is loaded.
func TestPolicyAllowsOnlyThePagesOwn(t *testing.T) {
	page := write(t, reporttest.Measured(1, 5))
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	if policy == nil {
		t.Fatal("no policy")
	}
	allowed := strings.NewReplacer("&#39;", "'", "&#43;", "+", "&#61;", "=").Replace(policy[1])
	for _, part := range []struct{ name, pattern string }{{"script-src", `(?s)<script>(.*?)</script>`}, {"style-src", `(?s)<style>(.*?)</style>`}} {
		all := regexp.MustCompile(part.pattern).FindAllStringSubmatch(page, -1)
		if len(all) != 1 {
			t.Fatalf("%d of %s", len(all), part.name)
		}
		sum := sha256.Sum256([]byte(all[0][1]))
		if want := part.name + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(allowed, want) {
			t.Errorf("the policy %q lacks %q", allowed, want)
		}
	}
	if !strings.Contains(allowed, "default-src 'none'") || strings.Contains(allowed, "unsafe") {
		t.Errorf("policy %q", allowed)
	}
	if loads := regexp.MustCompile(`(?i)<(link|img|iframe|object|embed|base|form)\b|\s(src|srcset|action|data)\s*=\s*["']|@import|url\((?:[^#]|#h[^a])`).FindString(page); loads != "" {
		t.Errorf("the page loads something: %q", loads)
	}
}

// TestHostileTextsStayTexts checks pages and pictures of results whose every text tries to become markup.
func TestHostileTextsStayTexts(t *testing.T) {
	const hostile = `"><svg onload=alert(1)><script>alert(2)</script></style>'--><!--{{.}}` + "\x1b[2J\u202e</script><script>"
	for name, of := range results {
		t.Run(name, func(t *testing.T) {
			clean, r := write(t, of()), of()
			r.ServerErrors = []result.ServerErrors{{Container: "server", Lines: 3, First: "x"}}
			poison(reflect.ValueOf(r).Elem(), hostile)
			var page bytes.Buffer
			if err := runpage.Write(&page, r, hostile); err != nil {
				t.Fatal(err)
			}
			want, got := elements(t, clean), elements(t, page.String())
			for element := range got {
				if !want[element] && !strings.HasPrefix(element, "title") && !strings.HasPrefix(element, "strong") && !strings.HasPrefix(element, "g") {
					t.Errorf("element %s", element)
				}
			}
			for _, p := range runpage.Pictures() {
				var svg bytes.Buffer
				if err := runpage.WriteSVG(&svg, p, r); err == nil && (strings.Contains(svg.String(), "<script") || strings.Contains(svg.String(), "onload=a") && strings.Contains(svg.String(), "<svg onload")) {
					t.Errorf("%s: a text became an element", p)
				}
			}
		})
	}
}

// elements returns the elements of a page with the names of their attributes that can run something.
func elements(t *testing.T, page string) map[string]bool {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		name := n.Data
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "href" && !strings.HasPrefix(a.Val, "#") || a.Key == "style" {
				name += " " + a.Key
			}
		}
		all[name] = true
		if n.Data == "script" {
			all[fmt.Sprintf("script of type %v", n.Attr)] = true
		}
	}
	return all
}

func poison(v reflect.Value, with string) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() && v.Type() == reflect.TypeFor[string]() {
			v.SetString(v.String() + with)
		}
	case reflect.Pointer:
		if _, isHistogram := v.Interface().(*result.Histogram); !v.IsNil() && !isHistogram {
			poison(v.Elem(), with)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			poison(v.Index(i), with)
		}
	case reflect.Struct:
		if _, isTime := v.Interface().(time.Time); isTime {
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "Load" { // it decides which parts there are
				poison(v.Field(i), with)
			}
		}
	}
}

// TestMetricsAreThoseOfJSON checks the metrics of sentences and tables against those of the JSON report.
func TestMetricsAreThoseOfJSON(t *testing.T) {
	for _, name := range []string{"tomcat", "failing", "open", "stages", "measured", "standalone"} {
		t.Run(name, func(t *testing.T) {
			r := results[name]()
			var encoded bytes.Buffer
			if err := report.Write(&encoded, "json", r); err != nil {
				t.Fatal(err)
			}
			var document struct {
				Summary struct {
					Merged struct {
						RequestsPerSecond float64
						Latencies         map[string]struct {
							Max         float64            `json:"maxMicroseconds"`
							Percentiles map[string]float64 `json:"percentilesMicroseconds"`
						}
					}
				}
				Merged struct{ Requests int64 }
			}
			if err := json.Unmarshal(encoded.Bytes(), &document); err != nil {
				t.Fatal(err)
			}
			words := strings.ReplaceAll(text(t, write(t, r)), "\u202f", " ")
			total := document.Summary.Merged.Latencies["total"]
			row := "all clients | "
			for _, p := range slices.SortedFunc(maps.Keys(total.Percentiles), func(a, b string) int { return cmpNumbers(total.Percentiles[a], total.Percentiles[b], a, b) }) {
				row += fmt.Sprintf("%.3f | ", total.Percentiles[p]/1000)
			}
			pooled := number.Significant(document.Summary.Merged.RequestsPerSecond) + " requests/s. Half were answered within " + number.Significant(total.Percentiles["50"]/1000) + " ms, " +
				"99% within " + number.Significant(total.Percentiles["99"]/1000) + " ms, the slowest in " + number.Significant(total.Max/1000) + " ms."
			if staged := len(r.Levels) > 0; strings.Contains(words, pooled) == staged || staged && strings.Contains(words, "Half were") {
				t.Errorf("of %d levels the page has the sentence of all requests: %t", len(r.Levels), staged)
			}
			for _, want := range []string{
				"p99 " + number.Significant(total.Percentiles["99"]/1000) + " ms", // of the percentile curve
				row + fmt.Sprintf("%.3f | ", total.Max/1000),
			} {
				if !strings.Contains(words, want) {
					t.Errorf("the page lacks %q", want)
				}
			}
		})
	}
}

func cmpNumbers(a, b float64, nameA, nameB string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case len(nameA) != len(nameB):
		return len(nameA) - len(nameB)
	}
	return strings.Compare(nameA, nameB)
}

// TestInvalidResultsAreMarkedEverywhere checks that no picture of an invalid result can be taken for that of a result.
func TestInvalidResultsAreMarkedEverywhere(t *testing.T) {
	r := reporttest.Measured(2, 10)
	r.Findings = append(r.Findings, result.Finding{Reason: "ClientSaturated", Severity: result.Invalidates, Message: "x"})
	for _, p := range runpage.Pictures() {
		var svg bytes.Buffer
		if err := runpage.WriteSVG(&svg, p, r); err != nil {
			continue
		}
		for _, want := range []string{"not a result", "NOT VALID: ClientSaturated", "url(#hatch-bad)", "default/measured"} {
			if !strings.Contains(svg.String(), want) && (p != "verdict" || strings.HasPrefix(want, "NOT")) { // the badge has no figure
				t.Errorf("%s lacks %q", p, want)
			}
		}
	}
	if words := text(t, write(t, r)); !strings.Contains(words, "This is not a result.") || strings.Contains(words, "One run:") {
		t.Errorf("the page says:\n%.900s", words)
	}
}

// BenchmarkHour writes the page of an hour with 10 clients: docs/report.md says how long it takes and how long it is.
func BenchmarkHour(b *testing.B) {
	r := reporttest.Measured(10, 3600)
	var page bytes.Buffer
	for b.Loop() {
		page.Reset()
		if err := runpage.Write(&page, r, ""); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(page.Len()), "bytes")
}

// TestBadge checks that the picture of the verdict says which run it is of, and what is wrong with it.
func TestBadge(t *testing.T) {
	r := reporttest.Tomcat()
	r.Run.Name = "<b>"
	for _, findings := range [][]result.Finding{nil, {{Reason: "ClientSaturated", Severity: result.Invalidates}}} {
		r.Findings = findings
		var out bytes.Buffer
		if err := runpage.WriteSVG(&out, "verdict", r); err != nil {
			t.Fatal(err)
		}
		if text := out.String(); !strings.Contains(text, report.Headline(r)) || !strings.Contains(text, "&lt;b&gt;") || strings.Contains(text, "<b>") {
			t.Error(text)
		}
	}
}

// TestNote checks that the note of a run is in its page and in its text, as it is.
func TestNote(t *testing.T) {
	r := reporttest.Tomcat()
	r.Run.Note = "after <i>the</i> upgrade"
	var text bytes.Buffer
	if err := report.Write(&text, "text", r); err != nil || !strings.Contains(text.String(), "Note: after <i>the</i> upgrade\n") {
		t.Error(err, text.String())
	}
	if page := write(t, r); !strings.Contains(page, "Note: after &lt;i&gt;the&lt;/i&gt; upgrade") {
		t.Error("the page has no note")
	}
}

// TestChartsAreSaved checks that the link of each figure has the file that -o svg writes, as far as it is small.
func TestChartsAreSaved(t *testing.T) {
	r := reporttest.Measured(2, 22)
	r.Run.Name = `"100% & #1'`
	links := 0
	for _, link := range regexp.MustCompile(`<a class="save" download="([a-z0-9-]+)\.svg" href="data:image/svg\+xml;charset=utf-8,([^"]*)"`).FindAllStringSubmatch(write(t, r), -1) {
		links++
		file, err := url.PathUnescape(html.UnescapeString(link[2]))
		if err != nil {
			t.Fatal(err)
		}
		var title struct {
			Label string `xml:"aria-label,attr"`
		}
		if err := xml.Unmarshal([]byte(file), &title); err != nil || !strings.Contains(title.Label, r.Run.Name) {
			t.Errorf("%v: %s", err, file)
		}
		for _, name := range []string{"percentiles", "histogram"} {
			var want bytes.Buffer
			if err := runpage.WriteSVG(&want, name, r); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(link[1], name) && !strings.Contains(link[1], "request") && strings.TrimSpace(strings.ReplaceAll(want.String(), `"`, "'")) != file {
				t.Errorf("%s differs from -o svg=%s", file, name)
			}
		}
	}
	if links < 10 {
		t.Errorf("%d figures can be saved", links)
	}
	// The page of an hour with a sketch of each second stays below 600 kB: some of its figures have no link.
	if n := len(write(t, reporttest.Full(10, 3600))); n > 600_000 {
		t.Errorf("the page of an hour has %d bytes", n)
	}
}

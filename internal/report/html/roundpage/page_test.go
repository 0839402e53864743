package roundpage_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	pages "github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/html/roundpage"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/roundtest"
	"github.com/assay-dev/assay/test/golden"
)

func write(t *testing.T, r *round.Report) string {
	t.Helper()
	var out bytes.Buffer
	if err := roundpage.Write(&out, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// walk calls visit for a node and all below it.
func walk(n *html.Node, visit func(*html.Node)) {
	visit(n)
	for child := range n.ChildNodes() {
		walk(child, visit)
	}
}

func parse(t *testing.T, page string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func text(n *html.Node) string {
	var out strings.Builder
	walk(n, func(n *html.Node) {
		if n.Type == html.TextNode {
			out.WriteString(n.Data)
		}
	})
	return strings.TrimSpace(out.String())
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// all returns the elements with a name.
func all(root *html.Node, name string) (found []*html.Node) {
	walk(root, func(n *html.Node) {
		if n.Type == html.ElementNode && n.Data == name {
			found = append(found, n)
		}
	})
	return found
}

// tables returns the rows of each table, the first being the head, by the table's caption.
func tables(t *testing.T, page string) map[string][][]string {
	found := map[string][][]string{}
	for _, table := range all(parse(t, page), "table") {
		var rows [][]string
		for _, tr := range all(table, "tr") {
			var row []string
			walk(tr, func(n *html.Node) {
				if n.Type == html.ElementNode && (n.Data == "td" || n.Data == "th") {
					row = append(row, text(n))
				}
			})
			rows = append(rows, row)
		}
		found[text(all(table, "caption")[0])] = rows
	}
	return found
}

// TestPages checks of each verdict and picture that its page is the same each time, needs nothing but itself, is small,
// and says the verdict first, in words and by its color.
func TestPages(t *testing.T) {
	headlines := map[string][2]string{
		"passed": {"Passed", "good"}, "failed": {"Failed", "bad"}, "inconclusive": {"Inconclusive", "unsure"},
		"invalid-runs": {"Inconclusive: InvalidRuns", "unsure"}, "incomparable": {"Inconclusive: Incomparable", "unsure"},
		"error": {"Error: RunRejected", "bad"}, "connectors": {"Failed", "bad"}, "ratios": {"Failed", "bad"}, "sizes": {"Measured", "same"},
		"scaling": {"Failed", "bad"}, "levels": {"Measured", "same"}, "trend": {"Failed", "bad"},
	}
	rounds := roundtest.All(t)
	if len(rounds) != len(headlines) {
		t.Errorf("%d rounds, %d headlines", len(rounds), len(headlines))
	}
	for name, r := range rounds {
		t.Run(name, func(t *testing.T) {
			page := write(t, r)
			if page != write(t, r) {
				t.Error("other bytes the second time")
			}
			if len(page) > 1_000_000 {
				t.Errorf("%d bytes", len(page))
			}
			root := parse(t, page)
			header := all(root, "header")[0]
			want := headlines[name]
			if h1 := text(all(header, "h1")[0]); h1 != want[0] || attribute(header, "class") != "answer "+want[1] {
				t.Errorf("%q, %q, want %q", h1, attribute(header, "class"), want)
			}
			checkSelfContained(t, root)
		})
	}
}

// checkPicture checks the file of a link that saves a figure: it is XML whose elements only draw.
func checkPicture(t *testing.T, escaped string) {
	t.Helper()
	file, err := url.PathUnescape(escaped)
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(file)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		if e, is := token.(xml.StartElement); is {
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" && !strings.HasPrefix(a.Value, "#") {
					t.Errorf("%s has %s=%q", e.Name.Local, a.Name.Local, a.Value)
				}
			}
			if !slices.Contains([]string{"svg", "style", "defs", "pattern", "g", "rect", "path", "circle", "use", "text", "title"}, e.Name.Local) {
				t.Errorf("the picture has the element %s", e.Name.Local)
			}
		}
	}
}

// checkSelfContained checks that a page refers to nothing but its own parts, each of which there is once. The forms of dots
// are the same in all figures.
func checkSelfContained(t *testing.T, root *html.Node) {
	t.Helper()
	ids, forms := map[string]int{}, map[string]bool{}
	walk(root, func(n *html.Node) {
		switch id := attribute(n, "id"); {
		case id == "":
		case n.Parent.Data == "defs":
			forms["#"+id] = true
		default:
			ids["#"+id]++
		}
	})
	walk(root, func(n *html.Node) {
		for _, a := range n.Attr {
			file, saves := strings.CutPrefix(a.Val, "data:image/svg+xml;charset=utf-8,")
			switch {
			case saves && n.Data == "a" && a.Key == "href" && strings.HasSuffix(attribute(n, "download"), ".svg"):
				checkPicture(t, file)
			case slices.Contains([]string{"src", "action", "data", "poster", "srcset"}, a.Key):
				t.Errorf("%s has %s", n.Data, a.Key)
			case n.Data == "use" && a.Key == "href" && !forms[a.Val], n.Data != "use" && a.Key == "href" && ids[a.Val] != 1, a.Key == "aria-labelledby" && ids["#"+a.Val] != 1:
				t.Errorf("%s refers to %q", n.Data, a.Val)
			}
			if strings.HasPrefix(a.Key, "on") {
				t.Errorf("%s has %s", n.Data, a.Key)
			}
		}
		if n.Type == html.ElementNode && slices.Contains([]string{"script", "img", "iframe", "link", "object", "foreignobject", "image"}, n.Data) {
			t.Errorf("the element %s", n.Data)
		}
	})
}

// TestSentences checks that the page says what the text says.
func TestSentences(t *testing.T) {
	r := &round.Report{Round: roundtest.Connectors(t), Notes: []string{"Round 4 is under way."}}
	header := text(all(parse(t, write(t, r)), "header")[0])
	for _, s := range r.Sentences() {
		if !strings.Contains(header, number.Minus(s.Text)) {
			t.Errorf("no %q in:\n%s", s, header)
		}
	}
	for _, part := range []string{"nio sustains 11,815/s, fails at 12,338/s.", "Counts as failed", "Round 4 is under way."} {
		if has := strings.Contains(header, part); has == (part == "Counts as failed") {
			t.Errorf("%q in %s: %t", part, header, has)
		}
	}
	inconclusive := write(t, roundtest.All(t)["inconclusive"])
	for _, part := range []string{" With 10 blocks this round can find differences of ", "blocks would decide.", "Counts as failed: onInconclusive is Fail."} {
		if !strings.Contains(inconclusive, part) {
			t.Errorf("no %q in %s", part, text(all(parse(t, inconclusive), "header")[0]))
		}
	}
	failed := write(t, &round.Report{Round: roundtest.Error(t)})
	if strings.Contains(failed, `id="claims"`) || !strings.Contains(failed, "exceeded quota: team") {
		t.Error("claims of a round that couldn't be carried out")
	}
}

// TestHostileTexts checks that nothing that users and servers wrote becomes markup, in pages and in files.
func TestHostileTexts(t *testing.T) {
	const hostile = "\x1b[2J\u202e</title></svg></pre><script>alert(1)</script><img src=x onerror=alert(1)>\"'`]]>&lt; https://x"
	for name, r := range roundtest.All(t) {
		for i := range r.Cells {
			r.Cells[i].Name += hostile
			for axis := range r.Cells[i].Values {
				r.Cells[i].Values[axis] += hostile
			}
		}
		for i := range r.Runs {
			r.Runs[i].Name += hostile
			r.Runs[i].Message, r.Runs[i].Conditions.Kernel = hostile, hostile
		}
		for i := range r.Effects {
			r.Effects[i].Message = hostile
		}
		for i := range r.Claims {
			r.Claims[i].Name, r.Claims[i].Message = hostile, hostile
		}
		if r.Trend != nil {
			for i := range r.Trend.Series {
				r.Trend.Series[i].Cell += hostile
			}
		}
		r.Message, r.Benchmark, r.Hash, r.Reason = hostile, hostile, hostile, hostile
		r.Notes = []string{hostile}
		page := write(t, r)
		checkSelfContained(t, parse(t, page))
		checkPrintable(t, name, page)
		for _, picture := range picturesIn(roundpage.Formats.Names()) {
			var out bytes.Buffer
			if err := roundpage.Formats.Write(&out, "svg="+picture, r); errors.Is(err, pages.ErrNoPicture) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			checkSelfContained(t, parse(t, out.String()))
			checkPrintable(t, name+" "+picture, out.String())
		}
	}
}

func checkPrintable(t *testing.T, name, document string) {
	t.Helper()
	for _, c := range document {
		if c != '\n' && c != '\u202f' && !unicode.IsPrint(c) {
			t.Fatalf("%s: the character %q", name, c)
		}
	}
}

// picturesIn returns the names of the pictures among formats.
func picturesIn(formats []string) (names []string) {
	for _, format := range formats {
		if name, is := strings.CutPrefix(format, "svg="); is {
			names = append(names, name)
		}
	}
	return names
}

// TestSVG checks which pictures rounds have, and that each says what it is of.
func TestSVG(t *testing.T) {
	has := map[string][]string{
		"passed": {"claims", "exploration", "runs"}, "failed": {"claims", "exploration", "runs"}, "inconclusive": {"claims", "exploration", "runs"}, "ratios": {"claims", "exploration", "runs"}, "invalid-runs": {"claims", "runs"},
		"incomparable": {"claims", "exploration", "runs"}, "error": {"runs"}, "connectors": {"capacity", "claims", "exploration", "runs"}, "trend": {"capacity", "claims", "exploration", "runs", "trend"},
		"sizes": {"grid", "runs"}, "scaling": {"claims", "exploration", "grid", "load", "runs"}, "levels": {"grid", "levels", "runs"},
	}
	for name, r := range roundtest.All(t) {
		var drawn []string
		for _, picture := range picturesIn(roundpage.Formats.Names()) {
			var out bytes.Buffer
			err := roundpage.Formats.Write(&out, "svg="+picture, r)
			if errors.Is(err, pages.ErrNoPicture) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			drawn = append(drawn, picture)
			for _, part := range []string{"default/connectors, round", r.Headline()} {
				if !strings.Contains(html.UnescapeString(out.String()), part) {
					t.Errorf("%s of %s doesn't say %q", picture, name, part)
				}
			}
		}
		if diff := cmp.Diff(append(has[name], "verdict"), drawn); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if err := roundpage.Formats.Write(&bytes.Buffer{}, "svg=pie", &round.Report{Round: roundtest.Failed(t)}); err == nil || err.Error() != `unknown part "pie" of output format svg: use one of capacity, claims, exploration, grid, levels, load, runs, trend, verdict` {
		t.Error(err)
	}
}

func TestGolden(t *testing.T) {
	var out bytes.Buffer
	if err := roundpage.Formats.Write(&out, "svg=claims", &round.Report{Round: roundtest.Failed(t)}); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, filepath.Join("testdata", "claims.svg.golden"), strings.ReplaceAll(out.String(), "><", ">\n<"))
}

// TestRoundOfTheStatus checks that a round whose artifact is lost has a page of what the status says.
func TestRoundOfTheStatus(t *testing.T) {
	r := roundtest.Failed(t)
	b := &v1alpha1.Benchmark{}
	b.Namespace, b.Name, b.Spec = r.Namespace, r.Benchmark, r.Spec
	b.Status.Hash = r.Hash
	b.Status.Round = &v1alpha1.RoundStatus{Number: r.Number, Hash: r.Hash, Verdict: r.Verdict, Reason: r.Reason, Effects: lifecycle.Effects(r.Cells, r.Effects), Claims: lifecycle.Claims(&r.Evaluation)}
	page := write(t, round.FromStatus(b))
	found := tables(t, page)
	if find(found["Claims"], 0, "not-worse/LatencyP99/connector=apr") == nil || found["Medians of all cells"] != nil || !strings.Contains(page, "The metrics of cells and runs are missing.") {
		t.Errorf("tables %q", slices.Sorted(maps.Keys(found)))
	}
}

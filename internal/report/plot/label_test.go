package plot

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNamesStayDifferent checks that names that begin alike, end alike or both aren't the same where there is no room for all of them: at the ends of
// lines, in rows of text, and in the rows and titles of a file; and that values are whole.
func TestNamesStayDifferent(t *testing.T) {
	long := strings.Repeat("catalog-", 12)
	for name, texts := range map[string][]string{
		"other ends":    {"GET /shop/items/catalog/first", "GET /shop/items/catalog/second", "GET /short"},
		"other begins":  {"a" + long, "b" + long},
		"other middles": {long + "1" + long, long + "2" + long, long + "3" + long},
		"the same":      {long, long},
	} {
		want := len(slices.Compact(slices.Sorted(slices.Values(texts))))
		p := Plot{Y: Linear(0, 1), X: Linear(0, 1), Height: 100}
		rows := Plot{X: Linear(0, 1)}
		for _, text := range texts {
			p.Names = append(p.Names, Name{Text: text, Value: "13,800", Stroke: Stroke{Color: P50}})
			rows.Rows = append(rows.Rows, Row{Name: text})
		}
		beside := regexp.MustCompile(`(?s)class="beside".*?</svg>`).FindString(string(Of("a", "", p).HTML()))
		var ends []string
		for _, m := range regexp.MustCompile(`<text[^>]*>(?:<title>[^<]*</title>)?([^<]*)</text>`).FindAllStringSubmatch(beside, -1) {
			ends = append(ends, html.UnescapeString(m[1]))
			if textWidth(m[1], false) > namesWidth-30 {
				t.Errorf("%s: %q is too wide", name, m[1])
			}
			if !strings.HasSuffix(m[1], " 13,800") {
				t.Errorf("%s: the value of %q isn't whole", name, m[1])
			}
		}
		var begins []string
		for _, line := range rows.Text(10, 0)[1:] {
			begins = append(begins, string([]rune(line)[:maxRowName]))
		}
		for where, shown := range map[string][]string{"ends of lines": ends, "rows": begins} {
			if got := len(slices.Compact(slices.Sorted(slices.Values(shown)))); len(shown) != len(texts) || got != want {
				t.Errorf("%s, %s: %q", name, where, shown)
			}
		}
		if file := File(Caption{}, Of("a", "", rows)); strings.Contains(file, "…") {
			t.Errorf("%s: a name is cut in %s", name, file)
		}
	}
	if got := fmt.Sprint(shortened([]string{"GET /a/1", "GET /a/2", "POST"}, func(_ int, text string) bool { return len([]rune(text)) <= 6 })); got != "[GET…/1 GET…/2 POST]" {
		t.Error(got)
	}
}

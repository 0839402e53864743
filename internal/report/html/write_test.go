package html_test

import (
	"bytes"
	"fmt"
	gohtml "html"
	"strings"
	"testing"
	"unicode"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/html"
)

type drawing struct{}

func (drawing) SVG() string { return "<svg></svg>" }

func (drawing) Lines(int) []string { return nil }

// TestArranged checks the order of a section's blocks, and which tables are closed: long ones, in sections with plots shorter ones, but
// none within what is closed already.
func TestArranged(t *testing.T) {
	table := func(name string, rows int) *doc.Table {
		table := &doc.Table{Caption: name, Columns: doc.Words("c")}
		for i := range rows {
			table.Rows = append(table.Rows, []string{fmt.Sprint(i)})
		}
		return table
	}
	d := &doc.Document{Title: "T"}
	d.Add(
		doc.Section{ID: "plain", Title: "Plain", Blocks: []doc.Block{table("open 50", 50), table("closed 51", 51)}},
		doc.Section{ID: "plots", Title: "Plots", Blocks: []doc.Block{
			table("open 12", 12), table("closed 13", 13), doc.Facts{Facts: []doc.Fact{{Name: "fact", Value: "x"}}}, doc.Plot{Drawing: drawing{}}, doc.Paragraph{"words"},
			doc.Group{Title: "group", Folded: true, Blocks: []doc.Block{doc.Group{Title: "inner", Blocks: []doc.Block{table("as it is", 200)}}}},
			doc.Group{Title: "outer", Blocks: []doc.Block{table("closed 200", 200)}},
		}},
	)
	var page bytes.Buffer
	if err := html.Write(&page, d); err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, part := range []string{
		`id="plain"`, `<caption>open 50<`, `<summary>closed 51</summary>`, `id="plots"`, `<p>words<`, `<svg></svg>`, `<dt>fact<`, `<caption>open 12<`,
		`<summary>closed 13</summary>`, `<summary>group</summary>`, `<h3>inner</h3>`, `<caption>as it is<`, `<h3>outer</h3>`, `<summary>closed 200</summary>`,
	} {
		next := strings.Index(page.String(), part)
		if next <= at {
			t.Errorf("%s is at %d, after %d", part, next, at)
		}
		at = next
	}
	if n := strings.Count(page.String(), "<details"); n != 4 {
		t.Errorf("%d closed parts, want 4", n)
	}
	if _, is := d.Section("plain").Blocks[1].(*doc.Table); !is {
		t.Error("the document was changed")
	}
}

// TestPageIsNarrow checks that a page has no character above U+00FF, with texts of them: browsers then hold it with one byte for each.
func TestPageIsNarrow(t *testing.T) {
	const text = "−1\u202fµs → ✓ 𝛼 <script> &#8722;"
	d := &doc.Document{Title: "T", Sections: []doc.Section{{ID: "s", Title: "S", Blocks: []doc.Block{doc.Paragraph{text}, doc.Group{Title: text, Blocks: []doc.Block{doc.Paragraph{"x"}}}}}}}
	var page bytes.Buffer
	if err := html.Write(&page, d); err != nil {
		t.Fatal(err)
	}
	if wide := strings.IndexFunc(page.String(), func(r rune) bool { return r > unicode.MaxLatin1 }); wide >= 0 {
		t.Errorf("%q", page.String()[wide:min(wide+20, page.Len())])
	}
	if n := strings.Count(gohtml.UnescapeString(page.String()), text); n != 2 {
		t.Errorf("the text is there %d times as it was, want 2", n)
	}
	if wide := strings.IndexFunc(html.Script(), func(r rune) bool { return r > unicode.MaxLatin1 }); wide >= 0 {
		t.Errorf("the script has %q", html.Script()[wide:wide+4])
	}
}

package doc_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/report/doc"
)

// drawing is a plot of characters, one more column wide than the terminal has.
type drawing struct{}

func (drawing) SVG() string { return "<svg/>" }

func (drawing) Lines(columns int) []string { return []string{strings.Repeat("`", columns+1) + " "} }

// sample returns a document with a block of each kind, in which a text from outside stands.
func sample() *doc.Document {
	const outside = "\x1b[2J*x* | <b>\nFORGED"
	d := &doc.Document{
		Title: "Run a/b", Subtitle: "Tomcat", Verdict: doc.Verdict{Text: "VALID"}, Metrics: []doc.Fact{{"in pages", "alone"}}, Remarks: []string{"", "A remark."}, Notes: []string{outside},
		Sentences: []doc.Sentence{{Lead: "Failed", Text: "p99 is worse."}, {Text: "2 more."}},
		Findings:  []doc.Finding{{Severity: "Warns", Reason: "No_Warmup", Message: outside}},
	}
	d.Add(
		doc.Section{Blocks: []doc.Block{doc.Paragraph{"in one line"}}},
		doc.Section{Title: "Ölstand", Blocks: []doc.Block{
			doc.Paragraph{"first", "second"}, doc.Paragraph{"third"}, doc.List{"item", outside}, doc.Paragraph{""}, doc.List(nil),
			&doc.Table{Columns: append(doc.Words("cell"), doc.Numbers("p99 ms")...), Rows: [][]string{{outside, "1.5"}, {"b", "10.25"}}},
			(*doc.Table)(nil),
		}},
		doc.Section{Title: "Nothing"},
		doc.Section{Title: "Rest", Blocks: []doc.Block{
			doc.Facts{Facts: []doc.Fact{{"CPU", "50%"}, {"Document Path", "/a"}, {"", "/b"}, {"Empty", ""}}},
			doc.Facts{Facts: []doc.Fact{{"CPU exclusivity", "yes"}, {"Seed", "7"}}, Listed: true},
			doc.Plot{Drawing: drawing{}, Table: &doc.Table{}, Caption: "What pages say."},
			doc.Preformatted{"  as it is  ", "", outside},
			doc.Panels{Hint: "in pages alone"},
			doc.Group{Title: "Group", Folded: true, Blocks: []doc.Block{doc.Paragraph{"within"}}},
		}},
	)
	return d
}

const sampleText = `Run a/b: Tomcat
VALID
A remark.
Note: [2J*x* | <b> FORGED
  Failed: p99 is worse.
  2 more.
  Warns No_Warmup: [2J*x* | <b> FORGED

in one line

Ölstand
-------
first
second
third
  item
  [2J*x* | <b> FORGED

cell                 p99 ms
[2J*x* | <b> FORGED     1.5
b                     10.25

Rest
----
CPU:                    50%
Document Path:          /a
                        /b
Empty:

  CPU exclusivity: yes
  Seed:            7

'

  as it is

[2J*x* | <b> FORGED

Group
within
`

const sampleMarkdown = `## Run a/b: Tomcat

VALID

A remark.

Note: \[2J\*x\* &#124; &lt;b&gt; FORGED

- Failed: p99 is worse.
- 2 more.
- Warns **No\_Warmup**: \[2J\*x\* &#124; &lt;b&gt; FORGED

in one line

### Ölstand

first\
second

third

- item
- \[2J\*x\* &#124; &lt;b&gt; FORGED

| cell | p99 ms |
| --- | ---:|
| \[2J\*x\* &#124; &lt;b&gt; FORGED | 1.5 |
| b | 10.25 |

### Rest

- CPU: 50%
- Document Path: /a
- /b
- Empty:

- CPU exclusivity: yes
- Seed: 7

''' text
'
'''

''' text
  as it is

[2J*x* | <b> FORGED
'''

#### Group

within
`

func TestWriters(t *testing.T) {
	for name, test := range map[string]struct {
		write func(io.Writer, *doc.Document) error
		want  string
	}{
		"text":     {doc.WriteText, strings.ReplaceAll(sampleText, "\n'\n", "\n`\n")},
		"markdown": {doc.WriteMarkdown, strings.ReplaceAll(strings.ReplaceAll(sampleMarkdown, "''' text", "```text"), "'''\n", "```\n")},
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := test.write(&got, sample()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestBeginnings checks that a document without a title begins with its first block or heading.
func TestBeginnings(t *testing.T) {
	table := &doc.Table{Columns: doc.Words("a"), Rows: [][]string{{"b"}}}
	for name, test := range map[string]struct {
		d              doc.Document
		text, markdown string
	}{
		"table":   {doc.Document{Sections: []doc.Section{{Blocks: []doc.Block{table}}}}, "a\nb\n", "| a |\n| --- |\n| b |\n"},
		"section": {doc.Document{Sections: []doc.Section{{Title: "T", Blocks: []doc.Block{doc.List{"i"}}}}}, "T\n-\n  i\n", "### T\n\n- i\n"},
		"verdict": {doc.Document{Title: "a", Verdict: doc.Verdict{Text: "VALID"}, Remarks: []string{"r"}}, "a: VALID\nr\n", "## a: VALID\n\nr\n"},
		"remark":  {doc.Document{Remarks: []string{"r"}, Sections: []doc.Section{{Title: "T", Blocks: []doc.Block{table}}}}, "r\n\nT\n-\na\nb\n", "r\n\n### T\n\n| a |\n| --- |\n| b |\n"},
		"nothing": {},
	} {
		t.Run(name, func(t *testing.T) {
			var text, markdown bytes.Buffer
			if err := doc.WriteText(&text, &test.d); err != nil {
				t.Fatal(err)
			}
			if err := doc.WriteMarkdown(&markdown, &test.d); err != nil {
				t.Fatal(err)
			}
			if text.String() != test.text || markdown.String() != test.markdown {
				t.Errorf("%q and %q, want %q and %q", text.String(), markdown.String(), test.text, test.markdown)
			}
		})
	}
}

// terminal is an output with a number of columns.
type terminal struct {
	bytes.Buffer
	columns int
}

func (w *terminal) Columns() int { return w.columns }

// TestTablesFitTerminals checks what a narrow terminal gets: fewer columns, then a block of lines for each row.
func TestTablesFitTerminals(t *testing.T) {
	d := &doc.Document{Sections: []doc.Section{{Blocks: []doc.Block{&doc.Table{
		Columns: append(append(doc.Words("cell"), doc.Numbers("difference", "detectable")...), doc.Words("conclusion")...),
		Rows:    [][]string{{"nio2", "+24%", "13%", "worse"}, {"nginx", "+9%", "12%", "can't tell yet"}}, Droppable: []string{"baseline", "detectable"},
	}}}}}
	full := "" +
		"cell   difference  detectable  conclusion\n" +
		"nio2         +24%         13%  worse\n" +
		"nginx         +9%         12%  can't tell yet\n"
	narrow := "" +
		"cell   difference  conclusion\n" +
		"nio2         +24%  worse\n" +
		"nginx         +9%  can't tell yet\n"
	blocks := "" +
		"nio2\n  difference  +24%\n  detectable  13%\n  conclusion  worse\n\n" +
		"nginx\n  difference  +9%\n  detectable  12%\n  conclusion  can't tell yet\n"
	for columns, want := range map[int]string{0: full, 200: full, 46: full, 45: narrow, 34: narrow, 33: blocks, 10: blocks} {
		out := terminal{columns: columns}
		if err := doc.WriteText(&out, d); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != want {
			t.Errorf("on %d columns:\n%s\nwant\n%s", columns, got, want)
		}
	}
}

// TestTextFitsTerminals checks that sentences, findings and facts are broken between words where a terminal ends, and nowhere else.
func TestTextFitsTerminals(t *testing.T) {
	d := &doc.Document{
		Title: "run", Verdict: doc.Verdict{Text: "VALID"}, Sentences: []doc.Sentence{{Text: strings.Repeat("word ", 30)}},
		Findings: []doc.Finding{{Severity: "Warns", Reason: "StartSkew", Message: strings.Repeat("clients started apart ", 12)}},
	}
	d.Add(doc.Section{Blocks: []doc.Block{doc.Paragraph{strings.Repeat("paragraph ", 12)}, doc.Facts{Facts: []doc.Fact{
		{"Name", strings.Repeat("value ", 20)}, {"A name that is longer than its column", strings.Repeat("value ", 20)},
	}}}})
	var full bytes.Buffer
	if err := doc.WriteText(&full, d); err != nil {
		t.Fatal(err)
	}
	for _, columns := range []int{60, 80, 120} {
		out := terminal{columns: columns}
		if err := doc.WriteText(&out, d); err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(out.String(), "\n") {
			if len([]rune(line)) >= columns {
				t.Errorf("on %d columns: %q", columns, line)
			}
		}
		if diff := cmp.Diff(strings.Fields(full.String()), strings.Fields(out.String())); diff != "" {
			t.Errorf("on %d columns (-want +got):\n%s", columns, diff)
		}
		if columns == 60 && !strings.Contains(out.String(), "\n  Warns StartSkew: clients started apart clients started\n    apart clients") {
			t.Errorf("further lines of a finding aren't indented:\n%s", out.String())
		}
	}
}

func TestTableOf(t *testing.T) {
	rows := []string{"a", "bcd"}
	same := func(s *string) string { return *s }
	size := func(s *string) string { return strings.Repeat("i", len(*s)) }
	want := &doc.Table{Caption: "c", Columns: []doc.Column{{Name: "name"}, {Name: "size", Number: true}}, Rows: [][]string{{"a", "i"}, {"bcd", "iii"}}}
	fields := []doc.Field[string]{doc.Word("name", same), doc.Number("size", size)}
	if diff := cmp.Diff(want, doc.TableOf("c", rows, fields...)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]string{{"name", "size"}, {"a", "i"}, {"bcd", "iii"}}, doc.Records(rows, fields...)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

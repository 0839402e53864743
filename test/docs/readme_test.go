package docs

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/result"
)

// terminal is a terminal on which the lines of the README's report end.
type terminal struct{ bytes.Buffer }

// Columns returns its width.
func (*terminal) Columns() int { return 101 }

// TestReadmeReport checks that the README's lines of a report are those of the run in its picture, in their order, as text has them now.
func TestReadmeReport(t *testing.T) {
	read := func(path string) string {
		content, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	if !strings.Contains(read("test/browser/screenshots_test.go"), `inReadme     = "run-real-tomcat"`) {
		t.Error("the README's picture is of another run")
	}
	var r result.Result
	if err := json.Unmarshal([]byte(read("test/browser/testdata/tomcat.json")), &r); err != nil {
		t.Fatal(err)
	}
	var text terminal
	if err := report.Write(&text, "text", &r); err != nil {
		t.Fatal(err)
	}
	_, shown, found := strings.Cut(read("README.md"), "```\nBenchmarkRun ")
	shown, _, end := strings.Cut("BenchmarkRun "+shown, "\n```")
	if !found || !end {
		t.Fatal("the README has no report")
	}
	rest := strings.Split(text.String(), "\n")
	for line := range strings.SplitSeq(shown, "\n") {
		if line == "..." {
			continue
		}
		at := slices.Index(rest, line)
		if at < 0 {
			t.Fatalf("the report has no line %q behind the one before in\n%s", line, strings.Join(rest, "\n"))
		}
		rest = rest[at+1:]
	}
}

// maxWords is the number of words that a sentence has at most.
const maxWords = 60

// TestSentencesAreShort checks the sentences of the pages for users, outside of code and tables.
func TestSentencesAreShort(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs/*.md"))
	if err != nil || len(pages) < 25 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	address, ends := regexp.MustCompile(`\]\([^)]*\)`), regexp.MustCompile(`[.:;]\s`)
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		if slices.Contains([]string{"api.md", "kubectl.md"}, filepath.Base(page)) { // generated
			continue
		}
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks(string(content)) {
			if strings.HasPrefix(b.text, "|") {
				continue
			}
			for _, sentence := range ends.Split(address.ReplaceAllString(b.text, "]"), -1) {
				if n := len(strings.Fields(sentence)); n >= maxWords {
					t.Errorf("%s: a sentence of %d words: %s", page, n, sentence)
				}
			}
		}
	}
}

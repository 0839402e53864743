package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// promise matches a sentence that says what is always so.
	promise  = regexp.MustCompile(`(?i)\b(must|never|can't|cannot|only|nobody|no longer)\b`)
	testName = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)
	// fault matches what may be the name of a fault of make chaos, named what is one.
	fault    = regexp.MustCompile("`([a-z]+(?:-[a-z]+)+)`")
	named    = regexp.MustCompile(`"([a-z]+(?:-[a-z]+)+)"`)
	declared = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z]\w*)\(`)
	comment  = regexp.MustCompile(`([.:;]?)\s*(<!--[^>]*-->)`)
	// unshown matches the comment of a sentence that no test can show, with why.
	unshown = regexp.MustCompile(`<!-- not tested: [^>]+-->`)
	// sentenceEnd matches the end of a sentence. A comment behind it was moved into it.
	sentenceEnd = regexp.MustCompile(`[.;]\s+`)
	marker      = regexp.MustCompile(`^\s*([-*]|\d+\.)\s+`)
)

// block is a paragraph, an item of a list or a row of a table. heading is the text before the list that it belongs to.
type block struct{ text, heading string }

// blocks returns the blocks of a page outside of code.
func blocks(content string) []block {
	var all []block
	heading, paragraph, item := "", "", false
	flush := func() {
		if text := strings.TrimSpace(paragraph); text != "" {
			if item {
				all = append(all, block{text, heading})
			} else {
				all = append(all, block{text, ""})
				heading = text
			}
		}
		paragraph = ""
	}
	closing := ""
	for line := range strings.SplitSeq(content, "\n") {
		if match := fence.FindStringSubmatch(line); match != nil {
			if closing == "" {
				closing = match[1]
			} else if strings.HasPrefix(match[1], closing) {
				closing = ""
			}
			continue
		}
		switch trimmed := strings.TrimSpace(line); {
		case closing != "":
		case strings.HasPrefix(trimmed, "|"):
			flush()
			item, heading = false, ""
			all = append(all, block{trimmed, ""})
		case trimmed == "":
			flush()
			item = false
		case strings.HasPrefix(trimmed, "#"):
			flush()
			item, heading = false, ""
		case marker.MatchString(line):
			flush()
			item, paragraph = true, marker.ReplaceAllString(line, "")
		default:
			paragraph += " " + trimmed
		}
	}
	flush()
	return all
}

// proofs are the names of all tests of the repository, and of the faults of make chaos.
type proofs map[string]bool

// prove reports whether a sentence names one of them, or why there is none.
func (p proofs) prove(sentence string) bool {
	if unshown.MatchString(sentence) {
		return true
	}
	for _, name := range testName.FindAllString(sentence, -1) {
		if p[name] {
			return true
		}
	}
	for _, match := range fault.FindAllStringSubmatch(sentence, -1) {
		if p[match[1]] {
			return true
		}
	}
	return false
}

// unproven returns the sentences of a page that promise something without the name of a test.
func (p proofs) unproven(content string) []string {
	var all []string
	for _, b := range blocks(content) {
		switch {
		case strings.HasPrefix(b.text, "|"): // a row of a table is one sentence
			if promise.MatchString(comment.ReplaceAllString(b.text, "")) && !p.prove(b.text) {
				all = append(all, b.text)
			}
		case strings.HasSuffix(b.heading, "can't"): // what somebody can't do is promised, whatever its words
			if !p.prove(b.text) {
				all = append(all, b.text)
			}
		default:
			for _, sentence := range sentenceEnd.Split(comment.ReplaceAllString(b.text, " $2$1"), -1) {
				said := comment.ReplaceAllString(sentence, "")
				if promise.MatchString(said) && !strings.HasSuffix(said, "can't") && !p.prove(sentence) {
					all = append(all, sentence)
				}
			}
		}
	}
	return all
}

func readProofs(t *testing.T) proofs {
	t.Helper()
	p := proofs{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		pattern := declared
		if strings.Contains(filepath.ToSlash(path), "/test/chaos/") {
			pattern = named
		} else if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, match := range pattern.FindAllStringSubmatch(string(text), -1) {
			p[match[1]] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPromises checks that each sentence of SECURITY.md, README.md and docs/reliability.md that promises something names a test that
// shows it, in the sentence or in a comment behind it, and that there is a test of that name.
func TestPromises(t *testing.T) {
	known := readProofs(t)
	for _, page := range []string{"SECURITY.md", "README.md", "docs/reliability.md"} {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, sentence := range known.unproven(string(text)) {
			t.Errorf("%s promises without a test's name: %s", page, sentence)
		}
		for _, name := range testName.FindAllString(string(text), -1) {
			if !known[name] {
				t.Errorf("%s names the test %s, which isn't there", page, name)
			}
		}
		for _, b := range blocks(string(text)) {
			cells := strings.Split(strings.Trim(b.text, "|"), "|")
			if page != "docs/reliability.md" || !strings.HasPrefix(b.text, "|") || len(cells) < 3 {
				continue
			}
			for _, match := range fault.FindAllStringSubmatch(cells[2], -1) {
				if !known[match[1]] {
					t.Errorf("%s names the fault %s, which isn't there", page, match[1])
				}
			}
		}
	}
}

func TestUnproven(t *testing.T) {
	const content = `# It must

It must be. It is. It never ends <!-- TestNothing --> and so on. It can't be told. <!-- not tested: nobody can --> Only that.
It must not. <!-- TestNobodyWrote --> That is all, which must be shown by ` + "`TestIt`" + `.

A tenant can't

- do this; <!-- TestThis -->
- do that
  either;
- do more: it must. <!-- TestMore -->

| what | it must |
| it can't | ` + "`client-killed`" + ` |
| it can't | ` + "`some-thing`" + ` |
` + "```\nit must\n```\n"
	want := []string{"It must be", "Only that", "It must not <!-- TestNobodyWrote -->", "do that either;", "| what | it must |", "| it can't | `some-thing` |"}
	known := proofs{"TestNothing": true, "TestIt": true, "TestThis": true, "TestMore": true, "client-killed": true}
	if got := known.unproven(content); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", got)
	}
}

// Package docs checks the pages of the documentation.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

const root = "../.."

var (
	fence   = regexp.MustCompile("^ {0,3}(```+|~~~+)")
	heading = regexp.MustCompile(`^#{1,6} +(.*?) *#*$`)
	code    = regexp.MustCompile("`[^`]*`")
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	anchor  = regexp.MustCompile(`<a (?:name|id)="([^"]+)"`)
	// picture matches the pictures of HTML within a page.
	picture = regexp.MustCompile(`\b(?:src|srcset)="([^"\s]+)"`)
	scheme  = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
	// text matches a heading's links and images, with what they show.
	text = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
)

// page is the anchors and links of a page.
type page struct {
	anchors map[string]bool
	links   []string
}

// parse finds headings and links outside of code.
func parse(content string) page {
	p := page{anchors: map[string]bool{}}
	closing := ""
	for line := range strings.SplitSeq(content, "\n") {
		if match := fence.FindStringSubmatch(line); match != nil {
			switch {
			case closing == "":
				closing = match[1]
			case strings.HasPrefix(match[1], closing):
				closing = ""
			}
			continue
		}
		if closing != "" {
			continue
		}
		if match := heading.FindStringSubmatch(line); match != nil {
			base := slug(match[1])
			name := base
			for n := 1; p.anchors[name]; n++ {
				name = base + "-" + string(rune('0'+n))
			}
			p.anchors[name] = true
		}
		for _, match := range anchor.FindAllStringSubmatch(line, -1) {
			p.anchors[match[1]] = true
		}
		for _, of := range []*regexp.Regexp{link, picture} {
			for _, match := range of.FindAllStringSubmatch(code.ReplaceAllString(line, ""), -1) {
				p.links = append(p.links, match[1])
			}
		}
	}
	return p
}

// slug returns the anchor that GitHub gives a heading.
func slug(title string) string {
	title = text.ReplaceAllString(title, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// TestLinks checks that each relative link of a page leads to a file of the repository, and its anchor to a heading.
func TestLinks(t *testing.T) {
	pages := map[string]page{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			switch entry.Name() {
			case ".git", "bin", "node_modules", "dist-release", "dist-docs", ".cluster":
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) == ".md" {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			pages[filepath.Clean(path)] = parse(string(content))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for path, p := range pages {
		for _, target := range p.links {
			if scheme.MatchString(target) {
				continue
			}
			links++
			file, fragment, hasFragment := strings.Cut(target, "#")
			destination := path
			if file != "" {
				destination = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(destination); err != nil {
				t.Errorf("%s: %s: %v", path, target, err)
				continue
			}
			if to, known := pages[destination]; hasFragment && known && !to.anchors[fragment] {
				t.Errorf("%s: %s: no such heading", path, target)
			}
		}
	}
	if len(pages) < 40 || links < 300 {
		t.Errorf("only %d links on %d pages found", links, len(pages))
	}
}

func TestSlugs(t *testing.T) {
	for title, want := range map[string]string{
		"Quick start": "quick-start", "`spec.load`": "specload", "What tools read": "what-tools-read", "kubectl assay ui": "kubectl-assay-ui",
		"From YAML to server.xml": "from-yaml-to-serverxml", "A [link](a.md#b), p99.9": "a-link-p999",
	} {
		if got := slug(title); got != want {
			t.Errorf("slug of %q is %q, want %q", title, got, want)
		}
	}
	p := parse("# A\n```sh\n# no heading\n```\n# A\n[x](b.md#c) `[y](d.md)`\n<source srcset=\"e.png\"><img alt=\"f\" src=\"g.png\">\n")
	if !p.anchors["a-1"] || p.anchors["no-heading"] || !slices.Equal(p.links, []string{"b.md#c", "e.png", "g.png"}) {
		t.Errorf("%+v", p)
	}
}

// TestChartsReadmeStandsAlone checks that the README of the chart has no relative link: Artifact Hub shows it without the repository.
func TestChartsReadmeStandsAlone(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, "charts/assay/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range parse(string(content)).links {
		file, absolute := strings.CutPrefix(target, "https://github.com/assay-dev/assay/blob/main/")
		if !absolute && !strings.HasPrefix(target, "#") && !strings.HasPrefix(target, "https://") {
			t.Errorf("%s is relative", target)
		}
		file, _, _ = strings.Cut(file, "#")
		if _, err := os.Stat(filepath.Join(root, file)); absolute && err != nil {
			t.Error(err)
		}
	}
}

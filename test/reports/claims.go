package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// order holds a conclusion of a report's author, and names the claims or the finding of runs that decide whether it holds here.
type order struct {
	Name, Says, Figure string
	// Reason says why the outcome here differs, where it does.
	Reason string
	// Finding is the finding that all Runs must have.
	Finding string
	Runs    []string
}

// claimed reports whether a claim belongs to the order.
func (o *order) claimed(name string) bool {
	return name == o.Name || strings.HasPrefix(name, o.Name+"-")
}

//go:embed orders.yaml
var listed []byte

// readOrders returns the orders that the reports found.
func readOrders() ([]order, error) {
	var orders []order
	return orders, yaml.UnmarshalStrict(listed, &orders)
}

// answer is a claim of a round as kubectl assay report -o json has it.
type answer struct {
	Name, Verdict                    string
	Percent, LowPercent, HighPercent *float64
	BlocksToDecide                   int
}

// String returns the difference with its interval.
func (a *answer) String() string {
	if a.Percent == nil {
		return "-"
	}
	text := signed(*a.Percent)
	if a.LowPercent != nil && a.HighPercent != nil {
		text += fmt.Sprintf(" (%s to %s)", signed(*a.LowPercent), signed(*a.HighPercent))
	}
	return text
}

func signed(percent float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f%%", percent), "-", "−", 1)
}

// outcome holds the figures and the verdict of an order, and names the round or run that has them.
type outcome struct{ ours, verdict, evidence string }

const (
	confirmed, contradicted, undecided = "Confirmed", "Contradicted", "Undecided"
	notRun                             = "not run yet"
)

// claimed returns the outcome of an order that the claims of a file's Benchmarks decide, from the rounds below the output directory.
// It is confirmed if all claims are, and contradicted if one is.
func (f *file) claimed(o *order, output string) (outcome, error) {
	out := outcome{ours: "-", verdict: notRun}
	var ours []string
	for _, name := range f.benchmarks {
		answers, err := f.answers(output, name)
		if err != nil {
			return out, err
		}
		for i := range answers {
			a := &answers[i]
			if !o.claimed(a.Name) {
				continue
			}
			figure := a.String()
			if a.Name != o.Name {
				figure = strings.TrimPrefix(a.Name, o.Name+"-") + ": " + figure
			}
			if a.BlocksToDecide > 0 && a.Verdict == undecided {
				figure += fmt.Sprintf("; about %d blocks would decide", a.BlocksToDecide)
			}
			ours, out.verdict, out.evidence = append(ours, figure), worst(out.verdict, a.Verdict), name
		}
	}
	if ours != nil {
		out.ours = strings.Join(ours, "<br>")
	}
	return out, nil
}

// answers returns the claims of a round, or nothing if it hasn't been run.
func (f *file) answers(output, name string) ([]answer, error) {
	text, err := os.ReadFile(filepath.Join(output, f.report, name+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var round struct{ Claims []answer }
	if err := json.Unmarshal(text, &round); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return round.Claims, nil
}

// worst returns the verdict on an order from those on two of its claims.
func worst(a, b string) string {
	for _, verdict := range []string{contradicted, undecided, confirmed} {
		if a == verdict || b == verdict {
			return verdict
		}
	}
	return b
}

// found returns the outcome of an order that a finding decides, from the text reports of the file's runs.
func (f *file) found(o *order, output string) (outcome, error) {
	out := outcome{ours: "-", verdict: notRun}
	var ours []string
	for _, name := range o.Runs {
		text, err := os.ReadFile(filepath.Join(output, f.report, name+".txt"))
		if errors.Is(err, fs.ErrNotExist) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		finding := regexp.MustCompile(`(?m)^  (?:Warns|Invalidates|Accepted) ` + regexp.QuoteMeta(o.Finding) + `: (.*?\.) `).FindSubmatch(text)
		if finding == nil {
			return outcome{ours: name + ": no " + o.Finding, verdict: contradicted, evidence: name}, nil
		}
		headline := regexp.MustCompile(`(?m)^.* requests/s, .*, (target CPU .*)$`).FindSubmatch(text)
		if headline == nil {
			return out, fmt.Errorf("%s: its text has no line with requests/s", name)
		}
		ours, out.evidence = append(ours, fmt.Sprintf("%s of %s: %s (%s)", o.Finding, name, finding[1], headline[1])), name
	}
	out.ours, out.verdict = strings.Join(ours, "<br>"), confirmed
	return out, nil
}

// claims returns the table of orders as Markdown: what each report found, and what came out here, from the files below the output
// directory. of is the file on whose page the table stands, or nil for the page of all reports.
func claims(orders []order, files []file, of *file, output string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("| claim | | the report's figure | here, with interval | verdict | why it differs |\n| --- | --- | --- | --- | --- | --- |\n")
	for i := range orders {
		o := &orders[i]
		f := decides(o, files)
		if f == nil {
			return nil, fmt.Errorf("%s: no small file decides it", o.Name)
		}
		if of != nil && f.path != of.path {
			continue
		}
		decide := f.claimed
		if o.Finding != "" {
			decide = f.found
		}
		out, err := decide(o, output)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
		root, page := "../../", f.name()+".md"
		if of != nil {
			root, page = "../../../", out.evidence+".html"
		}
		verdict, reason := out.verdict, ""
		if out.verdict != notRun {
			verdict = fmt.Sprintf("[%s](%s)", out.verdict, page)
		}
		if out.verdict == contradicted {
			reason = o.Reason
		}
		fmt.Fprintf(&b, "| [%s](%s) | %s | %s | %s | %s | %s |\n", strings.ToUpper(o.Name[:2])+o.Name[2:], root+filepath.ToSlash(filepath.Join(resourceDirectory, f.report, "small", f.base()+".yaml")), o.Says, o.Figure, out.ours, verdict, reason)
	}
	return b.Bytes(), nil
}

// decides returns the file whose claims or runs decide an order, or nil.
func decides(o *order, files []file) *file {
	i := slices.IndexFunc(files, func(f file) bool {
		if o.Finding != "" {
			return len(o.Runs) > 0 && !slices.ContainsFunc(o.Runs, func(run string) bool { return !slices.Contains(f.runs, run) })
		}
		return slices.ContainsFunc(f.claims, o.claimed)
	})
	if i < 0 {
		return nil
	}
	return &files[i]
}

const tableBegin, tableEnd = "<!-- claims: `make reports` writes this table -->\n", "<!-- end of claims -->\n"

// page is a page that has a table of claims.
type page struct {
	path string
	// of is the file whose page it is, or nil for the page of all reports.
	of *file
}

// claimPages returns the pages below the output directory that have a table of claims, as far as they exist.
func claimPages(orders []order, files []file, output string) []page {
	pages := []page{{filepath.Join(output, "README.md"), nil}}
	for i := range files {
		f := &files[i]
		path := filepath.Join(output, f.name()+".md")
		if _, err := os.Stat(path); err == nil && slices.ContainsFunc(orders, func(o order) bool { return decides(&o, files) == f }) {
			pages = append(pages, page{path, f})
		}
	}
	return pages
}

// writeClaims writes the tables of claims into the pages below the output directory, from all files of resources: also one that
// was made before has the reasons of today.
func writeClaims(resources, output string) error {
	orders, err := readOrders()
	if err != nil {
		return err
	}
	files, err := choose(resources, "")
	if err != nil {
		return err
	}
	for _, p := range claimPages(orders, files, output) {
		before, err := os.ReadFile(p.path)
		if err != nil {
			return err
		}
		after, err := p.withClaims(before, orders, files, output)
		if err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
		if err := os.WriteFile(p.path, after, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// withClaims returns the page with the table of claims as the files below the output directory give it, and that of all reports also with
// the table of pages. The page of a file gets its table below its title.
func (p *page) withClaims(text []byte, orders []order, files []file, output string) ([]byte, error) {
	table, err := claims(orders, files, p.of, output)
	if err != nil {
		return nil, err
	}
	if p.of == nil {
		pages, err := pageTable(files, output)
		if err != nil {
			return nil, err
		}
		if text, err = between(text, pagesBegin, pagesEnd, pages); err != nil {
			return nil, err
		}
	} else if !bytes.Contains(text, []byte(tableBegin)) {
		title, body, _ := bytes.Cut(text, []byte("\n\n"))
		text = slices.Concat(title, []byte("\n\n"+tableBegin+tableEnd+"\n"), body)
	}
	return between(text, tableBegin, tableEnd, table)
}

// between replaces what is between two lines of a text.
func between(text []byte, begin, end string, content []byte) ([]byte, error) {
	before, rest, begins := bytes.Cut(text, []byte(begin))
	_, after, ends := bytes.Cut(rest, []byte(end))
	if !begins || !ends {
		return nil, fmt.Errorf("the page has no %q and %q", begin, end)
	}
	return slices.Concat(before, []byte(begin), content, []byte(end), after), nil
}

const pagesBegin, pagesEnd = "<!-- pages: `make reports` writes this table -->\n", "<!-- end of pages -->\n"

// pageTable returns the table of the files' pages that there are as Markdown: what the files say of themselves first, and when they were
// run.
func pageTable(files []file, output string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("| report | page | what it repeats | made |\n| --- | --- | --- | --- |\n")
	for i := range files {
		f := &files[i]
		text, err := os.ReadFile(filepath.Join(output, f.name()+".md"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		made := regexp.MustCompile(`(?m)^Made on ([-0-9]+)`).FindSubmatch(text)
		if made == nil {
			return nil, fmt.Errorf("the page of %s doesn't say when it was made", f.name())
		}
		about, _, _ := strings.Cut(strings.ReplaceAll(f.about, "\n", " "), ". ")
		fmt.Fprintf(&b, "| %s | [%s](%s.md) | %s | %s |\n", strings.ToUpper(f.report), f.base(), f.name(), strings.TrimSuffix(about, "."), made[1])
	}
	return b.Bytes(), nil
}

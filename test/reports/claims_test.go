package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "Write the table of claims into docs/reports/README.md.")

const (
	resources = "../../config/reports"
	pages     = "../../docs/reports"
)

// TestEachOrderIsDecided checks that each of the 23 orders of the reports has what decides it, and each claim is of an order.
func TestEachOrderIsDecided(t *testing.T) {
	orders, files := allOrders(t)
	var names []string
	for i := range orders {
		o := &orders[i]
		names = append(names, o.Name)
		f := decides(o, files)
		if f == nil || !strings.HasPrefix(o.Name, f.report) {
			t.Errorf("%s: no small file of its report decides it", o.Name)
		}
		if o.Says == "" || o.Figure == "" {
			t.Errorf("%s: says %q, figure %q", o.Name, o.Says, o.Figure)
		}
	}
	want := strings.Fields("r1a r1b r1c r1d r1e r1f r1g r1h r2a r2b r2c r2d r2e r2f r3a r3b r4a r4b r4c r5a r5b r5c r5d")
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("orders, -want +got:\n%s", diff)
	}
	for i := range files {
		for _, claim := range files[i].claims {
			if !slices.ContainsFunc(orders, func(o order) bool { return o.Finding == "" && o.claimed(claim) }) {
				t.Errorf("%s: claim %s is of no order", files[i].name(), claim)
			}
		}
	}
}

// TestNoPageIsOverwritten checks that the runs and Benchmarks of a report's files have names of their own: their pages are in one directory.
func TestNoPageIsOverwritten(t *testing.T) {
	files, err := choose(resources, "")
	if err != nil {
		t.Fatal(err)
	}
	owner := map[string]string{}
	for i := range files {
		for _, name := range slices.Concat(files[i].runs, files[i].benchmarks) {
			if other, is := owner[name]; is {
				t.Errorf("%s and %s both write the page %s", other, files[i].name(), name)
			}
			owner[name] = files[i].name()
		}
	}
}

// TestTableOfClaims checks that docs/reports/README.md and the pages of files with claims have the tables that the rounds below it give.
func TestTableOfClaims(t *testing.T) {
	if *update {
		if err := writeClaims(resources, pages); err != nil {
			t.Fatal(err)
		}
	}
	orders, files := allOrders(t)
	for _, p := range claimPages(orders, files, pages) {
		text, err := os.ReadFile(p.path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.withClaims(text, orders, files, pages)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(text)); diff != "" {
			t.Errorf("go test ./test/reports -run TestTableOfClaims -update writes %s; -want +got:\n%s", p.path, diff)
		}
	}
}

// TestPromises follows each link of the pages in docs/reports to its file, each section that the page of all reports names into the
// files that its line links, and each claim of a table to the line of the text report that has its verdict and its figure.
func TestPromises(t *testing.T) {
	orders, files := allOrders(t)
	texts, err := filepath.Glob(filepath.Join(pages, "*", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(texts, filepath.Join(pages, "README.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range regexp.MustCompile(`\]\(([^):#]+)`).FindAllSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), string(link[1]))); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		if filepath.Dir(path) != filepath.Clean(pages) {
			continue
		}
		for _, line := range regexp.MustCompile(`(?m)^\|.*section \*.*$`).FindAllString(string(text), -1) {
			for _, link := range regexp.MustCompile(`\]\((\w+/[-\w]+\.(?:html|txt))\)`).FindAllStringSubmatch(line, -1) {
				for _, section := range regexp.MustCompile(`\*(\w+)\*`).FindAllStringSubmatch(line, -1) {
					if held, err := os.ReadFile(filepath.Join(pages, link[1])); err != nil || !strings.Contains(string(held), section[1]) {
						t.Errorf("%s has no section %s: %v", link[1], section[1], err)
					}
				}
			}
		}
	}
	for i := range files {
		f := &files[i]
		for _, name := range f.benchmarks {
			answers, err := f.answers(pages, name)
			if err != nil {
				t.Fatal(err)
			}
			if answers == nil {
				continue // not run yet
			}
			text, err := os.ReadFile(filepath.Join(pages, f.report, name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range answers {
				if problem := a.follow(string(text)); problem != "" && slices.ContainsFunc(orders, func(o order) bool { return o.claimed(a.Name) }) {
					t.Errorf("%s: %s: %s", name, a.Name, problem)
				}
			}
		}
	}
}

// follow returns what a text report doesn't have of a claim, or nothing.
func (a *answer) follow(text string) string {
	line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(a.Name) + ` .*$`).FindString(text)
	switch {
	case line == "":
		return "no line"
	case !strings.Contains(line, a.Verdict):
		return "not " + a.Verdict + ": " + line
	case a.Percent == nil:
		return ""
	}
	for _, figure := range regexp.MustCompile(`[+-]?\d+(\.\d+)?%`).FindAllString(line, -1) {
		value, err := strconv.ParseFloat(strings.TrimSuffix(figure, "%"), 64)
		_, decimals, _ := strings.Cut(strings.TrimSuffix(figure, "%"), ".")
		if err == nil && math.Abs(value-*a.Percent) <= 0.51*math.Pow10(-len(decimals)) {
			return ""
		}
	}
	return fmt.Sprintf("no %g%%: %s", *a.Percent, line)
}

// TestFollow checks that a verdict and a figure are found, and others aren't.
func TestFollow(t *testing.T) {
	percent := 23.6
	text := "claim  statement  difference  verdict\nr1a    p99 is at most 5% higher  +24%  +18.0% to +29.2%  Confirmed\nr1ab  x  -3.1%  Undecided\n"
	for want, a := range map[string]answer{
		"":                  {Name: "r1a", Verdict: confirmed, Percent: &percent},
		"no line":           {Name: "r1", Verdict: confirmed},
		"not Contradicted:": {Name: "r1a", Verdict: contradicted, Percent: &percent},
		"no 23.6%:":         {Name: "r1ab", Verdict: undecided, Percent: &percent},
	} {
		if got := a.follow(text); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", a.Name, got, want)
		}
	}
}

func allOrders(t *testing.T) ([]order, []file) {
	t.Helper()
	orders, err := readOrders()
	if err != nil {
		t.Fatal(err)
	}
	files, err := choose(resources, "")
	if err != nil {
		t.Fatal(err)
	}
	return orders, files
}

// TestClaims checks the table that rounds and runs give.
func TestClaims(t *testing.T) {
	output := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(output, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(output, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("r1/a.json", `{"claims": [
		{"name": "r1a", "verdict": "Confirmed", "percent": 16.04, "lowPercent": 9, "highPercent": 20},
		{"name": "r1b-x", "verdict": "Confirmed", "percent": -3, "lowPercent": -4, "highPercent": -2},
		{"name": "r1b-y", "verdict": "Undecided", "percent": 1, "blocksToDecide": 40},
		{"name": "r1c", "verdict": "Contradicted"}]}`)
	write("r1/run.txt", "BenchmarkRun\n  Warns Full: The link was full. More.\n1 requests/s, p50 1ms, target CPU 2% of 1 CPU\n")
	files := []file{{report: "r1", path: "r1/small/a.yaml", benchmarks: []string{"a", "b"}, runs: []string{"run", "none"}, claims: []string{"r1a", "r1b-x", "r1b-y", "r1c", "r1d"}}}
	orders := []order{
		{Name: "r1a", Reason: "never printed"}, {Name: "r1b"}, {Name: "r1c", Reason: "another machine"}, {Name: "r1d"},
		{Name: "r1e", Finding: "Full", Runs: []string{"run"}}, {Name: "r1f", Finding: "Empty", Runs: []string{"run"}}, {Name: "r1g", Finding: "Full", Runs: []string{"none"}},
	}
	table, err := claims(orders, files, nil, output)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(string(table)), "\n")[2:] {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		got = append(got, strings.Join(cells[3:], " | "))
	}
	want := []string{
		"+16.0% (+9.0% to +20.0%) | [Confirmed](r1/a.md)",
		"x: −3.0% (−4.0% to −2.0%)<br>y: +1.0%; about 40 blocks would decide | [Undecided](r1/a.md)",
		"- | [Contradicted](r1/a.md) | another machine",
		"- | not run yet",
		"Full of run: The link was full. (target CPU 2% of 1 CPU) | [Confirmed](r1/a.md)",
		"run: no Empty | [Contradicted](r1/a.md)",
		"- | not run yet",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	page := page{of: &files[0]}
	text, err := page.withClaims([]byte("# r1/a\n\nMade today.\n"), orders, files, output)
	if err != nil {
		t.Fatal(err)
	}
	again, err := page.withClaims(text, orders, files, output)
	if want := "# r1/a\n\n" + tableBegin + "| claim |"; err != nil || !strings.HasPrefix(string(text), want) || !strings.HasSuffix(string(text), tableEnd+"\nMade today.\n") || string(again) != string(text) {
		t.Errorf("%v: a page begins\n%s\nand then\n%s", err, text, again)
	}
	if !strings.Contains(string(text), "| [Confirmed](a.html) |") || !strings.Contains(string(text), "| [Confirmed](run.html) |") {
		t.Errorf("the page doesn't refer to the rounds and runs:\n%s", text)
	}
	if _, err := claims([]order{{Name: "r9a"}}, files, nil, output); err == nil {
		t.Error("an order that nothing decides has a row")
	}
}

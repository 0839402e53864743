// Command budget prints the hand-written lines of Go by directory, the number of types, and how many references between
// the files of a package run backwards. It exits with 1 if one of them is above its number in budget.txt.
//
//	go run ./hack/budget
//	go run ./hack/budget -back internal/report     lists the references that run backwards
package main

import (
	"bufio"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
)

const budgetFile = "hack/budget/budget.txt"

func main() {
	back := flag.String("back", "", "list the references that run backwards between the files of packages below this `directory`")
	flag.Parse()
	over, err := run(os.Stdout, *back)
	if err != nil {
		fmt.Fprintln(os.Stderr, "budget:", err)
		os.Exit(2)
	}
	if over > 0 {
		fmt.Fprintf(os.Stderr, "budget: %d numbers are above those in %s. Delete something, or raise the number and say why in its line.\n", over, budgetFile)
		os.Exit(1)
	}
}

// run prints the table, or what runs backwards in a directory. It returns how many rows of the table are over their budget.
func run(w io.Writer, back string) (over int, err error) {
	limits, err := readLimits(budgetFile)
	if err != nil {
		return 0, err
	}
	files, err := trackedFiles()
	if err != nil {
		return 0, err
	}
	house, err := measure(files)
	if err != nil {
		return 0, err
	}
	if back != "" {
		percent, arrows := house.backwards(back)
		_, err := fmt.Fprintf(w, "%s\n%d%% run backwards\n", strings.Join(arrows, "\n"), percent)
		return 0, err
	}
	_, _ = fmt.Fprintf(w, "%-32s %8s %8s\n", "", "now", "budget")
	for _, l := range limits {
		now, unit := house.value(l.name)
		mark := ""
		if now > l.most {
			over++
			mark = "  OVER"
		}
		_, _ = fmt.Fprintf(w, "%-32s %8s %8s%s\n", l.name, strconv.Itoa(now)+unit, strconv.Itoa(l.most)+unit, mark)
	}
	return over, nil
}

// limit is a line of the budget file.
type limit struct {
	// name is a directory, whose subdirectories count with it, or one of "product", "programs", "tests", "types" and
	// "back DIRECTORY".
	name string
	most int
}

// readLimits reads lines of the form "NAME | NUMBER | WHY". Lines that begin with # are comments.
func readLimits(name string) ([]limit, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	var limits []limit
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "|")
		if len(fields) != 3 || strings.TrimSpace(fields[2]) == "" {
			return nil, fmt.Errorf("%s: line %q must be NAME | NUMBER | WHY", name, line)
		}
		most, err := strconv.Atoi(strings.TrimSpace(fields[1]))
		if err != nil {
			return nil, fmt.Errorf("%s: line %q: %w", name, line, err)
		}
		limits = append(limits, limit{strings.TrimSpace(fields[0]), most})
	}
	return limits, lines.Err()
}

// trackedFiles returns the Go files that git tracks, and new ones that it doesn't ignore, without test data.
func trackedFiles() ([]string, error) {
	out, err := exec.Command("git", "ls-files", "-co", "--exclude-standard", "--deduplicate", "*.go").Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	return slices.DeleteFunc(strings.Fields(string(out)), func(file string) bool {
		_, err := os.Stat(file)
		return err != nil || strings.Contains(file, "/testdata/")
	}), nil
}

// house holds what was counted.
type house struct {
	lines                    map[string]int // by directory, generated code and tests excluded
	product, programs, tests int
	types                    int // of the product
	packages                 map[string][]string
}

func measure(files []string) (*house, error) {
	h := &house{lines: map[string]int{}, packages: map[string][]string{}}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, content, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return nil, err
		}
		lines := strings.Count(string(content), "\n")
		dir := path.Dir(file)
		program := strings.HasPrefix(file, "hack/") || strings.HasPrefix(file, "test/")
		switch {
		case ast.IsGenerated(parsed):
			continue
		case strings.HasSuffix(file, "_test.go"):
			h.tests += lines
			continue
		case program:
			h.programs += lines
		default:
			h.product += lines
			h.types += countTypes(parsed)
		}
		h.lines[dir] += lines
		h.packages[dir] = append(h.packages[dir], file)
	}
	return h, nil
}

// value returns the number of that name and its unit.
func (h *house) value(name string) (now int, unit string) {
	switch name {
	case "product":
		return h.product, ""
	case "programs":
		return h.programs, ""
	case "tests":
		return h.tests, ""
	case "types":
		return h.types, ""
	}
	if dir, ok := strings.CutPrefix(name, "back "); ok {
		percent, _ := h.backwards(dir)
		return percent, "%"
	}
	for dir, lines := range h.lines {
		if dir == name || strings.HasPrefix(dir, name+"/") {
			now += lines
		}
	}
	return now, ""
}

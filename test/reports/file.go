package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/test/harness"
)

// file is a file of resources of a report.
type file struct {
	report, path string
	// about is what the comment at the head of the file says before its commands.
	about string
	// commands are the commands of kubectl assay in the comment that print something.
	commands []command
	// runs and benchmarks are the names of the resources.
	runs, benchmarks []string
	// claims are the names of the Benchmarks' claims.
	claims []string
}

// command is a command of kubectl assay.
type command struct {
	args []string
	// output is the name of the file that it writes to, or empty.
	output string
}

// String returns the command as a user types it.
func (c command) String() string {
	text := "kubectl assay " + strings.Join(c.args, " ")
	if c.output != "" {
		text += " > " + c.output
	}
	return text
}

func (f *file) name() string { return f.report + "/" + f.base() }

func (f *file) base() string { return strings.TrimSuffix(filepath.Base(f.path), ".yaml") }

// choose returns the small files of the reports in a directory, in the order of their names, or those that names list: reports
// ("r1") or files ("r1/r1-small").
func choose(directory, names string) ([]file, error) {
	paths, err := filepath.Glob(filepath.Join(directory, "*", "small", "*.yaml"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no files match %s/*/small/*.yaml", directory)
	}
	var all []file
	for _, path := range paths {
		f, err := read(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, *f)
	}
	chosen, err := harness.Choose(names, all, func(f *file, name string) bool { return name == f.report || name == f.name() })
	slices.SortFunc(chosen, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return chosen, err
}

var documentSeparator = regexp.MustCompile(`(?m)^---$`)

// read reads a file of resources.
func read(path string) (*file, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &file{report: filepath.Base(filepath.Dir(filepath.Dir(path))), path: path}
	f.readComment(string(text))
	for _, document := range documentSeparator.Split(string(text), -1) {
		var object struct {
			Kind     string
			Metadata struct{ Name string }
			Spec     struct{ Claims []struct{ Name string } }
		}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			return nil, err
		}
		switch object.Kind {
		case "BenchmarkRun":
			f.runs = append(f.runs, object.Metadata.Name)
		case "Benchmark":
			f.benchmarks = append(f.benchmarks, object.Metadata.Name)
			for _, claim := range object.Spec.Claims {
				f.claims = append(f.claims, claim.Name)
			}
		}
	}
	if len(f.runs)+len(f.benchmarks) == 0 {
		return nil, errors.New("it has no BenchmarkRun and no Benchmark")
	}
	return f, nil
}

// readComment reads the comment at the head of a file. Lines that are indented are commands.
func (f *file) readComment(text string) {
	var about bytes.Buffer
	for line := range strings.Lines(text) {
		line, is := strings.CutPrefix(strings.TrimSpace(line), "#")
		if !is {
			break
		}
		if said, is := strings.CutPrefix(line, "   kubectl "); is {
			if said, is = strings.CutPrefix(said, "assay "); is {
				f.addCommand(said)
			}
			continue
		}
		if len(f.commands) == 0 {
			about.WriteString(strings.TrimPrefix(line, " ") + "\n")
		}
	}
	f.about = strings.TrimSpace(about.String())
}

// addCommand adds a command that prints a table or a report.
func (f *file) addCommand(said string) {
	said, _, _ = strings.Cut(said, " #")
	said, output, _ := strings.Cut(said, ">")
	args := strings.Fields(said)
	if len(args) > 0 && (args[0] == "table" || args[0] == "report") {
		f.commands = append(f.commands, command{args: args, output: filepath.Base(strings.TrimSpace(output))})
		if strings.TrimSpace(output) == "" {
			f.commands[len(f.commands)-1].output = ""
		}
	}
}

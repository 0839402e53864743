package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/assay-dev/assay/test/harness"
)

const (
	// waitLimit bounds the wait for the runs or the round of a file.
	waitLimit = "60m"
	// exitNoResult and exitUnknown are kubectl assay's exit codes for what has no result and for what it can't tell.
	exitNoResult, exitUnknown = 1, 4
)

// repeat applies the file in a namespace of its own, waits for its runs and rounds, and writes what they measured
// below the output directory. It deletes the namespace.
func (f *file) repeat(ctx context.Context, c *harness.Cluster, output string) error {
	directory := filepath.Join(output, f.report)
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	return c.InNamespace(ctx, "assay-report-", func(namespace string) error { return f.repeatIn(ctx, namespace, directory) })
}

func (f *file) repeatIn(ctx context.Context, namespace, directory string) error {
	began, load := time.Now(), harness.LoadAverage()
	if err := show(ctx, "kubectl", "apply", "--namespace", namespace, "--filename", f.path); err != nil {
		return err
	}
	var failed []error
	for _, name := range f.watched() {
		if err := show(ctx, "kubectl-assay", "watch", name, "--namespace", namespace, "--timeout", waitLimit); err != nil && !ended(err) {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	page, err := f.page(ctx, namespace, directory, began, load)
	if err != nil {
		return errors.Join(append(failed, err)...)
	}
	return errors.Join(append(failed, os.WriteFile(filepath.Join(directory, f.base()+".md"), page, 0o644))...)
}

// watched returns the arguments with which kubectl assay names the runs and Benchmarks.
func (f *file) watched() []string {
	names := slices.Clone(f.runs)
	for _, name := range f.benchmarks {
		names = append(names, "benchmark/"+name)
	}
	return names
}

// ended reports whether an error of kubectl assay watch is the exit code of something that has ended, whatever its
// verdict.
func ended(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.Exited() && exit.ExitCode() != exitNoResult && exit.ExitCode() != exitUnknown
}

// page writes the pages and texts of the runs and rounds to the directory and returns the file's page as Markdown.
func (f *file) page(ctx context.Context, namespace, directory string, began time.Time, load string) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", f.name(), machine(began, load))
	fmt.Fprintf(&b, "Resources: [`%s`](../../../%s). `make reports ARGS='-only %s'` makes this page again, in %s.\n\n",
		f.base()+".yaml", filepath.ToSlash(f.path), f.name(), time.Since(began).Round(time.Second))
	fmt.Fprintf(&b, "%s\n\n", f.about)
	for _, name := range f.watched() {
		links, err := f.writePages(ctx, namespace, directory, name)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "- %s\n", links)
	}
	for _, said := range f.commands {
		out, err := said.print(ctx, namespace)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", said, err)
		}
		fmt.Fprintf(&b, "\n```sh\n%s\n```\n\n", said)
		if said.output == "" {
			b.Write(said.block(out))
			continue
		}
		if err := os.WriteFile(filepath.Join(directory, said.output), out, 0o644); err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "[%s](%s)\n", said.output, said.output)
	}
	return b.Bytes(), nil
}

// block returns what the command has printed as Markdown.
func (c command) block(out []byte) []byte {
	if c.namesFormat() {
		return fmt.Appendf(nil, "```text\n%s\n```\n", bytes.TrimSpace(out))
	}
	return append(bytes.TrimSpace(out), '\n')
}

// namesFormat reports whether the command says in which format it prints.
func (c command) namesFormat() bool {
	return slices.ContainsFunc(c.args, func(arg string) bool { return arg == "-o" || strings.HasPrefix(arg, "--output") })
}

// print returns what the command prints, as Markdown unless the command names a format. It fails only if nothing
// was printed: a table with a run that has no result is one, too.
func (c command) print(ctx context.Context, namespace string) ([]byte, error) {
	args := slices.Concat(c.args, []string{"--namespace", namespace})
	if !c.namesFormat() {
		args = append(args, "-o", "markdown")
	}
	return printed(ctx, args...)
}

// writePages writes the page and the text report of a run or a round, and the JSON and the picture of the claims of a round that has
// some, and returns links to them.
func (f *file) writePages(ctx context.Context, namespace, directory, name string) (string, error) {
	type format struct{ format, extension string }
	formats := []format{{"html", ".html"}, {"text", ".txt"}}
	_, base, is := strings.Cut(name, "/")
	if !is {
		base = name
	} else if len(f.claims) > 0 {
		formats = append(formats, format{"json", ".json"}, format{"svg=claims", ".svg"})
	}
	links := "`" + name + "`:"
	for _, f := range formats {
		out, err := printed(ctx, "report", name, "--namespace", namespace, "-o", f.format)
		if err != nil && f.extension == ".svg" {
			continue // no claim has a figure
		}
		if err != nil {
			return "", fmt.Errorf("report of %s as %s: %w", name, f.format, err)
		}
		if err := os.WriteFile(filepath.Join(directory, base+f.extension), out, 0o644); err != nil {
			return "", err
		}
		link := fmt.Sprintf(" [%s](%s)", f.format, base+f.extension)
		if f.extension == ".svg" {
			link = fmt.Sprintf("\n\n  ![claims of %s](%s)", base, base+f.extension)
		}
		links += link
	}
	return links, nil
}

// printed returns what kubectl assay prints. An exit code is no error if something was printed.
func printed(ctx context.Context, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "kubectl-assay", args...)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	err := command.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() && out.Len() > 0 {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, bytes.TrimSpace(errs.Bytes()))
	}
	return out.Bytes(), nil
}

// show runs a command that prints to this program's output.
func show(ctx context.Context, name string, args ...string) error {
	command := exec.CommandContext(ctx, name, args...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	return command.Run()
}

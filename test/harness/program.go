package harness

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// ErrMissed says that what a program tried didn't come out as it must. The program has printed how.
var ErrMissed = errors.New("not as expected")

// Program is a test program. All of them take flags alone, unless Args says otherwise, and have the same exit codes:
//
//	0    everything was as expected
//	1    something wasn't, or a bound was missed
//	2    the command line is invalid, or something could not be tried
//	130  interrupted
type Program struct {
	Name string
	// Help stands above the list of flags.
	Help string
	// Args describes the arguments that aren't flags, for errors; empty if there are none.
	Args string
	// Run does the work after the flags have been parsed. Its context ends when the program is interrupted.
	Run func(ctx context.Context, args []string) error
}

// Main parses the flags of the command line, runs the program and exits.
func (p *Program) Main() {
	flag.Usage = func() {
		_, _ = fmt.Fprintf(flag.CommandLine.Output(), "%s\nExit codes: 0 as expected, 1 not as expected, 2 not tried, 130 interrupted.\n\nFlags:\n", strings.TrimRight(p.Help, "\n")+"\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := p.run(ctx, flag.Args())
	stop()
	os.Exit(code)
}

// run runs the program and returns its exit code.
func (p *Program) run(ctx context.Context, args []string) int {
	err := fmt.Errorf("there must be no arguments: %q", args)
	if p.Args != "" || len(args) == 0 {
		err = p.Run(ctx, args)
	}
	switch {
	case ctx.Err() != nil:
		return 130
	case err == nil:
		return 0
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", p.Name, err)
	if errors.Is(err, ErrMissed) {
		return 1
	}
	return 2
}

// Choose returns those of all that are named in a list, which commas or blanks separate, in the order of the list. An empty
// list names all. is reports whether a name is that of an element; several may have it.
func Choose[T any](list string, all []T, is func(t *T, name string) bool) ([]T, error) {
	names := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
	if len(names) == 0 {
		return all, nil
	}
	var chosen []int
	for _, name := range names {
		known := false
		for i := range all {
			if is(&all[i], name) {
				known = true
				if !slices.Contains(chosen, i) {
					chosen = append(chosen, i)
				}
			}
		}
		if !known {
			return nil, fmt.Errorf("unknown name %q: see -help", name)
		}
	}
	elements := make([]T, len(chosen))
	for i, index := range chosen {
		elements[i] = all[index]
	}
	return elements, nil
}

// Command runs a program. Its output is a part of the error if it fails.
func Command(ctx context.Context, name string, args ...string) error {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

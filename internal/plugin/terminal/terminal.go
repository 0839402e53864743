// Package terminal writes reports for the place where they are read: with colors for the words of verdicts on a terminal that shows them, and in ASCII where
// the locale has no UTF-8.
package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/assay-dev/assay/internal/plugin/cluster"
)

// The choices of --color.
const (
	Auto   = "auto"
	Always = "always"
	Never  = "never"
)

// Choices are the values of --color.
var Choices = []string{Always, Auto, Never}

// FlagName is the name of the flag of all commands.
const FlagName = "color"

// AddFlag adds the flag to the flags of all commands.
func AddFlag(root *cobra.Command) {
	root.PersistentFlags().String(FlagName, Auto, "color of the words of verdicts: auto (on a terminal, unless NO_COLOR is set), always or never")
	cluster.FlagCompletion(root, FlagName, cobra.FixedCompletions(Choices, cobra.ShellCompDirectiveNoFileComp))
}

// For returns a Writer by the flag of a command.
func For(cmd *cobra.Command, out io.Writer) (*Writer, error) {
	color, err := cmd.Flags().GetString(FlagName)
	if err != nil {
		color = Auto // a command by itself, as in tests
	}
	return New(out, color, os.Getenv)
}

// Writer writes text. Call Flush at the end.
type Writer struct {
	out    io.Writer
	text   bytes.Buffer
	colors bool
	ascii  bool
	width  int
}

// New returns a Writer to out. color is one of Choices. With Auto, colors are for terminals alone, unless NO_COLOR is set to anything (https://no-color.org) or
// TERM is dumb. lookup returns variables of the environment, as os.Getenv.
func New(out io.Writer, color string, lookup func(string) string) (*Writer, error) {
	if !slices.Contains(Choices, color) {
		return nil, fmt.Errorf("--color is %q, must be one of %s", color, strings.Join(Choices, ", "))
	}
	w := &Writer{out: out, colors: color == Always}
	file, is := out.(*os.File)
	if !is || !term.IsTerminal(int(file.Fd())) {
		return w, nil
	}
	if color == Auto {
		w.colors = lookup("NO_COLOR") == "" && lookup("TERM") != "dumb"
	}
	w.ascii = !utf8(lookup)
	if width, _, err := term.GetSize(int(file.Fd())); err == nil {
		w.width = width
	}
	return w, nil
}

// Plain returns a Writer to out, which isn't a terminal, without colors.
func Plain(out io.Writer) *Writer { return &Writer{out: out} }

// Columns returns the number of columns of the terminal, or 0 if the output is none or that is unknown.
func (w *Writer) Columns() int { return w.width }

// utf8 reports whether the locale has UTF-8: by the first of the variables that is set, as in POSIX.
func utf8(lookup func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(lookup(name)); locale != "" {
			return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
		}
	}
	return true // nobody has said otherwise
}

// Write implements io.Writer.
func (w *Writer) Write(text []byte) (int, error) { return w.text.Write(text) }

// Flush writes what was written so far.
func (w *Writer) Flush() error {
	text := w.text.Bytes()
	if w.colors {
		text = colored(text)
	}
	if w.ascii {
		text = []byte(strings.Map(undotted, plain.Replace(string(text))))
	}
	_, err := w.out.Write(text)
	w.text.Reset()
	return err
}

// Report writes a report: one of the format text as it is read on the terminal, others as they are.
func (w *Writer) Report(format string, write func(io.Writer) error) error {
	if format != "text" {
		return write(w.out)
	}
	return errors.Join(write(w), w.Flush())
}

// Control sequences of ECMA-48.
const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	normal = "\x1b[0m"
)

// words find the words of verdicts, which alone have a color, by where reports have them: at the begin of a line or the end of a title, before a colon, and
// as a cell of a table, which two spaces or the end of the line follow.
var words = []struct {
	color string
	at    *regexp.Regexp
}{
	{red, regexp.MustCompile(`(?m)^(?:Benchmark .*: |Thresholds: )?(NOT VALID|FAILED|MISSED|ERROR)\b`)},
	{green, regexp.MustCompile(`(?m)^(?:Benchmark .*: )?(VALID|PASSED)\b`)},
	{yellow, regexp.MustCompile(`(?m)^(?:Benchmark .*: |[a-z0-9.-]+(?:, round \d+)? is )?(INCONCLUSIVE)\b`)},
	{red, regexp.MustCompile(`(?m)^  (Contradicted:|Invalidates\b)`)},
	{green, regexp.MustCompile(`(?m)^  (Confirmed):`)},
	{yellow, regexp.MustCompile(`(?m)^  (Undecided:|Warns\b)`)},
	{red, regexp.MustCompile(`(?m)  +(Contradicted|MISSED)(?:  |$)`)},
	{green, regexp.MustCompile(`(?m)  +(Confirmed|met)(?:  |$)`)},
	{yellow, regexp.MustCompile(`(?m)  +(Undecided)(?:  |$)`)},
	// What watch prints at the end.
	{red, regexp.MustCompile(`(?m)^Thresholds (MISSED):`)},
	{green, regexp.MustCompile(`(?m)^(?:Thresholds )?(met|Valid):`)},
	{red, regexp.MustCompile(`(?m)^[a-z0-9.-]+(?:, round \d+)? (FAILED|failed|ended with an error):`)},
	{green, regexp.MustCompile(`(?m)^[a-z0-9.-]+(?:, round \d+)? (passed):`)},
	{red, regexp.MustCompile(`(?m)^  \S+: (contradicted)\b`)},
	{green, regexp.MustCompile(`(?m)^  \S+: (confirmed)\b`)},
	{yellow, regexp.MustCompile(`(?m)^  \S+: (undecided)\b`)},
}

func colored(text []byte) []byte {
	for _, w := range words {
		var out []byte
		last := 0
		for _, at := range w.at.FindAllSubmatchIndex(text, -1) {
			out = append(out, text[last:at[2]]...)
			out = append(out, w.color...)
			out = append(out, text[at[2]:at[3]]...)
			out = append(out, normal...)
			last = at[3]
		}
		text = append(out, text[last:]...)
	}
	return text
}

// plain replaces the characters of reports that aren't ASCII by ones that are as wide. Those of texts of users stay.
var plain = strings.NewReplacer(
	"├", "|", "┤", "|", "─", "-", "●", "*", "○", "o", "←", "<", "→", ">", "−", "-", "×", "x", "±", "~", "…", "~", "µ", "u", "\u202f", " ",
	"│", "|", "└", "+",
	"▁", "_", "▂", ".", "▃", "-", "▄", "=", "▅", "+", "▆", "*", "▇", "#", "█", "#",
)

// undotted replaces the braille patterns of a plot.
func undotted(c rune) rune {
	if c > 0x2800 && c <= 0x28ff { // a plot has spaces in place of the empty one
		return '*'
	}
	return c
}

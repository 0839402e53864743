package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// check is a measured figure with its bound.
type check struct {
	section, about, measured, bound string
	met                             bool
}

func (c check) line() string {
	word := "ok"
	if !c.met {
		word = "MISSED"
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", c.section, c.about, c.measured, c.bound, word)
}

// check records a figure and prints it.
func (s *stage) check(about, measured, bound string, met bool) {
	c := check{s.name, about, measured, bound, met}
	s.checks = append(s.checks, c)
	fmt.Println("  " + strings.ReplaceAll(c.line(), "\t", " | "))
}

// note prints a figure that has no bound.
func (s *stage) note(format string, args ...any) {
	fmt.Printf("  "+format+"\n", args...)
}

// table returns all checks.
func table(checks []check) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	rows, missed := "section\t\tmeasured\tbound\t\n", 0
	for _, c := range checks {
		rows += c.line() + "\n"
		if !c.met {
			missed++
		}
	}
	// A strings.Builder fails no write.
	_, _ = fmt.Fprint(w, rows)
	_ = w.Flush()
	_, _ = fmt.Fprintf(&text, "\n%d bounds, %d missed, ", len(checks), missed)
	return text.String()
}

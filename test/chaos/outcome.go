package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// outcome describes a fault and its effects.
type outcome struct {
	Number int    `json:"number"`
	Kind   string `json:"kind"`
	Fault  string `json:"fault"`
	// State is the run's state when the fault struck.
	State string `json:"state"`
	// Reason and Message are those of the run's end, or empty if it did not end. Deleted stands for a
	// run that was deleted.
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Requests is the count of the result, Served that of the server, or -1 if unknown.
	Requests int64 `json:"requests"`
	Served   int64 `json:"served"`
	// Seconds is the time from the creation of the run to its end, Total that with all checks.
	Seconds float64 `json:"seconds"`
	Total   float64 `json:"totalSeconds"`
	// Problems lists violated promises. Unmade says why the fault could not be made.
	Problems []string `json:"problems"`
	Unmade   string   `json:"unmade,omitempty"`

	mu sync.Mutex // guards Problems, to which late appends
}

// The names of problems, which come first in their texts.
const (
	hung         = "hung"
	wrongReason  = "wrong reason"
	wrongMessage = "wrong message"
	wrongCount   = "wrong count"
	lostResult   = "lost"
	leftOver     = "left over"
	nextFailed   = "next run failed"
)

func (o *outcome) problem(name, format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.Problems = append(o.Problems, name+": "+fmt.Sprintf(format, args...))
}

// late is like problem, for one that is found after the outcome was printed.
func (o *outcome) late(name, format string, args ...any) {
	o.problem(name, format, args...)
	fmt.Printf("%3d %-26s PROBLEM %s: %s\n", o.Number, o.Kind, name, fmt.Sprintf(format, args...))
}

func (o *outcome) line() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	text := fmt.Sprintf("%3d %-26s %s, in %s: %s after %.0fs (%.0fs in total)", o.Number, o.Kind, o.Fault, o.State, o.result(), o.Seconds, o.Total)
	for _, p := range o.Problems {
		text += "\n      PROBLEM " + p
	}
	if len(o.Problems) > 0 {
		text += "\n      message: " + o.Message
	}
	if o.Unmade != "" {
		text += "\n      NOT MADE: " + o.Unmade
	}
	return text
}

func (o *outcome) result() string {
	if o.Reason == "" {
		return "no end"
	}
	return o.Reason
}

// table returns the number of faults by kind and outcome.
func table(outcomes []*outcome) string {
	counts := map[string]map[string]int{}
	var columns []string
	add := func(kind, column string) {
		if counts[kind] == nil {
			counts[kind] = map[string]int{}
		}
		counts[kind][column]++
		if !slices.Contains(columns, column) {
			columns = append(columns, column)
		}
	}
	problems := 0
	var longest time.Duration
	for _, o := range outcomes {
		add(o.Kind, o.result())
		for _, p := range o.Problems {
			name, _, _ := strings.Cut(p, ":")
			add(o.Kind, strings.ToUpper(name))
			problems++
		}
		if o.Unmade != "" {
			add(o.Kind, "NOT MADE")
		}
		longest = max(longest, time.Duration(o.Seconds*float64(time.Second)))
	}
	slices.Sort(columns)
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	rows := "\nfault\t" + strings.Join(columns, "\t") + "\n"
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		rows += kind
		for _, column := range columns {
			cell := "."
			if n := counts[kind][column]; n > 0 {
				cell = fmt.Sprint(n)
			}
			rows += "\t" + cell
		}
		rows += "\n"
	}
	// A strings.Builder fails no write.
	_, _ = fmt.Fprint(w, rows)
	_ = w.Flush()
	_, _ = fmt.Fprintf(&text, "\n%d faults, %d problems; the longest run took %.0fs\n", len(outcomes), problems, longest.Seconds())
	return text.String()
}

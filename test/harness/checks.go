package harness

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Checks holds measured values with their bounds, in the order in which they were measured. The zero value is ready.
type Checks struct {
	rows [][]string
	// Missed is the number of bounds that were missed.
	Missed int
}

// Add records a value with its bound and prints it.
func (c *Checks) Add(about, measured, bound string, met bool) {
	word := "ok"
	if !met {
		word = "MISSED"
		c.Missed++
	}
	row := []string{about, measured, bound, word}
	c.rows = append(c.rows, row)
	fmt.Println("  " + strings.Join(row, " | "))
}

// AtMost records a value that must not exceed a bound.
func AtMost[N int | int64 | float64 | time.Duration](c *Checks, about string, measured, bound N, format func(N) string) {
	c.Add(about, format(measured), "≤ "+format(bound), measured <= bound)
}

// Value records a value without a bound.
func (c *Checks) Value(about, measured string) {
	c.rows = append(c.rows, []string{about, measured, "", ""})
}

// Note prints what belongs to no value.
func (c *Checks) Note(format string, args ...any) { fmt.Printf("  "+format+"\n", args...) }

// Err returns ErrMissed if a bound was missed.
func (c *Checks) Err() error {
	if c.Missed > 0 {
		return fmt.Errorf("%d of %d: %w", c.Missed, len(c.rows), ErrMissed)
	}
	return nil
}

// Table returns all values as a table in Markdown.
func (c *Checks) Table() string {
	return Table([]string{"", "measured", "bound", ""}, c.rows)
}

// Table returns rows as a table in Markdown whose columns are aligned in a terminal, too.
func Table(head []string, rows [][]string) string {
	rule := make([]string, len(head))
	for i := range rule {
		rule[i] = "---"
	}
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 1, ' ', 0)
	for _, row := range slices.Concat([][]string{head, rule}, rows) {
		_, _ = fmt.Fprintf(w, "| %s\t|\n", strings.Join(row, "\t| ")) // a Builder returns no error
	}
	_ = w.Flush()
	return text.String()
}

// Machine describes this machine: date, CPUs, and the load average before and now.
func Machine(before string) string {
	return fmt.Sprintf("%s, %d CPUs, load average %s before and %s after", time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), before, LoadAverage())
}

// LoadAverage returns the load averages over 1, 5 and 15 minutes.
func LoadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}

// Median returns the median of values, the mean of the two in the middle if their number is even. There must be one.
func Median[N int64 | float64 | time.Duration](values []N) N {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

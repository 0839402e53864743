package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// outcomes counts the attempts of an attack by their outcome.
type outcomes map[string]int

func (o outcomes) total() int {
	n := 0
	for _, count := range o {
		n += count
	}
	return n
}

// table has the outcomes of each attack, and the memory of the manager in bytes.
type table struct {
	attacks      map[string]outcomes
	before, peak int64
}

// String returns the table in Markdown.
func (t *table) String() string {
	var b, rows strings.Builder
	rows.WriteString("| attack\t| attempts\t| outcome\t|\n| ---\t| ---\t| ---\t|\n")
	for _, a := range attacks {
		o := t.attacks[a.name]
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(o)) {
			parts = append(parts, fmt.Sprintf("%s: %d", name, o[name]))
		}
		fmt.Fprintf(&rows, "| %s\t| %d\t| %s\t|\n", a.name, o.total(), strings.Join(parts, "; "))
	}
	w := tabwriter.NewWriter(&b, 0, 0, 1, ' ', 0)
	_, _ = w.Write([]byte(rows.String())) // a Builder returns no error
	_ = w.Flush()
	if t.before > 0 {
		fmt.Fprintf(&b, "\nResident memory of the manager: %d MiB before, %d MiB at most.\n", t.before>>20, t.peak>>20)
	}
	return b.String()
}

// resident returns the resident memory of a process in bytes, or 0 if it is unknown.
func resident(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmRSS:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}

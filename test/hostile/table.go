package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/assay-dev/assay/test/harness"
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
	var rows [][]string
	for _, a := range attacks {
		o := t.attacks[a.name]
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(o)) {
			parts = append(parts, fmt.Sprintf("%s: %d", name, o[name]))
		}
		rows = append(rows, []string{a.name, strconv.Itoa(o.total()), strings.Join(parts, "; ")})
	}
	text := harness.Table([]string{"attack", "attempts", "outcome"}, rows)
	if t.before > 0 {
		text += fmt.Sprintf("\nResident memory of the manager: %d MiB before, %d MiB at most.\n", t.before>>20, t.peak>>20)
	}
	return text
}

// resident returns the resident memory of a process in bytes, or 0 if it is unknown.
func resident(pid int) int64 {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return 0
	}
	status, err := process.NewStatus()
	if err != nil {
		return 0
	}
	return int64(status.VmRSS)
}

package round

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
)

// Conditions returns the conditions under which the runs were made, and their order.
func (r *Report) Conditions() []doc.Fact {
	var items []doc.Fact
	item := func(name, value string) {
		if value != "" {
			items = append(items, doc.Fact{Name: name, Value: value})
		}
	}
	item("Trigger", string(r.Trigger))
	item("Began", moment(r.Started))
	if !r.Ended.IsZero() {
		item("Ended", moment(r.Ended)+", after "+r.Ended.Sub(r.Started).Round(time.Second).String())
	}
	item("Runs", r.counts())
	order := map[bool]string{false: "randomized complete blocks", true: "blocks of runs that alternate, in random order"}[blocks.Alternates(&r.Spec)]
	item("Order", fmt.Sprintf("%s, seed %d", order, r.Seed))
	item("Spec", r.Hash)
	for _, c := range []struct {
		name string
		of   func(*benchmark.Conditions) string
	}{
		{"Node type", func(c *benchmark.Conditions) string { return c.NodeType }},
		{"Kernel", func(c *benchmark.Conditions) string { return c.Kernel }},
		{"CPU exclusivity", func(c *benchmark.Conditions) string { return c.CPUExclusivity }},
		{"Placement", func(c *benchmark.Conditions) string { return c.Placement }},
		{"Image", func(c *benchmark.Conditions) string { return c.Image }},
	} {
		item(c.name, strings.Join(distinct(r.Runs, c.of), "; "))
	}
	if len(r.Omitted) > 0 {
		names := make([]string, len(r.Omitted))
		for i, m := range r.Omitted {
			names[i] = string(m)
		}
		item("Not stored", "metrics of single runs for "+strings.Join(names, ", ")+": the artifact had no room")
	}
	if r.LevelsOmitted {
		item("Not stored", "metrics of levels: the artifact had no room")
	}
	return items
}

// counts says how many runs the round made.
func (r *Report) counts() string {
	trials, invalid := 0, 0
	for i := range r.Runs {
		if r.Runs[i].Trial {
			trials++
		}
		if !r.Runs[i].Valid {
			invalid++
		}
	}
	if len(r.Runs) == 0 {
		return ""
	}
	text := fmt.Sprintf("%d in %s of %s", len(r.Runs)-trials, number.Plural(r.Blocks, "whole block"), number.Plural(len(r.Cells), "cell"))
	if trials > 0 {
		text += ", " + number.Plural(trials, "trial")
	}
	text += fmt.Sprintf(", %d invalid", invalid)
	if r.ForeignRuns > 0 {
		text += fmt.Sprintf(", %s of others in between", number.Plural(r.ForeignRuns, "run"))
	}
	return text
}

// distinct returns the values of a condition in valid runs, with the number of runs if there are several.
func distinct(runs []benchmark.Run, of func(*benchmark.Conditions) string) []string {
	count := map[string]int{}
	var values []string
	for i := range runs {
		if !runs[i].Valid {
			continue
		}
		value := of(&runs[i].Conditions)
		if count[value]++; count[value] == 1 {
			values = append(values, value)
		}
	}
	if len(values) == 1 {
		return []string{cmp.Or(values[0], "not available")}
	}
	for i, v := range values {
		values[i] = fmt.Sprintf("%s (%s)", cmp.Or(v, "not available"), number.Plural(count[v], "run"))
	}
	return values
}

package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/assay-dev/assay/internal/result"
)

// writeNode writes what happened around the target or the client. name is that of the line of its CPUs.
func writeNode(w *paper, name string, u *result.NodeUsage, governor string) {
	var shares []string
	for _, share := range []struct {
		figure int64
		part   string
	}{
		{u.Idle, "idle"}, {u.OtherCPU, "used by others and interrupts"}, {u.Steal, "stolen by the hypervisor"}, {u.IOWait, "waiting for disks"},
	} {
		if percent := u.CPUPercent(share.figure); percent != result.Unknown {
			shares = append(shares, decimals(percent, 1)+"% "+share.part)
		}
	}
	if len(shares) > 0 {
		line(w, name, "%s", strings.Join(shares, ", "))
	}
	if hard, soft := u.CPUPercent(u.HardIRQ), u.CPUPercent(u.SoftIRQ); hard != result.Unknown && soft != result.Unknown {
		line(w, "Interrupts:", "%s%% hardware, %s%% software", decimals(hard, 1), decimals(soft, 1))
	}
	if governor != "" {
		line(w, "Frequency governor:", "%s", governor)
	}
	writeKnown(w, result.NodeFigures, u, true, "")
	if missing := u.Missing(); len(missing) > 0 {
		line(w, "Not available:", "%s", strings.Join(missing, ", "))
	}
}

// clientNodeColumns are the columns of the table of what happened around the clients.
var clientNodeColumns = []struct {
	heading string
	of      func(*result.NodeUsage) (value float64, decimals int)
}{
	{"others %", func(u *result.NodeUsage) (float64, int) { return u.CPUPercent(u.OtherCPU), 1 }},
	{"idle %", func(u *result.NodeUsage) (float64, int) { return u.CPUPercent(u.Idle), 1 }},
	{"steal %", func(u *result.NodeUsage) (float64, int) { return u.CPUPercent(u.Steal), 1 }},
	{"soft IRQ %", func(u *result.NodeUsage) (float64, int) { return u.CPUPercent(u.SoftIRQ), 1 }},
	{"run queue", func(u *result.NodeUsage) (float64, int) { return float64(u.RunQueue), 0 }},
	{"retransmitted", func(u *result.NodeUsage) (float64, int) { return float64(u.SegmentsRetransmitted), 0 }},
}

// writeClientNodes writes what happened around each client, if that is known of any.
func writeClientNodes(w *paper, r *result.Result) {
	if !slices.ContainsFunc(r.Clients, func(c result.Client) bool { return c.NodeUsage != nil }) {
		return
	}
	section(w, "Around the clients")
	w.printf("CPU times are in percent of those of each client's CPUs.\n\n")
	columns := []any{Words(""), Words("node")}
	for _, c := range clientNodeColumns {
		columns = append(columns, c.heading)
	}
	t := NewTable(columns...)
	for i := range r.Clients {
		c := &r.Clients[i]
		row := table.Row{"client " + strconv.Itoa(c.Index), cmp.Or(c.Node, "unknown")}
		for _, column := range clientNodeColumns {
			text := "-"
			if c.NodeUsage != nil {
				if value, digits := column.of(c.NodeUsage); value != result.Unknown {
					text = decimals(value, digits)
				}
			}
			row = append(row, text)
		}
		t.AppendRow(row)
	}
	w.table(t)
}

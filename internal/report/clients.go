package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/steady"
)

// clients returns what each client used, and how close together they started; without a cluster, what a load generator
// costs.
func clients(r *result.Result) doc.Section {
	if r.Run.Standalone {
		s := doc.Section{ID: "clients", Title: "Client", Question: "Was it the client?"}
		for i := range r.Clients {
			s.Add(ownUsage(r, &r.Clients[i]))
		}
		return s
	}
	limit := r.Environment.ClientCPULimit
	fields := append(clientFields(), doc.Number("CPU %", func(c *result.Client) string { return decimals(c.CPUPercentOf(limit), 1) }))
	for i := range result.ClientMetrics {
		if f := &result.ClientMetrics[i]; f.Column != "" {
			fields = append(fields, doc.Number(f.Column+" "+units[f.Unit].name, func(c *result.Client) string { return valueOf(f, &c.Usage, "-", false) }))
		}
	}
	fields = append(fields,
		doc.Number("start skew ms", func(c *result.Client) string { return msText(c.StartSkewMicroseconds, true) }),
		doc.Number("clock error ms", func(c *result.Client) string { return msText(c.ClockErrorMicroseconds, true) }))
	var f facts
	f.add("Start skew", "%s ms between clients", msText(r.StartSkewMicroseconds(), true))
	addWarmup(&f, r.Warmup)
	return doc.Section{ID: "clients", Title: "Clients", Question: "Was it the client?", Blocks: []doc.Block{
		doc.Paragraph{fmt.Sprintf("CPU is in percent of each client's limit of %s.", CPUCount(limit))}, doc.TableOf("Clients", r.Clients, fields...), f.block(),
	}}
}

// clientFields are the columns that name a client.
func clientFields() []doc.Field[result.Client] {
	return []doc.Field[result.Client]{
		doc.Word("", func(c *result.Client) string { return "client " + strconv.Itoa(c.Index) }),
		doc.Word("node", func(c *result.Client) string { return cmp.Or(c.Node, "unknown") }),
	}
}

// addWarmup adds what was sent before the measurement and, if the warm-up was
// to last until the target is steady, whether it became so and by which metrics.
func addWarmup(f *facts, warmup *result.Warmup) {
	if warmup == nil {
		f.add("Warm-up", "none")
		return
	}
	f.add("Warm-up", "%d requests, %d failed, %d bytes in %s, not in the result",
		warmup.Requests, warmup.Errors.Total(), warmup.BytesReceived, secondsText(warmup.DurationMicroseconds))
	if warmup.Steady == nil {
		return
	}
	reached := "NO"
	if warmup.Steady.Reached {
		reached = "yes"
	}
	f.add("Steady after it", "%s; %s", reached, steady.Describe(warmup.Steady))
}

// ownUsage returns what a client without a cluster used.
func ownUsage(r *result.Result, c *result.Client) doc.Facts {
	limit, usage := r.Environment.ClientCPULimit, c.Usage
	var f facts
	if c.DurationMicroseconds() >= 1_000_000 {
		f.add("CPU", "%.1f%% of %s", c.CPUPercentOf(limit), CPUCount(limit))
	} else {
		f.add("CPU", "too short to measure, of %s", CPUCount(limit))
	}
	f.add("CPU time", "%s user, %s system, in %s", secondsText(usage.UserCPU), secondsText(usage.SystemCPU), secondsText(c.DurationMicroseconds()))
	if c.Requests > 0 {
		f.add("CPU per request", "%.1f µs", float64(usage.CPU())/float64(c.Requests))
	}
	addMetrics(&f, result.ClientMetrics, &usage, true, "unknown")
	addWarmup(&f, r.Warmup)
	f.addTexts(doc.Fact{Name: "Measured at", Value: measuredAt(r.Run.MeasurementTime)}, doc.Fact{Name: "Machine", Value: strings.Trim(c.Node+", "+machineText(r.Environment.Machine), ", ")}, doc.Fact{Name: "Assay", Value: r.Environment.Assay})
	return f.block()
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

// aroundClients returns what happened around each client, if that is known of any.
func aroundClients(r *result.Result) doc.Section {
	if r.Run.Standalone {
		s := doc.Section{ID: "around-clients", Title: "Around the client", Question: "Who else used its CPUs?"}
		for i := range r.Clients {
			if around := r.Clients[i].NodeUsage; around != nil {
				s.Add(aroundPod("The client's CPUs", around, ""))
			}
		}
		return s
	}
	if !slices.ContainsFunc(r.Clients, func(c result.Client) bool { return c.NodeUsage != nil }) {
		return doc.Section{}
	}
	fields := clientFields()
	for _, column := range clientNodeColumns {
		fields = append(fields, doc.Number(column.heading, func(c *result.Client) string {
			if c.NodeUsage != nil {
				if value, digits := column.of(c.NodeUsage); value != result.Unknown {
					return decimals(value, digits)
				}
			}
			return "-"
		}))
	}
	return doc.Section{ID: "around-clients", Title: "Around the clients", Question: "Who else used their CPUs?", Blocks: []doc.Block{
		doc.Paragraph{"CPU times are in percent of those of each client's CPUs."}, doc.TableOf("Around the clients", r.Clients, fields...),
	}}
}

package report

import (
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
)

// RowCost is CPU time per completed request in microseconds, of all containers of the target and of all clients. If both
// are higher than in another run, the machine was slower.
type RowCost struct {
	// Target is nil if the usage of a container is unknown.
	Target  *float64 `json:"targetMicroseconds,omitempty"`
	Clients *float64 `json:"clientsMicroseconds,omitempty"`
}

func costOf(r *result.Result) *RowCost {
	of := func(metric string) *float64 {
		if value, exists := result.Metrics[metric](r); exists {
			return &value
		}
		return nil
	}
	return &RowCost{Target: of("TargetCPUPerRequest"), Clients: of("ClientCPUPerRequest")}
}

// costText returns a value of a RowCost with its unit, or unknown if it is.
func costText(microseconds *float64, unit, unknown string) string {
	if microseconds == nil {
		return unknown
	}
	return decimals(*microseconds, 1) + unit
}

// cost returns the CPU time per request next to the throughput.
func cost(r *result.Result) doc.Facts {
	c := costOf(r)
	var f facts
	f.add("CPU per request", "target %s, clients %s", costText(c.Target, " µs", "unknown"), costText(c.Clients, " µs", "unknown"))
	return f.block()
}

// costCell returns the CPU time per request of the target and of the clients.
func costCell(c *RowCost) string {
	if c == nil || c.Target == nil && c.Clients == nil {
		return "-"
	}
	return costText(c.Target, "", "-") + "/" + costText(c.Clients, "", "-")
}

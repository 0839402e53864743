package validity

import (
	"math"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/statistics"
)

// machineShare of a change of the throughput, on a logarithmic scale, is at least explained by a machine to
// which it is put down.
const machineShare = 0.5

// machineChange returns by how many percent the CPU time per request of the target and of the clients changed from the
// first third of the windows to the last, and whether the machine changed rather than the target: then each explains
// machineShare of a change of the throughput by ratio. ratio is 0 where the clients decide the throughput.
func machineChange(windows [][]result.Second, ratio float64) (target, clients float64, machine bool) {
	var targets, others []float64
	for _, w := range windows {
		var requests, target, clients int64
		for i := range w {
			s := &w[i]
			spent, known := targetCPU(s)
			if !known {
				return 0, 0, false
			}
			requests, target, clients = requests+s.Requests, target+spent, clients+s.ClientCPU
		}
		if requests == 0 {
			return 0, 0, false
		}
		targets, others = append(targets, float64(target)/float64(requests)), append(others, float64(clients)/float64(requests))
	}
	explains := true
	change := func(values []float64) float64 {
		first, last := thirds(values)
		if first <= 0 || last <= 0 {
			explains = false
			return 0
		}
		if ratio > 0 && -math.Log(last/first)/math.Log(ratio) < machineShare {
			explains = false
		}
		return statistics.Percent(last / first)
	}
	target, clients = change(targets), change(others)
	return target, clients, explains && statistics.MachineDiffers(target, clients)
}

// targetCPU returns the CPU time of all containers of the target in some seconds, in microseconds.
func targetCPU(s *result.Second) (spent int64, known bool) {
	if s.ServerCPU < 0 {
		return 0, false
	}
	spent = s.ServerCPU
	for _, backend := range s.BackendCPU {
		if backend < 0 {
			return 0, false
		}
		spent += backend
	}
	return spent, true
}

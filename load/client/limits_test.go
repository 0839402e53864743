package client

import (
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// limits are what the Go runtime keeps to.
type limits struct {
	cpus   int
	memory int64
	growth int // percent, of the heap
}

func current() limits {
	growth := debug.SetGCPercent(100)
	debug.SetGCPercent(growth)
	return limits{runtime.GOMAXPROCS(0), debug.SetMemoryLimit(-1), growth}
}

func (l limits) set() {
	runtime.GOMAXPROCS(l.cpus)
	debug.SetMemoryLimit(l.memory)
	debug.SetGCPercent(l.growth)
}

func TestKeepWithinLimits(t *testing.T) {
	all := runtime.NumCPU()
	before := limits{all, math.MaxInt64, 100}
	tests := map[string]struct {
		environment map[string]string
		want        limits
	}{
		"no limits":           {nil, limits{all, math.MaxInt64, heapGrowth}},
		"a CPU":               {map[string]string{CPULimitVariable: "1000"}, limits{1, math.MaxInt64, heapGrowth}},
		"a part of one":       {map[string]string{CPULimitVariable: "100"}, limits{1, math.MaxInt64, heapGrowth}},
		"a part of another":   {map[string]string{CPULimitVariable: "1001"}, limits{min(2, all), math.MaxInt64, heapGrowth}},
		"more than there are": {map[string]string{CPULimitVariable: "1000000"}, limits{all, math.MaxInt64, heapGrowth}},
		"memory":              {map[string]string{MemoryLimitVariable: "100000000"}, limits{all, 90_000_000, heapGrowth}},
		"what Go's own variables set": {
			map[string]string{CPULimitVariable: "1000", MemoryLimitVariable: "100000000", "GOMAXPROCS": "x", "GOMEMLIMIT": "x", "GOGC": "x"}, before,
		},
	}
	saved := current()
	defer saved.set()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before.set()
			for _, variable := range []string{CPULimitVariable, MemoryLimitVariable, "GOMAXPROCS", "GOMEMLIMIT", "GOGC"} {
				t.Setenv(variable, test.environment[variable])
			}
			if err := KeepWithinLimits(); err != nil {
				t.Fatal(err)
			}
			if got := current(); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
	for _, variable := range []string{CPULimitVariable, MemoryLimitVariable} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, "1Gi")
			if err := KeepWithinLimits(); err == nil || !strings.Contains(err.Error(), variable) {
				t.Errorf("error %v", err)
			}
		})
	}
}

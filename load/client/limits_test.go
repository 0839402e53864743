package client

import (
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/session"
)

// limits are what the Go runtime keeps to.
type limits struct {
	cpus   int
	memory int64
}

func current() limits {
	return limits{runtime.GOMAXPROCS(0), debug.SetMemoryLimit(-1)}
}

func (l limits) set() {
	runtime.GOMAXPROCS(l.cpus)
	debug.SetMemoryLimit(l.memory)
}

func TestGarbageIsCollectedEarly(t *testing.T) {
	const goes = 100 // percent, Go's own choice
	defer debug.SetGCPercent(debug.SetGCPercent(goes))
	for name, test := range map[string]struct {
		plan        session.Plan
		environment string
		want        int
	}{
		"kept connections":          {session.Plan{KeepAlive: true}, "", heapGrowth},
		"with TLS":                  {session.Plan{KeepAlive: true, TLS: &session.TLS{}}, "", heapGrowth},
		"connections for each":      {session.Plan{}, "", heapGrowth},
		"with TLS, each":            {session.Plan{TLS: &session.TLS{}}, "", goes},
		"what the environment says": {session.Plan{KeepAlive: true}, "100", goes},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOGC", test.environment)
			debug.SetGCPercent(goes)
			collectEarly(&test.plan)
			if got := debug.SetGCPercent(goes); got != test.want {
				t.Errorf("%d %%, want %d", got, test.want)
			}
		})
	}
}

func TestKeepWithinLimits(t *testing.T) {
	all := runtime.NumCPU()
	before := limits{all, math.MaxInt64}
	tests := map[string]struct {
		environment map[string]string
		want        limits
	}{
		"no limits":           {nil, limits{all, math.MaxInt64}},
		"a CPU":               {map[string]string{CPULimitVariable: "1000"}, limits{1, math.MaxInt64}},
		"a part of one":       {map[string]string{CPULimitVariable: "100"}, limits{1, math.MaxInt64}},
		"a part of another":   {map[string]string{CPULimitVariable: "1001"}, limits{min(2, all), math.MaxInt64}},
		"more than there are": {map[string]string{CPULimitVariable: "1000000"}, limits{all, math.MaxInt64}},
		"memory":              {map[string]string{MemoryLimitVariable: "100000000"}, limits{all, 90_000_000}},
		"what Go's own variables set": {
			map[string]string{CPULimitVariable: "1000", MemoryLimitVariable: "100000000", "GOMAXPROCS": "x", "GOMEMLIMIT": "x"}, before,
		},
	}
	saved := current()
	defer saved.set()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before.set()
			for _, variable := range []string{CPULimitVariable, MemoryLimitVariable, "GOMAXPROCS", "GOMEMLIMIT"} {
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

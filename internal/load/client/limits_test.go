package client

import (
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/session"
)

// limits holds the limits of the Go runtime.
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

func TestSetGCPercent(t *testing.T) {
	const defaultPercent = 100
	defer debug.SetGCPercent(debug.SetGCPercent(defaultPercent))
	for name, test := range map[string]struct {
		plan        session.Plan
		environment string
		want        int
	}{
		"keep-alive":                      {session.Plan{KeepAlive: true}, "", gcPercent},
		"keep-alive with TLS":             {session.Plan{KeepAlive: true, TLS: &session.TLS{}}, "", gcPercent},
		"connection per request":          {session.Plan{}, "", gcPercent},
		"connection per request with TLS": {session.Plan{Connections: fewConnections, TLS: &session.TLS{}}, "", handshakeGCPercent},
		"many of them":                    {session.Plan{Connections: fewConnections + 1, TLS: &session.TLS{}}, "", defaultPercent},
		"GOGC set":                        {session.Plan{KeepAlive: true}, "100", defaultPercent},
		"GOGC set, TLS":                   {session.Plan{TLS: &session.TLS{}}, "100", defaultPercent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOGC", test.environment)
			debug.SetGCPercent(defaultPercent)
			setGCPercent(&test.plan)
			if got := debug.SetGCPercent(defaultPercent); got != test.want {
				t.Errorf("got %d%%, want %d%%", got, test.want)
			}
		})
	}
}

func TestApplyLimits(t *testing.T) {
	all := runtime.NumCPU()
	before := limits{all, math.MaxInt64}
	tests := map[string]struct {
		environment map[string]string
		want        limits
	}{
		"no limits":           {nil, limits{all, math.MaxInt64}},
		"one CPU":             {map[string]string{CPULimitVariable: "1000"}, limits{1, math.MaxInt64}},
		"less than one CPU":   {map[string]string{CPULimitVariable: "100"}, limits{1, math.MaxInt64}},
		"more than one CPU":   {map[string]string{CPULimitVariable: "1001"}, limits{min(2, all), math.MaxInt64}},
		"more than available": {map[string]string{CPULimitVariable: "1000000"}, limits{all, math.MaxInt64}},
		"memory":              {map[string]string{MemoryLimitVariable: "100000000"}, limits{all, 90_000_000}},
		"Go's own variables": {
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
			if err := ApplyLimits(); err != nil {
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
			if err := ApplyLimits(); err == nil || !strings.Contains(err.Error(), variable) {
				t.Errorf("error %v", err)
			}
		})
	}
}

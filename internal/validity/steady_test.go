package validity_test

import (
	"math"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// noisy is a server whose CPU 25 connections keep busy, on a machine whose seconds vary by 10%.
func noisy(seconds int64, speed func(at float64) float64) simulation {
	s := of500(0)
	s.connections, s.seconds, s.noise, s.speed = 25, seconds, 0.1, speed
	s.cost = func(float64) float64 { return 0.0004 }
	return s
}

// together returns the simulation on a machine that becomes slower for clients and target alike.
func (s simulation) together() simulation {
	s.cost = func(at float64) float64 { return 0.0004 / s.speed(at) }
	return s
}

// rated is an open load of less than half of what that server can do.
func rated(seconds int64, speed func(at float64) float64) simulation {
	s := noisy(seconds, speed)
	s.connections, s.rate = 0, 200
	return s
}

func TestNotSteady(t *testing.T) {
	compiling := func(by float64) func(float64) float64 {
		return func(at float64) float64 { return 1 - 0.6*math.Exp(-at/by) }
	}
	slower := func(each float64) func(float64) float64 { return func(at float64) float64 { return 1 - at*each } }
	step := func(from, to, speed float64) func(float64) float64 {
		return func(at float64) float64 {
			if at >= from && at < to {
				return speed
			}
			return 1
		}
	}
	const warming, slowing = "set warmup.steady", "Something slowed it down"
	const machineFaster, machineSlower = "not the target but its machine became faster", "not the target but its machine became slower"
	for name, tc := range map[string]struct {
		of      simulation
		metrics []string // nil when nothing is to be found
	}{
		"code still being compiled":   {noisy(30, compiling(10)), []string{"requests/s", warming}},
		"a leak":                      {noisy(60, slower(0.008)), []string{"requests/s", "(-", slowing}},
		"a step":                      {noisy(30, step(15, 30, 0.6)), []string{"it changed from", "after the start", slowing}},
		"a step under open load":      {rated(30, step(15, 30, 0.52)), []string{"a median latency of", "(+", slowing}},
		"getting fast, at a rate":     {rated(30, step(0, 12, 0.52)), []string{"a median latency of", "(-", warming}},
		"a machine getting slower":    {noisy(30, step(15, 30, 0.6)).together(), []string{"requests/s", "(-", "+67% for the clients", machineSlower}},
		"a machine getting faster":    {noisy(30, step(0, 12, 0.6)).together(), []string{"requests/s", "(+", "-40% for the clients", machineFaster}},
		"a slow machine, at a rate":   {rated(30, step(15, 30, 0.52)).together(), []string{"a median latency of", "(+", machineSlower}},
		"noise":                       {noisy(30, nil), nil},
		"noise, at a rate":            {rated(30, nil), nil},
		"compiled in two seconds":     {noisy(30, compiling(1)), nil},
		"a stall of three seconds":    {noisy(30, step(12, 15, 0.2)), nil},
		"10% slower at last":          {noisy(30, slower(0.0033)), nil},
		"19 seconds":                  {noisy(19, compiling(10)), nil},
		"10% slower at last, at rate": {rated(30, slower(0.0033)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := find(tc.of.run(), "NotSteady", validity.Declared{})
			checkSeconds(t, got)
			if (got.Severity == result.Warns) != (tc.metrics != nil) {
				t.Errorf("found %s %q", got.Severity, got.Message)
			}
			for _, text := range tc.metrics {
				if !strings.Contains(got.Message, text) {
					t.Errorf("%q lacks %q", got.Message, text)
				}
			}
		})
	}
	t.Run("a ramp", func(t *testing.T) {
		ramp := noisy(40, step(0, 15, 0.5)).run()
		if got := find(ramp, "NotSteady", validity.Declared{RampMicroseconds: 15 * second}); got.Reason != "" {
			t.Errorf("found %q", got.Message)
		}
		if got := find(ramp, "NotSteady", validity.Declared{}); got.Reason == "" {
			t.Error("nothing found without a ramp")
		}
	})
	t.Run("a load that changes by itself", func(t *testing.T) {
		for _, change := range []func(*result.Result){
			func(r *result.Result) { r.Levels = []result.Level{{TargetConnections: 25, End: 30}} },
			func(r *result.Result) { r.Run.Load = result.LoadScript },
		} {
			r := noisy(30, step(15, 30, 0.6)).run()
			change(r)
			if got := find(r, "NotSteady", validity.Declared{}); got.Reason != "" {
				t.Errorf("found %q", got.Message)
			}
		}
	})
}

// TestCleanRuns has 30 runs of five kinds on a machine whose seconds vary by 10%, in which nothing is wrong.
func TestCleanRuns(t *testing.T) {
	warnings := 0
	for seed := range uint64(6) {
		for name, s := range map[string]simulation{
			"closed":              noisy(30, nil),
			"closed for a minute": noisy(60, nil),
			"closed, think times": {seconds: 60, connections: 50, think: 0.2, threads: 5, work: 0.01, cpu: 0.002, noise: 0.1},
			"at 40% of its speed": rated(60, nil),
			"random at 80%":       {seconds: 30, rate: 400, poisson: true, threads: 5, work: 0.01, cpu: 0.002, noise: 0.1},
		} {
			s.seed, s.memory = seed, 0.3
			for _, f := range validity.Judge(s.run(), validity.Declared{}) {
				t.Logf("%s, seed %d: %s %s: %s", name, seed, f.Severity, f.Reason, f.Message)
				if warnings++; f.Severity == result.Invalidates {
					t.Errorf("a clean run is invalid")
				}
			}
		}
	}
	if warnings > 1 {
		t.Errorf("%d warnings in 30 clean runs", warnings)
	}
}

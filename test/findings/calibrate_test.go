package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/statistics"
)

func TestCalibrations(t *testing.T) {
	for i := range calibrations {
		c := &calibrations[i]
		if c.percents[0] != 0 || c.blocks < statistics.MinBlocks(calibrationAlpha) {
			t.Errorf("%s: levels %v, %d blocks", c.name, c.percents, c.blocks)
		}
		for _, metric := range c.metrics {
			if result.Metrics[metric] == nil {
				t.Errorf("%s: %s is no metric", c.name, metric)
			}
		}
		// A run takes about 13 s, of which 5 are not the measurement's.
		if length := time.Duration(c.blocks*len(c.percents)) * (calibratedSeconds + 5) * time.Second; length > 8*time.Minute {
			t.Errorf("%s takes %s", c.name, length)
		}
	}
}

// A target that loses exactly what something else has.
func TestSummarize(t *testing.T) {
	c := &calibration{percents: []int{0, 10}, metrics: []string{"RequestsPerSecond"}}
	var blocks [][]calibratedRun
	for i := range 6 {
		rate := 1000 + 10*float64(i)
		run := func(had float64, finding result.Severity) calibratedRun {
			return calibratedRun{had: had, others: had + 1, waited: 0.5, figures: map[string]float64{"RequestsPerSecond": rate * (1 - had/100)}, finding: finding}
		}
		blocks = append(blocks, []calibratedRun{run(0, ""), run(10, result.Warns)})
	}
	got, err := c.summarize(blocks)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"0%: it had 0.0%; others had 1.0% (1.0% to 1.0%) of the target's CPUs; waits for memory 0.50% (0.50% to 0.50%); NodeBusy warns in 0 and invalidates 0 of 6; RequestsPerSecond 1025 (1000 to 1050)",
		"10%: it had 10.0%; others had 11.0% (11.0% to 11.0%) of the target's CPUs; waits for memory 0.50% (0.50% to 0.50%); NodeBusy warns in 6 and invalidates 0 of 6; RequestsPerSecond -10.0% (-10.0% to -10.0%)",
	}, got); diff != "" {
		t.Error(diff)
	}
}

// The first two machines are alike, the third needs a tenth more CPU time for everything.
func TestMachineNotes(t *testing.T) {
	c := &calibration{percents: []int{0, 25}}
	run := func(target, client float64) calibratedRun {
		return calibratedRun{figures: map[string]float64{metricTargetCPU: target, metricClientCPU: client}}
	}
	got := c.machineNotes([][]calibratedRun{
		{run(100, 50), run(120, 60)},
		{run(101, 52), run(120, 52)},
		{run(110, 55), run(111, 56)},
	})
	if diff := cmp.Diff([]string{
		"compare takes the machine for another one in 2 of 3 pairs of undisturbed runs",
		"and in 1 of 3 pairs of an undisturbed run and one with 25%",
	}, got); diff != "" {
		t.Error(diff)
	}
}

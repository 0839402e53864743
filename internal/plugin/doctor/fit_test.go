package doctor

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/statistics"
)

// twins returns a round of two equal variants, whose ratios have a standard deviation of spread.
func twins(seed uint64, spread float64) *benchmark.Round {
	r := &benchmark.Round{Number: 1}
	r.Blocks = fitBlocks
	random := rand.New(rand.NewPCG(seed, 0))
	for block := range fitBlocks {
		for cell := range 2 {
			value := 1000 * (1 + float64(cell)*spread*random.NormFloat64())
			run := benchmark.Run{Valid: true, Ended: time.Unix(1, 0), Metrics: map[v1alpha1.BenchmarkMetric]float64{"RequestsPerSecond": value, "LatencyP99": 1e6 / value}}
			run.Cell, run.Number = cell, block
			r.Runs = append(r.Runs, run)
		}
	}
	return r
}

var message = regexp.MustCompile(`^10 blocks find differences of ([0-9.]+)% here; for 1% you need (?:more than )?(\d+)$`)

// TestFit checks by simulation that a planted difference of the size that is printed is found in about four of five rounds of 10 blocks,
// that of a third of it in few, and that 1% needs more blocks the larger the spread is.
func TestFit(t *testing.T) {
	blocks := 0
	for _, spread := range []float64{0.005, 0.01, 0.02} {
		const rounds = 400
		found, foundThird := 0, 0
		for seed := range uint64(rounds) {
			r := twins(seed, spread)
			checks, err := fitOf(r)
			if err != nil {
				t.Fatal(err)
			}
			is := message.FindStringSubmatch(checks[0].Message)
			if is == nil || len(checks) != 3 || checks[2].Message != "none of 20 runs has a finding" {
				t.Fatalf("%+v", checks)
			}
			percent, err := strconv.ParseFloat(is[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			if seed == 0 {
				n, err := strconv.Atoi(is[2])
				if err != nil || n <= blocks {
					t.Errorf("spread %g: %s", spread, checks[0].Message)
				}
				blocks = n
			}
			other := twins(seed+rounds, spread)
			a, b, third := other.Values(0, "RequestsPerSecond"), other.Values(1, "RequestsPerSecond"), other.Values(1, "RequestsPerSecond")
			for i := range b {
				b[i] *= 1 + percent/100
				third[i] *= 1 + percent/300
			}
			for _, planted := range []struct {
				values []float64
				count  *int
			}{{b, &found}, {third, &foundThird}} {
				c, err := statistics.Paired(a, planted.values)
				if err != nil {
					t.Fatal(err)
				}
				if c.Effect(statistics.Alpha(95, 1)).Low > 1 {
					*planted.count++
				}
			}
		}
		if found < rounds*3/4 || foundThird > rounds*3/10 {
			t.Errorf("spread %g: %d of %d found, %d of a third", spread, found, rounds, foundThird)
		}
	}
}

// TestNoise checks that the findings of runs are counted.
func TestNoise(t *testing.T) {
	r := twins(0, 0.01)
	for i := range 5 {
		r.Runs[i].Warnings = []string{"TargetCPUShared", "CPUStolen"}
	}
	r.Runs[9].Warnings = []string{"CPUStolen"}
	checks, err := fitOf(r)
	if err != nil {
		t.Fatal(err)
	}
	if noise := checks[2]; noise.Status != Warn || noise.Message != "of 20 runs these have findings: CPUStolen in 6, TargetCPUShared in 5" {
		t.Errorf("%+v", noise)
	}
	r.Blocks = 1
	if checks, err = fitOf(r); err != nil || checks[0].Status != Unknown || !strings.Contains(checks[0].Message, "1 blocks don't say") {
		t.Errorf("%+v %v", checks, err)
	}
}

package benchmark_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/benchmark/trend"
	"github.com/assay-dev/assay/test/benchtest"
)

func TestArtifact(t *testing.T) {
	r := benchtest.ExampleRound(t, 5)
	r.Spec.Capacity = &v1alpha1.Capacity{Path: "/x", From: 100, Max: 5000}
	measure := r.Measure
	r.Measure = func(run *benchmark.Run) {
		if run.Trial {
			run.Outcome, run.Achieved = benchtest.UpTo(1000)(run.Load), float64(run.Load)
		} else {
			measure(run)
		}
		run.Conditions = benchmark.Conditions{NodeType: "c5", Kernel: "6.1"}
		if run.Name == "bm-r1-c001-b03" {
			run.Fail("ClientLost", "the pod was deleted.")
		}
	}
	want := benchtest.Ended(t, r)
	data, err := want.Encode(artifact.ConfigMapLimit)
	if err != nil {
		t.Fatal(err)
	}
	got, err := benchmark.DecodeRound(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(cells.Cell{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if again, err := want.Encode(artifact.ConfigMapLimit); err != nil || string(again) != string(data) {
		t.Errorf("another encoding: %v", err)
	}

	stored := got.Stored()
	if len(stored) != 2 || len(stored["a=x"]) != 10 || len(stored["a=y"]) != 10 || stored["a=y"][0].Metrics["RequestsPerSecond"] != benchtest.Example[1][0] {
		t.Errorf("stored %v", stored)
	}
}

func TestNewest(t *testing.T) {
	var runs []benchmark.Run
	for i := range 300 {
		runs = append(runs, benchmark.Run{RunKey: benchmark.RunKey{Number: i}, Ended: benchtest.Begin.Add(-time.Duration(i) * time.Second)})
	}
	got := benchmark.Newest(runs)
	if len(got) != 200 || got[0].Number != 199 || got[199].Number != 0 {
		t.Errorf("%d runs, from %d to %d", len(got), got[0].Number, got[len(got)-1].Number)
	}
}

func TestArtifactFits(t *testing.T) {
	r := benchtest.Large(t, 20)
	data, err := r.Encode(artifact.ConfigMapLimit)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := benchmark.DecodeRound(data)
	if err != nil || len(decoded.Omitted) > 0 {
		t.Errorf("256 cells with 20 blocks: %v, without %v", err, decoded.Omitted)
	}
	t.Logf("256 cells with 20 blocks take %d bytes", len(data))

	// Where there is no room for all, the metrics that decide are kept.
	for _, c := range []struct {
		limit int
		kept  []v1alpha1.BenchmarkMetric
	}{
		{len(data) - 1, []v1alpha1.BenchmarkMetric{"ErrorRate", "LatencyP99"}},
		{len(data) / 6, []v1alpha1.BenchmarkMetric{"LatencyP99"}},
	} {
		data, err := r.Encode(c.limit)
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := benchmark.DecodeRound(data)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > c.limit || len(decoded.Runs) != len(r.Runs) || len(decoded.Omitted) != len(benchtest.RequestMetrics)-len(c.kept) {
			t.Errorf("%d bytes of %d, %d runs, without %v", len(data), c.limit, len(decoded.Runs), decoded.Omitted)
		}
		for i := range decoded.Runs {
			want := map[v1alpha1.BenchmarkMetric]float64{}
			for _, m := range c.kept {
				want[m] = r.Runs[i].Metrics[m]
			}
			if diff := cmp.Diff(want, decoded.Runs[i].Metrics); diff != "" {
				t.Fatalf("run %d: (-want +got)\n%s", i, diff)
			}
		}
	}
	if len(r.Runs[0].Metrics) != len(benchtest.RequestMetrics) || r.Omitted != nil {
		t.Error("the round changed")
	}
	if _, err := r.Encode(10_000); !errors.Is(err, artifact.ErrTooLarge) {
		t.Errorf("in 10,000 bytes: %v", err)
	}
}

func TestArtifactRefused(t *testing.T) {
	for doc, want := range map[string]string{
		`{"schemaVersion": 2}`: "decode round: its schema version is 2, this program reads 1: use the version of Assay that wrote it",
		`{}`:                   "decode round: its schema version is 0, this program reads 1: use the version of Assay that wrote it",
		`{"schemaVersion": 1, "cells": [{"index": 1}]}`:                                                            "decode round: cell 0 has the index 1 and the baseline 0",
		`{"schemaVersion": 1, "cells": [{"baseline": 1}]}`:                                                         "decode round: cell 0 has the index 0 and the baseline 1",
		`{"schemaVersion": 1, "runs": [{"cell": 0}]}`:                                                              "decode round: there is no cell 0",
		`{"schemaVersion": 1, "cells": [{"index": 0}], "effects": [{"cell": -1}]}`:                                 "decode round: there is no cell -1",
		`{"schemaVersion": 1, "cells": [{"index": 0}], "estimates": [{"cell": 1}]}`:                                "decode round: there is no cell 1",
		`{"schemaVersion": 1, "cells": [{"index": 0}], "capacities": [{"cell": 7}]}`:                               "decode round: there is no cell 7",
		`{"schemaVersion": 1, "trend": {"rounds": [{"number": 1}], "series": [{"cell": "a", "medians": [1, 2]}]}}`: "decode round: trend of a: 2 medians of 1 rounds",
		`{"schemaVersion": 1, "runs": [` + strings.Repeat("{},", 200_000) + `{}]}`:                                 "decode round: its values would take more than 64 MiB of memory",
		`{"schemaVersion": 1, "cells": [` + strings.Repeat(`{"index":0},`, 256) + `{}]}`:                           "decode round: 257 cells, must be at most 256",
		`{"schemaVersion": 1, "x": ` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`:                     "decode round: more than 32 levels of nesting",
	} {
		data, err := artifact.Pack(json.RawMessage(doc), artifact.ConfigMapLimit)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := benchmark.DecodeRound(data); err == nil || err.Error() != want {
			t.Errorf("%.80s: got %v, want %s", doc, err, want)
		}
	}
	if _, err := benchmark.DecodeRound([]byte("x")); err == nil {
		t.Error("text was decoded")
	}
}

// Whatever is decoded can be used: every index that it has exists.
func FuzzDecodeRound(f *testing.F) {
	encoded, err := json.Marshal(benchtest.Large(f, 1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(encoded[:2000]))
	f.Add(`{"schemaVersion": 1, "cells": [{"index": 0, "name": "a", "baseline": -1}], "runs": [{"cell": 0, "valid": true, "ended": "2026-11-22T12:00:00Z"}], "blocks": 1, "effects": [{"cell": 0, "percent": 1}], "claims": [{"name": "a", "cell": 0, "than": -1, "is": "Lower"}], "capacities": [{"sustained": 1}]}`)
	f.Fuzz(func(t *testing.T, doc string) {
		data, err := artifact.Pack(json.RawMessage(doc), artifact.ConfigMapLimit)
		if err != nil {
			return
		}
		r, err := benchmark.DecodeRound(data)
		if err != nil {
			return
		}
		r.Stored()
		lifecycle.Claims(&r.Evaluation)
		lifecycle.Effects(r.Cells, r.Effects)
		lifecycle.Capacities(r.Cells, r.Capacities)
		lifecycle.LevelChanges(trend.Next(r.Trend, r))
		if again, err := r.Encode(artifact.ConfigMapLimit); err == nil {
			if _, err := benchmark.DecodeRound(again); err != nil {
				t.Errorf("%s can't be decoded again: %v", fmt.Sprintf("%.200s", doc), err)
			}
		}
	})
}

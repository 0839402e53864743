package run

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// A run of a block begins each stage together with the others, and fails if one of them is missing.
func TestBlock(t *testing.T) {
	other := observed.Other{UID: "other", Name: "other", Variant: 0}
	ready, warm := other, other
	ready.Ready = true
	warm.Ready, warm.WarmedUp = true, true
	tests := map[string]struct {
		warming  bool // the run has ended its warm-up
		others   []observed.Other
		admitted time.Duration
		state    string
		says     string
		begins   sessionpb.Stage
	}{
		"the other is not there yet":            {false, nil, 10 * time.Second, v1alpha1.ReasonStarting, "Waiting for variant 0 of block pair", 0},
		"the other never came, or has ended":    {false, nil, time.Minute, v1alpha1.ReasonBlockIncomplete, "Variant 0 of block pair does not exist or has ended", 0},
		"the other is not ready":                {false, []observed.Other{other}, time.Minute, v1alpha1.ReasonStarting, "Waiting for run other of the same block.", 0},
		"both are ready":                        {false, []observed.Other{ready}, time.Minute, v1alpha1.ReasonWarmingUp, "", warmupStage},
		"the other has not ended its warm-up":   {true, []observed.Other{ready}, time.Minute, v1alpha1.ReasonWarmingUp, "Waiting for run other of the same block.", 0},
		"the other ended during the warm-up":    {true, nil, time.Minute, v1alpha1.ReasonBlockIncomplete, "Variant 0", 0},
		"both have ended their warm-up":         {true, []observed.Other{warm}, time.Minute, v1alpha1.ReasonMeasuring, "", measurementStage},
		"a variant of its own number is nobody": {false, []observed.Other{{UID: "x", Variant: 1, Ready: true}}, time.Minute, v1alpha1.ReasonBlockIncomplete, "Variant 0", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene().ready()
			if test.warming {
				s = newScene().started(warmupStage).clients(func(c *session.ClientState) { c.WarmupEnded = true })
			}
			s.run.Spec.Load.Warmup = &v1alpha1.Warmup{DurationSeconds: ptr.To(int32(5))}
			s.run.Spec.Alternation = &v1alpha1.Alternation{Block: "pair", Variants: 2, Variant: ptr.To(int32(1))}
			s.run.Status.AdmissionTime = ptr.To(metav1.NewTime(now.Add(-test.admitted)))
			s.o.Others = test.others
			p := s.decide()
			if got := stateIn(p); got.Reason != test.state || !strings.Contains(got.Message, test.says) {
				t.Errorf("%s: %s", got.Reason, got.Message)
			}
			switch {
			case test.begins == 0 && p.Begin != nil:
				t.Errorf("begins %s", p.Begin.Stage)
			case test.begins != 0 && (p.Begin == nil || p.Begin.Stage != test.begins || !slices.Equal(p.Begin.With, []types.UID{"other"})):
				t.Errorf("begins %+v", p.Begin)
			}
			if test.begins == 0 && p.Status.CompletionTime == nil && (p.RequeueAfter == 0 || p.RequeueAfter > time.Second) {
				t.Errorf("looks again after %s", p.RequeueAfter)
			}
		})
	}
}

// A namespace that may have fewer active runs than a block has never gets a block.
func TestBlockOutOfBounds(t *testing.T) {
	s := newScene()
	s.run.Status = v1alpha1.BenchmarkRunStatus{}
	s.run.Spec.Alternation = &v1alpha1.Alternation{Block: "pair", Variants: 3, Variant: ptr.To(int32(1))}
	for most, want := range map[int]bool{0: false, 2: true, 3: false} {
		s.o.Settings = manifest.Settings{MaxActiveRuns: most}
		p := s.decide()
		if got := stateIn(p); (got.Reason == v1alpha1.ReasonInvalidSpec && strings.Contains(got.Message, "--max-active-runs")) != want {
			t.Errorf("with %d: %s: %s", most, got.Reason, got.Message)
		}
	}
}

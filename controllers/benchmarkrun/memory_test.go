package benchmarkrun

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/memory"
)

// fill takes all memory that the run's namespace may have, and returns a function that gives it back.
func (b *bench) fill() (free func()) {
	b.t.Helper()
	b.Memory = memory.New(64 << 20)
	large := memory.Owner{Namespace: b.run.Namespace, UID: "large"}
	if err := b.Memory.Hold(large, memory.Totals, 32<<20); err != nil {
		b.t.Fatal(err)
	}
	return func() { b.Memory.Free(large) }
}

// completes checks that the run completes, and holds nothing afterwards.
func (b *bench) completes() {
	b.t.Helper()
	b.attempt()
	if got := b.state(); got.Reason != v1alpha1.ReasonCompleted || artifact.Identify(b.artifact().BinaryData[artifact.Key]).SHA256 != b.run.Status.Artifact.SHA256 {
		b.t.Errorf("%+v", got)
	}
	b.attempt()
	b.wantNothingHeld()
}

func (b *bench) wantNothingHeld() {
	b.t.Helper()
	b.attempt()
	if b.Memory.Used() != 0 {
		b.t.Errorf("%d bytes are held at the end", b.Memory.Used())
	}
}

// TestAnArtifactIsReadWhenThereIsMemory has another manager read the artifact of a run.
func TestAnArtifactIsReadWhenThereIsMemory(t *testing.T) {
	b := collected(t)
	restore := b.intercept(artifactCreation(true))
	b.killed()
	restore()
	b.known = knownRuns{}
	free := b.fill()
	b.attempt()
	b.wantState(v1alpha1.ReasonCollecting, v1alpha1.RetryPrefix+"read the artifact: the manager has no memory left for")
	free()
	b.completes()
}

// TestAnArtifactThatCannotBeStoredIsInTheAccount has a quota refuse the artifact. Without memory for it, it is merged each time.
func TestAnArtifactThatCannotBeStoredIsInTheAccount(t *testing.T) {
	for name, full := range map[string]bool{"memory": false, "no memory": true} {
		t.Run(name, func(t *testing.T) {
			b := collected(t)
			free := b.fill()
			defer free()
			if !full {
				free()
			}
			err := error(errForbidden)
			defer b.intercept(failingStore(&err))()
			for i := range 3 {
				b.attempt()
				b.wantState(v1alpha1.ReasonCollecting, v1alpha1.RetryPrefix)
				known, merged := b.known.get(b.run.UID), 1
				if full {
					merged = i + 1
				} else if held := b.Memory.Used() - known.inputs; held != known.unstoredBytes || held == 0 {
					t.Errorf("%d bytes are held of an artifact of %d", held, known.unstoredBytes)
				}
				if (known.unstored == nil) != full || b.sessions.merged != merged {
					t.Errorf("kept %t, %d merges", known.unstored != nil, b.sessions.merged)
				}
			}
			free()
			err = nil
			b.completes()
		})
	}
}

// TestAFullResultNeedsMemory has no memory for a full result that goes to a bucket, for a while or until the manager gives up.
func TestAFullResultNeedsMemory(t *testing.T) {
	for name, passes := range map[string]bool{"for a while": true, "until the manager gives up": false} {
		t.Run(name, func(t *testing.T) {
			b, d := archiving(t)
			free := b.fill()
			defer free()
			b.reconcile()
			<-b.uploaded
			b.reconcile()
			b.wantState(v1alpha1.ReasonCollecting, v1alpha1.RetryPrefix+"the manager has no memory left for")
			if passes {
				free()
				b.clock.SetTime(b.clock.Now().Add(5 * time.Second))
				b.finish()
				b.checkArchived(d)
			} else {
				b.clock.SetTime(b.clock.Now().Add(time.Minute))
				b.reconcile()
				if got := b.archived(); b.state().Reason != v1alpha1.ReasonCompleted || got.Status != metav1.ConditionFalse || !strings.Contains(got.Message, memory.ErrFull.Error()) || len(d.objects(t)) != 0 {
					t.Errorf("%+v, %+v", b.state(), got)
				}
			}
			free()
			b.wantNothingHeld()
		})
	}
}

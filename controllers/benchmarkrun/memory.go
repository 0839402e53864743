package benchmarkrun

import (
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/memory"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/inputs"
	"github.com/assay-dev/assay/internal/run/observed"
)

const (
	// memoryInterval is the time for which a namespace whose inputs found no room in memory has none.
	memoryInterval = 10 * time.Second
	// scriptBytes limits what is kept of a script: the list of its files.
	scriptBytes = 256 << 10
)

// holdInputs accounts for what the spec and the inputs of an active run take of the manager's memory. The error says for
// users why there is no room.
func (r *Reconciler) holdInputs(br *v1alpha1.BenchmarkRun) error {
	bytes := r.known.get(br.UID).inputs
	if bytes == 0 {
		encoded, err := json.Marshal(&br.Spec)
		if err != nil {
			return fmt.Errorf("encode the spec: %w", err)
		}
		bytes = 3 * int64(len(encoded)) // in the cache, in the rendered containers and in the clients' plans
		if br.Spec.Load.RequestsFrom != nil {
			bytes += inputs.MaxBytes
		}
		if br.Spec.Script != nil {
			bytes += scriptBytes
		}
		r.known.change(br.UID, func(s *runState) { s.inputs = bytes })
	}
	return r.Memory.Hold(ownerOf(br), memory.Inputs, bytes)
}

// freeInputs gives back what holdInputs has taken for a run.
func (r *Reconciler) freeInputs(br *v1alpha1.BenchmarkRun) {
	_ = r.Memory.Hold(ownerOf(br), memory.Inputs, 0) // less is always accepted
}

func ownerOf(br *v1alpha1.BenchmarkRun) memory.Owner {
	return memory.Owner{Namespace: br.Namespace, UID: string(br.UID)}
}

// holdArtifact accounts for an artifact of some bytes that is decoded, in addition to the one that is kept, until the end of
// the reconciliation. The error says for users why there is no room.
func (r *Reconciler) holdArtifact(br *v1alpha1.BenchmarkRun, bytes int64) error {
	return r.Memory.Hold(ownerOf(br), memory.Artifact, r.known.get(br.UID).unstoredBytes+bytes)
}

// keep keeps an artifact that can't be stored yet, if there is room for it. Otherwise the next reconciliation merges the
// result again, and the error says for users why.
func (r *Reconciler) keep(br *v1alpha1.BenchmarkRun, s *observed.Storage) error {
	if r.known.get(br.UID).unstored == s {
		return nil
	}
	encoded := s.Object.(*corev1.ConfigMap).BinaryData[artifact.Key]
	bytes, err := artifact.Size(encoded, result.Result{})
	if err != nil {
		return fmt.Errorf("count the artifact: %w", err)
	}
	bytes += int64(len(encoded))
	if s.Full != nil {
		bytes += int64(len(s.Full.Data))
	}
	if err := r.Memory.Hold(ownerOf(br), memory.Artifact, bytes); err != nil {
		return err
	}
	r.known.change(br.UID, func(known *runState) { known.unstored, known.unstoredBytes = s, bytes })
	return nil
}

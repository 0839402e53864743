package benchmarkrun

import (
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/memory"
	"github.com/assay-dev/assay/internal/run/inputs"
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
	if r.Memory == nil {
		return nil
	}
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
	return r.Memory.Hold(memory.Owner{Namespace: br.Namespace, UID: string(br.UID)}, memory.Inputs, bytes)
}

// freeInputs gives back what holdInputs has taken for a run.
func (r *Reconciler) freeInputs(namespace string, uid types.UID) {
	if r.Memory != nil {
		_ = r.Memory.Hold(memory.Owner{Namespace: namespace, UID: string(uid)}, memory.Inputs, 0) // less is always accepted
	}
}

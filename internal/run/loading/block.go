package loading

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/step"
)

// blockInterval is the interval at which a run looks at the others of its block while it waits for them.
const blockInterval = 500 * time.Millisecond

// awaitBlock returns what a run waits for before it begins a stage with the others of its block, or nothing. ready reports whether
// another run can begin it. The run fails if one is missing.
func awaitBlock(p *step.Planner, ready func(*observed.Other) bool) string {
	a := p.Run.Spec.Alternation
	if a == nil {
		return ""
	}
	p.RequeueIn(blockInterval)
	byVariant := map[int32]*observed.Other{}
	for i := range p.Observed.Others {
		byVariant[p.Observed.Others[i].Variant] = &p.Observed.Others[i]
	}
	for variant := range a.Variants {
		other := byVariant[variant]
		switch {
		case variant == ptr.Deref(a.Variant, 0):
		case other == nil:
			if f := failure.BlockIncomplete(p.Run, variant, p.Now); f != nil {
				p.Fail(f)
			}
			return fmt.Sprintf("Waiting for variant %d of block %s, which does not exist or has ended.", variant, a.Block)
		case !ready(other):
			return fmt.Sprintf("Waiting for run %s of the same block.", other.Name)
		}
	}
	return ""
}

// others returns the UIDs of the other runs of the block.
func others(p *step.Planner) []types.UID {
	var uids []types.UID
	for i := range p.Observed.Others {
		uids = append(uids, p.Observed.Others[i].UID)
	}
	return uids
}

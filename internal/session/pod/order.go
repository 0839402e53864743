package pod

import (
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// Order is what the manager tells a pod to do: Prepare, Start, End, SetupData, Watch,
// Sample or Release.
type Order interface{ order() }

// Prepare tells a client its load.
type Prepare struct {
	// Plan is the client's load. It can be carried out.
	Plan *session.Plan
	// Address is the target's address and port.
	Address string
}

// Start tells when a stage begins.
type Start struct {
	Stage sessionpb.Stage
	// At is the common start instant: microseconds since the Unix epoch by the
	// manager's clock. Session.Local turns it into the pod's own time.
	At int64
}

// SetupData tells a client what setup() of the k6 script returned to the client
// that leads: JSON, or nothing.
type SetupData struct{ Data []byte }

// End tells a client to begin no more requests of its warm-up.
type End struct{}

// Watch tells an agent to ask the target until that answers with success, and
// what to sample. It can be carried out.
type Watch struct{ session.Watch }

// Sample requests a usage sample from an agent at once.
type Sample struct{}

// Release tells that everything is stored: the pod may exit. It is the last
// order.
type Release struct{}

func (Prepare) order()   {}
func (Start) order()     {}
func (End) order()       {}
func (SetupData) order() {}
func (Watch) order()     {}
func (Sample) order()    {}
func (Release) order()   {}

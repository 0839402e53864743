package pod

import (
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// Order is an order of the manager: Prepare, Start, End, EndMeasurement, SetupData, Summarize, Watch, Sample or Release.
type Order interface{ order() }

// Prepare sets a client's load.
type Prepare struct {
	// Plan is the client's load. It is valid.
	Plan *session.Plan
	// Address is the target's address and port.
	Address string
}

// Start sets when a stage begins.
type Start struct {
	Stage sessionpb.Stage
	// At is the common start time: microseconds since the Unix epoch by the manager's
	// clock. Session.Local converts it to the pod's own time.
	At int64
}

// SetupData holds what setup() of the k6 script returned to the client that leads:
// JSON, or nothing.
type SetupData struct{ Data []byte }

// Summarize makes a client run handleSummary() of its k6 script. Data is what it is called with, as JSON.
type Summarize struct{ Data []byte }

// End makes a client start no more requests of its warm-up.
type End struct{}

// EndMeasurement ends a client's measurement before its planned end.
type EndMeasurement struct {
	// At is the new planned end: microseconds since the Unix epoch by the manager's clock. It may have
	// passed. It is a whole number of seconds after the measurement's start.
	At int64
}

// Watch sets what an agent probes until the target answers with success, and what
// it samples. It is valid.
type Watch struct{ session.Watch }

// Sample requests a usage sample from an agent at once.
type Sample struct{}

// Release lets the pod exit: everything is stored. It is the last order.
type Release struct{}

func (Prepare) order()        {}
func (Start) order()          {}
func (End) order()            {}
func (EndMeasurement) order() {}
func (SetupData) order()      {}
func (Summarize) order()      {}
func (Watch) order()          {}
func (Sample) order()         {}
func (Release) order()        {}

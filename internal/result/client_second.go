package result

// ClientSecond is a sample second of one client.
type ClientSecond struct {
	// Second is the number of whole seconds from the start of the stage to the start of
	// this second.
	Second int64
	Measure
	Usage ClientUsage
	// Phases are the times of all phases, of which messages don't have the latencies.
	Phases PhaseTimes
	// Sketches are the distributions of the phases in messages.
	Sketches Sketches
	// Node shows what happened around the client; nil if that is unknown.
	Node *NodeUsage
}

// Merge adds another second, of the same client or of another one.
func (s *ClientSecond) Merge(other *ClientSecond) {
	s.Measure.Merge(&other.Measure)
	s.Usage.Add(other.Usage)
	s.Phases.Add(&other.Phases)
	s.Sketches.Merge(&other.Sketches)
	s.Node = s.Node.Add(other.Node)
}

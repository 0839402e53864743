package carrier

import (
	"go.k6.io/k6/v2/metrics"
	"go.k6.io/k6/v2/output"
)

// outputName is the output as k6's --out names it.
const outputName = "assay"

func init() {
	output.RegisterExtension(outputName, func(output.Params) (output.Output, error) { return ending{}, nil })
}

// ending is an output of k6 that only wants to know how the test ended.
type ending struct{}

// Description is what k6 says of the output.
func (ending) Description() string { return "assay" }

// Start is called by k6 before the virtual users are made.
func (ending) Start() error { return nil }

// AddMetricSamples takes k6's own metrics, of which nothing is kept.
func (ending) AddMetricSamples([]metrics.SampleContainer) {}

// Stop is part of k6's interface; k6 calls StopWithTestError instead.
func (e ending) Stop() error { return e.StopWithTestError(nil) }

// StopWithTestError is called by k6 when the test has ended, with its error.
func (ending) StopWithTestError(err error) error {
	if load != nil {
		load.Ended(err)
	}
	return nil
}

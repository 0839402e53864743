package runner

import (
	"go.k6.io/k6/v2/metrics"
	"go.k6.io/k6/v2/output"
)

// outputName is the name of the output in k6's --out flag.
const outputName = "assay"

func init() {
	output.RegisterExtension(outputName, func(output.Params) (output.Output, error) { return endNotifier{}, nil })
}

// endNotifier is a k6 output that discards all samples and calls load.Ended when
// the test has ended.
type endNotifier struct{}

// Description implements output.Output.
func (endNotifier) Description() string { return "assay" }

// Start implements output.Output. k6 calls it before it creates virtual users.
func (endNotifier) Start() error { return nil }

// AddMetricSamples implements output.Output. It discards k6's own metrics.
func (endNotifier) AddMetricSamples([]metrics.SampleContainer) {}

// Stop implements output.Output. k6 calls StopWithTestError instead.
func (n endNotifier) Stop() error { return n.StopWithTestError(nil) }

// StopWithTestError implements output.WithStopWithTestError. k6 calls it when the
// test has ended, with the test's error.
func (endNotifier) StopWithTestError(err error) error {
	if load != nil {
		load.Ended(err)
	}
	return nil
}

package planfile

import (
	_ "embed"
)

// Fields describes every field of a plan: its name, type, default and bounds, and what it means. A test writes it, from the schema of a
// BenchmarkRun for the fields of load.
//
//go:embed fields.txt
var Fields string

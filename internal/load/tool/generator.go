package tool

import (
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// load is what a tool has to do in one stage.
type load struct {
	plan   *session.Plan
	amount session.Amount
	url    string
	// directory is where files for the tool, and of the tool, are.
	directory string
}

// metrics are what a tool printed.
type metrics struct {
	totals result.Totals
	// microseconds is the duration by the tool.
	microseconds int64
}

// generator is a load generator: how it is called, and what it prints.
type generator struct {
	program string
	// arguments returns its arguments for a load. It may write files.
	arguments func(*load) ([]string, error)
	// parse reads what it printed to the standard output, and files that it wrote.
	parse func(l *load, output []byte) (*metrics, error)
}

// generators are the load generators by their names in plans.
var generators = map[string]generator{
	result.ToolAB:    {"ab", abArguments, readAB},
	result.ToolSiege: {"siege", siegeArguments, readSiege},
}

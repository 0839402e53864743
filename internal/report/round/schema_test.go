package round_test

import (
	"path/filepath"
	"testing"

	"github.com/assay-dev/assay/internal/report/golden"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/roundtest"
	"github.com/assay-dev/assay/internal/report/schema"
)

// TestSchema compares the published schema of a round's report with the types, and checks reports by it.
func TestSchema(t *testing.T) {
	t.Chdir("../../..") // that of the module
	const title = "Report of a Benchmark's round: kubectl assay report benchmark/NAME -o json"
	published, err := schema.Of(round.Report{}, "round.json", title, false)
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, filepath.Join("docs", "schema", "round.json"), string(published))
	strict, err := schema.Of(round.Report{}, "round.json", title, true)
	if err != nil {
		t.Fatal(err)
	}
	r := &round.Report{Round: roundtest.Connectors(t), Notes: []string{"Round 4 is under way."}}
	document := []byte(write(t, "json", r))
	for _, s := range [][]byte{published, strict} {
		check, err := schema.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := check(document); err != nil {
			t.Error(err)
		}
		if check([]byte(`{"schemaVersion": 1}`)) == nil {
			t.Error("a report without a verdict is valid")
		}
	}
}

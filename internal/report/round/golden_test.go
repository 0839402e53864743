package round_test

import (
	"path/filepath"
	"testing"

	"github.com/assay-dev/assay/test/golden"
)

// compareGolden compares a document with a golden file.
func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	golden.Check(t, filepath.Join("testdata", name+".golden"), got)
}

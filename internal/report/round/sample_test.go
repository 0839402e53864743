package round_test

import (
	"path/filepath"
	"testing"

	"github.com/assay-dev/assay/internal/report/golden"
)

// checkGolden compares a document with the golden file of that name.
func checkGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	golden.Compare(t, filepath.Join("testdata", name+".golden"), string(got))
}

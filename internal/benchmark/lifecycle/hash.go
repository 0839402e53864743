package lifecycle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// Hash identifies what the rounds of a Benchmark measure: the spec without suspend, rerun, schedule and
// history. It is the first 16 hexadecimal digits of the SHA-256 of the spec as JSON with sorted names and
// without spaces.
//
// The API server adds the defaults of fields that a new release of Assay brings to specs that it reads.
// Hashes are therefore only worth comparing if metadata.generation changed as well: that doesn't count
// such defaults.
func Hash(spec *v1alpha1.BenchmarkSpec) (string, error) {
	encoded, err := json.Marshal(Measured(spec))
	if err != nil {
		return "", fmt.Errorf("encode spec: %w", err)
	}
	// The values of axes are as users wrote them: objects with their names in any order.
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	var plain any
	if err := decoder.Decode(&plain); err != nil {
		return "", fmt.Errorf("encode spec: %w", err)
	}
	canonical, err := json.Marshal(plain)
	if err != nil {
		return "", fmt.Errorf("encode spec: %w", err)
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])[:16], nil
}

// Measured returns what a spec says about what rounds measure: it lacks suspend, rerun, schedule, history and
// onInconclusive.
func Measured(spec *v1alpha1.BenchmarkSpec) v1alpha1.BenchmarkSpec {
	measured := *spec
	measured.Suspend, measured.Rerun, measured.Schedule, measured.History = nil, "", nil, v1alpha1.History{}
	measured.OnInconclusive = ""
	return measured
}

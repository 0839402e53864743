package benchmark

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
)

// Labels and annotations of a Benchmark's objects.
const (
	// LabelBenchmark holds the Benchmark's name, LabelRound the number of the round.
	LabelBenchmark = "assay.dev/benchmark"
	LabelRound     = "assay.dev/round"
	// AnnotationCell holds the name of the cell.
	AnnotationCell = "assay.dev/cell"
)

// RunKey identifies a run of a benchmark. The run's name has all of it.
type RunKey struct {
	// Round is the number of the round, from 1.
	Round int64 `json:"round"`
	// Cell is the index of the cell.
	Cell int `json:"cell"`
	// Trial reports whether the run is a trial of a capacity search. Otherwise it belongs to a block.
	Trial bool `json:"trial,omitempty"`
	// Number is the index of the block or, for a trial, its index in the cell's search.
	Number int `json:"number"`
	// Replacement is 0 for the first run, 1 for the run that replaces it because it was invalid,
	// and so on.
	Replacement int `json:"replacement,omitempty"`
}

const (
	// maxRunName is the longest name of a BenchmarkRun.
	maxRunName = 52
	// longestSuffix is the length of what follows the number of the round.
	longestSuffix = len("-c000-b00-i00")
	// nameDigest is the number of characters that stand for the end of a name that is too long.
	nameDigest = 6
)

// Name returns the name of the BenchmarkRun: NAME-rROUND-cCELL-bBLOCK or, for a trial,
// NAME-rROUND-cCELL-tTRIAL, followed by -iN for the N-th replacement. It has at most 52 characters if
// benchmark has at most 34 and the indexes are below 1000 for cells and 100 for all others. From round
// 1000 on, the end of a benchmark's name for which that leaves no room is replaced by a digest.
func (k RunKey) Name(benchmark string) string {
	kind := 'b'
	if k.Trial {
		kind = 't'
	}
	round := fmt.Sprintf("-r%d", k.Round)
	name := fmt.Sprintf("%s%s-c%03d-%c%02d", shortened(benchmark, maxRunName-len(round)-longestSuffix), round, k.Cell, kind, k.Number)
	if k.Replacement > 0 {
		name += fmt.Sprintf("-i%d", k.Replacement)
	}
	return name
}

// shortened returns a name with at most the given number of characters.
func shortened(name string, room int) string {
	if len(name) <= room {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return name[:room-nameDigest] + hex.EncodeToString(sum[:])[:nameDigest]
}

var runName = regexp.MustCompile(`-r([0-9]{1,18})-c([0-9]{3})-([bt])([0-9]{2})(?:-i([0-9]{1,2}))?$`)

// ParseRunName is the inverse of RunKey.Name. It returns false for names of anything but the
// benchmark's runs.
func ParseRunName(benchmark, name string) (RunKey, bool) {
	parts := runName.FindStringSubmatch(name)
	if parts == nil {
		return RunKey{}, false
	}
	number := func(digits string) int {
		n, _ := strconv.Atoi(digits) // 0 for no digits; the expression bounds their number
		return n
	}
	k := RunKey{
		Round: int64(number(parts[1])), Cell: number(parts[2]), Trial: parts[3] == "t",
		Number: number(parts[4]), Replacement: number(parts[5]),
	}
	return k, k.Name(benchmark) == name
}

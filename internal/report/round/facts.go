package round

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Facts hold the values of runs by path, for example those of their specs.
type Facts []map[string]string

// Flatten returns the values in a JSON document as compact JSON, by their JSON pointers (RFC 6901).
func Flatten(document []byte) (map[string]string, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("flatten document: %w", err)
	}
	flat := map[string]string{}
	flatten(flat, "", value)
	return flat, nil
}

var pointerToken = strings.NewReplacer("~", "~0", "/", "~1")

func flatten(flat map[string]string, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, child := range value {
			flatten(flat, path+"/"+pointerToken.Replace(name), child)
		}
	case []any:
		for i, child := range value {
			flatten(flat, path+"/"+strconv.Itoa(i), child)
		}
	case string:
		flat[path] = value
	default:
		encoded, err := json.Marshal(value)
		if err == nil { // it was decoded before
			flat[path] = string(encoded)
		}
	}
}

// notSet stands for a path that a run doesn't have.
const notSet = "not set"

// values returns the values of a path in any of the runs.
func (f Facts) values(path string) string {
	values := map[string]bool{}
	for _, run := range f {
		value, ok := run[path]
		if !ok {
			value = notSet
		}
		values[value] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(values)), " | ")
}

// paths returns the paths that any of the runs has.
func (f Facts) paths() map[string]bool {
	paths := map[string]bool{}
	for _, run := range f {
		for path := range run {
			paths[path] = true
		}
	}
	return paths
}

// Difference is a fact that differs between two sides.
type Difference struct {
	Path      string `json:"path"`
	Baseline  string `json:"baseline"`
	Candidate string `json:"candidate"`
	// Cells are those in which it differs; nil if the sides have no cells.
	Cells []string `json:"cells,omitempty"`
}

// differ returns the paths whose values differ. With both set, only those that both sides have: else a side that
// doesn't say would seem to differ.
func differ(baseline, candidate Facts, both bool) (differences []Difference) {
	if len(baseline) == 0 || len(candidate) == 0 {
		return nil
	}
	paths, others := baseline.paths(), candidate.paths()
	if both {
		maps.DeleteFunc(paths, func(path string, _ bool) bool { return !others[path] })
	} else {
		maps.Copy(paths, others)
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if a, b := baseline.values(path), candidate.values(path); a != b {
			differences = append(differences, Difference{Path: path, Baseline: a, Candidate: b})
		}
	}
	return differences
}

// Shared returns the number of facts that both sides have, whether they differ or not; 0 if there are several cells.
func (c *Comparison) Shared(of func(*Group) Facts) int {
	if len(c.Baseline.Groups) != 1 || len(c.Candidate.Groups) != 1 {
		return 0
	}
	both, candidate := of(&c.Baseline.Groups[0]).paths(), of(&c.Candidate.Groups[0]).paths()
	maps.DeleteFunc(both, func(path string, _ bool) bool { return !candidate[path] })
	return len(both)
}

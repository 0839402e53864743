package k6metric

import "fmt"

const (
	// MaxChecks bounds the checks that are kept of a script.
	MaxChecks = 200
	// MaxCheckName bounds the length of a check's name and of its group's path, in bytes.
	MaxCheckName = 200
)

// Check holds the outcomes of one check of a script.
type Check struct {
	// Group is the path of the group that contains the check: "::cart::pay", or empty for none.
	Group string `json:"group,omitempty"`
	// Name is the check's name.
	Name   string `json:"name"`
	Passes int64  `json:"passes"`
	Fails  int64  `json:"fails"`
}

// Check returns an error for outcomes that no check can have.
func (c *Check) Check() error {
	if c.Passes < 0 || c.Fails < 0 || max(c.Passes, c.Fails) > maxSamples || len(c.Name) > MaxCheckName || len(c.Group) > MaxCheckName {
		return fmt.Errorf("check %.*q: %d passes and %d fails", MaxCheckName, c.Name, c.Passes, c.Fails)
	}
	return nil
}

// MergeChecks sums the outcomes of all clients by group and name, in the order of their first occurrence. It omits and
// counts those of further names than one client may have.
func MergeChecks(clients ...[]Check) (merged []Check, omitted int64) {
	type key struct{ group, name string }
	index := map[key]int{}
	for _, checks := range clients {
		for _, c := range checks {
			k := key{c.Group, c.Name}
			at, known := index[k]
			if !known && len(merged) == MaxChecks {
				omitted++
				continue
			}
			if !known {
				at = len(merged)
				index[k] = at
				merged = append(merged, Check{Group: c.Group, Name: c.Name})
			}
			merged[at].Passes += c.Passes
			merged[at].Fails += c.Fails
		}
	}
	return merged, omitted
}

package result

import (
	"encoding/json"
	"fmt"
)

// MarshalJSON writes the kinds that occurred by name.
func (e ErrorCounts) MarshalJSON() ([]byte, error) {
	byName := named[ErrorKind](e[:], func(n int64) bool { return n != 0 })
	byName["total"] = e.Total()
	return json.Marshal(byName)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *ErrorCounts) UnmarshalJSON(data []byte) error { return setNamed[ErrorKind](e[:], data) }

// MarshalJSON writes the phases that occurred by name.
func (l Latencies) MarshalJSON() ([]byte, error) {
	return json.Marshal(named[Phase](l[:], func(h *Histogram) bool { return h != nil && h.Count() > 0 }))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (l *Latencies) UnmarshalJSON(data []byte) error { return setNamed[Phase](l[:], data) }

// MarshalJSON writes the phases that occurred by name.
func (s Summaries) MarshalJSON() ([]byte, error) {
	return json.Marshal(named[Phase](s[:], func(s *Summary) bool { return s != nil }))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Summaries) UnmarshalJSON(data []byte) error { return setNamed[Phase](s[:], data) }

// name is a number with a name.
type name interface {
	~int
	String() string
}

// named returns the values that occurred by the names of their indexes.
func named[N name, V any](values []V, occurred func(V) bool) map[string]V {
	byName := map[string]V{}
	for i, v := range values {
		if occurred(v) {
			byName[N(i).String()] = v
		}
	}
	return byName
}

// setNamed sets values from JSON by the names of their indexes, those without a name to zero.
func setNamed[N name, V any](values []V, data []byte) error {
	var byName map[string]V
	if err := json.Unmarshal(data, &byName); err != nil {
		return fmt.Errorf("decode metrics by name: %w", err)
	}
	for i := range values {
		values[i] = byName[N(i).String()]
	}
	return nil
}

package result

import (
	"encoding/json"
	"fmt"
)

// MarshalJSON writes the kinds that occurred by name.
func (e ErrorCounts) MarshalJSON() ([]byte, error) {
	byName := map[string]int64{"total": e.Total()}
	for k, n := range e {
		if n != 0 {
			byName[ErrorKind(k).String()] = n
		}
	}
	return json.Marshal(byName)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *ErrorCounts) UnmarshalJSON(data []byte) error {
	var byName map[string]int64
	if err := json.Unmarshal(data, &byName); err != nil {
		return fmt.Errorf("decode error counts: %w", err)
	}
	*e = ErrorCounts{}
	for k := range e {
		e[k] = byName[ErrorKind(k).String()]
	}
	return nil
}

// MarshalJSON writes the phases that occurred by name.
func (l Latencies) MarshalJSON() ([]byte, error) {
	byName := map[string]*Histogram{}
	for p, h := range l {
		if h != nil && h.Count() > 0 {
			byName[Phase(p).String()] = h
		}
	}
	return json.Marshal(byName)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (l *Latencies) UnmarshalJSON(data []byte) error {
	var byName map[string]*Histogram
	if err := json.Unmarshal(data, &byName); err != nil {
		return fmt.Errorf("decode latencies: %w", err)
	}
	*l = Latencies{}
	for p := range l {
		l[p] = byName[Phase(p).String()]
	}
	return nil
}

// MarshalJSON writes the phases that occurred by name.
func (s Summaries) MarshalJSON() ([]byte, error) {
	byName := map[string]*Summary{}
	for p, summary := range s {
		if summary != nil {
			byName[Phase(p).String()] = summary
		}
	}
	return json.Marshal(byName)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Summaries) UnmarshalJSON(data []byte) error {
	var byName map[string]*Summary
	if err := json.Unmarshal(data, &byName); err != nil {
		return fmt.Errorf("decode summaries: %w", err)
	}
	*s = Summaries{}
	for p := range s {
		s[p] = byName[Phase(p).String()]
	}
	return nil
}

package result

import (
	"cmp"
	"encoding/json"
	"slices"
)

const (
	// MaxCauses is the number of causes that a result has of a kind of error. Further ones are together in OtherCauses.
	MaxCauses = 8
	// MaxCauseBytes bounds the text of a cause, and the detail of its example.
	MaxCauseBytes = 120
	// MaxRequestBytes bounds the request of an example.
	MaxRequestBytes = 200
	// OtherCauses is the text that stands for all causes beyond MaxCauses.
	OtherCauses = "other"
	// maxCountedCauses is the number of causes of a kind that are counted apart, so that those that occur often are found
	// although rare ones came first.
	maxCountedCauses = 64
)

// Cause is one reason for which requests failed in a kind of error.
type Cause struct {
	// Text says what happened, without what differs from request to request: "ECONNREFUSED", "status 503".
	Text string `json:"cause"`
	// Count is the number of requests that failed for it.
	Count int64 `json:"count"`
	// Example is the earliest of them; nil if a load generator didn't tell it.
	Example *FailedRequest `json:"example,omitempty"`
}

// FailedRequest is a request that failed.
type FailedRequest struct {
	// Request has its method and path without the query: "GET /a".
	Request string `json:"request"`
	// Client is the index of the client that made it.
	Client int `json:"client"`
	// AtMicroseconds is the time at which it failed, from the start of the measurement.
	AtMicroseconds int64 `json:"atMicroseconds"`
	// Detail says what was special with this request; empty if nothing was.
	Detail string `json:"detail,omitempty"`
}

// Causes are the causes of failed requests by ErrorKind. Those of a kind add up to its number in ErrorCounts, unless there
// are none, since a load generator didn't tell them.
type Causes [ErrorKinds][]Cause

// Count counts requests that failed for a cause, of which only the text and the number need to be set. It returns what is
// counted of the cause, which is valid until the next call.
func (c *Causes) Count(kind ErrorKind, cause Cause) *Cause {
	list := &c[kind]
	i := slices.IndexFunc(*list, func(known Cause) bool { return known.Text == cause.Text })
	switch {
	case i < 0 && len(*list) >= maxCountedCauses && cause.Text != OtherCauses:
		cause.Text = OtherCauses
		return c.Count(kind, cause)
	case i < 0:
		*list = append(*list, cause)
		return &(*list)[len(*list)-1]
	}
	known := &(*list)[i]
	known.Count = Plus(known.Count, cause.Count)
	if e := cause.Example; e != nil && (known.Example == nil || e.AtMicroseconds < known.Example.AtMicroseconds) {
		known.Example = e
	}
	return known
}

// Merge adds other causes to these.
func (c *Causes) Merge(other *Causes) {
	for kind := range other {
		for _, cause := range other[kind] {
			c.Count(ErrorKind(kind), cause)
		}
	}
}

// Limited returns at most MaxCauses causes of each kind, the most frequent first, followed by OtherCauses.
func (c *Causes) Limited() Causes {
	var limited Causes
	for kind := range c {
		sorted := slices.Clone(c[kind])
		slices.SortFunc(sorted, func(a, b Cause) int {
			return cmp.Or(compareOther(a, b), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text))
		})
		for i, cause := range sorted {
			if i >= MaxCauses {
				cause.Text = OtherCauses
			}
			limited.Count(ErrorKind(kind), cause)
		}
	}
	return limited
}

// compareOther orders OtherCauses behind all others.
func compareOther(a, b Cause) int {
	switch {
	case (a.Text == OtherCauses) == (b.Text == OtherCauses):
		return 0
	case b.Text == OtherCauses:
		return -1
	}
	return 1
}

// mergeCauses merges the causes of clients, which no longer have their own then.
func mergeCauses(clients []Client) Causes {
	var merged Causes
	for i := range clients {
		c := &clients[i]
		for kind := range c.Causes {
			for _, cause := range c.Causes[kind] {
				if cause.Example != nil {
					example := *cause.Example
					example.Client, cause.Example = c.Index, &example
				}
				merged.Count(ErrorKind(kind), cause)
			}
		}
		c.Causes = Causes{}
	}
	return merged.Limited()
}

// MarshalJSON writes the kinds that occurred by name.
func (c Causes) MarshalJSON() ([]byte, error) {
	return json.Marshal(named[ErrorKind](c[:], func(list []Cause) bool { return len(list) > 0 }))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *Causes) UnmarshalJSON(data []byte) error { return setNamed[ErrorKind](c[:], data) }

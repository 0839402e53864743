package k6metric

import (
	"encoding/json"
	"fmt"
	"math"
	"sync"

	"github.com/DataDog/sketches-go/ddsketch"
	"github.com/DataDog/sketches-go/ddsketch/mapping"
	"github.com/DataDog/sketches-go/ddsketch/store"
)

const (
	// accuracy is the relative error of a percentile: that of three significant digits.
	accuracy = 0.001
	// bins bounds the memory of a distribution. Values over a range of
	// exp(2·accuracy·bins), ten million, have bins of their own; smaller values share
	// the lowest bin. Negative values have as many bins again.
	bins = 8192
)

// distribution holds the values of a trend: a DDSketch (Masson, Rim and Lee, PVLDB 12(12), 2019),
// which merges without loss. Unlike durations of requests, the values of a trend may be anything.
//
// A decoded distribution stays packed, in a few kB instead of up to 130, since a
// manager keeps the trends of a thousand clients until the last has sent its own.
type distribution struct {
	sketch *ddsketch.DDSketch // nil while it is packed
	packed []byte
	n      int64 // the number of packed values
}

// index returns the mapping of values to bins.
var index = sync.OnceValue(func() mapping.IndexMapping {
	index, err := mapping.NewLogarithmicMapping(accuracy)
	if err != nil {
		panic(err) // accuracy is a constant within the bounds that it checks
	}
	return index
})

func newDistribution() *distribution {
	return &distribution{sketch: ddsketch.NewDDSketchFromStoreProvider(index(), boundedStore)}
}

func boundedStore() store.Store { return store.NewCollapsingLowestDenseStore(bins) }

// view returns the sketch for reading.
func (d *distribution) view() *ddsketch.DDSketch {
	if d.sketch != nil {
		return d.sketch
	}
	sketch, err := ddsketch.DecodeDDSketch(d.packed, boundedStore, index())
	if err != nil { // not possible: UnmarshalBinary has checked it
		return newDistribution().sketch
	}
	return sketch
}

// add adds a value, unless it is too large or not a number. It reports whether it did.
func (d *distribution) add(value float64) bool {
	d.sketch, d.packed = d.view(), nil
	return d.sketch.Add(value) == nil
}

// percentile returns the p-th percentile as k6 defines it: the values have the ranks from 0 to n-1, and between
// neighboring ranks the percentile is interpolated. It returns 0 without values.
func (d *distribution) percentile(p float64) float64 {
	sketch := d.view()
	last := math.Round(sketch.GetCount()) - 1
	rank := p / 100 * last
	low, high := ranked(sketch, math.Floor(rank), last), ranked(sketch, math.Ceil(rank), last)
	return low + (high-low)*(rank-math.Floor(rank))
}

// ranked returns the value of a rank, of the ranks from 0 to last.
func ranked(sketch *ddsketch.DDSketch, rank, last float64) float64 {
	// The sketch counts the ranks of negative values downwards: half a rank towards zero is the same value.
	if rank < sketch.GetNegativeValueStore().TotalCount() {
		rank = max(rank-0.5, 0)
	} else {
		rank = min(rank+0.5, last)
	}
	value, err := sketch.GetValueAtQuantile(rank / max(last, 1))
	if err != nil {
		return 0
	}
	return value
}

// coarseBins is the number of bins that share one in a coarse distribution.
const coarseBins = 10

// coarse returns a distribution with fewer bins, and so with a relative error of coarseBins times accuracy.
func (d *distribution) coarse() *distribution {
	c := newDistribution()
	d.view().ForEach(func(value, n float64) bool {
		bin := index().Index(math.Abs(value))
		rounded := math.Copysign(index().Value(bin-((bin%coarseBins)+coarseBins)%coarseBins+coarseBins/2), value)
		if math.Abs(value) <= index().MinIndexableValue() || c.sketch.AddWithCount(rounded, n) != nil {
			_ = c.sketch.AddWithCount(value, n) // as it was accepted before
		}
		return false
	})
	return c
}

func (d *distribution) count() int64 {
	if d.sketch == nil {
		return d.n
	}
	return int64(math.Round(d.sketch.GetCount()))
}

func (d *distribution) merge(other *distribution) error {
	d.sketch, d.packed = d.view(), nil
	return d.sketch.MergeWith(other.view())
}

// MarshalBinary returns the sketch in its library's own form.
func (d *distribution) MarshalBinary() (encoded []byte, err error) {
	d.view().Encode(&encoded, true)
	return encoded, nil
}

// UnmarshalBinary reads what MarshalBinary returned, without decoding it.
func (d *distribution) UnmarshalBinary(encoded []byte) error {
	n, err := checkSketch(encoded)
	if err != nil {
		return fmt.Errorf("decode a distribution: %w", err)
	}
	d.packed, d.n, d.sketch = encoded, n, nil
	return nil
}

// MarshalJSON is MarshalBinary in base64: k6's process reports to the client in JSON, and the
// artifact is JSON.
func (d *distribution) MarshalJSON() ([]byte, error) {
	encoded, err := d.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return json.Marshal(encoded)
}

// UnmarshalJSON reads what MarshalJSON returned.
func (d *distribution) UnmarshalJSON(data []byte) error {
	var encoded []byte
	if err := json.Unmarshal(data, &encoded); err != nil {
		return err
	}
	return d.UnmarshalBinary(encoded)
}

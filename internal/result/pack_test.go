package result

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAPackedHistogramIsTheSame(t *testing.T) {
	fill := func() *Histogram {
		h := NewHistogram()
		for v := range int64(5000) {
			h.Record(v * v)
		}
		h.Record(2 * HighestMicroseconds)
		return h
	}
	whole, packed := fill(), fill()
	packed.Pack()
	same := func(when string) {
		t.Helper()
		if diff := cmp.Diff(whole.Bars(), packed.Bars()); diff != "" {
			t.Errorf("bars %s (-whole +packed):\n%s", when, diff)
		}
		if diff := cmp.Diff(whole.Summarize(7), packed.Summarize(7)); diff != "" {
			t.Errorf("summary %s (-whole +packed):\n%s", when, diff)
		}
		a, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(packed)
		if err != nil {
			t.Fatal(err)
		}
		if string(a) != string(b) {
			t.Errorf("JSON %s:\nwhole  %s\npacked %s", when, a, b)
		}
	}
	same("when packed")
	for _, h := range []*Histogram{whole, packed} {
		h.Record(42)
	}
	same("after recording")
	packed.Pack()
	other := fill()
	whole.Merge(other)
	other.Pack()
	packed.Merge(other)
	same("after merging")
	packed.Pack()
	whole.Reset()
	packed.Reset()
	same("after a reset")
}

func TestPackingAnEmptyHistogram(t *testing.T) {
	h := NewHistogram()
	h.Pack()
	h.Record(1)
	if h.Count() != 1 || len(h.Bars()) != 1 {
		t.Errorf("%d durations in %d bars", h.Count(), len(h.Bars()))
	}
}

package profile

import (
	"fmt"
	"time"
)

const (
	// SliceLength is the length of a slice. It is a whole second, so that a slice is a sample second.
	SliceLength = time.Second
	// MaxVariants bounds the variants between which a load alternates.
	MaxVariants = 4
)

// Slices are the times at which a load runs that alternates with those of other variants, from a start that all of them have in common. Time
// is cut into slices, of which each belongs to one variant, in balanced order: ABBA, ABCCBA or ABCDDCBA, again and again.
//
// The slices of a variant, one after the other, are its virtual time. A time in another variant's slice is the last nanosecond of the
// own slice before it, so that what outlives a slice belongs to it. That is -1ns before the first slice.
//
// A load with nil slices doesn't alternate: it has all of the time.
type Slices struct {
	// Variant is the number of the variant, from 0. Variants is the number of variants.
	Variant  int `json:"variant"`
	Variants int `json:"variants"`
}

// Check returns an error for slices that cannot be.
func (s *Slices) Check() error {
	if s != nil && (s.Variants < 2 || s.Variants > MaxVariants || s.Variant < 0 || s.Variant >= s.Variants) {
		return fmt.Errorf("variant %d of %d", s.Variant, s.Variants)
	}
	return nil
}

// begun returns the number of own slices that have begun at a time, and reports whether the last one of them is under way.
func (s *Slices) begun(at time.Duration) (slices int64, own bool) {
	if at < 0 {
		return 0, false
	}
	second, first, last := int64(at/SliceLength), int64(s.Variant), int64(2*s.Variants-1-s.Variant)
	slices, second = second/int64(2*s.Variants)*2, second%int64(2*s.Variants)
	if second >= first {
		slices++
	}
	if second >= last {
		slices++
	}
	return slices, second == first || second == last
}

// start returns the start of an own slice, which are counted from 0.
func (s *Slices) start(slice int64) time.Duration {
	in := int64(s.Variant)
	if slice%2 == 1 {
		in = int64(2*s.Variants-1) - in
	}
	return time.Duration(slice/2*int64(2*s.Variants)+in) * SliceLength
}

// Next returns the time itself if it is in an own slice, else the start of the next one.
func (s *Slices) Next(at time.Duration) time.Duration {
	if s == nil {
		return at
	}
	begun, own := s.begun(at)
	if own {
		return at
	}
	return s.start(begun)
}

// End returns the end of the own slice that is under way at a time, or that was the last before it. It returns Never if the load doesn't
// alternate.
func (s *Slices) End(at time.Duration) time.Duration {
	if s == nil {
		return Never
	}
	begun, _ := s.begun(at)
	return s.start(begun-1) + SliceLength
}

// Virtual returns the virtual time. A time before the start is its own.
func (s *Slices) Virtual(at time.Duration) time.Duration {
	if s == nil || at < 0 {
		return at
	}
	begun, own := s.begun(at)
	if own {
		return time.Duration(begun-1)*SliceLength + at%SliceLength
	}
	return time.Duration(begun)*SliceLength - 1
}

// Wall is the inverse of Virtual.
func (s *Slices) Wall(virtual time.Duration) time.Duration {
	if s == nil || virtual < 0 {
		return virtual
	}
	return s.start(int64(virtual/SliceLength)) + virtual%SliceLength
}

// Extent returns the time that a stage takes whose virtual time is given, of any of the variants and at most.
func (s *Slices) Extent(virtual time.Duration) time.Duration {
	if s == nil {
		return virtual
	}
	return time.Duration(s.Variants) * virtual
}

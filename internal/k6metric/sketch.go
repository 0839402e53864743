package k6metric

import (
	"errors"
	"fmt"
	"math"

	"github.com/DataDog/sketches-go/ddsketch/encoding"
)

// maxValues bounds the values of a distribution: up to this number, float64 counts exactly.
const maxValues = 1 << 53

// checkSketch returns the number of values of an encoded sketch, or an error for one that no
// distribution encodes to. It allocates nothing that depends on the sketch.
//
// The library trusts what it decodes. A bin with an index near 2^31 makes it panic, a few bytes make
// it repeat billions of times, and it ignores the errors of stores.
func checkSketch(encoded []byte) (int64, error) {
	c := sketchCheck{rest: encoded, seen: map[encoding.Flag]bool{}}
	for len(c.rest) > 0 {
		if err := c.block(); err != nil {
			return 0, err
		}
	}
	return int64(c.values), nil
}

// sketchCheck is the state of checkSketch.
type sketchCheck struct {
	rest   []byte // what is not read yet
	seen   map[encoding.Flag]bool
	values float64
}

// block checks the next block: the number of zeros, or the bins of a sign.
func (c *sketchCheck) block() error {
	flag, err := encoding.DecodeFlag(&c.rest)
	if err != nil {
		return err
	}
	kind := flag
	switch flag.Type() {
	case encoding.FlagTypePositiveStore, encoding.FlagTypeNegativeStore:
		kind = encoding.NewFlag(flag.Type(), encoding.BinEncodingIndexDeltas)
		err = c.bins(flag.SubFlag())
	default:
		if flag != encoding.FlagZeroCountVarFloat {
			return errors.New("unknown block")
		}
		err = c.count()
	}
	if c.seen[kind] {
		return errors.New("two blocks of a kind")
	}
	c.seen[kind] = true
	return err
}

// count reads a number of values and adds it.
func (c *sketchCheck) count() error {
	n, err := encoding.DecodeVarfloat64(&c.rest)
	if err != nil {
		return err
	}
	if !(n >= 0) || n != math.Trunc(n) || n > maxValues-c.values {
		return fmt.Errorf("%g values in a bin", n)
	}
	c.values += n
	return nil
}

// bins checks the bins of a store. They must be in ascending order and within the range of a store,
// so that the library never collapses any.
func (c *sketchCheck) bins(form encoding.SubFlag) error {
	n, err := encoding.DecodeUvarint64(&c.rest)
	if err != nil {
		return err
	}
	if n > bins || n == 0 {
		return fmt.Errorf("%d bins", n)
	}
	first, err := encoding.DecodeVarint64(&c.rest)
	if err != nil {
		return err
	}
	// Between two bins there is at least 1 and at most the width of a store: no sum overflows.
	at, step := first, int64(0)
	low, high := int64(index().Index(index().MinIndexableValue())), int64(index().Index(index().MaxIndexableValue()))
	switch form {
	case encoding.BinEncodingIndexDeltasAndCounts:
	case encoding.BinEncodingContiguousCounts:
		if step, err = encoding.DecodeVarint64(&c.rest); err != nil {
			return err
		}
	default:
		return errors.New("unknown form of bins")
	}
	for i := range n {
		if i > 0 {
			if form == encoding.BinEncodingIndexDeltasAndCounts {
				if step, err = encoding.DecodeVarint64(&c.rest); err != nil {
					return err
				}
			}
			if step < 1 || step >= bins {
				return fmt.Errorf("a bin %d after another", step)
			}
			at += step
		}
		if at < low || at > high || at-first >= bins {
			return fmt.Errorf("bin %d of a store that begins at bin %d", at, first)
		}
		if err := c.count(); err != nil {
			return err
		}
	}
	return nil
}

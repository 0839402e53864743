package profile

import (
	"math/rand/v2"
	"testing"
	"time"
)

// order returns which variant each second belongs to, as a text, by what the variants themselves say.
func order(t *testing.T, variants, seconds int) string {
	t.Helper()
	var text []byte
	for second := range seconds {
		at, owners := time.Duration(second)*time.Second, 0
		for v := range variants {
			s := &Slices{Variant: v, Variants: variants}
			if s.Next(at) == at {
				owners++
				text = append(text, byte('A'+v))
			}
		}
		if owners != 1 {
			t.Errorf("second %d belongs to %d of %d variants", second, owners, variants)
		}
	}
	return string(text)
}

func TestOrderIsBalanced(t *testing.T) {
	for variants, want := range map[int]string{2: "ABBAABBAABBA", 3: "ABCCBAABCCBA", 4: "ABCDDCBAABCDDCBA"} {
		if got := order(t, variants, len(want)); got != want {
			t.Errorf("%d variants have the order %s, want %s", variants, got, want)
		}
	}
}

// TestVirtualTime compares the formulas with a count of the seconds, at random times.
func TestVirtualTime(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		s := &Slices{Variants: 2 + random.IntN(MaxVariants-1)}
		s.Variant = random.IntN(s.Variants)
		at := time.Duration(random.Int64N(int64(100 * time.Second)))
		if random.IntN(4) == 0 {
			at = at.Truncate(time.Second)
		}
		begun, own := time.Duration(0), false
		for w := time.Duration(0); w <= at; w += time.Second {
			m := int(w/time.Second) % (2 * s.Variants)
			if own = m == s.Variant || m == 2*s.Variants-1-s.Variant; own {
				begun++
			}
		}
		virtual, next := s.Virtual(at), s.Next(at)
		switch {
		case own && (virtual != (begun-1)*time.Second+at%time.Second || next != at || s.Wall(virtual) != at):
			t.Fatalf("%+v at %v: virtual %v, back %v, next %v", s, at, virtual, s.Wall(virtual), next)
		case own && (s.End(at) <= at || s.End(at) > at+time.Second || s.End(at)%time.Second != 0):
			t.Fatalf("%+v at %v: the slice ends at %v", s, at, s.End(at))
		case !own && (virtual != begun*time.Second-1 || next <= at || next%time.Second != 0 || s.Virtual(next) != virtual+1 || s.Next(next) != next):
			t.Fatalf("%+v at %v: virtual %v, next %v, which is virtually %v", s, at, virtual, next, s.Virtual(next))
		case !own && begun > 0 && (s.End(at) > at || s.Virtual(s.End(at)-1) != virtual):
			t.Fatalf("%+v at %v: the last slice ended at %v, virtually %v", s, at, s.End(at), virtual)
		}
		if seconds := at.Truncate(time.Second); s.Wall(seconds-1)+1 > s.Extent(seconds) {
			t.Fatalf("%+v: %v end at %v, after %v", s, seconds, s.Wall(seconds-1)+1, s.Extent(seconds))
		}
	}
}

func TestLoadThatDoesNotAlternate(t *testing.T) {
	var none *Slices
	for _, at := range []time.Duration{-5, 0, 12345678901} {
		if none.Check() != nil || none.Next(at) != at || none.Virtual(at) != at || none.Wall(at) != at || none.Extent(at) != at || none.End(at) != Never {
			t.Errorf("%v is another time", at)
		}
	}
	s := &Slices{Variant: 1, Variants: 2}
	if s.Virtual(-3) != -3 || s.Wall(-3) != -3 || s.Next(-3) != time.Second {
		t.Errorf("before the start: virtual %v, wall %v, next %v", s.Virtual(-3), s.Wall(-3), s.Next(-3))
	}
	for _, wrong := range []Slices{{}, {0, 1}, {2, 2}, {-1, 2}, {0, 5}} {
		if wrong.Check() == nil {
			t.Errorf("%+v is accepted", wrong)
		}
	}
}

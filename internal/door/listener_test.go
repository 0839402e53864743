package door

import (
	"slices"
	"strings"
	"testing"
)

// TestWhoIsClosed opens connections by the names of their addresses, and compares those that are closed for others.
func TestWhoIsClosed(t *testing.T) {
	for name, test := range map[string]struct {
		bounds Bounds
		// opened are addresses; one with a minus in front closes its oldest connection by itself.
		opened, closed string
	}{
		"within the bounds":            {Bounds{4, 2}, "a b a b", ""},
		"too many of an address":       {Bounds{9, 2}, "a b a a a", "a1 a2"},
		"too many of all":              {Bounds{3, 9}, "b a a c", "a1"},
		"as many of each":              {Bounds{3, 9}, "a b c d", "a1"},
		"the kubelet among many":       {Bounds{4, 9}, "k a a a b b b", "a1 a2 b1"},
		"the newest of an address":     {Bounds{3, 3}, "a a a k a a", "a1 a2 a3"},
		"what has ended doesn't count": {Bounds{2, 2}, "a a -a a b", "a2"},
		"no place is lost":             {Bounds{2, 9}, "a b -a -b c d", ""},
	} {
		l := Listen(nil, test.bounds).(*listener)
		numbers := map[string]int{}
		named := map[*conn]string{}
		var closed []string
		for address := range strings.FieldsSeq(test.opened) {
			if host, ends := strings.CutPrefix(address, "-"); ends {
				l.remove(l.open[host][0])
				continue
			}
			numbers[address]++
			c := &conn{listener: l, host: address}
			named[c] = address + string(rune('0'+numbers[address]))
			if oldest := l.add(c); oldest != nil {
				closed = append(closed, named[oldest])
				l.remove(oldest)
				l.remove(oldest) // Close is called again
			}
		}
		if got := strings.Join(closed, " "); got != test.closed {
			t.Errorf("%s: closed %q, want %q", name, got, test.closed)
		}
		open := 0
		for _, own := range l.open {
			if len(own) == 0 || !slices.IsSortedFunc(own, func(a, b *conn) int { return int(a.number) - int(b.number) }) {
				t.Errorf("%s: %d connections of an address", name, len(own))
			}
			open += len(own)
		}
		if l.all != open || open > test.bounds.All {
			t.Errorf("%s: %d connections are counted, %d are there", name, l.all, open)
		}
	}
}

func TestHostOf(t *testing.T) {
	for address, want := range map[string]string{"10.0.0.1:80": "10.0.0.1", "[2001:db8::1]:80": "2001:db8::1", "@": "@"} {
		if got := HostOf(address); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
}

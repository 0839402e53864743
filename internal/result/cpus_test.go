package result

import (
	"strings"
	"testing"

	"k8s.io/utils/cpuset"
)

func TestCPUsParse(t *testing.T) {
	for text, size := range map[string]int{
		"": 0, "\n": 0, "0": 1, "3-5": 3, "0-3,8\n": 5, "1048576": 1, "0-1048576": 1048577,
	} {
		if set, err := ParseCPUs(text); err != nil || set.Size() != size {
			t.Errorf("%q: %d CPUs, %v; want %d", text, set.Size(), err, size)
		}
	}
	for _, text := range []string{
		"0-9999999999", "0-4294967295", "9999999999999999999999", "1048577", "5-3", "1,1", "0-3,2", "8,0", "-1", "1-", "-", ",", "0,,1",
		"a", "0-3-5", "0x1", "+1", "1_0", strings.Repeat("0,", 10_000),
	} {
		if set, err := ParseCPUs(text); err == nil || len(err.Error()) > 200 {
			t.Errorf("%.40q: %d CPUs, %v", text, set.Size(), err)
		}
	}
}

// TestRangesAreNotExpanded counts what a list of a million CPUs allocates.
func TestCPUsRangesAreNotExpanded(t *testing.T) {
	all, err := ParseCPUs("0-1048575")
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(10, func() {
		set, _ := ParseCPUs("0-1048575")
		if !set.Overlaps(all) {
			t.Error("a set doesn't overlap itself")
		}
	}); n > 2 {
		t.Errorf("%g allocations", n)
	}
}

func TestCPUsOverlaps(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"", "", false}, {"0-3", "", false}, {"0-3", "4-7", false}, {"0-3", "3", true}, {"0,2,4", "1,3,5", false}, {"0,2,4-9", "1,3,8", true},
		{"5", "0-10", true}, {"1048576", "0-5", false},
	} {
		a, err := ParseCPUs(test.a)
		b, otherErr := ParseCPUs(test.b)
		if err != nil || otherErr != nil || a.Overlaps(b) != test.want || b.Overlaps(a) != test.want {
			t.Errorf("%s and %s: overlap %t", test.a, test.b, a.Overlaps(b))
		}
	}
}

// FuzzParse compares lists of few CPUs with those that Kubernetes parses.
func FuzzCPUsParse(f *testing.F) {
	for _, seed := range []string{"", "0", "0-3,8", "0-9999999999", "5-3", "1,1", "0,,", "-", "1-2-3"} {
		f.Add(seed, "2-4")
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		a, err := ParseCPUs(one)
		b, otherErr := ParseCPUs(other)
		if err != nil || otherErr != nil || a.Size()+b.Size() > 10_000 {
			return
		}
		wantA, err := cpuset.Parse(strings.TrimSpace(one))
		wantB, otherErr := cpuset.Parse(strings.TrimSpace(other))
		if err != nil || otherErr != nil {
			t.Fatalf("%q and %q: %v, %v", one, other, err, otherErr)
		}
		if a.Size() != wantA.Size() || a.Overlaps(b) == wantA.Intersection(wantB).IsEmpty() {
			t.Errorf("%q and %q: %d CPUs, overlap %t", one, other, a.Size(), a.Overlaps(b))
		}
	})
}

// TestWithout compares differences of lists with those of Kubernetes.
func TestCPUsWithout(t *testing.T) {
	lists := []string{"", "0", "3", "0-9", "1,5", "1-2,5-6", "0,2,4-9", "2-3,7", "5-20"}
	for _, a := range lists {
		for _, b := range lists {
			own, err := ParseCPUs(a)
			other, otherErr := ParseCPUs(b)
			if err != nil || otherErr != nil {
				t.Fatal(err, otherErr)
			}
			want := cpuset.New()
			for cpu := range 32 {
				if own.Contains(cpu) && !other.Contains(cpu) {
					want = want.Union(cpuset.New(cpu))
				}
			}
			rest := own.Without(other)
			got := cpuset.New()
			for cpu := range 32 {
				if rest.Contains(cpu) {
					got = got.Union(cpuset.New(cpu))
				}
			}
			if !got.Equals(want) || rest.Size() != want.Size() || rest.Overlaps(other) {
				t.Errorf("%q without %q: %v, want %s", a, b, rest, want)
			}
		}
	}
}

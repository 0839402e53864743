package memory_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/assay-dev/assay/internal/memory"
)

func TestHold(t *testing.T) {
	a := memory.New(100)
	one, two := memory.Owner{Namespace: "a", UID: "1"}, memory.Owner{Namespace: "a", UID: "2"}
	other := memory.Owner{Namespace: "b", UID: "3"}
	for i, step := range []struct {
		owner memory.Owner
		kind  memory.Kind
		bytes int64
		used  int64 // afterwards
		full  string
		wait  bool
	}{
		{one, memory.Totals, 30, 30, "", false},
		{one, memory.Totals, 40, 40, "", false},
		{two, memory.Totals, 10, 50, "", false},
		{two, memory.Inputs, 1, 50, "for 0.0 MiB of inputs", true}, // the namespace would have more than half
		{one, memory.Series, 1, 50, "for 0.0 MiB of seconds", false},
		{other, memory.Totals, 26, 50, "for 0.0 MiB of totals", false},
		{other, memory.Totals, 25, 75, "", false},
		{other, memory.Totals, 0, 50, "", false},
		{other, memory.Totals, 1 << 62, 50, "memory left", false},
		{one, memory.Totals, 5, 15, "", false},
		{two, memory.Inputs, 1, 16, "", false},
	} {
		err := a.Hold(step.owner, step.kind, step.bytes)
		full := (*memory.FullError)(nil)
		if errors.As(err, &full) != (step.full != "") || full != nil && (!strings.Contains(err.Error(), step.full) || full.Wait != step.wait || !errors.Is(err, memory.ErrFull)) {
			t.Errorf("step %d: %v", i, err)
		}
		if a.Used() != step.used {
			t.Errorf("step %d: %d bytes are held, want %d", i, a.Used(), step.used)
		}
	}
	if a.Free(one); a.Used() != 11 {
		t.Errorf("%d bytes are held", a.Used())
	}
	if a.Free(two); a.Used() != 0 {
		t.Errorf("%d bytes are held at the end", a.Used())
	}
}

// TestEachNamespaceGetsSomething has namespaces take all that they may, one after the other.
func TestEachNamespaceGetsSomething(t *testing.T) {
	const limit, chunk = 1 << 28, 1 << 10
	a := memory.New(limit)
	for n := range 8 {
		held := int64(0)
		for o := (memory.Owner{Namespace: fmt.Sprint(n), UID: "run"}); a.Hold(o, memory.Totals, held+chunk) == nil; {
			held += chunk
		}
		if want := int64(limit >> (n + 1)); held < want-chunk || held > want {
			t.Errorf("namespace %d holds %d bytes, want %d", n, held, want)
		}
	}
}

// TestConcurrentOwners checks that the sum is never above the limit, and that everything is given back.
func TestConcurrentOwners(t *testing.T) {
	const limit = 10_000
	a := memory.New(limit)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			o := memory.Owner{Namespace: fmt.Sprint(i % 5), UID: fmt.Sprint(i)}
			for range 1000 {
				kind := []memory.Kind{memory.Totals, memory.Inputs, memory.Artifact}[random.IntN(3)]
				_ = a.Hold(o, kind, random.Int64N(limit))
				if used := a.Used(); used < 0 || used > limit {
					t.Errorf("%d bytes are held", used)
				}
				if random.IntN(10) == 0 {
					a.Free(o)
				}
			}
			a.Free(o)
		})
	}
	all.Wait()
	if a.Used() != 0 {
		t.Errorf("%d bytes are left", a.Used())
	}
}

// Package memory accounts for what users and their pods make the manager hold, over all runs and namespaces: beside
// GOMEMLIMIT, which only makes the garbage collector work harder. What can be read again should not be held, and what
// nobody asked for be refused without asking here.
//
// A namespace may hold as much as it leaves free to all others: half of what the others don't hold. However many
// namespaces take all that they may, the next one gets something.
package memory

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
)

// Kind names the use of bytes, as users read it.
type Kind string

// The kinds.
const (
	Inputs        Kind = "inputs"
	Totals        Kind = "totals of clients"
	ScriptMetrics Kind = "metrics of scripts"
	SetupData     Kind = "data of setup()"
	Summary       Kind = "summaries of scripts"
	Series        Kind = "seconds of measurements"
	Artifact      Kind = "results"
	Rounds        Kind = "runs of rounds"
)

// defaultLimit is the limit of an account of a process without GOMEMLIMIT.
const defaultLimit = 256 << 20

// Owner identifies the run or the Benchmark that bytes are held for.
type Owner struct{ Namespace, UID string }

// Account is the sum of what all owners hold. It is safe for concurrent use. A nil account has room for everything.
type Account struct {
	mu     sync.Mutex
	limit  int64
	used   int64
	owners map[Owner]*holding
}

// holding counts the bytes of an owner.
type holding struct {
	kinds map[Kind]int64
	sum   int64
}

// New returns an account of at most limit bytes.
func New(limit int64) *Account {
	return &Account{limit: limit, owners: map[Owner]*holding{}}
}

// NewForProcess returns an account of two fifths of GOMEMLIMIT. The rest is for what is held while messages are decoded,
// for caches of the manager's own objects and for garbage.
func NewForProcess() *Account {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return New(defaultLimit)
	}
	return New(limit / 5 * 2)
}

// ErrFull is wrapped by each error of Hold.
var ErrFull = errors.New("the manager has no memory left")

// FullError says for users why bytes can't be held.
type FullError struct {
	Kind Kind
	// Bytes can't be held in addition to Namespace, which those of the owner's namespace hold, and Used, which all do.
	Bytes, Namespace, Used, Limit int64
	// Wait reports whether another owner of the namespace holds more, so that this one should wait for it. The owner that
	// holds most must give up: others wait for it.
	Wait bool
}

// Error implements error.
func (e *FullError) Error() string {
	const mebibyte = 1 << 20
	return fmt.Sprintf("%s for %.1f MiB of %s: the namespace holds %.1f MiB, all namespaces %.1f MiB of %.0f MiB; run fewer clients, or fewer runs at a time",
		ErrFull, float64(e.Bytes)/mebibyte, e.Kind, float64(e.Namespace)/mebibyte, float64(e.Used)/mebibyte, float64(e.Limit)/mebibyte)
}

// Unwrap returns ErrFull.
func (e *FullError) Unwrap() error { return ErrFull }

// Hold sets how many bytes, from 0 on, an owner holds of a kind. The error is a *FullError, and then nothing has changed. Fewer bytes
// than before are always accepted.
func (a *Account) Hold(o Owner, kind Kind, bytes int64) error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	h := a.owners[o]
	if h == nil {
		h = &holding{kinds: map[Kind]int64{}}
	}
	more := bytes - h.kinds[kind]
	if more > 0 {
		if err := a.check(o, h, kind, more); err != nil {
			return err
		}
	}
	h.kinds[kind] = bytes
	h.sum += more
	a.used += more
	if a.owners[o] = h; h.sum == 0 {
		delete(a.owners, o)
	}
	return nil
}

// check returns an error if an owner can't hold more bytes.
func (a *Account) check(o Owner, h *holding, kind Kind, more int64) error {
	namespace, largest := int64(0), int64(0)
	for other, held := range a.owners {
		if other.Namespace != o.Namespace {
			continue
		}
		namespace += held.sum
		if other != o {
			largest = max(largest, held.sum)
		}
	}
	if free := a.limit - a.used - more; more <= a.limit && namespace+more <= free {
		return nil
	}
	return &FullError{Kind: kind, Bytes: more, Namespace: namespace, Used: a.used, Limit: a.limit, Wait: largest > h.sum+more}
}

// Free gives back all that an owner holds, of every kind and whoever accounts for it.
func (a *Account) Free(o Owner) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if h := a.owners[o]; h != nil {
		a.used -= h.sum
		delete(a.owners, o)
	}
}

// Used returns how many bytes all owners hold.
func (a *Account) Used() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.used
}

package benchmark

import (
	"errors"
	"time"
)

// What a Benchmark needs may be any number of requests: 768 dry runs, the results of 25,600 runs, as many deletions. A
// reconciliation makes a part of them, keeps what it has learned, and asks for another. Others have their turn in between.
const (
	// checksAtOnce, readsAtOnce and deletionsAtOnce are the numbers of dry runs, of runs that are read, and of objects that are
	// deleted.
	checksAtOnce    = 8
	readsAtOnce     = 8
	deletionsAtOnce = 50
	// pageSize is the number of objects of a list, each of which may have a megabyte.
	pageSize = 20
	// partDelay is the time until the next part.
	partDelay = 10 * time.Millisecond
)

// errPart reports that a part is done, and that another reconciliation goes on.
var errPart = errors.New("the rest follows")

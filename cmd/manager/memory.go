package main

import (
	"os"
	"runtime/debug"
	"strconv"
)

// memoryLimitVariable holds the memory limit of the manager's container, in bytes.
const memoryLimitVariable = "MEMORY_LIMIT"

// gcPercent lets the heap grow by an eighth of what is live before it is collected; Go's default is by as
// much as is live. The totals of 1,000 clients arrive within a second.
const gcPercent = 12

// limitMemory makes Go collect garbage more often before the container's memory limit is reached. A
// quarter of it is left for what Go doesn't count, of which the program's own pages are about 50 MiB, and
// for what is allocated during a collection. GOGC and GOMEMLIMIT take precedence.
func limitMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if limit := memoryLimit(os.Getenv); limit > 0 {
		debug.SetMemoryLimit(limit)
	}
}

// memoryLimit returns the limit in bytes for Go's runtime, or 0 for none.
func memoryLimit(getenv func(string) string) int64 {
	if getenv("GOMEMLIMIT") != "" {
		return 0 // Go has read it
	}
	limit, err := strconv.ParseInt(getenv(memoryLimitVariable), 10, 64)
	if err != nil || limit <= 0 {
		return 0
	}
	return limit / 4 * 3
}

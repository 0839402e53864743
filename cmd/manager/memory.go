package main

import (
	"context"
	"os"
	"runtime/debug"
	"strconv"
	"time"
)

// memoryLimitVariable holds the memory limit of the manager's container, in bytes.
const memoryLimitVariable = "MEMORY_LIMIT"

// gcPercent lets the heap grow by an eighth of what is live before it is collected; Go's default is by as
// much as is live. The totals of 1,000 clients arrive within a second.
const gcPercent = 12

// startGCPercent is that of a manager that starts, until startTime after it leads: with 10,000 finished runs half of its CPU time would be
// that of collections.
const (
	startGCPercent = 25
	startTime      = time.Minute
)

// limitMemory makes Go collect garbage by a percentage of what is live, and more often before the container's memory limit is reached. A
// quarter of it is left for what Go doesn't count, of which the program's own pages are about 50 MiB, and
// for what is allocated during a collection. GOGC and GOMEMLIMIT take precedence.
func limitMemory(percent int) {
	setGCPercent(percent)
	if limit := memoryLimit(os.Getenv); limit > 0 {
		debug.SetMemoryLimit(limit)
	}
}

func setGCPercent(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// collectOften is a manager.Runnable that ends the start of a manager that leads.
func collectOften(ctx context.Context) error {
	select {
	case <-time.After(startTime):
	case <-ctx.Done():
	}
	setGCPercent(gcPercent)
	return nil
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

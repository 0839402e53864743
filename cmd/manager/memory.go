package main

import (
	"os"
	"runtime/debug"
	"strconv"
)

// memoryLimitVariable holds the memory limit of the manager's container, in bytes.
const memoryLimitVariable = "MEMORY_LIMIT"

// limitMemory makes Go collect garbage more often before the container's memory limit is reached. A
// tenth of it is left for what Go doesn't count. GOMEMLIMIT takes precedence.
func limitMemory() {
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
	return limit / 10 * 9
}

package client

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"

	"github.com/assay-dev/assay/internal/session"
)

const (
	// CPULimitVariable is the environment variable with the container's CPU limit
	// in thousandths of a CPU.
	CPULimitVariable = "ASSAY_CPU_LIMIT_MILLIS"
	// MemoryLimitVariable is that with its memory limit in bytes.
	MemoryLimitVariable = "ASSAY_MEMORY_LIMIT_BYTES"
)

// KeepWithinLimits has the Go runtime use as many threads at once as the CPU
// limit covers and stay below the memory limit. What the environment sets by
// Go's own variables stands, as does Go's choice where no limit is known.
//
// Go by itself reads the limit from the control group, of version 1 or 2, and
// takes it rounded up, but two threads at least, unless the CPUs that the process
// may run on are fewer (runtime.GOMAXPROCS). With a limit of one CPU that isn't
// the client's own, two threads would use up the quota in half of each period, and
// everything would stand still in the other half. Of memory limits Go reads none.
func KeepWithinLimits() error {
	millis, err := limit(CPULimitVariable)
	if err != nil {
		return err
	}
	if millis > 0 && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(int(min((millis+999)/1000, int64(runtime.NumCPU()))))
	}
	memory, err := limit(MemoryLimitVariable)
	if err != nil {
		return err
	}
	if memory > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memory / 10 * 9)
	}
	return nil
}

// heapGrowth is by how many percent the heap grows until garbage is collected,
// half of Go's own choice.
const heapGrowth = 50

// collectEarly has garbage collected early, unless the environment says when:
// under load little is allocated, so that collecting seldom saves nothing, and
// has memory grow for minutes. A plan whose requests each have a TLS handshake
// makes so much of it that Go's choice stands.
func collectEarly(plan *session.Plan) {
	if os.Getenv("GOGC") == "" && (plan.TLS == nil || plan.KeepAlive) {
		debug.SetGCPercent(heapGrowth)
	}
}

// Limits are the Go runtime's own variables by which another process of Go's
// keeps within the same limits.
func Limits() map[string]string {
	limits := map[string]string{"GOMAXPROCS": strconv.Itoa(runtime.GOMAXPROCS(0))}
	if memory := debug.SetMemoryLimit(-1); memory < math.MaxInt64 {
		limits["GOMEMLIMIT"] = strconv.FormatInt(memory, 10)
	}
	return limits
}

// limit reads a limit; 0 when it isn't set.
func limit(variable string) (int64, error) {
	text := os.Getenv(variable)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("the environment variable %s is %q, not a number", variable, text)
	}
	return n, nil
}

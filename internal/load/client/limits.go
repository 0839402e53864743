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
	// CPULimitVariable is the environment variable that holds the container's CPU
	// limit in thousandths of a CPU.
	CPULimitVariable = "ASSAY_CPU_LIMIT_MILLIS"
	// MemoryLimitVariable is the environment variable that holds the container's
	// memory limit in bytes.
	MemoryLimitVariable = "ASSAY_MEMORY_LIMIT_BYTES"
)

// ApplyLimits sets Go's GOMAXPROCS to the container's CPU limit, rounded up, and Go's memory limit
// to 90% of the container's. It leaves a setting alone if Go's own environment variable sets it or
// if no limit is known.
//
// Go itself reads the CPU limit from the control group (version 1 or 2) and rounds it up too, but
// to at least 2 unless the process may run on a single CPU (see runtime.GOMAXPROCS). With a limit
// of one CPU that is not exclusive, two threads would use up the quota in the first half of each
// period, and the client would be throttled in the second half. Go reads no memory limit.
func ApplyLimits() error {
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

const (
	// gcPercent is the GOGC value of a client. Go's default is 100.
	gcPercent = 50
	// handshakeGCPercent is that of a client which makes a TLS handshake for each request, if it has at most
	// fewConnections.
	handshakeGCPercent = 400
	fewConnections     = 200
)

// setGCPercent sets the garbage collector's target percentage, unless the environment
// variable GOGC is set. A load allocates little: with Go's default, memory would grow for minutes
// and no CPU time would be saved. TLS handshakes allocate so much that collecting less often saves 4% of
// their CPU time, for 15 MiB with 25 connections. With many connections, Go's default is kept.
func setGCPercent(plan *session.Plan) {
	switch {
	case os.Getenv("GOGC") != "":
	case plan.TLS == nil || plan.KeepAlive:
		debug.SetGCPercent(gcPercent)
	case plan.Connections <= fewConnections:
		debug.SetGCPercent(handshakeGCPercent)
	}
}

// LimitVariables returns the environment variables of the Go runtime that set
// this process's limits in another process.
func LimitVariables() map[string]string {
	limits := map[string]string{"GOMAXPROCS": strconv.Itoa(runtime.GOMAXPROCS(0))}
	if memory := debug.SetMemoryLimit(-1); memory < math.MaxInt64 {
		limits["GOMEMLIMIT"] = strconv.FormatInt(memory, 10)
	}
	return limits
}

// limit returns the limit in an environment variable, or 0 if it isn't set.
func limit(variable string) (int64, error) {
	text := os.Getenv(variable)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("environment variable %s: %q must be a non-negative whole number", variable, text)
	}
	return n, nil
}

package validity

import (
	"fmt"
	"strconv"

	"github.com/assay-dev/assay/internal/result"
)

// The reasons of findings, which are also those of the condition Valid.
const (
	ReasonNothingSucceeded = "NothingSucceeded"
	ReasonErrorsDominate   = "ErrorsDominate"
	ReasonClientSaturated  = "ClientSaturated"
	ReasonClientThrottled  = "ClientThrottled"
	ReasonClientStalls     = "ClientStalls"
	ReasonStartSkew        = "StartSkew"
	ReasonClientsUneven    = "ClientsUneven"
	ReasonClockUncertain   = "ClockUncertain"
	ReasonRateNotAchieved  = "RateNotAchieved"
	ReasonStartsLate       = "StartsLate"
	ReasonTooShort         = "TooShort"
	// Those of k6 scripts.
	ReasonNoRequests         = "NoRequests"
	ReasonScriptMarkedFailed = "ScriptMarkedFailed"
	ReasonLoadEndedEarly     = "LoadEndedEarly"
	ReasonIterationsDropped  = "IterationsDropped"
	ReasonTeardownFailed     = "TeardownFailed"
	ReasonMetricsOmitted     = "MetricsOmitted"

	ReasonNoWarmup           = "NoWarmup"
	ReasonWarmupNotSteady    = "WarmupNotSteady"
	ReasonTargetUnverified   = "TargetUnverified"
	ReasonTargetUsageUnknown = "TargetUsageUnknown"
	ReasonTargetCPUShared    = "TargetCPUShared"
	ReasonTargetThrottled    = "TargetThrottled"
	ReasonLatencyClamped     = "LatencyClamped"
)

// found returns a finding. Its message says what happened, the evidence, and what
// to do: a sentence each.
func found(reason string, severity result.Severity, format string, args ...any) *result.Finding {
	return &result.Finding{Reason: reason, Severity: severity, Message: fmt.Sprintf(format, args...)}
}

// milliseconds formats a duration in microseconds as milliseconds, without loss: "12.345ms".
func milliseconds(microseconds int64) string {
	return strconv.FormatFloat(float64(microseconds)/1000, 'f', -1, 64) + "ms"
}

// seconds formats a duration in microseconds as seconds: "12.346s".
func seconds(microseconds int64) string {
	return strconv.FormatFloat(float64(microseconds)/1e6, 'f', 3, 64) + "s"
}

package validity

import (
	"fmt"
	"strconv"

	"github.com/assay-dev/assay/internal/result"
)

// The reasons of findings, as they also stand in the condition Valid.
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
	// Of k6 scripts.
	ReasonNoRequests         = "NoRequests"
	ReasonScriptMarkedFailed = "ScriptMarkedFailed"
	ReasonLoadEndedEarly     = "LoadEndedEarly"
	ReasonIterationsDropped  = "IterationsDropped"
	ReasonTeardownFailed     = "TeardownFailed"
	ReasonMetricsLeftOut     = "MetricsLeftOut"

	ReasonNoWarmup        = "NoWarmup"
	ReasonWarmupNotSteady = "WarmupNotSteady"
	ReasonTargetUnproven  = "TargetUnproven"
	ReasonTargetUnseen    = "TargetUnseen"
	ReasonTargetCPUShared = "TargetCPUShared"
	ReasonTargetThrottled = "TargetThrottled"
	ReasonLatencyClamped  = "LatencyClamped"
)

func invalidates(reason, format string, args ...any) *result.Finding {
	return &result.Finding{Reason: reason, Severity: result.Invalidates, Message: fmt.Sprintf(format, args...)}
}

func warns(reason, format string, args ...any) *result.Finding {
	return &result.Finding{Reason: reason, Severity: result.Warns, Message: fmt.Sprintf(format, args...)}
}

// milliseconds writes a duration in microseconds as milliseconds, without a
// loss: "12.345 ms".
func milliseconds(microseconds int64) string {
	return strconv.FormatFloat(float64(microseconds)/1000, 'f', -1, 64) + " ms"
}

// seconds writes a duration in microseconds as seconds: "12.346 s".
func seconds(microseconds int64) string {
	return strconv.FormatFloat(float64(microseconds)/1e6, 'f', 3, 64) + " s"
}

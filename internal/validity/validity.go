// Package validity judges results: it has the rules that find reasons to distrust a result, and
// compares results with thresholds. All of it is pure and independent of Kubernetes.
package validity

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
)

// rule checks one property of a result and returns a reason to distrust it, or nil.
type rule func(*result.Result) *result.Finding

// rules holds all rules, in the order of findings with the same severity.
var rules = []rule{
	nothingSucceeded,
	errorsDominate,
	requestsUnanswered,
	scriptFailed,
	iterationsFailed,
	targetUnverified,
	containerInjected,
	podChanged,
	serverExited,
	clientLimited,
	clientSaturated,
	clientThrottled,
	clientStalls,
	startSkew,
	clientsUneven,
	clockUncertain,
	clockStepped,
	rateNotAchieved,
	iterationsDropped,
	startsLate,
	tooShort,
	tooFewSamples,
	fewRequestsForGC,
	noWarmup,
	warmupNotSteady,
	targetUsageUnknown,
	targetCPUShared,
	sharedCore,
	targetThrottled,
	waitingVariantBusy,
	nodeBusy,
	serverLogErrors,
	latencyClamped,
	teardownFailed,
	summaryFailed,
	metricsOmitted,
	foreignTool,
}

// declaredRules are those that also depend on what the run declares, in the order of their findings after
// the others.
var declaredRules = []func(*result.Result, Declared) *result.Finding{
	overloaded,
	notSteady,
	targetNotBusy,
	concurrencyOverLimit,
	acceptQueueOverflow,
	keepAliveLimitReached,
	networkLimited,
	settingsNotInEffect,
	sharedNode,
}

// Declared holds declarations of a run that its result doesn't have.
type Declared struct {
	// Concurrency is the number of requests that the server which clients talk to processes at a time,
	// Streams that of an HTTP/2 connection, Connections the number of connections that it serves at a time,
	// KeepAlive the number of requests on a connection, and Backlog the length of the accept queue that the
	// run sets.
	Concurrency, Streams, Connections, KeepAlive, Backlog Limit
	// Link limits what the target's network carries, by the annotations of its pod.
	Link Link
	// RampMicroseconds is the time from the start in which a load without levels changes.
	RampMicroseconds int64
	// TLSResumption reports whether new connections are to resume TLS sessions.
	TLSResumption bool
	// ThinkTime reports whether connections wait between two requests.
	ThinkTime bool
	// Placement is the placement of clients relative to the target's node that the run asks for:
	// PlacementApart, PlacementTogether or, for neither, anything else.
	Placement string
}

// Limit is the value of a setting of the server, such as maxThreads. The value is 0 if it is unknown or there is
// no limit, and -1 if it is set to no limit.
type Limit struct {
	Setting string
	Value   int64
}

// Link is the bandwidth of a network from and to the target in bit/s; 0 if that is unknown.
type Link struct {
	Sent, Received int64
}

// Judge returns the reasons to distrust a result: first those that invalidate it, then those that only
// warn. It ignores the result's own Findings.
func Judge(r *result.Result, d Declared) []result.Finding {
	var findings []result.Finding
	add := func(f *result.Finding) {
		if f != nil {
			findings = append(findings, *f)
		}
	}
	for _, check := range rules {
		add(check(r))
	}
	for _, check := range declaredRules {
		add(check(r, d))
	}
	sortFindings(findings)
	return findings
}

// Accept changes the severity of findings with one of the reasons to result.Accepted, and moves them to the
// end.
func Accept(findings []result.Finding, reasons []string) {
	for i := range findings {
		if slices.Contains(reasons, findings[i].Reason) {
			findings[i].Severity = result.Accepted
		}
	}
	sortFindings(findings)
}

func sortFindings(findings []result.Finding) {
	order := []result.Severity{result.Invalidates, result.Warns, result.Accepted}
	slices.SortStableFunc(findings, func(a, b result.Finding) int {
		return cmp.Compare(slices.Index(order, a.Severity), slices.Index(order, b.Severity))
	})
}

// Valid reports whether none of the findings invalidates the result.
func Valid(findings []result.Finding) bool {
	return !slices.ContainsFunc(findings, func(f result.Finding) bool {
		return f.Severity == result.Invalidates
	})
}

// The reasons of findings, which are also those of the condition Valid.
const (
	ReasonNothingSucceeded = "NothingSucceeded"
	ReasonErrorsDominate   = "ErrorsDominate"

	ReasonRequestsUnanswered = "RequestsUnanswered"

	ReasonClientLimited    = "ClientLimited"
	ReasonClientSaturated  = "ClientSaturated"
	ReasonClientThrottled  = "ClientThrottled"
	ReasonClientStalls     = "ClientStalls"
	ReasonStartSkew        = "StartSkew"
	ReasonClientsUneven    = "ClientsUneven"
	ReasonClockUncertain   = "ClockUncertain"
	ReasonClockStepped     = "ClockStepped"
	ReasonNotKeepingUp     = "NotKeepingUp"
	ReasonRateNotAchieved  = "RateNotAchieved"
	ReasonStartsLate       = "StartsLate"
	ReasonTooShort         = "TooShort"
	ReasonTooFewSamples    = "TooFewSamples"
	ReasonFewRequestsForGC = "FewRequestsForGC"
	// Those of k6 scripts.
	ReasonNoRequests         = "NoRequests"
	ReasonScriptMarkedFailed = "ScriptMarkedFailed"
	ReasonIterationsDropped  = "IterationsDropped"
	ReasonIterationsFailed   = "IterationsFailed"
	ReasonTeardownFailed     = "TeardownFailed"
	ReasonSummaryFailed      = "SummaryFailed"
	ReasonMetricsOmitted     = "MetricsOmitted"

	// ReasonForeignTool: another load generator than Assay's own.
	ReasonForeignTool = "ForeignTool"

	ReasonNoWarmup         = "NoWarmup"
	ReasonWarmupNotSteady  = "WarmupNotSteady"
	ReasonNotSteady        = "NotSteady"
	ReasonTargetUnverified = "TargetUnverified"
	ReasonServerExited     = "ServerExited"
	// Those of what the cluster changed in pods.
	ReasonContainerInjected = "ContainerInjected"
	ReasonPodChanged        = "PodChanged"

	ReasonTargetUsageUnknown = "TargetUsageUnknown"
	ReasonTargetCPUShared    = "TargetCPUShared"
	ReasonSharedCore         = "SharedCore"
	ReasonSharedNode         = "SharedNode"
	ReasonTargetThrottled    = "TargetThrottled"
	ReasonWaitingVariantBusy = "WaitingVariantBusy"
	ReasonTargetNotBusy      = "TargetNotBusy"
	ReasonConcurrencyLimited = "ConcurrencyLimited"
	ReasonLatencyClamped     = "LatencyClamped"
	// Those of what happened around target and clients.
	ReasonNodeBusy            = "NodeBusy"
	ReasonAcceptQueueOverflow = "AcceptQueueOverflow"
	ReasonNetworkLimited      = "NetworkLimited"

	ReasonKeepAliveLimitReached = "KeepAliveLimitReached"
	ReasonServerLogErrors       = "ServerLogErrors"
	ReasonSettingsNotInEffect   = "SettingsNotInEffect"
)

// found returns a finding. Its message says what happened, the evidence, and what
// to do: a sentence each.
func found(reason string, severity result.Severity, format string, args ...any) *result.Finding {
	return &result.Finding{Reason: reason, Severity: severity, Message: fmt.Sprintf(format, args...)}
}

// ofClients returns a number of the clients: "1 of 1 client", "1 of 2 clients".
func ofClients(n int, r *result.Result) string {
	return fmt.Sprintf("%d of %s", n, number.Plural(len(r.Clients), "client"))
}

// happened notes in which seconds of the measurement a finding happened. That from 0 to 0 is its start.
func happened(f *result.Finding, from, to int64) *result.Finding {
	f.Seconds = &result.Span{From: from, To: to}
	return f
}

// milliseconds formats a duration in microseconds as milliseconds, without loss: "12.345ms".
func milliseconds(microseconds int64) string {
	return strconv.FormatFloat(float64(microseconds)/1000, 'f', -1, 64) + "ms"
}

// seconds formats a duration in microseconds as seconds: "12.346s".
func seconds(microseconds int64) string {
	return strconv.FormatFloat(float64(microseconds)/1e6, 'f', 3, 64) + "s"
}

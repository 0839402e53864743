package v1alpha1

// FindingReason is the reason of a finding: of what a rule has against a result. docs/validity.md explains each.
//
// +kubebuilder:validation:Enum=NothingSucceeded;ErrorsDominate;RequestsUnanswered;ClientLimited;ClientSaturated;ClientThrottled;ClientStalls;StartSkew;ClientsUneven;ClockUncertain;ClockStepped;NotKeepingUp;RateNotAchieved;StartsLate;TooShort;TooFewSamples;FewRequestsForGC;NoWarmup;WarmupNotSteady;NotSteady;LatencyClamped;TargetUnverified;ServerExited;ContainerInjected;PodChanged;TargetUsageUnknown;TargetCPUShared;SharedCore;SharedNode;TargetThrottled;TargetNotBusy;ConcurrencyLimited;NodeBusy;AcceptQueueOverflow;NetworkLimited;KeepAliveLimitReached;ServerLogErrors;SettingsNotInEffect;NoRequests;ScriptMarkedFailed;IterationsDropped;IterationsFailed;TeardownFailed;SummaryFailed;MetricsOmitted;ForeignTool
type FindingReason string

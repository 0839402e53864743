package v1alpha1

// Types of the conditions of a BenchmarkRun. A Benchmark has Finished, Succeeded, Reconciling and Stalled.
const (
	// ConditionAdmitted is True while the run holds its lane, and stays True when it has finished.
	ConditionAdmitted = "Admitted"
	// ConditionTargetReady is True from when the target first answered with success.
	ConditionTargetReady = "TargetReady"
	// ConditionClientsReady is True from when all clients reported ready.
	ConditionClientsReady = "ClientsReady"
	// ConditionFinished is True in every terminal state.
	ConditionFinished = "Finished"
	// ConditionSucceeded is Unknown while the run is active, its reason being the state; True when
	// the measurement was completed and its result stored; False when the run ended without a
	// result, with the cause as reason.
	ConditionSucceeded = "Succeeded"
	// ConditionValid says whether the result can be trusted. Its message lists the findings.
	ConditionValid = "Valid"
	// ConditionReconciling and ConditionStalled say how far the run is in the terms of
	// kstatus, which Flux, Helm and others wait by. Reconciling is True while the run
	// is active. Stalled is True when it has finished with another verdict than Passed.
	ConditionReconciling = "Reconciling"
	ConditionStalled     = "Stalled"
	// ConditionThresholdsMet says whether every threshold was met. It is Unknown when the result is
	// not valid, and omitted when the run has no thresholds.
	ConditionThresholdsMet = "ThresholdsMet"
	// ConditionArchived says whether the full result is in a bucket. It is omitted if the namespace has none.
	ConditionArchived = "Archived"
)

// RetryPrefix precedes the error of the operator's last step, if it is tried again, in the message of Reconciling and,
// until Finished is True, in that of Succeeded.
const RetryPrefix = "Retrying: "

// Reasons of Succeeded while it is Unknown: the states of an active run.
const (
	// ReasonQueued: the run waits for its lane.
	ReasonQueued = "Queued"
	// ReasonNamespaceFull: the run waits until its namespace may have another active run. It is a reason of Admitted only.
	ReasonNamespaceFull = "NamespaceFull"
	// ReasonSuspended: spec.suspend keeps the run from starting.
	ReasonSuspended = "Suspended"
	// ReasonStarting: target and clients are being started.
	ReasonStarting = "Starting"
	// ReasonWarmingUp: the clients send load that isn't measured.
	ReasonWarmingUp = "WarmingUp"
	// ReasonSettingUp: the script's setup() runs.
	ReasonSettingUp = "SettingUp"
	// ReasonMeasuring: the clients send load that is measured.
	ReasonMeasuring = "Measuring"
	// ReasonTearingDown: the script's teardown() runs.
	ReasonTearingDown = "TearingDown"
	// ReasonCollecting: the measurement is over, its result is being stored.
	ReasonCollecting = "Collecting"
)

// ReasonCompleted is the reason of Succeeded when it is True: the measurement was completed and its
// result is stored.
const ReasonCompleted = "Completed"

// Reasons of Succeeded when it is False. The condition's message says what was seen and what to do.
const (
	// ReasonInvalidSpec: something in the spec can't work, although the API server took it.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonDeadlineExceeded: activeDeadlineSeconds passed.
	ReasonDeadlineExceeded = "DeadlineExceeded"
	// ReasonBlockIncomplete: another run of the block ended before the load began, or was never created.
	ReasonBlockIncomplete = "BlockIncomplete"
	// ReasonConfigurationMissing: a ConfigMap, Secret or claim that the spec names
	// isn't there, or lacks a key.
	ReasonConfigurationMissing = "ConfigurationMissing"
	// ReasonCertificateNotReady: a certificate wasn't issued in time.
	ReasonCertificateNotReady = "CertificateNotReady"
	// ReasonCertManagerMissing: the spec has an issuerRef, but the cluster has no cert-manager.
	ReasonCertManagerMissing = "CertManagerMissing"
	// ReasonTargetImageUnavailable: the target's image can't be pulled.
	ReasonTargetImageUnavailable = "TargetImageUnavailable"
	// ReasonTargetUnschedulable: the target's pod could not be scheduled.
	ReasonTargetUnschedulable = "TargetUnschedulable"
	// ReasonTargetNotStarted: the target's container couldn't be started, or a
	// volume of it not mounted.
	ReasonTargetNotStarted = "TargetNotStarted"
	// ReasonTargetNotReady: the target didn't become ready in time.
	ReasonTargetNotReady = "TargetNotReady"
	// ReasonTargetCrashed: the server exited.
	ReasonTargetCrashed = "TargetCrashed"
	// ReasonTargetUnsupported: the version of the server in the image doesn't support what the spec
	// declares.
	ReasonTargetUnsupported = "TargetUnsupported"
	// ReasonTargetMismatch: the server reports other settings than declared.
	ReasonTargetMismatch = "TargetMismatch"
	// ReasonTargetLost: the target's pod was deleted, or its agent disconnected.
	ReasonTargetLost = "TargetLost"
	// ReasonTargetEvicted: the cluster evicted the target's pod.
	ReasonTargetEvicted = "TargetEvicted"
	// ReasonCPUNotExclusive: cpuPinning is Required, but the CPUs are shared.
	ReasonCPUNotExclusive = "CPUNotExclusive"
	// ReasonClientImageUnavailable: the image of the clients can't be pulled.
	ReasonClientImageUnavailable = "ClientImageUnavailable"
	// ReasonClientUnschedulable: a client's pod could not be scheduled.
	ReasonClientUnschedulable = "ClientUnschedulable"
	// ReasonClientsNotReady: some client didn't report ready in time.
	ReasonClientsNotReady = "ClientsNotReady"
	// ReasonClientFailed: a client terminated before its measurement was complete.
	ReasonClientFailed = "ClientFailed"
	// ReasonClientLost: a client's pod was deleted, or disconnected.
	ReasonClientLost = "ClientLost"
	// ReasonClientEvicted: the cluster evicted a client's pod.
	ReasonClientEvicted = "ClientEvicted"
	// ReasonProtocolMismatch: the manager and a pod of the run are from releases that can't work
	// together, as after an upgrade or a rollback during the run.
	ReasonProtocolMismatch = "ProtocolMismatch"
	// ReasonQuotaExceeded: a quota of the namespace does not allow an object or a pod of the run.
	ReasonQuotaExceeded = "QuotaExceeded"
	// ReasonPolicyDenied: an admission webhook or policy denied an object or a pod of the run.
	ReasonPolicyDenied = "PolicyDenied"
	// ReasonScriptInvalid: k6 can't load the script, or its options are wrong.
	ReasonScriptInvalid = "ScriptInvalid"
	// ReasonScriptException: the script's setup() failed, or k6 aborted.
	ReasonScriptException = "ScriptException"
	// ReasonScriptAborted: the script called test.abort().
	ReasonScriptAborted = "ScriptAborted"
	// ReasonArtifactNotStored: the result couldn't be stored. The status has its summary.
	ReasonArtifactNotStored = "ArtifactNotStored"
	// ReasonArtifactInvalid: the artifact can't be read, has another schema version, or isn't what
	// the manager stored.
	ReasonArtifactInvalid = "ArtifactInvalid"
	// ReasonNameConflict: an object that the run needs exists and isn't its own.
	ReasonNameConflict = "NameConflict"
)

// Reasons of Admitted, TargetReady, ClientsReady, Finished, Reconciling and
// Stalled that aren't also reasons of Succeeded, Valid or ThresholdsMet.
const (
	// ReasonAdmitted: the run holds its lane.
	ReasonAdmitted = "Admitted"
	// ReasonJobSuspended: the clients' Job is suspended, such as by Kueue. The run waits without its lane and without a target.
	ReasonJobSuspended = "JobSuspended"
	// ReasonReady: the target, or every client, is ready.
	ReasonReady = "Ready"
	// ReasonNotReady: the target, or some client, isn't ready yet.
	ReasonNotReady = "NotReady"
	// ReasonTargetRecreated: the kubelet was stopped while it started the target, whose pod is created once more.
	ReasonTargetRecreated = "TargetRecreated"
	// ReasonActive: the run hasn't finished.
	ReasonActive = "Active"
	// ReasonFinished: the run has finished, and nothing is left to do.
	ReasonFinished = "Finished"
)

// ReasonDeletingObjects is the reason of Reconciling of a deleted run whose objects are being deleted from their bucket.
const ReasonDeletingObjects = "DeletingObjects"

// FinalizerBucketObjects keeps a deleted BenchmarkRun until its objects are deleted from their bucket, for a limited
// time.
const FinalizerBucketObjects = "assay.dev/bucket-objects"

// ReasonObjectsRetained is the reason of the event about a deleted run whose objects stay in their bucket.
const ReasonObjectsRetained = "ObjectsRetained"

// Reasons of Archived.
const (
	// ReasonArchived: the full result is in the bucket.
	ReasonArchived = "Stored"
	// ReasonBucketUnavailable: the bucket didn't take the full result in time.
	ReasonBucketUnavailable = "BucketUnavailable"
	// ReasonResultTooLarge: the full result is larger than an object may be.
	ReasonResultTooLarge = "ResultTooLarge"
)

// Reasons of ThresholdsMet, and of Valid where no finding has its own.
const (
	// ReasonThresholdsMet: every threshold was met.
	ReasonThresholdsMet = "AllMet"
	// ReasonThresholdsMissed: at least one threshold was missed.
	ReasonThresholdsMissed = "Missed"
	// ReasonAbortedOnFail: a threshold of the script with abortOnFail was missed, which ended the load before its end.
	ReasonAbortedOnFail = "AbortedOnFail"
	// ReasonNotValid: the result is not valid, so that it says nothing about thresholds.
	ReasonNotValid = "NotValid"
	// ReasonValid: there are no findings.
	ReasonValid = "NoFindings"
	// ReasonAccepted: there are findings, all of which the run declared as expected.
	ReasonAccepted = "Accepted"
	// ReasonWarnings: there are findings, none of which invalidates the result.
	ReasonWarnings = "Warnings"
	// ReasonNoResult: the run has no result.
	ReasonNoResult = "NoResult"
)

// Reasons of a Benchmark's Succeeded, in addition to ReasonSuspended, ReasonInvalidSpec, ReasonNameConflict and
// ReasonArtifactNotStored.
const (
	// ReasonRunning: the runs of a round are made.
	ReasonRunning = "Running"
	// ReasonPaused: the round waits for repetitions.pauseSeconds.
	ReasonPaused = "Paused"
	// ReasonPassed, ReasonFailed and ReasonInconclusive: the verdict of the last round.
	ReasonPassed       = "Passed"
	ReasonFailed       = "Failed"
	ReasonInconclusive = "Inconclusive"
	// ReasonCancelled: the round was cancelled, or the spec was changed during it.
	ReasonCancelled = "Cancelled"
)

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TimelineEntry is the time of an event in the course of a run.
type TimelineEntry struct {
	// event names a change: the run entered the state of this name, its target or its clients
	// became ready, the target's pod was created again because the kubelet was restarted while it started
	// (TargetRecreated), the manager began to store its result (Storing), or it ended (Finished).
	// +required
	Event TimelineEvent `json:"event,omitempty"`

	// time is that of the manager's decision, by its clock.
	// +required
	Time metav1.MicroTime `json:"time,omitempty,omitzero"`
}

// TimelineEvent is an event in the course of a run.
//
// +kubebuilder:validation:Enum=Queued;Suspended;Starting;TargetRecreated;TargetReady;ClientsReady;SettingUp;WarmingUp;Measuring;TearingDown;Collecting;Storing;Finished
type TimelineEvent string

// The values of TimelineEvent, in their order.
const (
	EventQueued    TimelineEvent = ReasonQueued
	EventSuspended TimelineEvent = ReasonSuspended
	EventStarting  TimelineEvent = ReasonStarting
	// EventTargetRecreated is that of a target whose kubelet restarted while it started: its pod is created once more.
	EventTargetRecreated TimelineEvent = ReasonTargetRecreated

	EventTargetReady  TimelineEvent = ConditionTargetReady
	EventClientsReady TimelineEvent = ConditionClientsReady
	EventSettingUp    TimelineEvent = ReasonSettingUp
	EventWarmingUp    TimelineEvent = ReasonWarmingUp
	EventMeasuring    TimelineEvent = ReasonMeasuring
	EventTearingDown  TimelineEvent = ReasonTearingDown
	EventCollecting   TimelineEvent = ReasonCollecting
	EventStoring      TimelineEvent = "Storing"
	EventFinished     TimelineEvent = ReasonFinished
)

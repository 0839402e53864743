package run

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/lane"
)

// TestDecideParksARunWhoseJobIsSuspended follows a run with a queue of Kueue from its admission to its target.
func TestDecideParksARunWhoseJobIsSuspended(t *testing.T) {
	s := newScene()
	s.run.Labels = map[string]string{manifest.LabelQueue: "team-a"}
	target := s.o.Target
	job, err := manifest.ClientJob(s.run, "", nil, &manifest.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	s.o.Target, s.o.Job, s.o.Clients, s.o.Sessions.Agent, s.o.Sessions.Clients = nil, nil, nil, nil, nil

	p := s.decide()
	if !creates(p, job.Name) || creates(p, target.Name) || job.Labels[manifest.LabelQueue] != "team-a" {
		t.Fatalf("the clients come first: %d objects, labels %v", len(p.Create), job.Labels)
	}
	s.run.Status, s.o.Job = p.Status, job
	job.CreationTimestamp = metav1.NewTime(begin.Add(-time.Hour))
	job.Spec.Suspend = new(true)
	p = s.decide()
	s.run.Status = p.Status
	admitted := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionAdmitted)
	if got := stateIn(p); got.Reason != v1alpha1.ReasonQueued || !strings.Contains(got.Message, "Job run-client is suspended by Kueue, queue team-a.") ||
		admitted.Status != metav1.ConditionFalse || admitted.Reason != v1alpha1.ReasonJobSuspended || len(p.Create)+len(p.Delete) != 0 {
		t.Fatalf("%+v, %+v, deleted %v", got, admitted, names(p.Delete))
	}
	if lane.Holds(s.run) || lane.Waits(s.run) {
		t.Error("the run holds its lane, or stands in it")
	}

	job.Spec.Suspend = new(false)
	p = s.decide()
	s.run.Status = p.Status
	if got := stateIn(p); got.Reason != v1alpha1.ReasonQueued || !lane.Waits(s.run) || len(p.Delete) != 0 {
		t.Fatalf("it is resumed: %+v, deleted %v", got, names(p.Delete))
	}
	if p = s.decide(); len(p.Delete) != 0 {
		t.Fatalf("it waits for its lane: deleted %v", names(p.Delete))
	}
	s.o.Position = lane.Position{Free: true}
	p = s.decide()
	if !creates(p, target.Name) || creates(p, job.Name) || stateIn(p).Reason != v1alpha1.ReasonStarting {
		t.Fatalf("it has its lane: %+v", stateIn(p))
	}
	s.run.Status = p.Status
	if p := Decide(s.run, s.o, now.Add(failure.ClientsReadyTimeout-time.Second)); stateIn(p).Status != metav1.ConditionUnknown {
		t.Errorf("the clients have time from then on: %+v", stateIn(p))
	}

	s.run.Spec.Clients.Placement = v1alpha1.PlacementApart
	s.o.Job = nil
	if p := s.decide(); !strings.Contains(stateIn(p).Message, "spec.clients.placement must be Prefer") {
		t.Errorf("clients apart from a target that comes later: %+v", stateIn(p))
	}
}

// TestDecideAJobIsSuspendedLater suspends Jobs before and during the load.
func TestDecideAJobIsSuspendedLater(t *testing.T) {
	s := newScene()
	s.o.Job.Spec.Suspend = new(true)
	p := s.decide()
	if got := stateIn(p); got.Reason != v1alpha1.ReasonQueued || !strings.Contains(got.Message, "kubectl describe job run-client -n ns") || !slices.Equal(names(p.Delete), []string{"run-target"}) {
		t.Errorf("before the load: %+v, deleted %v", got, names(p.Delete))
	}
	s = newScene().started(measurementStage)
	s.run.Labels = map[string]string{manifest.LabelQueue: "team-a"}
	s.run.Status.Conditions = append(s.run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonMeasuring})
	s.o.Job.Spec.Suspend = new(true)
	deletePod(s.o.Clients[0])
	if got := stateIn(s.decide()); got.Reason != v1alpha1.ReasonClientEvicted || !strings.Contains(got.Message, "is suspended by Kueue, queue team-a, which deletes its pods") {
		t.Errorf("under load: %+v", got)
	}
}

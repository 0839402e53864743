package run

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/ending"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/step"
)

// reclaiming returns a scene whose run was deleted a time ago, with an object in a bucket.
func reclaiming(ago time.Duration) *scene {
	s := newScene().collected()
	s.run.DeletionTimestamp = ptr.To(metav1.NewTime(now.Add(-ago)))
	s.run.Finalizers = []string{"example.com/other", v1alpha1.FinalizerBucketObjects}
	s.o.Reclaims = true
	s.o.Bucket = &observed.Bucket{Location: "s3://results", Prefix: "ns/run-uid/"}
	s.o.Reclaim = &observed.Reclaim{Timeout: 5 * time.Minute, Object: &v1alpha1.ArtifactObject{Bucket: "s3://results", Key: "ns/run-uid/1.json.gz"}}
	return s
}

func TestDecideDeletesTheObjectsOfADeletedRun(t *testing.T) {
	failed := errors.New("no answer")
	for name, test := range map[string]struct {
		ago       time.Duration
		uploading bool
		attempt   *observed.Upload
		begins    bool
		released  bool
		retained  string
		requeue   time.Duration
	}{
		"not begun":                           {0, false, nil, true, false, "", 0},
		"its upload has not ended":            {time.Hour, true, nil, false, false, "", 0},
		"under way":                           {time.Hour, false, &observed.Upload{Running: true, Err: failed}, false, false, "", 0},
		"deleted":                             {0, false, &observed.Upload{At: now}, false, true, "", 0},
		"failed just now":                     {time.Minute, false, &observed.Upload{Err: failed, At: now}, false, false, "", ending.ReclaimInterval + time.Millisecond},
		"failed a while ago":                  {time.Minute, false, &observed.Upload{Err: failed, At: now.Add(-ending.ReclaimInterval)}, true, false, "", time.Millisecond},
		"failed just before the end":          {5*time.Minute - time.Second, false, &observed.Upload{Err: failed, At: now}, false, false, "", time.Second + time.Millisecond},
		"failed for too long":                 {5 * time.Minute, false, &observed.Upload{Err: failed, At: now}, false, true, "stays in bucket s3://results: no answer.", 0},
		"can't succeed":                       {0, false, &observed.Upload{Err: failed, At: now, Final: true}, false, true, "stays in bucket s3://results: no answer.", 0},
		"this manager was away for too long":  {time.Hour, false, nil, true, false, "", 0},
		"this manager's last attempt goes on": {time.Hour, false, &observed.Upload{Running: true}, false, false, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := reclaiming(test.ago)
			s.o.Reclaim.Uploading, s.o.Reclaim.Attempt = test.uploading, test.attempt
			p := s.decide()
			if p.Reclaim != test.begins || (p.Finalizer == step.RemoveFinalizer) != test.released || p.Finalizer == step.AddFinalizer {
				t.Errorf("attempt %t, finalizer %d", p.Reclaim, p.Finalizer)
			}
			if (p.Retained != "") != (test.retained != "") || !strings.Contains(p.Retained, test.retained) {
				t.Errorf("retained: %q", p.Retained)
			}
			if test.retained != "" && !strings.HasPrefix(p.Retained, "Object ns/run-uid/1.json.gz ") {
				t.Errorf("the object isn't named: %q", p.Retained)
			}
			if test.requeue != 0 && p.RequeueAfter != test.requeue {
				t.Errorf("again after %s", p.RequeueAfter)
			}
			if !p.Forget || len(p.Delete) == 0 || len(p.Create) > 0 || p.Upload != nil || p.Store != nil || p.Expire {
				t.Errorf("the rest of the plan: %+v", p)
			}
			c := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionReconciling)
			if c == nil || c.Status != metav1.ConditionTrue || c.Reason != v1alpha1.ReasonDeletingObjects {
				t.Errorf("%+v", c)
			} else if waits := test.attempt != nil && test.attempt.Err != nil && !test.released; strings.Contains(c.Message, "no answer") != waits {
				t.Errorf("%+v", c)
			}
		})
	}
}

// TestDecideReleasesADeletedRunWithoutABucket has a run that an earlier manager, which had a bucket, gave the finalizer.
func TestDecideReleasesADeletedRunWithoutABucket(t *testing.T) {
	s := reclaiming(0)
	s.o.Reclaims, s.o.Bucket, s.o.Reclaim.Timeout = false, nil, 0
	if p := s.decide(); p.Finalizer != step.RemoveFinalizer || p.Reclaim || !strings.Contains(p.Retained, "ns/run-uid/1.json.gz stays in bucket s3://results") {
		t.Errorf("finalizer %d, attempt %t, retained %q", p.Finalizer, p.Reclaim, p.Retained)
	}
	s.o.Reclaim.Object = nil
	if p := s.decide(); p.Finalizer != step.RemoveFinalizer || p.Retained != "" {
		t.Errorf("without an object: finalizer %d, retained %q", p.Finalizer, p.Retained)
	}
	s.o.Bucket = &observed.Bucket{Location: "s3://results", Prefix: "ns/run-uid/"}
	if p := s.decide(); !strings.Contains(p.Retained, "Objects ns/run-uid/* may stay in bucket s3://results") {
		t.Errorf("with objects that nothing names: %q", p.Retained)
	}
}

// TestDecideKeepsTheFinalizerAsConfigured checks at which times a run that isn't deleted gets or loses the finalizer.
func TestDecideKeepsTheFinalizerAsConfigured(t *testing.T) {
	archived := func(s *scene) {
		s.run.Status.CompletionTime = ptr.To(metav1.NewTime(now))
		for _, c := range []string{v1alpha1.ConditionFinished, v1alpha1.ConditionSucceeded, v1alpha1.ConditionArchived} {
			meta.SetStatusCondition(&s.run.Status.Conditions, metav1.Condition{Type: c, Status: metav1.ConditionTrue, Reason: "Any"})
		}
	}
	for name, test := range map[string]struct {
		s             *scene
		reclaims, has bool
		change        func(*scene)
		want          step.Finalizer
	}{
		"before the first upload":          {archiving(t, 0), true, false, nil, step.AddFinalizer},
		"before another upload":            {archiving(t, 0), true, true, nil, step.KeepFinalizer},
		"an upload, with policy Retain":    {archiving(t, 0), false, false, nil, step.KeepFinalizer},
		"still measuring":                  {newScene().started(measurementStage), true, false, nil, step.KeepFinalizer},
		"archived by an earlier manager":   {newScene(), true, false, archived, step.AddFinalizer},
		"archived, with policy Retain":     {newScene(), false, true, archived, step.RemoveFinalizer},
		"archived, with the finalizer":     {newScene(), true, true, archived, step.KeepFinalizer},
		"measuring, from before an update": {newScene().started(measurementStage), false, true, nil, step.RemoveFinalizer},
	} {
		t.Run(name, func(t *testing.T) {
			test.s.o.Reclaims = test.reclaims
			if test.has {
				test.s.run.Finalizers = []string{v1alpha1.FinalizerBucketObjects}
			}
			if test.change != nil {
				test.change(test.s)
			}
			if p := test.s.decide(); p.Finalizer != test.want || p.Reclaim || p.Retained != "" {
				t.Errorf("finalizer %d, want %d; attempt %t, retained %q", p.Finalizer, test.want, p.Reclaim, p.Retained)
			}
		})
	}
}

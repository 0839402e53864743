package run

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/run/collect"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/session"
)

// archiving returns a scene whose namespace has a bucket, so long after the last totals, with the artifact that the
// first decision made.
func archiving(t *testing.T, after time.Duration) *scene {
	t.Helper()
	s := newScene().collected().sampled().clients(func(c *session.ClientState) { c.TotalsSince = now.Add(-after) })
	s.o.Bucket = &observed.Bucket{Location: "s3://results", Prefix: "ns/run-uid/"}
	p := s.decide()
	if p.Upload == nil || !p.Attempt || p.Store != nil || p.Release {
		t.Fatalf("at first: upload %v, attempt %t, store %v, release %t", p.Upload, p.Attempt, p.Store, p.Release)
	}
	s.o.Unstored, s.run.Status = p.Upload, p.Status
	return s
}

// TestDecideStoresTheFullResultFirst checks that the artifact is created only when its object is in the bucket, and
// that it names the object.
func TestDecideStoresTheFullResultFirst(t *testing.T) {
	s := archiving(t, 0)
	full := s.o.Unstored.Full
	object := s.run.Status.Artifact.Object
	if sum := artifact.Identify(full.Data).SHA256; object == nil || object.SHA256 != sum || object.Key != "ns/run-uid/"+sum+".json.gz" || object.Bucket != "s3://results" {
		t.Fatalf("the status has %+v", object)
	}
	if decoded, err := artifact.DecodeFull(full.Data); err != nil || decoded.Run.UID != "uid" {
		t.Errorf("the object has %+v, %v", decoded, err)
	}
	again := *s.o.Unstored
	for name, test := range map[string]struct {
		upload          *observed.Upload
		attempt, stores bool
		requeue         time.Duration // zero for the deadline alone
		retrying        string
	}{
		"not begun":            {nil, true, false, 0, ""},
		"under way":            {&observed.Upload{Running: true}, false, false, 0, ""},
		"stored":               {&observed.Upload{At: now}, false, true, 0, ""},
		"failed just now":      {&observed.Upload{Err: errors.New("no answer"), At: now}, false, false, collect.ArchiveInterval + time.Millisecond, "no answer"},
		"failed a while ago":   {&observed.Upload{Err: errors.New("no answer"), At: now.Add(-collect.ArchiveInterval)}, true, false, time.Millisecond, "no answer"},
		"under way once again": {&observed.Upload{Running: true, Err: errors.New("no answer"), At: now}, false, false, 0, "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			s.o.Upload = test.upload
			p := s.decide()
			if p.Attempt != test.attempt || (p.Store != nil) != test.stores || (p.Upload != nil) == test.stores || p.Release {
				t.Errorf("attempt %t, store %t, upload %t, release %t", p.Attempt, p.Store != nil, p.Upload != nil, p.Release)
			}
			if test.requeue != 0 && p.RequeueAfter != test.requeue || test.requeue == 0 && p.RequeueAfter < time.Minute {
				t.Errorf("again after %s", p.RequeueAfter)
			}
			got := stateIn(p)
			if got.Reason != v1alpha1.ReasonCollecting || !strings.Contains(got.Message, "The full result is being stored in bucket s3://results.") ||
				strings.Contains(got.Message, v1alpha1.RetryPrefix) != (test.retrying != "") || !strings.Contains(got.Message, test.retrying) {
				t.Errorf("%+v", got)
			}
			if diff := cmp.Diff(object, p.Status.Artifact.Object); diff != "" {
				t.Errorf("the object changed (-want +got):\n%s", diff)
			}
			if test.stores && p.Store.SHA256 != again.SHA256 {
				t.Error("the artifact changed")
			}
		})
	}
}

// TestDecideGivesABucketUp checks that a bucket that is away for too long costs the full result, and nothing else.
func TestDecideGivesABucketUp(t *testing.T) {
	for name, test := range map[string]struct {
		after   time.Duration
		upload  observed.Upload
		givesUp bool
	}{
		"just before the end":        {collect.ArchiveTimeout - time.Second, observed.Upload{Err: errors.New("no answer"), At: now}, false},
		"after the end":              {collect.ArchiveTimeout, observed.Upload{Err: errors.New("no answer"), At: now}, true},
		"during the last attempt":    {collect.ArchiveTimeout, observed.Upload{Err: errors.New("no answer"), At: now, Running: true}, false},
		"it failed once and for all": {0, observed.Upload{Err: errors.New("another object"), At: now, Final: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := archiving(t, test.after)
			s.o.Upload = &test.upload
			p := s.decide()
			if (p.Store != nil) != test.givesUp || (p.Upload != nil) == test.givesUp {
				t.Fatalf("store %v, upload %v", p.Store, p.Upload)
			}
			if !test.givesUp {
				return
			}
			if p.Status.Artifact.Object != nil || p.Store.Full != nil || p.Status.Artifact.SHA256 != p.Store.SHA256 {
				t.Errorf("the status announces %+v, the artifact is %s with %v", p.Status.Artifact, p.Store.SHA256, p.Store.Full)
			}
			s.run.Status, s.o.Stored = p.Status, &p.Store.Stored
			p = s.decide()
			archived := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionArchived)
			if archived == nil || archived.Status != metav1.ConditionFalse || archived.Reason != v1alpha1.ReasonBucketUnavailable ||
				!strings.Contains(archived.Message, test.upload.Err.Error()) || !strings.Contains(archived.Message, "ConfigMap run-result has what fits") {
				t.Errorf("%+v", archived)
			}
			if got := stateIn(p); got.Reason != v1alpha1.ReasonCompleted || !p.Release {
				t.Errorf("%+v, release %t", got, p.Release)
			}
		})
	}
}

func TestDecideSaysThatTheResultIsArchived(t *testing.T) {
	s := archiving(t, 0)
	s.o.Stored = &s.o.Unstored.Stored
	p := s.decide()
	if c := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionArchived); c == nil || c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, s.run.Status.Artifact.Object.Key) {
		t.Errorf("%+v", c)
	}
	without := newScene().collected().sampled()
	stored := without.decide()
	if stored.Upload != nil || stored.Store == nil || stored.Status.Artifact.Object != nil {
		t.Fatalf("without a bucket: upload %v, store %v", stored.Upload, stored.Store)
	}
	without.run.Status, without.o.Stored = stored.Status, &stored.Store.Stored
	if p := without.decide(); meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionArchived) != nil {
		t.Error("without a bucket: it has the condition Archived")
	}
}

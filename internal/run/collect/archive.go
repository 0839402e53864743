package collect

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/step"
)

const (
	// ArchiveTimeout limits the time from the last totals for which a bucket may fail to take the full result.
	ArchiveTimeout = time.Minute
	// ArchiveInterval is the time between two attempts until then.
	ArchiveInterval = 5 * time.Second
)

// storage returns the artifact of a result. It ends the run and returns nil if there can't be one.
func storage(p *step.Planner, merged *result.Result, full *observed.Full) *observed.Storage {
	encoded, err := artifact.Encode(merged, artifact.ConfigMapLimit)
	if err != nil {
		p.Fail(failure.ResultUnusable("encoded", err))
		return nil
	}
	var object *v1alpha1.ArtifactObject
	if full != nil {
		object = &full.ArtifactObject
	}
	return &observed.Storage{
		Creation: observed.Creation{Object: manifest.Artifact(p.Run, encoded, object), Reason: v1alpha1.ReasonArtifactNotStored},
		Stored:   observed.Stored{Identity: artifact.Identify(encoded), Result: merged},
		Full:     full,
	}
}

// full returns the full result for the bucket, or nil if there is no bucket.
func full(p *step.Planner, merged *result.Result) *observed.Full {
	bucket := p.Observed.Bucket
	if bucket == nil {
		return nil
	}
	data, err := artifact.EncodeFull(merged)
	if err != nil {
		p.SetCondition(v1alpha1.ConditionArchived, metav1.ConditionFalse, v1alpha1.ReasonResultTooLarge,
			"The full result is not in bucket "+bucket.Location+": "+err.Error()+". ConfigMap "+manifest.ArtifactName(p.Run)+" has what fits.")
		return nil
	}
	identity := artifact.Identify(data)
	return &observed.Full{Data: data, ArtifactObject: v1alpha1.ArtifactObject{
		Bucket: bucket.Location, Key: bucket.Prefix + identity.SHA256 + ".json.gz", SizeBytes: ptr.To(identity.SizeBytes), SHA256: identity.SHA256,
	}}
}

// commit plans the next step to the artifact: first the full result into its bucket, then the artifact, which
// exists only if both do. A bucket that doesn't take it for too long ends with the artifact alone.
func commit(p *step.Planner, s *observed.Storage) {
	last := p.Observed.Upload
	switch {
	case s.Full == nil, last != nil && !last.Running && last.Err == nil:
		announce(p, s)
		p.Store = s
	case last != nil && !last.Running && (last.Final || !p.Now.Before(observed.LastTotals(p.Run, p.Observed).Add(ArchiveTimeout))):
		reduced := storage(p, s.Result, nil)
		if reduced == nil {
			return
		}
		p.SetCondition(v1alpha1.ConditionArchived, metav1.ConditionFalse, v1alpha1.ReasonBucketUnavailable, "The full result is not in its bucket: "+
			printable.WithoutPeriod(last.Err.Error())+". ConfigMap "+manifest.ArtifactName(p.Run)+" has what fits. Fix the bucket, and create a new run if you need the full result.")
		announce(p, reduced)
		p.Store = reduced
	default:
		upload(p, s)
	}
}

// upload plans to store the full result in its bucket, and to wait for that.
func upload(p *step.Planner, s *observed.Storage) {
	p.SetState(v1alpha1.ReasonCollecting, "Every client has sent its totals. The full result is being stored in bucket "+s.Full.Bucket+".", nil)
	announce(p, s)
	p.Upload = s
	last := p.Observed.Upload
	if last == nil {
		p.Attempt = true
		return
	}
	if last.Err != nil {
		p.Retry(last.Err)
	}
	if next := last.At.Add(ArchiveInterval); !last.Running {
		p.Attempt = !p.Now.Before(next)
		p.RequeueAt(next)
	}
}

// announce sets the digests of what will be stored in the status.
func announce(p *step.Planner, s *observed.Storage) {
	p.Status.Artifact = &v1alpha1.ArtifactReference{
		ConfigMap: &v1alpha1.ArtifactConfigMap{Name: manifest.ArtifactName(p.Run), Key: artifact.Key},
		SizeBytes: ptr.To(s.SizeBytes), SHA256: s.SHA256,
	}
	if s.Full != nil {
		p.Status.Artifact.Object = s.Full.DeepCopy()
	}
}

package run

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
)

const (
	// archiveTimeout limits the time from the last totals for which a bucket may fail to take the whole result;
	// archiveInterval is the time between two attempts until then.
	archiveTimeout  = time.Minute
	archiveInterval = 5 * time.Second
)

// storage returns the artifact of a result. It ends the run and returns nil if there can't be one.
func (p *planner) storage(merged *result.Result, whole *observed.Whole) *observed.Storage {
	encoded, err := artifact.Encode(merged, artifact.ConfigMapLimit)
	if err != nil {
		p.fail(failure.Newf(v1alpha1.ReasonArtifactNotStored, "The result can't be encoded: %s", err))
		return nil
	}
	var object *v1alpha1.ArtifactObject
	if whole != nil {
		object = &whole.ArtifactObject
	}
	return &observed.Storage{
		Creation: observed.Creation{Object: manifest.Artifact(p.run, encoded, object), Reason: v1alpha1.ReasonArtifactNotStored},
		Stored:   observed.Stored{Identity: artifact.Identify(encoded), Result: merged},
		Whole:    whole,
	}
}

// whole returns the whole result for the bucket, or nil if there is no bucket.
func (p *planner) whole(merged *result.Result) *observed.Whole {
	bucket := p.observed.Bucket
	if bucket == nil {
		return nil
	}
	whole := *merged
	whole.Series = p.observed.Seconds
	data, err := artifact.EncodeWhole(&whole)
	if err != nil {
		p.condition(v1alpha1.ConditionArchived, metav1.ConditionFalse, v1alpha1.ReasonResultTooLarge,
			"The whole result is not in bucket "+bucket.Location+": "+err.Error()+". ConfigMap "+manifest.ArtifactName(p.run)+" has what fits.")
		return nil
	}
	identity := artifact.Identify(data)
	return &observed.Whole{Data: data, ArtifactObject: v1alpha1.ArtifactObject{
		Bucket: bucket.Location, Key: bucket.Prefix + identity.SHA256 + ".json.gz", SizeBytes: ptr.To(identity.SizeBytes), SHA256: identity.SHA256,
	}}
}

// commit plans the next step to the artifact: first the whole result into its bucket, then the artifact, which
// exists only if both do. A bucket that doesn't take it for too long ends with the artifact alone.
func (p *planner) commit(s *observed.Storage) {
	upload := p.observed.Upload
	switch {
	case s.Whole == nil, upload != nil && !upload.Running && upload.Err == nil:
		p.announce(s)
		p.Store = s
	case upload != nil && !upload.Running && (upload.Final || !p.now.Before(observed.LastTotals(p.run, p.observed).Add(archiveTimeout))):
		reduced := p.storage(s.Result, nil)
		if reduced == nil {
			return
		}
		p.condition(v1alpha1.ConditionArchived, metav1.ConditionFalse, v1alpha1.ReasonBucketUnavailable, "The whole result is not in its bucket: "+
			printable.WithoutPeriod(upload.Err.Error())+". ConfigMap "+manifest.ArtifactName(p.run)+" has what fits. Fix the bucket, and create a new run if you need the whole result.")
		p.announce(reduced)
		p.Store = reduced
	default:
		p.upload(s)
	}
}

// upload plans to store the whole result in its bucket, and to wait for that.
func (p *planner) upload(s *observed.Storage) {
	p.state(v1alpha1.ReasonCollecting, "Every client has sent its totals. The whole result is being stored in bucket "+s.Whole.Bucket+".", nil)
	p.announce(s)
	p.Upload = s
	upload := p.observed.Upload
	if upload == nil {
		p.Attempt = true
		return
	}
	if upload.Err != nil {
		p.Retry(upload.Err)
	}
	if next := upload.At.Add(archiveInterval); !upload.Running {
		p.Attempt = !p.now.Before(next)
		p.requeueAt(next)
	}
}

// announce sets the digests of what will be stored in the status.
func (p *planner) announce(s *observed.Storage) {
	p.Status.Artifact = &v1alpha1.ArtifactReference{
		ConfigMap: &v1alpha1.ArtifactConfigMap{Name: manifest.ArtifactName(p.run), Key: artifact.Key},
		SizeBytes: ptr.To(s.SizeBytes), SHA256: s.SHA256,
	}
	if s.Whole != nil {
		p.Status.Artifact.Object = s.Whole.DeepCopy()
	}
}

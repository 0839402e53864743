package cluster

import (
	"cmp"
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/bucket"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/result"
)

// wholeTimeout limits the time to read an object from a bucket.
const wholeTimeout = 2 * time.Minute

// Whole returns the whole result of a run from its bucket, with the user's own credentials. run.Status.Artifact must
// be set. address is the URL by which the user reaches the bucket, or empty for the one in the status.
func Whole(ctx context.Context, run *v1alpha1.BenchmarkRun, address string) (*result.Result, error) {
	object := run.Status.Artifact.Object
	if object == nil {
		why := "its namespace had no bucket"
		if archived := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionArchived); archived != nil {
			why = archived.Message
		}
		return nil, exit.Errorf(exit.Unknown, "BenchmarkRun %q has no whole result: %s", run.Name, why)
	}
	ctx, cancel := context.WithTimeout(ctx, wholeTimeout)
	defer cancel()
	b, err := bucket.Open(ctx, cmp.Or(address, object.Bucket))
	if err != nil {
		return nil, exit.Errorf(exit.Unknown, "%w", err)
	}
	defer func() { _ = b.Close() }()
	digest := bucket.Digest{SHA256: object.SHA256}
	if object.SizeBytes != nil {
		digest.Size = *object.SizeBytes
	}
	data, err := b.Get(ctx, object.Key, digest)
	if err != nil {
		return nil, exit.Errorf(exit.Unknown, "%w", err)
	}
	r, err := artifact.DecodeWhole(data)
	if err != nil {
		return nil, exit.Errorf(exit.Unknown, "object %s: %w", object.Key, err)
	}
	if r.Run.UID != string(run.UID) {
		return nil, exit.Errorf(exit.Unknown, "object %s holds the result of another run (UID %s, not %s)", object.Key, r.Run.UID, run.UID)
	}
	return r, nil
}

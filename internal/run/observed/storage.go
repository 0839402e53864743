package observed

import (
	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/certificate"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
)

// Creation is an object to create.
type Creation struct {
	Object manifest.Object
	// Certificate describes the key and certificate to generate for a Secret, or is nil.
	Certificate *certificate.Request
	// Unreadable reports that the manager may not read an existing object of that name. It is the
	// run's own: its name contains the run's UID.
	Unreadable bool
	// Reason is the reason of the run's failure if the API server rejects the object.
	Reason string
}

// Storage is an artifact to create.
type Storage struct {
	Creation
	Stored
	// Full is the full result, which is in its bucket when the artifact is created, or nil if there is none.
	Full *Full
}

// Full is a full result to store in a bucket.
type Full struct {
	v1alpha1.ArtifactObject
	Data []byte
}

// Stored is an artifact that exists.
type Stored struct {
	artifact.Identity
	// Result is the content, or nil if it can't be read. Err says why.
	Result *result.Result
	Err    error
}

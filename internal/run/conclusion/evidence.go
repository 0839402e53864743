package conclusion

import (
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/session"
)

// Evidence is what a result is made of, once every client has sent its totals.
type Evidence struct {
	// Run has the status as it will be written.
	Run      *v1alpha1.BenchmarkRun
	Observed *observed.Run
	Now      time.Time
	// Started describes the target as it was started, plans the load of each client.
	Started *v1alpha1.TargetStatus
	Plans   []*session.Plan
}

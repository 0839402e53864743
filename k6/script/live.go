package script

import (
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/session"
)

// reportsPerSecond bounds the reports of a script's metrics so far, of all clients of a run together.
const reportsPerSecond = 100

// liveInterval returns the time between two reports of the metrics so far: a second, or more if there are many clients.
func liveInterval(s *session.Script) time.Duration {
	return time.Second * time.Duration(1+clients(s)/(reportsPerSecond+1))
}

// liveLimit returns the size in bytes up to which a client reports its metrics so far.
func liveLimit(s *session.Script) int {
	return min(session.MaxScriptMetricsBytes, session.MaxAllScriptMetricsBytes/clients(s)) / 2
}

// clients returns the number of the run's clients: that of the segments in k6's sequence.
func clients(s *session.Script) int { return max(strings.Count(s.Sequence, ","), 1) }

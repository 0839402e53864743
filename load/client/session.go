// Package client implements one client of a run. It joins the session with the
// manager, runs the plan's load stage by stage, and reports what it measured.
// Package driver makes the requests. Package runner runs the load inside k6.
package client

import (
	"context"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// Session is the part of pod.Session that a client uses. The methods are documented there.
type Session interface {
	Run(ctx context.Context) error
	Orders() <-chan pod.Order
	ProbeSucceeded(probed *session.ProbeResult)
	ProbeFailed(reason string)
	Ready(cpus string)
	StageEnded(stage sessionpb.Stage)
	SendSecond(stage sessionpb.Stage, second *result.ClientSecond)
	SendTotals(totals *result.Totals)
	Fail(reason string)
	Now() int64
	Local(at int64) time.Time
}

// Package client is a client in a run: it attends the session with the manager,
// drives the plan's load through its stages, and gives account of it. How
// requests are made is package driver's, who carries them package carrier's.
package client

import (
	"context"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// Session is what a client needs of a pod.Session, where the methods are
// described.
type Session interface {
	Run(ctx context.Context) error
	Orders() <-chan pod.Order
	TargetAnswered(evidence *session.Evidence)
	TargetSilent(reason string)
	Ready(cpus string)
	StageEnded(stage sessionpb.Stage)
	SendSecond(stage sessionpb.Stage, second *result.ClientSecond)
	SendTotals(totals *result.Totals)
	Fail(reason string)
	Now() int64
	Local(at int64) time.Time
}

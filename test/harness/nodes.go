package harness

import (
	"context"
	"fmt"
	"time"
)

// The nodes of a cluster that was created with NODES=2, as their label kubernetes.io/hostname has them.
// The control plane is on the first.
const (
	FirstNode  = "assay"
	SecondNode = "assay-2"
)

// StopNode ends the second node as a loss of power does.
func StopNode(ctx context.Context) error { return Command(ctx, "assay-cluster", "stop", SecondNode) }

// StartNode starts the second node after StopNode, and returns when it is ready.
func StartNode(ctx context.Context) error { return Command(ctx, "assay-cluster", "start", SecondNode) }

// Link holds the limits of the network between the two nodes, in each direction. The zero value
// limits nothing.
type Link struct {
	// Rate is the bandwidth as tc(8) writes it, such as 10mbit.
	Rate string
	// Delay is the time that each packet takes. SetLink fails if the node's kernel has no netem.
	Delay time.Duration
	// LossPercent is the probability with which a packet is lost. 100 cuts the network.
	LossPercent float64
}

// SetLink replaces the limits of the network between the two nodes.
func SetLink(ctx context.Context, link Link) error {
	return Command(ctx, "assay-cluster", "link", "--rate="+link.Rate, "--delay="+link.Delay.String(), fmt.Sprintf("--loss=%g", link.LossPercent))
}

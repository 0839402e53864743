package native

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Link holds the limits of the network between the nodes, in each direction. The zero value limits nothing.
type Link struct {
	// Rate is the bandwidth as tc(8) writes it, such as 10mbit. Packets wait at most 50 ms for it; more are dropped.
	Rate string
	// Delay is the time that each packet takes. The kernel must have netem.
	Delay time.Duration
	// LossPercent is the probability with which a packet is dropped. 100 cuts the link.
	LossPercent float64
}

// SetLink replaces the limits of the network between the nodes.
func (l Layout) SetLink(link Link) error {
	if !isNamespace(l.network()) {
		return errors.New("the cluster has no second node: `up --nodes 2` creates one")
	}
	if link.Delay < 0 || link.LossPercent < 0 || link.LossPercent > 100 {
		return fmt.Errorf("--delay must not be negative and --loss must be from 0 to 100, not %s and %g", link.Delay, link.LossPercent)
	}
	var failed error
	for _, end := range []struct{ namespace, device string }{{"", linkInterface}, {l.network(), nodeInterface}} {
		failed = errors.Join(failed, setQueue(end.namespace, end.device, link), setLoss(end.namespace, end.device, link.LossPercent))
	}
	return failed
}

// setQueue limits the rate of what a device sends, and delays it.
func setQueue(namespace, device string, link Link) error {
	queue := func(args ...string) error {
		return inNetwork(namespace, "", append([]string{"tc", "qdisc", "replace", "dev", device}, args...)...)
	}
	// A veth pair has no queue by default.
	if err := queue("root", "noqueue"); err != nil {
		return err
	}
	parent := []string{"root"}
	if link.Rate != "" {
		if err := queue("root", "handle", "1:", "tbf", "rate", link.Rate, "burst", "32kb", "latency", "50ms"); err != nil {
			return err
		}
		parent = []string{"parent", "1:"}
	}
	if link.Delay == 0 {
		return nil
	}
	delay := fmt.Sprintf("%dus", link.Delay.Microseconds())
	if err := queue(append(parent, "handle", "2:", "netem", "limit", "100000", "delay", delay)...); err != nil {
		return fmt.Errorf("%w (packets can be delayed only by netem, which this kernel may not have)", err)
	}
	return nil
}

// setLoss drops a share of the packets that a device receives.
func setLoss(namespace, device string, percent float64) error {
	const all = 1_000_000
	segments := 65535 // the kernel's default
	rules := fmt.Sprintf("table netdev %[1]s\ndelete table netdev %[1]s\n", networkName)
	if dropped := int(math.Round(percent / 100 * all)); dropped > 0 {
		drop := "drop"
		if dropped < all { // nft rejects a comparison that is always true
			drop = fmt.Sprintf("numgen random mod %d < %d drop", all, dropped)
		}
		// The other end sends each segment as a packet of its own, so that as many are dropped as on a wire.
		segments = 1
		rules += fmt.Sprintf(`table netdev %s {
	chain arriving {
		type filter hook ingress device %s priority 0; policy accept;
		%s
	}
}
`, networkName, device, drop)
	}
	if err := ip(namespace, fmt.Sprintf("link set dev %s gso_max_segs %d", device, segments)); err != nil {
		return err
	}
	return inNetwork(namespace, rules, "nft", "-f", "-")
}

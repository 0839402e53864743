package validity

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// minLinkSeconds is the smallest number of seconds over which a rate is judged.
	minLinkSeconds = 5
	// linkFlatShare is by how much the best second may exceed the median of a link that is full.
	linkFlatShare = 0.01
	// linkReceivingShare of the requests' time is longer between the first and the last byte of the response than
	// a target needs that has written all of it at once.
	linkReceivingShare = 0.2
	// linkReachedShare of a declared link is used even by many connections whose packets are dropped. A link that carries more than
	// linkExceededShare isn't limited.
	linkReachedShare, linkExceededShare = 0.85, 1.10
	// linkLowShare and linkHighShare bound what a full link of a usual speed shows.
	linkLowShare, linkHighShare = 0.95, 1.01
	// lossRequestsShare of the requests with a segment that was lost changes the 99th percentile.
	// lossSegmentsShare of the segments, at a round trip of 1 ms, limits TCP to half of a link of 1 Gbit/s.
	lossRequestsShare, lossSegmentsShare = 0.01, 0.001
)

// linkSpeeds are the usual speeds of links in Mbit/s.
var linkSpeeds = []int64{10, 100, 1000, 2500, 5000, 10_000, 25_000, 40_000, 50_000, 100_000}

// networkLimited finds loads that the network limited: what the target's interfaces carry has a ceiling, or
// packets are lost.
func networkLimited(r *result.Result, d Declared) *result.Finding {
	var said []string
	full, during := linkFull(r, d)
	if full != "" {
		said = append(said, full)
	}
	if lost := packetsLost(r); lost != "" {
		said, during = append(said, lost), nil
	}
	if len(said) == 0 {
		return nil
	}
	f := found(ReasonNetworkLimited, result.Warns,
		"%s Use a faster network between clients and target, make the responses smaller, or read the result as one of this network.", strings.Join(said, " "))
	f.Seconds = during
	return f
}

// linkFull returns how the target's interfaces reached a ceiling while the load wanted more and the target had CPU
// time left, and during which level; empty if they did not.
func linkFull(r *result.Result, d Declared) (text string, during *result.Span) {
	for _, s := range spans(r, d) {
		if !wantsMore(r, d, s.level) {
			continue
		}
		sentEach := bitRates(s.seconds, func(u *result.Used) int64 { return u.BytesSent })
		receivedEach := bitRates(s.seconds, func(u *result.Used) int64 { return u.BytesReceived })
		sent, sentFlat := ceiling(sentEach)
		received, receivedFlat := ceiling(receivedEach)
		for _, way := range []struct {
			verb      string
			each      []float64
			rate      float64
			flat      bool // and it is the one that carries more
			receiving float64
			declared  int64
		}{
			{"sent", sentEach, sent, sentFlat && sent >= received, receivingShare(s.seconds), d.Link.Sent},
			{"received", receivedEach, received, receivedFlat && received > sent, 0, d.Link.Received},
		} {
			rate, why := way.rate, whyFull(way.rate, way.flat, way.receiving)
			share := 0.0
			if way.declared > 0 && len(way.each) > 0 {
				share = afterBurst(way.each, float64(way.declared), s.seconds[0].Seconds) / float64(way.declared)
			}
			if share >= linkReachedShare && share <= linkExceededShare {
				rate, why = share*float64(way.declared), fmt.Sprintf("%.1f%% of the %.4g Mbit/s that its bandwidth annotation allows", 100*share, float64(way.declared)/1e6)
			}
			if why == "" {
				continue
			}
			used, busiest := containersUsedIn(r, s.seconds)
			if used == nil || busiest >= saturatedInvalidatesPercent {
				continue
			}
			if s.level != nil {
				during = &result.Span{From: s.level.Start, To: s.level.End}
			}
			return fmt.Sprintf("From second %d on, the target's interfaces %s %.4g Mbit/s: %s. The target had CPU time left (%s of the limit used).",
				s.seconds[0].Second, way.verb, rate/1e6, why, strings.Join(used, ", ")), during
		}
	}
	return "", nil
}

// wantsMore reports whether a load would make more requests if they were answered faster.
func wantsMore(r *result.Result, d Declared, level *result.Level) bool {
	switch {
	case level != nil && level.TargetRatePerSecond > 0:
		return level.RequestsPerSecond() < (1-shortfallInvalidatesPercent/100)*float64(level.TargetRatePerSecond)
	case r.Arrivals != nil:
		return overloaded(r, d) != nil || rateNotAchieved(r) != nil
	case level != nil:
		return !d.ThinkTime
	}
	return requestsInFlight(r) >= idleConnectionsShare*float64(r.Run.Concurrency(r.Connections()))
}

// bitRates returns what was carried each second, in bit/s; empty if it is unknown, or too little to judge by.
func bitRates(all []result.Second, of func(*result.Used) int64) []float64 {
	var rates []float64
	for i := range all {
		if s := &all[i]; s.Server != nil {
			rates = append(rates, 8*float64(of(s.Server))/float64(s.Seconds))
		}
	}
	if len(rates) == 0 || int64(len(rates))*all[0].Seconds < minLinkSeconds {
		return nil
	}
	return rates
}

// ceiling returns the median of rates, 0 if there are none, and whether none is larger.
func ceiling(rates []float64) (rate float64, flat bool) {
	if len(rates) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(rates))
	rate = sorted[len(sorted)/2]
	return rate, sorted[len(sorted)-1] <= (1+linkFlatShare)*rate
}

// afterBurst returns the mean of rates, which are each of a number of seconds, without the beginning that is above a declared one: a
// token bucket, which is full then, lets its content pass at once. It is 0 if too few are left to judge by.
func afterBurst(rates []float64, declared float64, seconds int64) float64 {
	begin := 0
	for i := 0; i < len(rates) && int64(i)*seconds < minLinkSeconds; i++ {
		if rates[i] > declared {
			begin = i + 1
		}
	}
	rates = rates[begin:]
	if int64(len(rates))*seconds < minLinkSeconds {
		return 0
	}
	sum := 0.0
	for _, r := range rates {
		sum += r
	}
	return sum / float64(len(rates))
}

// receivingShare returns the part of the requests' time between the first and the last byte of the response.
func receivingShare(all []result.Second) float64 {
	var receiving, total int64
	for i := range all {
		if p := all[i].Phases; p != nil {
			receiving, total = receiving+p[result.Receiving].Sum, total+p[result.Processing].Sum
		}
	}
	return float64(receiving) / float64(max(total, 1))
}

// whyFull returns what says that a link of unknown speed is full, by the rate that it carries, in bit/s; empty if nothing does.
func whyFull(rate float64, flat bool, receiving float64) string {
	if rate == 0 || !flat {
		return ""
	}
	const ceiling = "no second had 1% more"
	if receiving >= linkReceivingShare {
		return fmt.Sprintf("%s, and %.0f%% of the time of requests was that between the first and the last byte of the response", ceiling, 100*receiving)
	}
	for _, speed := range linkSpeeds {
		if share := rate / 1e6 / float64(speed); share >= linkLowShare && share <= linkHighShare {
			return fmt.Sprintf("%s, and that is what a link of %d Mbit/s carries", ceiling, speed)
		}
	}
	return ""
}

// packetsLost returns how many packets target and clients lost, if that is many; else it is empty. Of segments that
// were sent again, those that had arrived weren't lost: a receiver without CPU time acknowledges late.
func packetsLost(r *result.Result) string {
	pods := []*result.NodeUsage{r.NodeUsage}
	for i := range r.Clients {
		pods = append(pods, r.Clients[i].NodeUsage)
	}
	var segments, again, packets, dropped, refused int64
	for _, u := range pods {
		if u == nil {
			continue
		}
		if u.SpuriousRetransmits != result.Unknown { // else what was sent again may all have arrived
			segments, again = segments+max(u.SegmentsSent, 0), again+max(u.SegmentsRetransmitted-u.SpuriousRetransmits, 0)
		}
		packets += max(u.PacketsSent, 0) + max(u.PacketsReceived, 0)
		dropped += max(u.SendDrops, 0) + max(u.ReceiveDrops, 0)
	}
	if u := r.NodeUsage; u != nil { // whose SYNs and last ACKs are sent again
		refused = max(u.ListenDrops, u.ListenOverflows, 0)
	}
	many := func(n, of int64) bool {
		return float64(n) >= max(lossRequestsShare*float64(r.Merged.Requests), lossSegmentsShare*float64(of), 1)
	}
	var said []string
	if again = max(again-2*refused, 0); many(again, segments) {
		said = append(said, fmt.Sprintf("target and clients had to send %d of %d TCP segments again (%.2f%%)", again, segments, 100*float64(again)/float64(max(segments, 1))))
	}
	if many(dropped, packets) {
		said = append(said, fmt.Sprintf("their interfaces dropped %d of %d packets", dropped, packets))
	}
	if len(said) == 0 {
		return ""
	}
	text := strings.Join(said, ", and ")
	return strings.ToUpper(text[:1]) + text[1:] + ". A retransmission usually delays its request by 200ms or more."
}

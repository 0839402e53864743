package pod

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// keptBytes bounds the numbered messages that a pod keeps.
const keptBytes = 16 << 20

// kept are a pod's numbered messages, in the order of their numbers.
//
// Numbers count up from 1 and none is given twice. The manager holds what it
// was sent in memory alone until Release, so that everything is kept until
// then. Where that is more than the limit, neighbouring samples are made one,
// which stands for the numbers of both. For the manager to have either all or
// none of what such a message stands for, two messages are made one only if the
// manager that was last heard of surely has both (their numbers are below
// arrived) or surely has neither (they weren't yet sent to it). A manager that
// isn't that one has nothing at all.
type kept struct {
	limit    int
	messages []message
	size     int
	last     uint64 // the number given last
	arrived  uint64 // numbers below it have arrived
	sent     uint64 // numbers above it haven't been sent
}

// message is one message, standing for the numbers from first to last.
type message struct {
	first, last uint64
	size        int
	body        *sessionpb.PodMessage
}

// add numbers a sample and keeps it.
func (k *kept) add(body *sessionpb.PodMessage) error {
	k.last++
	setNumbers(body, k.last, k.last)
	m := message{first: k.last, last: k.last, size: proto.Size(body), body: body}
	if m.size > session.MaxMessageBytes {
		return fmt.Errorf("a message of %d bytes, the limit is %d", m.size, session.MaxMessageBytes)
	}
	k.messages = append(k.messages, m)
	k.size += m.size
	for k.size > k.limit {
		i := k.mergeable()
		if i < 0 {
			return nil
		}
		if err := k.merge(i); err != nil {
			return err
		}
	}
	return nil
}

// from returns the first message that stands for numbers from number on.
func (k *kept) from(number uint64) (message, bool) {
	// The newest is asked for most often.
	i := len(k.messages)
	for i > 0 && k.messages[i-1].first >= number {
		i--
	}
	if i == len(k.messages) {
		return message{}, false
	}
	return k.messages[i], true
}

// mergeable returns the index of the oldest of the neighbouring pairs that
// together stand for the fewest numbers; -1 when there is no pair.
func (k *kept) mergeable() int {
	best, fewest := -1, uint64(0)
	for i := 0; i+1 < len(k.messages); i++ {
		a, b := k.messages[i], k.messages[i+1]
		if b.last >= k.arrived && a.first <= k.sent || !alike(a.body, b.body) {
			continue
		}
		if n := b.last - a.first + 1; best < 0 || n < fewest {
			best, fewest = i, n
		}
	}
	return best
}

func alike(a, b *sessionpb.PodMessage) bool {
	switch {
	case a.GetClientSample() != nil && b.GetClientSample() != nil:
		return a.GetClientSample().GetStage() == b.GetClientSample().GetStage()
	case a.GetServerSample() != nil && b.GetServerSample() != nil:
		// Of two readings the later is kept, but not instead of one that was asked for.
		return !a.GetServerSample().GetAsked()
	}
	return false
}

// merge makes the messages i and i+1 one.
func (k *kept) merge(i int) error {
	a, b := k.messages[i], k.messages[i+1]
	var body *sessionpb.PodMessage
	if b.body.GetClientSample() != nil {
		merged, err := mergeSamples(a.body.GetClientSample(), b.body.GetClientSample())
		if err != nil {
			return fmt.Errorf("merge samples: %w", err)
		}
		body = &sessionpb.PodMessage{Message: &sessionpb.PodMessage_ClientSample{ClientSample: merged}}
	} else {
		body = proto.CloneOf(b.body)
	}
	setNumbers(body, a.first, b.last)
	m := message{first: a.first, last: b.last, size: proto.Size(body), body: body}
	k.size += m.size - a.size - b.size
	k.messages[i] = m
	k.messages = append(k.messages[:i+1], k.messages[i+2:]...)
	return nil
}

func mergeSamples(a, b *sessionpb.ClientSample) (*sessionpb.ClientSample, error) {
	measure, err := session.MeasureFromWire(a.GetMeasure())
	if err != nil {
		return nil, err
	}
	other, err := session.MeasureFromWire(b.GetMeasure())
	if err != nil {
		return nil, err
	}
	measure.Merge(other)
	encoded, err := session.MeasureToWire(measure)
	if err != nil {
		return nil, err
	}
	usage, added := session.ClientUsageFromWire(a.GetUsage()), session.ClientUsageFromWire(b.GetUsage())
	return &sessionpb.ClientSample{
		Stage:   a.GetStage(),
		Second:  a.GetSecond(),
		Seconds: b.GetSecond() + max(b.GetSeconds(), 1) - a.GetSecond(),
		Measure: encoded,
		Usage: session.ClientUsageToWire(result.ClientUsage{
			UserCPU:     usage.UserCPU + added.UserCPU,
			SystemCPU:   usage.SystemCPU + added.SystemCPU,
			Throttled:   addKnown(usage.Throttled, added.Throttled),
			MaxResident: max(usage.MaxResident, added.MaxResident),
		}),
	}, nil
}

// addKnown adds figures of which -1 means unknown.
func addKnown(a, b int64) int64 {
	if a < 0 || b < 0 {
		return -1
	}
	return a + b
}

func setNumbers(m *sessionpb.PodMessage, first, last uint64) {
	covers := first
	if first == last {
		covers = 0
	}
	switch body := m.GetMessage().(type) {
	case *sessionpb.PodMessage_ClientSample:
		body.ClientSample.Number, body.ClientSample.FirstNumber = last, covers
	case *sessionpb.PodMessage_ServerSample:
		body.ServerSample.Number, body.ServerSample.FirstNumber = last, covers
	case *sessionpb.PodMessage_ClientTotals:
		body.ClientTotals.Number = last
	}
}

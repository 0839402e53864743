package pod

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// keptBytes bounds the numbered messages that a pod keeps. A second of a client
// takes one or two kB, so that some 300 are kept apart, of which a series of the
// result has 600 at most. As garbage is collected when the heap has grown to five
// times what is live, more would show in the memory of a client that should be
// the same after half an hour as after a minute.
const keptBytes = 512 << 10

// kept are a pod's numbered messages, in the order of their numbers.
//
// Numbers count up from 1 and none is given twice. The manager holds what it
// was sent in memory alone until Release, so that everything is kept until
// then. Where that is more than the limit, neighbouring samples are made one,
// which stands for the numbers of both: the series becomes coarser, what it adds
// up to stays. Seconds are joined as the manager's series joins them, in spans of
// a power of two that begin at a multiple of their length. For the manager to have either all or
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

// message is one message, standing for the numbers from first to last. It is kept
// as it is sent, which takes least memory.
type message struct {
	first, last uint64
	kind        kind
	// second is the first second of a client's sample, seconds how many it has.
	second, seconds int64
	encoded         []byte
}

// kind tells what messages can be made one.
type kind int

const (
	ofAnything kind = iota
	ofReading
	ofAskedReading
	// ofSeconds plus a stage is of seconds of that.
	ofSeconds
)

func newMessage(body *sessionpb.PodMessage, first, last uint64) (message, error) {
	body.Number, body.FirstNumber = last, 0
	if first < last {
		body.FirstNumber = first
	}
	m := message{first: first, last: last}
	switch body := body.GetMessage().(type) {
	case *sessionpb.PodMessage_ClientSample:
		m.kind = ofSeconds + kind(body.ClientSample.GetStage())
		m.second, m.seconds = body.ClientSample.GetSecond(), max(body.ClientSample.GetSeconds(), 1)
	case *sessionpb.PodMessage_ServerSample:
		m.kind = ofReading
		if body.ServerSample.GetAsked() {
			m.kind = ofAskedReading
		}
	}
	var err error
	m.encoded, err = proto.Marshal(body)
	return m, err
}

// body returns the message as it is sent.
func (m *message) body() (*sessionpb.PodMessage, error) {
	var body sessionpb.PodMessage
	if err := proto.Unmarshal(m.encoded, &body); err != nil {
		return nil, fmt.Errorf("read a message that is kept: %w", err)
	}
	return &body, nil
}

// add numbers a sample and keeps it.
func (k *kept) add(body *sessionpb.PodMessage) error {
	k.last++
	m, err := newMessage(body, k.last, k.last)
	if err != nil {
		return err
	}
	if len(m.encoded) > session.MaxMessageBytes {
		return fmt.Errorf("a message of %d bytes, the limit is %d", len(m.encoded), session.MaxMessageBytes)
	}
	k.messages = append(k.messages, m)
	k.size += len(m.encoded)
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
// together stand for the fewest numbers, of those that make a whole span if there
// are any; -1 when there is no pair.
func (k *kept) mergeable() int {
	best, fewest, bestWhole := -1, uint64(0), false
	for i := 0; i+1 < len(k.messages); i++ {
		a, b := &k.messages[i], &k.messages[i+1]
		if b.last >= k.arrived && a.first <= k.sent || !alike(a, b) {
			continue
		}
		n, whole := b.last-a.first+1, whole(a, b)
		if best < 0 || whole && !bestWhole || whole == bestWhole && n < fewest {
			best, fewest, bestWhole = i, n, whole
		}
	}
	return best
}

func alike(a, b *message) bool {
	switch {
	case a.kind >= ofSeconds:
		return a.kind == b.kind
	case a.kind == ofReading:
		// Of two readings the later is kept, but not instead of one that was asked for.
		return b.kind == ofReading || b.kind == ofAskedReading
	}
	return false
}

// whole is whether two messages together make a span as the manager's series has
// them. Readings are of instants.
func whole(a, b *message) bool {
	return a.kind < ofSeconds || a.seconds == b.seconds && b.second == a.second+a.seconds && a.second%(2*a.seconds) == 0
}

// merge makes the messages i and i+1 one.
func (k *kept) merge(i int) error {
	a, b := &k.messages[i], &k.messages[i+1]
	body, err := b.body()
	if err != nil {
		return err
	}
	if a.kind >= ofSeconds {
		earlier, err := a.body()
		if err != nil {
			return err
		}
		merged, err := mergeSamples(earlier.GetClientSample(), body.GetClientSample())
		if err != nil {
			return fmt.Errorf("merge samples: %w", err)
		}
		body = &sessionpb.PodMessage{Message: &sessionpb.PodMessage_ClientSample{ClientSample: merged}}
	}
	m, err := newMessage(body, a.first, b.last)
	if err != nil {
		return err
	}
	k.size += len(m.encoded) - len(a.encoded) - len(b.encoded)
	k.messages[i] = m
	k.messages = slices.Delete(k.messages, i+1, i+2)
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
	usage, err := session.ClientUsageFromWire(a.GetUsage())
	if err != nil {
		return nil, err
	}
	more, err := session.ClientUsageFromWire(b.GetUsage())
	if err != nil {
		return nil, err
	}
	usage.Add(more)
	return &sessionpb.ClientSample{
		Stage:   a.GetStage(),
		Second:  a.GetSecond(),
		Seconds: b.GetSecond() + max(b.GetSeconds(), 1) - a.GetSecond(),
		Measure: encoded,
		Usage:   session.ClientUsageToWire(usage),
	}, nil
}

package pod

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// keptBytes bounds the numbered messages that a pod keeps. A second of a client
// takes one or two kB, so some 300 seconds are kept apart. The series of a result
// has at most 600. A client's memory should be the same after half an hour as after a minute,
// but garbage is collected only when the heap has grown to five times what is live.
const keptBytes = 512 << 10

// kept holds a pod's numbered messages, in the order of their numbers.
//
// Numbers count up from 1 and are unique. Until Release the manager holds what it
// received only in memory, so everything is kept until then. Beyond the limit,
// neighboring samples are merged. A merged sample has the numbers of both: the
// series becomes coarser, but its sums stay. Seconds are merged as in the manager's
// series, to spans of a power of two that begin at a multiple of their length.
//
// The manager must have either all or none of a merged message. So two messages are merged only if
// the manager of the last connection certainly has both (their numbers are below arrived) or
// certainly has neither (they were not sent to it). Any other manager has none of them.
type kept struct {
	limit    int
	messages []message
	size     int
	last     uint64 // the highest number in use
	arrived  uint64 // lower numbers have arrived
	sent     uint64 // higher numbers have not been sent
}

// message is one message with the numbers from first to last. It is kept encoded,
// which takes the least memory.
type message struct {
	first, last uint64
	kind        kind
	// second is the first second of a client's sample, seconds the number of seconds.
	second, seconds int64
	encoded         []byte
}

// kind says which messages can be merged.
type kind int

const (
	otherKind kind = iota
	sampleKind
	requestedSampleKind
	// secondsKind plus a stage is the kind of seconds of that stage.
	secondsKind
)

func newMessage(body *sessionpb.PodMessage, first, last uint64) (message, error) {
	body.Number, body.FirstNumber = last, 0
	if first < last {
		body.FirstNumber = first
	}
	m := message{first: first, last: last}
	switch body := body.GetMessage().(type) {
	case *sessionpb.PodMessage_ClientSample:
		m.kind = secondsKind + kind(body.ClientSample.GetStage())
		m.second, m.seconds = body.ClientSample.GetSecond(), max(body.ClientSample.GetSeconds(), 1)
	case *sessionpb.PodMessage_ServerSample:
		m.kind = sampleKind
		if body.ServerSample.GetRequested() {
			m.kind = requestedSampleKind
		}
	}
	var err error
	m.encoded, err = proto.Marshal(body)
	return m, err
}

func (m *message) body() (*sessionpb.PodMessage, error) {
	var body sessionpb.PodMessage
	if err := proto.Unmarshal(m.encoded, &body); err != nil {
		return nil, fmt.Errorf("decode a kept message: %w", err)
	}
	return &body, nil
}

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

// from returns the first message whose numbers are not below number.
func (k *kept) from(number uint64) (message, bool) {
	// Most calls are for the newest.
	i := len(k.messages)
	for i > 0 && k.messages[i-1].first >= number {
		i--
	}
	if i == len(k.messages) {
		return message{}, false
	}
	return k.messages[i], true
}

// mergeable returns the index of the neighboring pair that has the fewest numbers, and of several
// the oldest. It prefers pairs that make a whole span. It returns -1 if there is no pair.
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
	case a.kind >= secondsKind:
		return a.kind == b.kind
	case a.kind == sampleKind:
		// The later of two samples replaces the earlier, but not one that was requested.
		return b.kind == sampleKind || b.kind == requestedSampleKind
	}
	return false
}

// whole reports whether two messages together make a span of the manager's series.
// Usage samples always do: each is of one point in time.
func whole(a, b *message) bool {
	return a.kind < secondsKind || a.seconds == b.seconds && b.second == a.second+a.seconds && a.second%(2*a.seconds) == 0
}

func (k *kept) merge(i int) error {
	a, b := &k.messages[i], &k.messages[i+1]
	body, err := b.body()
	if err != nil {
		return err
	}
	if a.kind >= secondsKind {
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
	merged, _, err := session.SecondFromWire(a)
	if err != nil {
		return nil, err
	}
	other, seconds, err := session.SecondFromWire(b)
	if err != nil {
		return nil, err
	}
	merged.Merge(other)
	return session.SecondToWire(a.GetStage(), merged, other.Second+seconds-merged.Second)
}

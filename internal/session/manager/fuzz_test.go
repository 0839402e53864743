package manager

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

func FuzzReceive(f *testing.F) {
	seeds := []*sessionpb.PodMessage{
		hello(&sessionpb.Hello{Role: client, Starts: started(1)}),
		{Message: &sessionpb.PodMessage_Ping{Ping: &sessionpb.Ping{Sent: 5}}},
		{Message: &sessionpb.PodMessage_Ready{Ready: &sessionpb.Ready{Cpus: "0"}}},
		{Message: &sessionpb.PodMessage_Failure{Failure: &sessionpb.Failure{Reason: "x"}}},
		{Message: &sessionpb.PodMessage_Ready{}}, {Message: &sessionpb.PodMessage_ClientSample{}}, {Message: &sessionpb.PodMessage_Ping{}},
		sampleMessage(f, 1, measurement, second(3, 1, 2, 3)),
		renumbered(change(sampleMessage(f, 4, measurement, second(3, 1, 2, 3)), func(s *sessionpb.ClientSample) { s.Seconds = 5 }), 1, 4),
		totalsMessage(f, 1, &result.Totals{StartedAt: fuzzStart, EndedAt: fuzzStart + 1, Measure: *measure(1, 2)}),
		serverMessage(1, &result.ServerUsage{At: fuzzStart, UserCPU: 7}),
		serversMessage(1, backends(fuzzStart, "a", "b")),
	}
	for _, m := range seeds {
		wire, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(wire, wire, true)
		f.Add(wire, wire, false)
	}
	f.Fuzz(func(t *testing.T, first, second []byte, isClient bool) {
		identity := clientOf("run", 0)
		if !isClient {
			identity = agentOf("run")
		}
		r := newRun()
		for i, wire := range [][]byte{first, second} {
			m := &sessionpb.PodMessage{}
			if proto.Unmarshal(wire, m) != nil {
				return
			}
			st := &stream{wakes: make(chan struct{}, 1), ends: make(chan error, 1)}
			h := &sessionpb.Hello{Role: identity.Role, Instance: 1, Starts: started(fuzzStart)}
			if i == 0 && m.GetHello() != nil {
				h = m.GetHello()
			}
			if r.join(st, identity, h) != nil {
				return
			}
			_, _ = r.receive(st, m, fuzzStart+3600_000_000)
			for r.due(st) != nil {
			}
			_, _ = r.observe(), r.seconds()
			if n := len(r.series.entries); n > seriesLength {
				t.Errorf("%d entries", n)
			}
			if n := len(r.backends); n > session.MaxBackends {
				t.Errorf("%d containers", n)
			}
			r.leave(st)
		}
	})
}

const fuzzStart = 1_700_000_000_000_000

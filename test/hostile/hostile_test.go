package main

import (
	"runtime"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// rounds is the number of times that the test tries each attack. An attempt makes up to 5,000 messages or a hundred
// connections.
const rounds = 40

// maxGrowth bounds the growth of the heap, in bytes: the attacker is in the same process, and its own
// messages take most of it.
const maxGrowth = 192 << 20

// maxKept bounds what the heap keeps of the attacks when they have ended, in bytes. It keeps 0.2 MB.
const maxKept = 2 << 20

// TestHostileClient attacks a manager in this process, while another run has a session. Each attempt
// is refused as it must be, the other session isn't disturbed, and memory doesn't grow.
func TestHostileClient(t *testing.T) {
	l, err := startLocal()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.stop)

	conn, err := l.target.connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	honest, err := call(t.Context(), conn, "local/honest")
	if err != nil {
		t.Fatal(err)
	}
	send := func(m *sessionpb.PodMessage) {
		t.Helper()
		if err := honest.SendMsg(encode(m)); err != nil {
			t.Fatal(err)
		}
	}
	if err := honest.SendMsg(hello(nil)); err != nil {
		t.Fatal(err)
	}

	heap := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	runtime.GC()
	table := attackInTurn(t.Context(), l.target, rounds, heap)
	t.Logf("%v", table.attacks)
	runtime.GC()
	runtime.GC() // what a sync.Pool holds is free after two collections: gRPC's buffers, of which there are the more the busier the machine
	if grown := heap() - table.before; grown > maxKept {
		t.Errorf("%d bytes are kept", grown)
	}
	if table.peak-table.before > maxGrowth {
		t.Errorf("the heap grew by %d bytes", table.peak-table.before)
	}
	for _, a := range attacks {
		attempts := 0
		for outcome, n := range table.attacks[a.name] {
			attempts += n
			if !slices.Contains(a.refused, outcome) {
				t.Errorf("%s: %d times %s, want %v", a.name, n, outcome, a.refused)
			}
		}
		if attempts != rounds {
			t.Errorf("%s: %d attempts", a.name, attempts)
		}
	}

	send(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_Ready{Ready: &sessionpb.Ready{Cpus: "0"}}})
	send(&sessionpb.PodMessage{Message: &sessionpb.PodMessage_Ping{Ping: &sessionpb.Ping{Sent: 7}}})
	for {
		var data []byte
		if err := honest.RecvMsg(&data); err != nil {
			t.Fatalf("the other session ended: %v", err)
		}
		var m sessionpb.ManagerMessage
		if err := proto.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		if m.GetPong().GetSent() == 7 {
			break
		}
	}
	if c := l.Observe("honest").Clients[0]; !c.Connected || c.Failure != "" || !c.Ready {
		t.Errorf("the other run: %+v", c)
	}
}

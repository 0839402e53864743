package main

import (
	"context"
	"encoding/json"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/session"
)

// TestSizes checks that the attacks are as large as they say: smaller ones would prove nothing.
func TestSizes(t *testing.T) {
	between := func(about string, n, least, most int) {
		t.Helper()
		if n < least || n > most {
			t.Errorf("%s: %d, want %d to %d", about, n, least, most)
		}
	}
	data := func(texts map[string]string) (n int) {
		for key, text := range texts {
			n += len(key) + len(text)
		}
		return n
	}
	between("bytes of small keys", data(smallKeys().Data), 480_000, 520_000)
	between("bytes of the shared input", data(sharedInput().Data), sharedBytes, 900_000)

	b := manyCells("x")
	text, err := json.Marshal(b.Spec)
	if err != nil {
		t.Fatal(err)
	}
	between("bytes of a Benchmark", len(text), 40_000, 60_000)
	all, err := cells.Of(&b.Spec)
	if err != nil || len(all) != cells.Max {
		t.Errorf("%d cells, %v", len(all), err)
	}
	if err := inference.CheckClaims(&b.Spec, all); err != nil {
		t.Error(err)
	}
	if _, err := all[len(all)-1].TrialJSON(&b.Spec.Template.Spec, b.Spec.Capacity, 20); err != nil {
		t.Error(err)
	}

	totals, err := largeTotals()
	if err != nil {
		t.Fatal(err)
	}
	between("bytes of totals", len(totals), 2_500_000, session.MaxMessageBytes-1000)
	if _, err := session.DecodeTotals(totals); err != nil {
		t.Error(err)
	}

	packed, err := bomb()
	if err != nil {
		t.Fatal(err)
	}
	plain, err := artifact.Unpack(packed)
	if err != nil {
		t.Fatal(err)
	}
	between("bytes of an artifact", len(packed), 1, 100_000)
	between("decoded", len(plain), 30<<20, 32<<20)
}

// TestWaveOrder checks that each attack is made alone, and then beside others.
func TestWaveOrder(t *testing.T) {
	for n, waves := range map[int]int{1: 1, 2: 3, 4: 5, 5: 10, len(tenantAttacks): 2 * len(tenantAttacks)} {
		order := waveOrder(tenantAttacks[:n])
		if len(order) != waves {
			t.Errorf("%d attacks: %d waves, want %d", n, len(order), waves)
		}
		alone := map[string]bool{}
		for i, attacks := range order {
			names := namesOf(attacks)
			if want := min(n, atOnce); i < n && len(names) != 1 || i >= n && len(names) != want || len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
				t.Errorf("%d attacks, wave %d: %v", n, i, names)
			}
			if len(names) == 1 {
				alone[names[0]] = true
			}
		}
		if len(alone) != n {
			t.Errorf("%d attacks: alone are %v", n, alone)
		}
	}
}

func TestMissed(t *testing.T) {
	const limit = 512 << 20
	good := wave{limit: limit, before: 60 << 20, peak: limit * 8 / 10, after: 100 << 20, admitted: []time.Duration{time.Second, maxAdmission}, begun: []time.Duration{maxRound}}
	for name, test := range map[string]struct {
		change func(*wave)
		missed string
	}{
		"all is well":     {func(*wave) {}, ""},
		"memory":          {func(w *wave) { w.peak = limit * 81 / 100 }, "memory 81%"},
		"memory is kept":  {func(w *wave) { w.after = limit }, "memory 100%"},
		"a restart":       {func(w *wave) { w.restarts = 1 }, "1 restarts"},
		"late":            {func(w *wave) { w.admitted = append(w.admitted, 6*time.Second) }, "admitted after 6.0s of 3"},
		"no run":          {func(w *wave) { w.admitted = nil }, "admitted after never"},
		"a late round":    {func(w *wave) { w.begun[0] = time.Minute }, "round begun after 60.0s of 1"},
		"a wrong count":   {func(w *wave) { w.problems = []string{"run x: 3 requests"} }, "1 problems"},
		"late and a lack": {func(w *wave) { w.begun, w.restarts = nil, 2 }, "2 restarts; round begun after never"},
	} {
		w := good
		w.begun = slices.Clone(good.begun)
		test.change(&w)
		if got := strings.Join(w.missed(), "; "); got != test.missed {
			t.Errorf("%s: %q, want %q", name, got, test.missed)
		}
		if row := w.row(); len(row) != len(head) || strings.HasPrefix(row[len(row)-1], "MISSED") != (test.missed != "") {
			t.Errorf("%s: %q", name, row)
		}
	}
}

// TestFlood floods a server that closes what it has begun to read, and one that waits.
func TestFlood(t *testing.T) {
	for name, closes := range map[string]bool{"closes": true, "waits": false} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = listener.Close() }()
			ctx, cancel := context.WithCancel(t.Context())
			const connections = 5
			began := make(chan struct{}, 1000)
			go func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					go func() {
						first := make([]byte, 16)
						if n, err := conn.Read(first); err != nil || !strings.HasPrefix(string(first[:n]), "GET /") {
							_ = conn.Close() // it tried TLS
							return
						}
						began <- struct{}{}
						if closes {
							_ = conn.Close()
						}
					}()
				}
			}()
			go func() {
				wait := connections
				if closes {
					wait *= 3 // they are replaced
				}
				for range wait {
					<-began
				}
				cancel()
			}()
			opened, closed := flood(ctx, []string{listener.Addr().String()}, connections)
			if closes && (opened < 2*connections || closed < connections) || !closes && (opened != connections || closed != 0) {
				t.Errorf("%d opened, %d closed", opened, closed)
			}
		})
	}
}

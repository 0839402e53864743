package artifact_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
)

// run returns a result with the given numbers of clients and seconds. The clients
// share a few sets of histograms, so that a thousand of them fit in memory; more sets
// than gzip's window of 32 KiB covers.
func run(clients, seconds int) *result.Result {
	random := rand.New(rand.NewPCG(1, 2))
	sets := make([]result.Latencies, min(clients, 50))
	for i := range sets {
		for phase := range result.Phases {
			for range 2_000 {
				sets[i].Of(phase).Record(int64(random.ExpFloat64() * 20_000))
			}
			sets[i].Of(phase).Pack() // as they are received
		}
	}
	r := &result.Result{
		SchemaVersion: result.SchemaVersion,
		Run: result.Run{
			Namespace: "default", Name: "static", Image: "tomcat:9.0", Server: "Tomcat NIO", Load: "closed", Connections: 25,
			Requests:        []result.Request{{Path: "/a", Weight: 1, Length: 31819}},
			MeasurementTime: time.Date(2026, 1, 2, 3, 4, 5, 678_000, time.UTC),
		},
		Environment: result.Environment{TargetNode: "node-1", CPUExclusivity: "Exclusive", DocumentLength: 31819},
		Server:      &result.Server{PeakCPUPercent: 97.123456789, PeakResident: 1 << 28},
		Findings:    []result.Finding{{Reason: "NoWarmup", Severity: result.Warns, Message: "cold"}},
		Thresholds:  []result.ThresholdOutcome{{Metric: "LatencyP99", Bound: "below 50ms", Actual: "42.1ms", Met: true}},
		Series:      make([]result.Second, 0, seconds),
	}
	all := make([]result.Client, clients)
	for i := range all {
		all[i] = result.Client{
			Index: i, Node: "node-1",
			StartSkewMicroseconds: random.Int64N(5000), ClockErrorMicroseconds: random.Int64N(500),
			Totals: result.Totals{
				StartedAt: 1_700_000_000_000_000 + random.Int64N(5000),
				EndedAt:   1_700_003_600_000_000 + random.Int64N(5000),
				Usage:     result.ClientUsage{UserCPU: random.Int64N(1e9), SystemCPU: random.Int64N(1e9), MaxResident: random.Int64N(1e9)},
				Measure: result.Measure{
					Counts: result.Counts{
						Requests: random.Int64N(1e6), KeepAlive: random.Int64N(1e6), Errors: result.ErrorCounts{result.ErrorLength: 3},
						BytesSent: random.Int64N(1e12), BytesReceived: random.Int64N(1e12), BodyBytes: random.Int64N(1e12),
					},
					Latencies: sets[i%len(sets)],
				},
			},
		}
	}
	r.AddClients(all)
	for i := range seconds {
		r.Series = append(r.Series, result.Second{
			Second: int64(i), Seconds: 1, Requests: random.Int64N(100_000), Errors: random.Int64N(10),
			P50: random.Int64N(20_000), P90: random.Int64N(50_000), P99: random.Int64N(90_000), Max: random.Int64N(1e6),
			BytesReceived: random.Int64N(1e10), ClientCPU: random.Int64N(1e6), ServerCPU: random.Int64N(1e6),
			ServerResident: random.Int64N(1e9),
		})
	}
	return r
}

// sameHistograms compares histograms by everything they encode to.
var sameHistograms = cmp.Comparer(func(a, b *result.Histogram) bool {
	if a == nil || b == nil {
		return a == b
	}
	ea, errA := a.Encode()
	eb, errB := b.Encode()
	return errA == nil && errB == nil && cmp.Equal(ea, eb)
})

func TestRoundTripIsExact(t *testing.T) {
	want := run(2, 30)
	encoded, err := artifact.Encode(want, artifact.ConfigMapLimit)
	if err != nil {
		t.Fatal(err)
	}
	got, err := artifact.Decode(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, sameHistograms); diff != "" {
		t.Errorf("after a round trip (-want +got):\n%s", diff)
	}
	again, err := artifact.Encode(got, artifact.ConfigMapLimit)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(encoded, again) {
		t.Error("the same result encodes to other bytes")
	}
}

// fitted encodes a result for a ConfigMap, in which it must have room, and returns what is decoded of it.
func fitted(t *testing.T, whole *result.Result) *result.Result {
	t.Helper()
	encoded, err := artifact.Encode(whole, artifact.ConfigMapLimit)
	if err != nil {
		t.Fatal(err)
	}
	if len(encoded) > artifact.ConfigMapLimit {
		t.Fatalf("%d bytes, the limit is %d", len(encoded), artifact.ConfigMapLimit)
	}
	kept, err := artifact.Decode(encoded)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := artifact.Unpack(encoded)
	if err != nil {
		t.Fatal(err)
	}
	elements := bytes.Count(plain, []byte("{")) + bytes.Count(plain, []byte("["))
	t.Logf("%d bytes, %d unpacked with %d objects and arrays, %d points", len(encoded), len(plain), elements, len(kept.Series))
	if len(plain) > 16<<20 || elements > 80_000 {
		t.Error("it is close to what Decode rejects")
	}
	return kept
}

func TestThinning(t *testing.T) {
	for name, tc := range map[string]struct {
		clients, seconds int
		wantHistograms   bool
		wantWholeSeries  bool
	}{
		"a few clients for an hour":           {3, 3600, true, true},
		"a few clients for a week":            {3, 7 * 24 * 3600, true, false},
		"as many clients as there can be, 1h": {1000, 3600, false, true},
		"as many clients for a week":          {1000, 7 * 24 * 3600, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			whole := run(tc.clients, tc.seconds)
			kept := fitted(t, whole)
			if diff := cmp.Diff(whole.Merged, kept.Merged, sameHistograms); diff != "" {
				t.Errorf("merged (-want +got):\n%s", diff)
			}
			checkSeries(t, whole.Series, kept.Series, tc.wantWholeSeries)
			if len(whole.Series) != tc.seconds {
				t.Errorf("encoding left %d of %d points in the result", len(whole.Series), tc.seconds)
			}
			checkClients(t, whole.Clients, kept.Clients, tc.wantHistograms)
		})
	}
}

func checkSeries(t *testing.T, whole, kept []result.Second, wantWhole bool) {
	t.Helper()
	if isWhole := len(whole) == len(kept); isWhole != wantWhole {
		t.Errorf("%d of %d points kept", len(kept), len(whole))
	}
	next, requests, wantRequests := int64(0), int64(0), int64(0)
	for _, s := range kept {
		if s.Second != next {
			t.Fatalf("a point begins at second %d, the one before ended at %d", s.Second, next)
		}
		next += s.Seconds
		requests += s.Requests
		if (s.Seconds > 1) != (s.P99 == -1) {
			t.Fatalf("a point of %d seconds has the 99th percentile %d", s.Seconds, s.P99)
		}
	}
	for _, s := range whole {
		wantRequests += s.Requests
	}
	if next != int64(len(whole)) || requests != wantRequests {
		t.Errorf("points end at second %d with %d requests, want %d with %d", next, requests, len(whole), wantRequests)
	}
}

func checkClients(t *testing.T, whole, kept []result.Client, wantHistograms bool) {
	t.Helper()
	if len(kept) != len(whole) {
		t.Fatalf("%d of %d clients", len(kept), len(whole))
	}
	for i := range kept {
		if diff := cmp.Diff(whole[i].Counts, kept[i].Counts); diff != "" {
			t.Fatalf("counts of client %d (-want +got):\n%s", i, diff)
		}
		hasHistogram := kept[i].Latencies[result.Total] != nil
		if hasHistogram != wantHistograms {
			t.Fatalf("client %d has a histogram: %t", i, hasHistogram)
		}
		if !wantHistograms {
			if got, want := kept[i].Summaries[result.Total].Percentiles[percentile.P99], whole[i].Latencies[result.Total].Percentile(99); got != want {
				t.Fatalf("client %d: 99th percentile %d, want %d", i, got, want)
			}
		}
		if whole[i].Latencies[result.Total] == nil {
			t.Fatalf("encoding took the histograms of client %d from the result", i)
		}
	}
}

func TestPercentilesOfJoinedSeconds(t *testing.T) {
	r := run(1, 2000)
	for i := range r.Series {
		if i%2 == 1 {
			r.Series[i] = result.Second{
				Second: int64(i), Seconds: 1, Requests: 5, Errors: 5, ServerCPU: -1, ServerResident: -1,
				ClientThrottled: int64(i%4) - 2, ClientSchedulingLatencyP99: int64(i % 100), ClientGCPauseMax: 7,
			}
		} else {
			r.Series[i].ClientThrottled, r.Series[i].ClientSchedulingLatencyP99, r.Series[i].ClientGCPauseMax = 10, 50, int64(i%15)
		}
	}
	whole, err := artifact.Encode(r, artifact.ConfigMapLimit)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := artifact.Encode(r, len(whole)-1)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := artifact.Decode(encoded)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range kept.Series {
		first := r.Series[2*i]
		want := first
		want.Seconds, want.Requests, want.Errors, want.ServerCPU = 2, first.Requests+5, first.Errors+5, -1
		// Every second odd second doesn't know how long the limit held the clients up.
		want.ClientThrottled = []int64{-1, 11}[i%2]
		want.ClientSchedulingLatencyP99, want.ClientGCPauseMax = max(50, int64((2*i+1)%100)), max(7, int64(2*i%15))
		if diff := cmp.Diff(want, s); diff != "" {
			t.Fatalf("joined with a second without success (-want +got):\n%s", diff)
		}
	}
}

// withBackends adds the given number of containers behind the server, with the longest
// names. The usage of one of them is known from the 11th second on. The metrics of seconds hardly
// repeat.
func withBackends(r *result.Result, n int) *result.Result {
	random := rand.New(rand.NewPCG(3, 4))
	usage := func() result.ServerUsage {
		return result.ServerUsage{At: random.Int64N(1e15), UserCPU: random.Int64N(1e12), SystemCPU: random.Int64N(1e12),
			Resident: random.Int64N(1e12), MaxResident: random.Int64N(1e12), VoluntarySwitches: random.Int64N(1e9), CPUs: "0-3,8"}
	}
	for i := range n {
		name := fmt.Sprint(strings.Repeat("x", 62), i)
		r.Environment.Backends = append(r.Environment.Backends, result.BackendEnvironment{Name: name, Image: "tomcat:9.0", CPULimit: 1000})
		r.Backends = append(r.Backends, result.Backend{Name: name, Server: result.Server{Begin: usage(), End: usage(), PeakCPUPercent: 50}})
	}
	var usages [1000]result.ServerUsage // a second's metrics are any of these
	var nodes [1000]result.NodeUsage
	for i := range usages {
		randomize(random, result.ServerMetrics, &usages[i])
		randomize(random, result.NodeMetrics, &nodes[i])
	}
	second := func() *result.ServerUsage { return &usages[random.IntN(len(usages))] }
	around := func() *result.NodeUsage { return &nodes[random.IntN(len(nodes))] }
	times := r.Merged.Latencies.Times()
	for i := range r.Clients {
		r.Clients[i].NodeUsage = around()
	}
	for i := range r.Series {
		s := &r.Series[i]
		s.SetServer(second(), true)
		for j := range r.Backends {
			s.SetBackend(r.Backends[j].Name, second(), j > 0 || i > 10)
		}
		s.Node, s.ClientNode = around(), around()
		counts := result.Counts{Requests: s.Requests, BytesReceived: s.BytesReceived, Connections: random.Int64N(1e3), BytesSent: random.Int64N(1e6)}
		counts.Errors[result.ErrorTimeout] = s.Errors
		phases := times
		for p := range phases {
			phases[p].PhasePercentiles = &result.PhasePercentiles{P50: random.Int64N(20_000), P90: random.Int64N(50_000), P99: random.Int64N(90_000)}
		}
		s.SetCounts(counts, phases)
	}
	return r
}

func randomize[T any](random *rand.Rand, table result.Table[T], metrics *T) {
	for i := range table {
		*table[i].Of(metrics) = random.Int64N(1e6)
	}
}

// TestBackendsFit checks that a result with the largest numbers of clients, seconds and
// containers fits, and that the containers' metrics are whole except in the series.
func TestBackendsFit(t *testing.T) {
	for name, tc := range map[string]struct{ clients, seconds int }{
		"a few clients for a minute":          {3, 60},
		"a few clients for a day":             {3, 24 * 3600},
		"as many clients as there can be, 1h": {1000, 3600},
	} {
		t.Run(name, func(t *testing.T) {
			whole := withBackends(run(tc.clients, tc.seconds), 8)
			kept := fitted(t, whole)
			if diff := cmp.Diff(whole.Backends, kept.Backends); diff != "" {
				t.Errorf("backends (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(whole.Environment, kept.Environment); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
			late, steady := whole.Backends[0].Name, whole.Backends[1].Name
			var want, got, overflows, queue, keptQueue int64
			for _, s := range whole.Series {
				want += s.BackendCPU[steady] + s.Node.OtherCPU + s.Server.MinorFaults + s.Counts.Errors[result.ErrorTimeout] + s.Phases[result.Connect].Sum
				overflows += s.ClientNode.ListenOverflows
				queue = max(queue, s.Node.AcceptQueue)
			}
			for _, s := range kept.Series {
				got += s.BackendCPU[steady] + s.Node.OtherCPU + s.Server.MinorFaults + s.Counts.Errors[result.ErrorTimeout] + s.Phases[result.Connect].Sum
				overflows -= s.ClientNode.ListenOverflows
				keptQueue = max(keptQueue, s.Node.AcceptQueue)
				if cpu, known := s.BackendCPU[late]; s.Seconds > 1 && s.Second <= 10 && s.Second+s.Seconds > 11 && (!known || cpu != -1) {
					t.Errorf("seconds %d to %d, in some of which %s wasn't seen, have its CPU time %d", s.Second, s.Second+s.Seconds-1, late, cpu)
				}
			}
			if got != want || overflows != 0 || queue != keptQueue {
				t.Errorf("the points have %d, want %d; %d overflows are missing, the fullest queue has %d, want %d", got, want, overflows, keptQueue, queue)
			}
		})
	}
}

func TestTooLarge(t *testing.T) {
	if _, err := artifact.Encode(run(1, 10), 1000); !errors.Is(err, artifact.ErrTooLarge) {
		t.Errorf("error %v, want ErrTooLarge", err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	pack := func(plain string) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(plain)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":               {nil, "unpack result"},
		"not gzip":              {[]byte("{}"), "unpack result"},
		"cut off":               {pack(`{"schemaVersion":1}`)[:20], "unpack result"},
		"not JSON":              {pack("{"), "decode result"},
		"no version":            {pack("{}"), "schema version is 0"},
		"a later version":       {pack(`{"schemaVersion":99,"merged":"other"}`), "schema version is 99"},
		"unpacks to too much":   {pack(strings.Repeat(" ", 32<<20+1)), "more than 33554432 bytes"},
		"too many clients":      {pack(`{"schemaVersion":1,"clients":[{}` + strings.Repeat(",{}", 100_000) + "]}"), "more than 64 MiB of memory"},
		"a name in other case":  {pack(`{"schemaVersion":1,"clientſ":[{}` + strings.Repeat(",{}", 100_000) + "]}"), "isn't in ASCII"},
		"too deep":              {pack(strings.Repeat("[", 33)), "more than 32 levels"},
		"too many histograms":   {pack(`{"schemaVersion":1,"clients":[{}` + strings.Repeat(`,{"hdr":1}`, 2001) + "]}"), "2001 histograms"},
		"metrics that can't be": {pack(`{"schemaVersion":1,"merged":{"latencies":{"total":{"count":0,"sumMicroseconds":5}}}}`), "metrics without a count"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := artifact.Decode(tc.data); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

package result

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// clientOf returns a client of requests with the given names, and the total times that they had.
func clientOf(index int, random *rand.Rand, names []string) (Client, [][]int64) {
	c := Client{Index: index, Totals: Totals{Statuses: Statuses{200: 0}, ByRequest: make([]RequestMetrics, len(names)), StartedAt: 1, EndedAt: 2_000_001}}
	times := make([][]int64, len(names))
	for range 1000 {
		i, took := random.IntN(len(names)), int64(random.ExpFloat64()*1e5)
		part := RequestMetrics{Requests: 1, BytesSent: 10, BytesReceived: 100, BodyBytes: 50}
		if took%10 == 0 {
			part.Errors[ErrorStatus] = 1
			c.Statuses[500]++
			c.Non2xx++
		} else {
			part.Latency = NewHistogram()
			part.Latency.Record(took)
			c.Latencies.Of(Total).Record(took)
			times[i] = append(times[i], took)
			c.Statuses[200]++
		}
		c.ByRequest[i].Merge(&part)
		c.Add(Counts{Requests: 1, Errors: part.Errors, BytesSent: 10, BytesReceived: 100, BodyBytes: 50})
	}
	return c, times
}

// TestRequestsAreMergedExactly compares the metrics of each request over clients with those of all its durations pooled.
func TestRequestsAreMergedExactly(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"GET /a", "login", OtherRequests}
	pooled := make([]*Histogram, len(names))
	var r Result
	var clients []Client
	for i := range 3 {
		c, times := clientOf(i, random, names)
		if err := CheckRequests(c.ByRequest, &c.Measure); err != nil {
			t.Fatal(err)
		}
		clients = append(clients, c)
		for request := range times {
			if pooled[request] == nil {
				pooled[request] = NewHistogram()
			}
			for _, took := range times[request] {
				pooled[request].Record(took)
			}
		}
	}
	r.AddClients(clients)
	r.AddRequests(names)
	if err := CheckRequests(r.ByRequest, &r.Merged); err != nil {
		t.Error(err)
	}
	if err := r.Statuses.Check(&r.Merged.Counts); err != nil || r.Statuses[200]+r.Statuses[500] != 3000 {
		t.Errorf("statuses %v: %v", r.Statuses, err)
	}
	for i, name := range names {
		m := r.Request(name)
		if m == nil || m.Name != name {
			t.Fatalf("no metrics of %s", name)
		}
		if diff := cmp.Diff(pooled[i].Summarize(0), m.Total()); diff != "" {
			t.Errorf("%s (-pooled +merged):\n%s", name, diff)
		}
		if got, exists := r.Metric("LatencyP99", name); !exists || got != float64(pooled[i].Percentile(99)) {
			t.Errorf("p99 of %s: %v, %v", name, got, exists)
		}
		if got, _ := r.Metric("RequestsPerSecond", name); got != float64(pooled[i].Count())/2 {
			t.Errorf("requests/s of %s: %v", name, got)
		}
		if got, _ := r.Metric("ErrorRate", name); got != m.ErrorPercent() || got == 0 {
			t.Errorf("error rate of %s: %v", name, got)
		}
		if got, exists := r.Metric("TargetCPUPerRequest", name); exists {
			t.Errorf("CPU of %s: %v", name, got)
		}
		before := m.Total()
		m.Summarize()
		if got, _ := r.Metric("LatencyP999", name); m.Latency != nil || !cmp.Equal(before, m.Total()) || got != float64(pooled[i].Percentile(99.9)) {
			t.Errorf("%s differs once it is summarized", name)
		}
	}
	if r.Request("POST /login") != nil || r.Clients[0].Statuses != nil || r.Clients[0].ByRequest != nil {
		t.Error("metrics of an unknown request, or of a client")
	}
}

// TestRequestsThatSomeClientLacks has clients that are of one run, but say something else.
func TestRequestsThatSomeClientLacks(t *testing.T) {
	names := []string{"GET /a", "GET /b"}
	for _, own := range [][]string{nil, {"GET /a"}, {"GET /a", "GET /b", "GET /c"}} {
		t.Run(fmt.Sprint(len(own)), func(t *testing.T) {
			var r Result
			clients := make([]Client, 2)
			clients[0], _ = clientOf(0, rand.New(rand.NewPCG(1, 2)), names)
			clients[1].ByRequest = make([]RequestMetrics, len(own))
			r.AddClients(clients)
			r.AddRequests(names)
			if r.ByRequest != nil || r.Statuses[500] != clients[0].Errors.Total() {
				t.Errorf("requests %v, statuses %v", r.ByRequest, r.Statuses)
			}
		})
	}
}

// TestOnlyRequest has the metrics of a load of one request: those of all.
func TestOnlyRequest(t *testing.T) {
	r := Result{Run: Run{Requests: []Request{{Path: "/a"}}}, DurationMicroseconds: 1e6}
	c, _ := clientOf(0, rand.New(rand.NewPCG(1, 2)), []string{""})
	r.AddClients([]Client{c})
	r.AddRequests([]string{"GET /a"})
	for _, metric := range RequestMetricNames {
		want, known := r.Metric(metric, "")
		if got, exists := r.Metric(metric, "GET /a"); !known || !exists || got != want {
			t.Errorf("%s: %v (%v), of all %v", metric, got, exists, want)
		}
	}
	if r.ByRequest != nil || r.Request("GET /b") != nil || r.Request("") != nil {
		t.Error("metrics of another request")
	}
}

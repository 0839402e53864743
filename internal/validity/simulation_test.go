package validity_test

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/assay-dev/assay/internal/result"
)

// simulation is a target, its machine and its load, from which a result follows.
type simulation struct {
	seed    uint64
	seconds int64
	// rate is the arrival rate of an open load. Otherwise connections each make their next request think
	// seconds after a response.
	rate        float64
	poisson     bool
	connections int
	think       float64

	// threads serve one request at a time each, in work seconds on average, of which cpu seconds are CPU
	// time; the rest waits. The spread of the work is exponential.
	threads   int
	work, cpu float64
	// constant makes all work equal.
	constant bool
	// backlog limits the requests that wait; one that finds no place comes back after about a second, then two,
	// four and so on, as a SYN does. 0 is no limit.
	backlog int
	// noise is the standard deviation of the logarithm of the machine's speed from second to second, and
	// memory the correlation of one second with the next.
	noise, memory float64
	// speed changes the target's speed on purpose; nil for 1.
	speed func(at float64) float64
	// stall is a time from which on the target does nothing for stallSeconds.
	stall, stallSeconds float64
	// clientCPU is the clients' share of their limit in each second; nil for 0.3.
	clientCPU func(second int64) float64
	// cost is the clients' CPU time in seconds for a request that is sent at a time; nil if clientCPU decides.
	cost func(at float64) float64
}

// attempt is a request, or the place of a thread, at a time in seconds.
type attempt struct {
	at, first, again float64
}

// attempts is a heap by time.
type attempts []attempt

func (a attempts) Len() int           { return len(a) }
func (a attempts) Less(i, j int) bool { return a[i].at < a[j].at }
func (a attempts) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *attempts) Push(x any)        { *a = append(*a, x.(attempt)) }
func (a *attempts) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

func (a *attempts) add(at float64) { heap.Push(a, attempt{at: at, first: at, again: 1}) }

// run serves requests in the order of their arrival, and returns the result of the load.
func (s simulation) run() *result.Result {
	random := rand.New(rand.NewPCG(s.seed, 1))
	speeds, state := make([]float64, 4*s.seconds), random.NormFloat64()
	for i := range speeds {
		speeds[i] = math.Exp(s.noise * state)
		state = s.memory*state + math.Sqrt(1-s.memory*s.memory)*random.NormFloat64()
	}
	speed := func(at float64) float64 {
		v := speeds[min(int(at), len(speeds)-1)]
		if s.speed != nil {
			v *= s.speed(at)
		}
		return v
	}

	free := make(attempts, s.threads)
	var due attempts
	var begins []float64 // of accepted requests, in their order
	accepted := 0        // of those that began before now
	next := func(after float64) {
		gap := 1 / s.rate
		if s.poisson {
			gap *= random.ExpFloat64()
		}
		due.add(after + gap)
	}
	if s.rate > 0 {
		next(0)
	} else {
		for range s.connections {
			due.add(s.think * random.Float64())
		}
	}

	// clientLimit is the CPU limit of the only client, in thousandths of a CPU.
	const clientLimit = 2000
	r := &result.Result{
		Run: result.Run{Load: result.LoadClosed, Connections: int64(s.connections), Requests: []result.Request{{Path: "/"}}},
		Environment: result.Environment{
			TargetCPULimit: 1000, ClientCPULimit: clientLimit, CPUExclusivity: "Exclusive", TargetCPUs: "1", TargetNode: "node-1",
		},
		Server: &result.Server{End: result.ServerUsage{GCPauses: result.Unknown}},
		Warmup: &result.Warmup{Counts: result.Counts{Requests: 100}},
	}
	client, seconds := result.Client{}, map[int64]*result.Measure{}
	var started, busy, ended float64
	spent := map[int64]float64{}
	end := float64(s.seconds)
	for len(due) > 0 {
		request := heap.Pop(&due).(attempt)
		at := request.at
		if request.first >= end {
			continue // the load is over, and only what began before ends
		}
		started = max(started, request.first)
		if s.rate > 0 && at == request.first {
			next(at)
		}
		for accepted < len(begins) && begins[accepted] <= at {
			accepted++
		}
		if s.backlog > 0 && len(begins)-accepted >= s.backlog {
			heap.Push(&due, attempt{at: at + request.again*(0.9+0.2*random.Float64()), first: request.first, again: 2 * request.again})
			continue
		}
		begin := max(at, heap.Pop(&free).(attempt).at)
		if begin >= s.stall && begin < s.stall+s.stallSeconds {
			begin = s.stall + s.stallSeconds
		}
		begins = append(begins, begin)
		work := 1 / speed(begin)
		if !s.constant {
			work *= random.ExpFloat64()
		}
		done := begin + s.work*work
		busy += s.cpu * work
		spent[int64(done)] += s.cpu * work
		free.add(done)
		if s.rate == 0 {
			due.add(done + s.think)
		}
		ended = max(ended, done)
		second := int64(done)
		if seconds[second] == nil {
			seconds[second] = &result.Measure{}
		}
		for _, m := range []*result.Measure{&client.Measure, seconds[second]} {
			m.Requests++
			m.BytesReceived += 1000
			m.Latencies.Of(result.Total).Record(max(1, int64(1e6*(done-request.first))))
			m.Latencies.Of(result.Connect).Record(int64(1e6 * (at - request.first)))
		}
	}
	client.StartedAt, client.EndedAt = start, start+int64(1e6*ended)
	if s.rate > 0 {
		r.Run.Load, r.Run.TargetRatePerSecond = result.LoadOpen, s.rate
		client.Arrivals = &result.Arrivals{Due: client.Requests, PlannedMicroseconds: s.seconds * second, StartedMicroseconds: int64(1e6 * started)}
	}
	r.Server.End.At, r.Server.End.UserCPU = s.seconds*second, int64(1e6*busy)
	for at, m := range seconds {
		point := result.Second{Second: at, Seconds: 1, Requests: m.Requests, ServerCPU: int64(1e6 * spent[at])}
		point.SetLatency(m.Latencies[result.Total])
		share := 0.3
		if s.clientCPU != nil {
			share = s.clientCPU(at)
		}
		point.ClientCPU = int64(share * clientLimit * 1000)
		if s.cost != nil {
			point.ClientCPU = int64(1e6 * s.cost(float64(at)) * float64(m.Requests))
		}
		client.Usage.UserCPU += point.ClientCPU
		r.Series = append(r.Series, point)
	}
	slices.SortFunc(r.Series, func(a, b result.Second) int { return int(a.Second - b.Second) })
	r.AddClients([]result.Client{client})
	r.Warmup = &result.Warmup{Counts: result.Counts{Requests: 100}}
	return r
}

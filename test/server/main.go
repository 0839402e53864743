// Command server is a server with known behavior for the scenarios that test Assay.
// The path of a request determines its behavior:
//
//	/fixed/MICROSECONDS/BYTES   responds after a fixed time with a body of a fixed length
//	/mix/BYTES                  of 1000 requests in turn, 850 take 2 ms, 100 take 10 ms, 45 take 50 ms and 5 take 200 ms
//	/warming/MICROSECONDS/SECONDS/BYTES
//	                            responds after a time that falls linearly from ten times MICROSECONDS to
//	                            MICROSECONDS within SECONDS of the path's first request
//	/slowing/MICROSECONDS/SECONDS/BYTES
//	                            responds after a time that rises linearly from MICROSECONDS to ten times
//	                            MICROSECONDS within SECONDS of the path's first request
//	/stalling/MICROSECONDS/BYTES
//	                            responds after a fixed time, but to nothing in the first fifth of every two seconds
//	/queue/THREADS/MICROSECONDS/BYTES
//	                            takes a fixed time for each request, for at most THREADS of them at a time
//	/work/ROUNDS/BYTES          responds after ROUNDS digests, whose time is that of a CPU
//	/random/MICROSECONDS/BYTES  responds after a random time, uniformly between half and one and a half times MICROSECONDS
//	/limited/RATE/BYTES         responds to RATE requests per second, and with 503 to all others
//	/failing/PERMILLE/BYTES     responds to PERMILLE of 1000 requests in turn with status 500
//	/failures/BYTES             of 20 requests in turn, 1 gets status 500, 1 half of its body and 1 no response
//	/down                       responds with 503
//	/ready                      responds with 200 and isn't counted
//	/basic, /bearer, /digest    require authentication by that scheme
//	/cookie                     sets a cookie unless the request has it
//	/redirect/PATH              redirects to a path
//	/form/page, /form/login     a page that requires a login, and its login form
//
// On SIGTERM it writes one line of JSON to standard output: a Report for each path.
// Requests of Assay's agent aren't counted.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/time/rate"

	"github.com/assay-dev/assay/internal/result"
)

// Report counts the requests for one path.
type Report struct {
	Requests  int64 `json:"requests"`
	Succeeded int64 `json:"succeeded"`
	Status    int64 `json:"status"`
	Short     int64 `json:"short"`
	Aborted   int64 `json:"aborted"`
	// Received is the number of bytes of request bodies. Anonymous counts
	// requests without a known session.
	Received  int64 `json:"received"`
	Anonymous int64 `json:"anonymous"`
	// Methods counts requests by method. Connections is the number of connections they used.
	Methods     map[string]int64 `json:"methods"`
	Connections int64            `json:"connections"`
	// BodyBytes is the number of bytes of response bodies written.
	BodyBytes int64 `json:"bodyBytes"`
	// Imposed is the time from reading a request to writing its response, for successful requests.
	Imposed *result.Histogram `json:"imposed"`

	addresses map[string]bool // client addresses of the connections
}

// server serves and counts requests.
type server struct {
	crashAfter int64

	mu            sync.Mutex
	paths         map[string]*Report
	served        int64
	users         users
	firstRequests map[string]time.Time // time of each path's first request
	buckets       map[string]*rate.Limiter
	lastAdmit     time.Time
	threads       map[string]chan struct{} // those of each path with a queue that are in use
}

func newServer() *server {
	return &server{paths: map[string]*Report{}, firstRequests: map[string]time.Time{}, buckets: map[string]*rate.Limiter{},
		threads: map[string]chan struct{}{}}
}

func main() {
	address := flag.String("listen", ":8080", "Address to listen on.")
	s := newServer()
	flag.Int64Var(&s.crashAfter, "crash-after", 0, "Number of requests after which to exit with code 3; 0 for never.")
	spies := flag.Bool("spy", false, "Try to look into the agent's process, and write at the end what was seen.")
	spyOnly := flag.Bool("spy-only", false, "Like -spy, without a server.")
	percent := flag.Int("spin", 0, "Percent of a CPU to use all the time, also without requests.")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	if *spyOnly {
		spyOnAgent(ctx)
		return
	}
	go spin(ctx, *percent)
	spying := make(chan struct{})
	go func() {
		defer close(spying)
		if *spies {
			spyOnAgent(ctx)
		}
	}()
	listening := &http.Server{Addr: *address, Handler: s}
	go func() {
		if err := listening.ListenAndServe(); err != http.ErrServerClosed {
			fmt.Fprintln(os.Stderr, "server:", err)
			os.Exit(1)
		}
	}()
	<-ctx.Done()
	<-spying
	stop()
	if err := s.print(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

// spin uses a CPU for a share of every 10 ms.
func spin(ctx context.Context, percent int) {
	const interval = 10 * time.Millisecond
	for percent > 0 && ctx.Err() == nil {
		begin := time.Now()
		for time.Since(begin) < interval*time.Duration(percent)/100 {
			work(10)
		}
		time.Sleep(interval - time.Since(begin))
	}
}

// print writes the reports.
func (s *server) print(w io.Writer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return json.NewEncoder(w).Encode(s.paths)
}

// ServeHTTP serves a request as its path specifies.
func (s *server) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	begin := time.Now()
	w.Header().Set("Server", "assay-test-server")
	parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	if request.UserAgent() == "assay-agent" {
		if parts[0] == "down" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return
	}
	if parts[0] == "ready" {
		return
	}
	n := s.count(request)
	switch {
	case parts[0] == "form" && len(parts) == 2:
		s.serveForm(w, request, parts)
	case slices.Contains(userPaths, parts[0]):
		s.serveUsers(w, request, parts)
	case parts[0] == "fixed" && len(parts) == 3:
		s.answer(w, request, begin, time.Duration(parseNumber(parts[1]))*time.Microsecond, parseNumber(parts[2]))
	case parts[0] == "mix" && len(parts) == 2:
		s.answer(w, request, begin, mixDelay(n), parseNumber(parts[1]))
	case parts[0] == "warming" && len(parts) == 4:
		s.answer(w, request, begin, s.warmupDelay(request.URL.Path, begin, parseNumber(parts[1]), parseNumber(parts[2])), parseNumber(parts[3]))
	case parts[0] == "slowing" && len(parts) == 4:
		s.answer(w, request, begin, s.slowingDelay(request.URL.Path, begin, parseNumber(parts[1]), parseNumber(parts[2])), parseNumber(parts[3]))
	case parts[0] == "stalling" && len(parts) == 3:
		delay := time.Duration(parseNumber(parts[1])) * time.Microsecond
		s.answer(w, request, begin, delay+s.stall(request.URL.Path, begin.Add(delay)), parseNumber(parts[2]))
	case parts[0] == "queue" && len(parts) == 4:
		s.wait(request.URL.Path, parseNumber(parts[1]), time.Duration(parseNumber(parts[2]))*time.Microsecond)
		s.answer(w, request, begin, 0, parseNumber(parts[3]))
	case parts[0] == "work" && len(parts) == 3:
		work(parseNumber(parts[1]))
		s.answer(w, request, begin, 0, parseNumber(parts[2]))
	case parts[0] == "random" && len(parts) == 3:
		s.answer(w, request, begin, randomDelay(parseNumber(parts[1])), parseNumber(parts[2]))
	case parts[0] == "limited" && len(parts) == 3:
		if !s.admit(request.URL.Path, begin, parseNumber(parts[1])) {
			w.WriteHeader(http.StatusServiceUnavailable)
			s.record(request.URL.Path, func(r *Report) { r.Status++ })
			return
		}
		s.answer(w, request, begin, 0, parseNumber(parts[2]))
	case parts[0] == "failing" && len(parts) == 3:
		if n%1000 < int64(parseNumber(parts[1])) {
			w.WriteHeader(http.StatusInternalServerError)
			s.record(request.URL.Path, func(r *Report) { r.Status++ })
			return
		}
		s.answer(w, request, begin, 0, parseNumber(parts[2]))
	case parts[0] == "failures" && len(parts) == 2:
		s.fail(w, request, begin, n, parseNumber(parts[1]))
	default:
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// count counts a request and returns its number on its path, starting from 0.
func (s *server) count(request *http.Request) int64 {
	path := request.URL.Path
	s.mu.Lock()
	if s.served++; s.crashAfter > 0 && s.served > s.crashAfter {
		fmt.Fprintln(os.Stderr, "server: exiting after -crash-after requests")
		os.Exit(3)
	}
	defer s.mu.Unlock()
	report := s.paths[path]
	if report == nil {
		report = &Report{Imposed: result.NewHistogram(), Methods: map[string]int64{}, addresses: map[string]bool{}}
		s.paths[path] = report
		s.firstRequests[path] = time.Now()
	}
	report.Requests++
	report.Methods[request.Method]++
	if !report.addresses[request.RemoteAddr] {
		report.addresses[request.RemoteAddr] = true
		report.Connections++
	}
	return report.Requests - 1
}

func (s *server) record(path string, change func(*Report)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s.paths[path])
}

// mixDelay returns the delay of the n-th request. The 50th, 90th, 99th and 99.9th
// percentile are well within a delay that many requests have.
func mixDelay(n int64) time.Duration {
	switch n %= 1000; {
	case n%200 == 199: // 5
		return 200 * time.Millisecond
	case n%20 == 7 && n >= 100: // 45
		return 50 * time.Millisecond
	case n%10 == 3: // 100
		return 10 * time.Millisecond
	}
	return 2 * time.Millisecond
}

// warmupDelay returns the delay of a request for a path that warms up.
func (s *server) warmupDelay(path string, begin time.Time, microseconds, seconds int) time.Duration {
	cold := max(0, 1-s.age(path, begin).Seconds()/float64(max(1, seconds)))
	return time.Duration((1 + 9*min(cold, 1)) * float64(time.Duration(microseconds)*time.Microsecond))
}

// slowingDelay returns the delay of a request for a path that becomes slower.
func (s *server) slowingDelay(path string, begin time.Time, microseconds, seconds int) time.Duration {
	worn := min(1, s.age(path, begin).Seconds()/float64(max(1, seconds)))
	return time.Duration((1 + 9*worn) * float64(time.Duration(microseconds)*time.Microsecond))
}

const (
	stallInterval = 2 * time.Second
	stallLength   = stallInterval / 5
)

// stall returns how long a response that is due at a time must wait, on a path that stalls.
func (s *server) stall(path string, due time.Time) time.Duration {
	return max(0, stallLength-s.age(path, due)%stallInterval)
}

// age returns the time since the first request for a path.
func (s *server) age(path string, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, now.Sub(s.firstRequests[path]))
}

// wait takes one of a path's threads for a time, as soon as one is free.
func (s *server) wait(path string, threads int, d time.Duration) {
	s.mu.Lock()
	inUse := s.threads[path]
	if inUse == nil {
		inUse = make(chan struct{}, max(1, threads))
		s.threads[path] = inUse
	}
	s.mu.Unlock()
	inUse <- struct{}{}
	time.Sleep(d)
	<-inUse
}

// work computes the digest of a digest, a number of times, and returns the last one.
func work(rounds int) (digest [sha256.Size]byte) {
	for range rounds {
		digest = sha256.Sum256(digest[:])
	}
	return digest
}

// randomDelay returns a time whose mean is the given one and whose standard deviation is 0.29 times that.
func randomDelay(microseconds int) time.Duration {
	return time.Duration((0.5 + rand.Float64()) * float64(microseconds) * float64(time.Microsecond))
}

// burstSeconds is the time for which a path with a limited rate saves up what isn't used of it. Requests that come
// late, since the client had no CPU for a moment, are then served in addition to those that come in time.
const burstSeconds = 0.05

// admit takes a token from the bucket of a path with a limited rate. Buckets begin empty but for the first
// token, so that a rate above the limit is refused from the beginning.
func (s *server) admit(path string, now time.Time, perSecond int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	bucket := s.buckets[path]
	if bucket == nil {
		burst := max(1, int(burstSeconds*float64(perSecond)))
		bucket = rate.NewLimiter(rate.Limit(perSecond), burst)
		bucket.AllowN(now, burst-1)
		s.buckets[path] = bucket
	}
	// A time before the last one would let the bucket fill twice.
	if now.Before(s.lastAdmit) {
		now = s.lastAdmit
	}
	s.lastAdmit = now
	return bucket.AllowN(now, 1)
}

func (s *server) answer(w http.ResponseWriter, request *http.Request, begin time.Time, delay time.Duration, length int) {
	time.Sleep(delay - time.Since(begin))
	imposed := time.Since(begin) // before the response, so that no client can have waited for less
	w.Header().Set("Content-Length", strconv.Itoa(length))
	_, err := w.Write(body(length))
	if err == nil {
		err = http.NewResponseController(w).Flush()
	}
	if err != nil {
		return
	}
	s.record(request.URL.Path, func(r *Report) {
		r.Succeeded++
		r.BodyBytes += int64(length)
		r.Imposed.Record(imposed.Microseconds())
	})
}

func (s *server) fail(w http.ResponseWriter, request *http.Request, begin time.Time, n int64, length int) {
	switch n % 20 {
	case 5:
		w.WriteHeader(http.StatusInternalServerError)
		s.record(request.URL.Path, func(r *Report) { r.Status++ })
	case 11:
		w.Header().Set("Content-Length", strconv.Itoa(length))
		_, _ = w.Write(body(length / 2))
		_ = http.NewResponseController(w).Flush()
		s.record(request.URL.Path, func(r *Report) { r.Short++; r.BodyBytes += int64(length / 2) })
		panic(http.ErrAbortHandler)
	case 17:
		s.record(request.URL.Path, func(r *Report) { r.Aborted++ })
		panic(http.ErrAbortHandler)
	default:
		s.answer(w, request, begin, 0, length)
	}
}

var zeros = bytes.Repeat([]byte("assay"), 1<<20/5)

func body(length int) []byte { return zeros[:min(length, len(zeros))] }

// parseNumber parses a number in a path. It returns 0 if text isn't one.
func parseNumber(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

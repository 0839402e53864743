// Command server is the server of known behaviour against which scenarios test
// Assay. What a path does is written in it:
//
//	/fixed/MICROSECONDS/BYTES   answers after a fixed time with a body of a fixed length
//	/mix/BYTES                  of 1000 requests in turn, 850 take 2 ms, 100 take 10 ms, 45 take 50 ms and 5 take 200 ms
//	/warming/MICROSECONDS/SECONDS/BYTES
//	                            answers after a time that falls evenly from ten times MICROSECONDS to that
//	                            within so many seconds of the path's first request
//	/failures/BYTES             of 20 requests in turn, 1 is answered with 500, 1 with half of its body and 1 not at all
//	/down                       answers with 503
//	/ready                      answers with 200, and isn't counted
//	/basic, /bearer, /digest    answer whom they know by a scheme of authentication, others with 401
//	/cookie                     gives whoever has none a cookie
//	/redirect/PATH              redirects to a path
//	/form/page, /form/login     a page for who has logged in by a form, which all others are shown
//
// When it is told to stop, it writes one line of JSON to standard output: what
// it did, by path, requests of Assay's agent left out.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/assay-dev/assay/internal/result"
)

// Report is what the server did on one path.
type Report struct {
	Requests  int64 `json:"requests"`
	Succeeded int64 `json:"succeeded"`
	Status    int64 `json:"status"`
	Short     int64 `json:"short"`
	Aborted   int64 `json:"aborted"`
	// Received is the number of bytes of requests' bodies, Strangers that of requests
	// of somebody whom the server doesn't know.
	Received  int64 `json:"received"`
	Strangers int64 `json:"strangers"`
	// Methods counts requests by method. Connections is the number of connections
	// that they came on.
	Methods     map[string]int64 `json:"methods"`
	Connections int64            `json:"connections"`
	// BodyBytes is the number of bytes of bodies written.
	BodyBytes int64 `json:"bodyBytes"`
	// Imposed is the time from a request read to its response written, of those
	// that succeeded.
	Imposed *result.Histogram `json:"imposed"`

	addresses map[string]bool // of connections' other ends
}

// server counts what it does.
type server struct {
	crashAfter int64

	mu     sync.Mutex
	paths  map[string]*Report
	served int64
	users  users
	firsts map[string]time.Time // when each path was first asked for
}

func main() {
	address := flag.String("listen", ":8080", "Address to listen on.")
	s := &server{paths: map[string]*Report{}, firsts: map[string]time.Time{}}
	flag.Int64Var(&s.crashAfter, "crash-after", 0, "Exit with code 3 after so many requests; 0 for never.")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	listening := &http.Server{Addr: *address, Handler: s}
	go func() {
		if err := listening.ListenAndServe(); err != http.ErrServerClosed {
			fmt.Fprintln(os.Stderr, "server:", err)
			os.Exit(1)
		}
	}()
	<-ctx.Done()
	stop()
	if err := s.print(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

// print writes what was counted.
func (s *server) print(w io.Writer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return json.NewEncoder(w).Encode(s.paths)
}

// ServeHTTP does what the request's path says.
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
		s.answer(w, request, begin, time.Duration(number(parts[1]))*time.Microsecond, number(parts[2]))
	case parts[0] == "mix" && len(parts) == 2:
		s.answer(w, request, begin, mixed(n), number(parts[1]))
	case parts[0] == "warming" && len(parts) == 4:
		s.answer(w, request, begin, s.warming(request.URL.Path, begin, number(parts[1]), number(parts[2])), number(parts[3]))
	case parts[0] == "failures" && len(parts) == 2:
		s.fail(w, request, begin, n, number(parts[1]))
	default:
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// count counts a request and returns its number on its path, from 0.
func (s *server) count(request *http.Request) int64 {
	path := request.URL.Path
	s.mu.Lock()
	if s.served++; s.crashAfter > 0 && s.served > s.crashAfter {
		fmt.Fprintln(os.Stderr, "server: crashing as told")
		os.Exit(3)
	}
	defer s.mu.Unlock()
	report := s.paths[path]
	if report == nil {
		report = &Report{Imposed: result.NewHistogram(), Methods: map[string]int64{}, addresses: map[string]bool{}}
		s.paths[path] = report
		s.firsts[path] = time.Now()
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

// mixed is the time that the n-th request takes. The 50th, 90th, 99th and 99.9th
// percentile lie well inside a time that many requests take.
func mixed(n int64) time.Duration {
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

// warming is the time that a request takes whose path gets warm.
func (s *server) warming(path string, begin time.Time, microseconds, seconds int) time.Duration {
	s.mu.Lock()
	first := s.firsts[path]
	s.mu.Unlock()
	cold := max(0, 1-begin.Sub(first).Seconds()/float64(max(1, seconds)))
	return time.Duration((1 + 9*min(cold, 1)) * float64(time.Duration(microseconds)*time.Microsecond))
}

func (s *server) answer(w http.ResponseWriter, request *http.Request, begin time.Time, delay time.Duration, length int) {
	time.Sleep(delay - time.Since(begin))
	w.Header().Set("Content-Length", strconv.Itoa(length))
	_, err := w.Write(body(length))
	if err == nil {
		err = http.NewResponseController(w).Flush()
	}
	imposed := time.Since(begin)
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

// number reads a number of a path; what isn't one is 0.
func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

package live

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/live"
)

// BenchmarkViewers measures what 20 viewers of a measurement of 600 s cost each second, as a share of one core. The viewers
// are in the same process, so that it also counts what they do.
func BenchmarkViewers(b *testing.B) {
	b.StopTimer()
	world := newWorld(b)
	const viewers = 20
	read := make(chan struct{})
	for i := range viewers {
		request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, world.url+live.Path("shop", "demo"), nil)
		if err != nil {
			b.Fatal(err)
		}
		request.Header.Set("Authorization", fmt.Sprintf("Bearer user-%d", i))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			b.Fatal(err)
		}
		defer response.Body.Close()
		go func() {
			for lines := bufio.NewReader(response.Body); ; read <- struct{}{} {
				if _, err := lines.ReadSlice('\n'); err != nil && !errors.Is(err, bufio.ErrBufferFull) {
					return
				} else if err != nil && !skipLine(lines) {
					return
				}
			}
		}()
		<-read
	}
	before := cpuTime(b)
	b.StartTimer()
	second := int64(0)
	for b.Loop() {
		second++
		world.advance(400+second%200, 1)
		for range viewers {
			<-read
		}
	}
	b.StopTimer()
	spent := cpuTime(b) - before
	b.ReportMetric(100*spent.Seconds()/float64(b.N), "%core")
}

// skipLine reads the rest of a line that is longer than the buffer.
func skipLine(lines *bufio.Reader) bool {
	for {
		switch _, err := lines.ReadSlice('\n'); {
		case err == nil:
			return true
		case !errors.Is(err, bufio.ErrBufferFull):
			return false
		}
	}
}

func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

package harness

import (
	"context"
	"math/rand/v2"
	"time"
)

// Hog uses a share of a CPU, above 0 and at most 1, until ctx is done, in bursts of 5 to 45 ms.
func Hog(ctx context.Context, share float64) {
	for ctx.Err() == nil {
		burst := 5*time.Millisecond + rand.N(40*time.Millisecond)
		for start := time.Now(); time.Since(start) < burst; {
		}
		time.Sleep(time.Duration(float64(burst) * (1/share - 1)))
	}
}

package report

import (
	"github.com/assay-dev/assay/internal/result"
)

// siegeMeaning says whose terms the section has.
const siegeMeaning = `Terms, units and definitions are those of siege's manual, over all clients. A transaction is
a complete response, whatever its status. Times are of successful requests.`

// writeSiege writes the summary that siege prints, in its terms and units (siege(1), "PERFORMANCE STATISTICS";
// a MB has 1,048,576 bytes).
func writeSiege(w *paper, r *result.Result) {
	section(w, "In siege's terms")
	w.printf("%s\n\n", siegeMeaning)
	c, times := r.Merged.Counts, siegeTimes(r)
	transactions := siegeTransactions(c)
	elapsed := float64(r.DurationMicroseconds) / 1e6
	per := func(amount, by float64) float64 {
		if by <= 0 {
			return 0
		}
		return amount / by
	}
	megabytes := float64(c.BytesReceived) / (1 << 20)
	line := func(name, format string, args ...any) {
		w.printf("%-24s "+format+"\n", append([]any{name + ":"}, args...)...)
	}
	line("Transactions", "%12d hits", transactions)
	line("Availability", "%12.2f %%", per(100*float64(transactions), float64(c.Requests)))
	line("Elapsed time", "%12.3f secs", elapsed)
	line("Data transferred", "%12.2f MB", megabytes)
	line("Response time", "%12.6f secs", times.Mean()/1e6)
	line("Transaction rate", "%12.2f trans/sec", per(float64(transactions), elapsed))
	line("Throughput", "%12.2f MB/sec", per(megabytes, elapsed))
	line("Concurrency", "%12.2f", per(float64(times.Sum())/1e6, elapsed))
	line("Successful transactions", "%12d", c.Succeeded())
	line("Failed transactions", "%12d", c.Errors.Total())
	line("Longest transaction", "%12.6f secs", float64(times.Max())/1e6)
	line("Shortest transaction", "%12.6f secs", float64(times.Min())/1e6)
}

// siegeTransactions returns the number of complete responses. Requests that failed otherwise are what siege's manual
// calls socket failures.
func siegeTransactions(c result.Counts) int64 {
	return c.Succeeded() + c.Errors[result.ErrorStatus] + c.Errors[result.ErrorLength]
}

// siegeTimes returns the times from the start of each request to the end of its response. Under open load the total
// time begins earlier, when the request was to start.
func siegeTimes(r *result.Result) *result.Histogram {
	if service := r.Merged.Latencies.Get(result.Service); service.Count() > 0 {
		return service
	}
	return r.Merged.Latencies.Get(result.Total)
}

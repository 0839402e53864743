package report

import (
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
)

// siege returns the summary that siege prints, in its terms and units (siege(1), "PERFORMANCE STATISTICS";
// a MB has 1,048,576 bytes).
func siege(r *result.Result) doc.Section {
	c, times := r.Merged.Counts, siegeTimes(r)
	transactions := siegeTransactions(c)
	elapsed := float64(r.DurationMicroseconds) / 1e6
	per := func(amount, by float64) float64 {
		if by <= 0 {
			return 0
		}
		return amount / by
	}
	var f facts
	megabytes := float64(c.BytesReceived) / (1 << 20)
	f.add("Transactions", "%d hits", transactions)
	f.add("Availability", "%.2f %%", per(100*float64(transactions), float64(c.Requests)))
	f.add("Elapsed time", "%.3f secs", elapsed)
	f.add("Data transferred", "%.2f MB", megabytes)
	f.add("Response time", "%.6f secs", times.Mean()/1e6)
	f.add("Transaction rate", "%.2f trans/sec", per(float64(transactions), elapsed))
	f.add("Throughput", "%.2f MB/sec", per(megabytes, elapsed))
	f.add("Concurrency", "%.2f", per(float64(times.Sum)/1e6, elapsed))
	f.add("Successful transactions", "%d", c.Succeeded())
	f.add("Failed transactions", "%d", c.Errors.Total())
	f.add("Longest transaction", "%.6f secs", float64(times.Max)/1e6)
	f.add("Shortest transaction", "%.6f secs", float64(times.Min)/1e6)
	return doc.Section{ID: "siege", Title: "In siege's terms", Blocks: []doc.Block{doc.Paragraph{
		"Terms, units and definitions are those of siege's manual, over all clients. A transaction is",
		"a complete response, whatever its status. Times are of successful requests.",
	}, f.block()}}
}

// siegeTransactions returns the number of complete responses. Requests that failed otherwise are what siege's manual
// calls socket failures.
func siegeTransactions(c result.Counts) int64 {
	return c.Succeeded() + c.Errors[result.ErrorStatus] + c.Errors[result.ErrorLength]
}

// siegeTimes returns the times from the start of each request to the end of its response. Under open load the total
// time begins earlier, when the request was to start.
func siegeTimes(r *result.Result) result.Summary {
	if service := r.Merged.Latencies.Get(result.Service); service.Count() > 0 {
		return service.Summarize(0)
	}
	return r.TotalSummary()
}

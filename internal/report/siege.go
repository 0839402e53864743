package report

import (
	"strconv"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
)

// siegeLines are the lines of siege's summary: their keys in its JSON, and in which words and units it prints them (siege(1), "PERFORMANCE
// STATISTICS"; a MB has 1,048,576 bytes).
var siegeLines = []struct{ key, label, unit string }{
	{"transactions", "Transactions", " hits"}, {"availability", "Availability", " %"}, {"elapsed_time", "Elapsed time", " secs"},
	{"data_transferred", "Data transferred", " MB"}, {"response_time", "Response time", " secs"}, {"transaction_rate", "Transaction rate", " trans/sec"},
	{"throughput", "Throughput", " MB/sec"}, {"concurrency", "Concurrency", ""}, {"successful_transactions", "Successful transactions", ""},
	{"failed_transactions", "Failed transactions", ""}, {"longest_transaction", "Longest transaction", " secs"}, {"shortest_transaction", "Shortest transaction", " secs"},
}

// siege returns the summary that siege prints, in its terms and units: of siege itself, as each client's printed it.
func siege(r *result.Result) doc.Section {
	printed := doc.Section{ID: "printed", Title: "Printed by siege"}
	for i := range r.Clients {
		if t := r.Clients[i].Tool; t != nil && len(t.Printed) > 0 {
			printed.Add(doc.Group{Title: "Client " + strconv.Itoa(r.Clients[i].Index), Blocks: []doc.Block{siegeFacts(t.Printed)}})
		}
	}
	if len(printed.Blocks) > 0 {
		return printed
	}
	return doc.Section{ID: "siege", Title: "In siege's terms", Blocks: []doc.Block{doc.Paragraph{
		"Terms, units and definitions are those of siege's manual, over all clients. A transaction is",
		"a complete response, whatever its status. Times are of successful requests.",
	}, siegeFacts(siegeFigures(r))}}
}

func siegeFacts(figures map[string]string) doc.Block {
	var f facts
	for _, line := range siegeLines {
		if figure, is := figures[line.key]; is {
			f.add(line.label, "%s%s", figure, line.unit)
		}
	}
	return f.block()
}

// siegeFigures returns the figures of the summary that siege would print of any run.
func siegeFigures(r *result.Result) map[string]string {
	c, times := r.Merged.Counts, siegeTimes(r)
	transactions := siegeTransactions(c)
	elapsed := float64(r.DurationMicroseconds) / 1e6
	megabytes := float64(c.BytesReceived) / (1 << 20)
	fixed := func(decimals int, amount, by float64) string {
		if by <= 0 {
			amount, by = 0, 1
		}
		return strconv.FormatFloat(amount/by, 'f', decimals, 64)
	}
	return map[string]string{
		"transactions":            strconv.FormatInt(transactions, 10),
		"availability":            fixed(2, 100*float64(transactions), float64(c.Requests)),
		"elapsed_time":            fixed(3, elapsed, 1),
		"data_transferred":        fixed(2, megabytes, 1),
		"response_time":           fixed(6, times.Mean(), 1e6),
		"transaction_rate":        fixed(2, float64(transactions), elapsed),
		"throughput":              fixed(2, megabytes, elapsed),
		"concurrency":             fixed(2, float64(times.Sum)/1e6, elapsed),
		"successful_transactions": strconv.FormatInt(c.Succeeded(), 10),
		"failed_transactions":     strconv.FormatInt(c.Errors.Total(), 10),
		"longest_transaction":     fixed(6, float64(times.Max), 1e6),
		"shortest_transaction":    fixed(6, float64(times.Min), 1e6),
	}
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

package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/assay-dev/assay/internal/result"
)

// siegeSettings is siege's resource file (siege(1)): as many users as wanted, without think time, without
// elements of pages, redirects and cookies, and no end by failures.
const siegeSettings = `verbose = false
quiet = true
json_output = true
logging = false
show-logfile = false
benchmark = true
parser = false
follow-location = false
cache = false
cookies = false
color = off
failures = 1000000000
limit = %d
timeout = %d
connection = %s
`

// siegeArguments writes siege's settings and returns its arguments.
func siegeArguments(l *load) ([]string, error) {
	connection := "close"
	if l.plan.KeepAlive {
		connection = "keep-alive"
	}
	path := filepath.Join(l.directory, "siegerc")
	settings := fmt.Sprintf(siegeSettings, l.plan.Connections, max(1, l.plan.TimeoutMicroseconds/1_000_000), connection)
	if err := os.WriteFile(path, []byte(settings), 0o600); err != nil {
		return nil, err
	}
	args := []string{"-R", path, "-b", "-c", strconv.Itoa(l.plan.Connections)}
	if requests := l.amount.Requests; requests > 0 {
		args = append(args, "-r", strconv.FormatInt(requests/int64(l.plan.Connections), 10))
	} else {
		args = append(args, "-t", strconv.FormatInt(int64(l.amount.Duration()/time.Second), 10)+"S")
	}
	return append(args, l.url), nil
}

func readSiege(_ *load, output []byte) (*metrics, error) { return parseSiege(output) }

// siegeSummary is what siege prints. Times are in seconds with two decimals, and the data in MB of 1,048,576 bytes.
type siegeSummary struct {
	Transactions           *int64   `json:"transactions"`
	ElapsedTime            *float64 `json:"elapsed_time"`
	DataTransferred        float64  `json:"data_transferred"`
	ResponseTime           float64  `json:"response_time"`
	SuccessfulTransactions int64    `json:"successful_transactions"`
	FailedTransactions     int64    `json:"failed_transactions"`
	LongestTransaction     float64  `json:"longest_transaction"`
	ShortestTransaction    float64  `json:"shortest_transaction"`
}

// parseSiege reads siege's summary. A transaction is a response. Its status was at least 400 unless it is successful; a
// failed transaction has no response: it is an error of the kind receive, since siege doesn't say which.
func parseSiege(output []byte) (*metrics, error) {
	at := bytes.IndexByte(output, '{')
	if at < 0 {
		return nil, errors.New("there is no summary in JSON")
	}
	var s siegeSummary
	var all json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(output[at:])).Decode(&all); err != nil {
		return nil, err
	}
	var printed map[string]json.Number
	if err := errors.Join(json.Unmarshal(all, &s), json.Unmarshal(all, &printed)); err != nil {
		return nil, err
	}
	if s.Transactions == nil || s.ElapsedTime == nil {
		return nil, errors.New("the summary has no transactions or no elapsed_time")
	}
	for _, n := range []int64{*s.Transactions, s.SuccessfulTransactions, s.FailedTransactions} {
		if n < 0 || n > maxNumber {
			return nil, fmt.Errorf("%d isn't a number from 0 to %d", n, int64(maxNumber))
		}
	}
	for _, n := range []float64{*s.ElapsedTime, s.DataTransferred, s.ResponseTime, s.LongestTransaction, s.ShortestTransaction} {
		if !(n >= 0 && n <= maxNumber/1e6) {
			return nil, fmt.Errorf("%g isn't a number from 0 to %g", n, maxNumber/1e6)
		}
	}
	f := &metrics{microseconds: int64(*s.ElapsedTime * 1e6)}
	c := &f.totals.Counts
	c.Requests = *s.Transactions + s.FailedTransactions
	c.Errors[result.ErrorReceive] = s.FailedTransactions
	c.Errors[result.ErrorStatus] = max(0, *s.Transactions-s.SuccessfulTransactions)
	c.Non2xx = c.Errors[result.ErrorStatus]
	f.totals.Causes = causesOf(&c.Errors, map[result.ErrorKind]string{result.ErrorStatus: "status of at least 400"})
	c.BytesReceived = int64(s.DataTransferred * (1 << 20))
	microseconds := func(seconds float64) int64 { return int64(seconds*1e6 + 0.5) }
	f.totals.Tool = &result.Tool{
		Name: result.ToolSiege, Min: microseconds(s.ShortestTransaction), Mean: microseconds(s.ResponseTime),
		Max: microseconds(s.LongestTransaction), StdDev: result.Unknown, Percentiles: []int64{},
		Printed: map[string]string{},
	}
	for key, figure := range printed {
		f.totals.Tool.Printed[key] = figure.String()
	}
	return f, f.totals.Tool.Check()
}

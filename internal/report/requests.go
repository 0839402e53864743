package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
)

// requestName returns method and path of a request, or the path alone for GET.
func requestName(q result.Request) string {
	return strings.TrimSpace(q.Method + " " + q.Path)
}

// requestsOf returns the kinds of requests. The length of the first is that of the document, unless
// the load declares another.
func requestsOf(r *result.Result) []result.Request {
	requests := slices.Clone(r.Run.Requests)
	if len(requests) > 0 && requests[0].Length < 0 {
		requests[0].Length = r.Environment.DocumentLength
	}
	return requests
}

// listName returns the number of requests of a list and where it is from.
func listName(l *result.RequestList) string {
	text := "requests"
	if l.Requests > 0 {
		text = number.Plural(int(l.Requests), "request")
	}
	if l.File != "" {
		return text + " of " + l.File
	}
	return fmt.Sprintf("%s of ConfigMap %s, key %s", text, cmp.Or(l.ConfigMap, "unknown"), cmp.Or(l.Key, "unknown"))
}

// meaning returns what a latency is under the load, and how requests were chosen and authenticated if that is out of the
// ordinary.
func meaning(run *result.Run) doc.Paragraph {
	var parts []string
	switch {
	case run.Sequential:
		parts = append(parts, "made by each "+strings.TrimSuffix(run.UsersOrConnections(), "s")+" in their order")
	case run.RequestList != nil:
		parts = append(parts, "drawn by weight")
	}
	switch run.Authentication {
	case "":
	case "Form":
		parts = append(parts, "sent as one user per connection after a form login")
	default:
		parts = append(parts, "authenticated by the scheme "+run.Authentication)
	}
	if run.Cookies {
		parts = append(parts, "sent with the cookies that their connection received")
	}
	lines := meansOf(run)
	if len(parts) > 0 {
		lines = append(lines, "Requests are "+strings.Join(parts, ", and ")+".")
	}
	return lines
}

// meansOf returns what latencies are, and what seconds are if the load alternated.
func meansOf(run *result.Run) doc.Paragraph {
	lines := doc.Paragraph{"Latencies are " + latencyMeaning(run) + "."}
	if n := run.Variants; n > 0 {
		lines = append(lines, fmt.Sprintf("The load alternated between %d variants in slices of 1s: the %d variants were up at the same time, one was loaded at a time. Seconds are those in which this one was.", n, n))
	}
	return lines
}

// latencyMeaning returns what a latency is under the load.
func latencyMeaning(run *result.Run) string {
	if run.Tool == result.ToolK6 {
		waits := "a virtual user sends its next request when it has received the response to the last"
		if run.Load == result.LoadOpen {
			waits = "a request that is due while no virtual user is free is dropped"
		}
		return "service times (k6): from the start of each request, as k6 measures it by the wall clock; " + waits
	}
	switch run.Load {
	case result.LoadClosed:
		sender := "each connection"
		if run.Streams > 0 {
			sender = "each stream of each connection"
		}
		if run.UserConnections > 0 {
			return "service times (closed model): each user requests the elements of a page when they have its document, and the next page when they have all of it"
		}
		return "service times (closed model): " + sender + " sends its next request when it has received the response to the last"
	case result.LoadOpen:
		return "response times (open model): from the intended start time of each request, regardless of earlier ones"
	case result.LoadScript:
		return "service times (k6 script): from the start of each request, as k6 measures it by the wall clock; an iteration waits for the responses to its requests"
	}
	return "of " + cmp.Or(run.Load, "unknown") + " load"
}

// LatencyName returns what a latency of a run is, as in "p99 service time". It reads the run's load and tool.
func LatencyName(run *result.Run) string {
	switch {
	case run.Load == result.LoadScript, run.Tool == result.ToolK6:
		return "service time as k6 measures it"
	case run.Load == result.LoadOpen:
		return "response time"
	}
	return "service time"
}

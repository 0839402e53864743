package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// findNumber returns the number that the first group of pattern matches, and whether
// there is a match.
func findNumber(text, pattern string) (float64, bool) {
	m := regexp.MustCompile("(?m)" + pattern).FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	return n, err == nil
}

// parseFigures finds a tool's figures by patterns. Those of failures may be missing.
func parseFigures(output, requests, seconds string, failures ...string) (figures, error) {
	n, found := findNumber(output, requests)
	took, timed := findNumber(output, seconds)
	if !found || !timed {
		return figures{}, fmt.Errorf("output lacks %q or %q:\n%s", requests, seconds, output)
	}
	var failed float64
	for _, pattern := range failures {
		one, _ := findNumber(output, pattern)
		failed += one
	}
	return figures{requests: int64(n), failed: int64(failed), seconds: took}, nil
}

func parseWrk(output string) (figures, error) {
	m := regexp.MustCompile(`(?m)^ +(\d+) requests in (\S+), `).FindStringSubmatch(output)
	if m == nil {
		return figures{}, fmt.Errorf("output lacks the number of requests:\n%s", output)
	}
	took, err := time.ParseDuration(m[2])
	if err != nil {
		return figures{}, err
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	f := figures{requests: n, seconds: took.Seconds()}
	for _, pattern := range []string{`Non-2xx or 3xx responses: (\d+)`, `Socket errors: connect (\d+)`, `Socket errors: .* write (\d+)`, `Socket errors: .* timeout (\d+)`} {
		failed, _ := findNumber(output, pattern)
		f.failed += int64(failed)
	}
	// Read errors aren't counted: with "Connection: close" wrk reports the end of each
	// connection as one.
	return f, err
}

func parseAB(output string) (figures, error) {
	f, err := parseFigures(output, `^Complete requests: +(\d+)`, `^Time taken for tests: +([\d.]+) seconds`, `^Failed requests: +(\d+)`, `^Non-2xx responses: +(\d+)`)
	f.requests -= f.failed
	return f, err
}

func parseH2load(output string) (figures, error) {
	m := regexp.MustCompile(`(?m)^finished in ([\d.]+m?s),`).FindStringSubmatch(output)
	n, found := findNumber(output, `^requests: .* (\d+) succeeded`)
	if m == nil || !found {
		return figures{}, fmt.Errorf("output lacks the number of requests:\n%s", output)
	}
	took, err := time.ParseDuration(m[1])
	failed, _ := findNumber(output, `^requests: .* (\d+) failed`)
	return figures{requests: int64(n), failed: int64(failed), seconds: took.Seconds()}, err
}

func parseHey(output string) (figures, error) {
	f := figures{}
	counts := regexp.MustCompile(`(?m)^\s+\[(\d+)\]\t(?:(\d+) responses)?`)
	for _, m := range counts.FindAllStringSubmatch(output, -1) {
		text, succeeded := m[1], false // the count of an error kind
		if m[2] != "" {
			text, succeeded = m[2], m[1][0] == '2' || m[1][0] == '3'
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return f, err
		}
		if succeeded {
			f.requests += n
		} else {
			f.failed += n
		}
	}
	took, found := findNumber(output, `^\s+Total:\s+([\d.]+) secs`)
	if !found || f.requests == 0 {
		return f, fmt.Errorf("output lacks responses:\n%s", output)
	}
	f.seconds = took
	return f, nil
}

func parseSiege(output string) (figures, error) {
	return parseFigures(output, `"transactions":\s+(\d+)`, `"elapsed_time":\s+([\d.]+)`, `"failed_transactions":\s+(\d+)`)
}

func parseK6(output string) (figures, error) {
	var summary struct {
		Requests     int64
		Failed       int64
		Milliseconds float64
	}
	if err := decode(output, &summary); err != nil {
		return figures{}, err
	}
	return figures{requests: summary.Requests - summary.Failed, failed: summary.Failed, seconds: summary.Milliseconds / 1000}, nil
}

func parseAssayLoad(output string) (figures, error) {
	var r struct {
		Merged struct {
			Requests, Dropped int64
			Errors            map[string]int64
		}
		DurationMicroseconds float64
		Clients              []struct {
			Usage struct{ UserCPUMicroseconds, SystemCPUMicroseconds int64 }
		}
		Arrivals *struct{ Due, PlannedMicroseconds, StartedMicroseconds float64 }
		Summary  struct {
			Merged struct {
				Latencies map[string]struct{ PercentilesMicroseconds map[string]float64 }
			}
		}
	}
	if err := decode(output, &r); err != nil {
		return figures{}, err
	}
	failed := r.Merged.Errors["total"]
	f := figures{requests: r.Merged.Requests - failed, failed: failed, seconds: r.DurationMicroseconds / 1e6}
	for _, c := range r.Clients {
		f.loadCPU += time.Duration(c.Usage.UserCPUMicroseconds+c.Usage.SystemCPUMicroseconds) * time.Microsecond
	}
	if a := r.Arrivals; a != nil && a.PlannedMicroseconds > 0 {
		f.targetRate = a.Due / a.PlannedMicroseconds * 1e6
		f.achievedRate = (a.Due - float64(r.Merged.Dropped)) / max(a.PlannedMicroseconds, a.StartedMicroseconds) * 1e6
		f.delay = time.Duration(r.Summary.Merged.Latencies["delay"].PercentilesMicroseconds["99"]) * time.Microsecond
	}
	if f.requests == 0 {
		return f, errors.New("no successful requests")
	}
	return f, nil
}

// decode decodes a JSON document.
func decode(output string, into any) error {
	if err := json.Unmarshal([]byte(strings.TrimSpace(output)), into); err != nil {
		return fmt.Errorf("decode output: %w:\n%.300s", err, output)
	}
	return nil
}

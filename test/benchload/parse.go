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

// find returns the text that the first group of pattern matches, or an empty string without a match.
func find(text, pattern string) string {
	m := regexp.MustCompile("(?m)" + pattern).FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1]
}

// parseMetrics finds a tool's metrics by patterns. That of the time matches a duration, such as
// 1.02s, or a number of seconds. Those of failures may be missing.
func parseMetrics(output, requests, took string, failures ...string) (metrics, error) {
	n, err := strconv.ParseInt(find(output, requests), 10, 64)
	duration := find(output, took)
	if strings.Trim(duration, "0123456789.") == "" {
		duration += "s"
	}
	time, timeErr := time.ParseDuration(duration)
	if err := errors.Join(err, timeErr); err != nil {
		return metrics{}, fmt.Errorf("output lacks %q or %q: %w:\n%s", requests, took, err, output)
	}
	f := metrics{requests: n, seconds: time.Seconds()}
	for _, pattern := range failures {
		if text := find(output, pattern); text != "" {
			failed, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return f, err
			}
			f.failed += failed
		}
	}
	return f, nil
}

// parseWrk doesn't count read errors: with "Connection: close" wrk reports the end of each connection
// as one.
func parseWrk(output string) (metrics, error) {
	return parseMetrics(output, `^ +(\d+) requests in `, `^ +\d+ requests in (\S+), `, `Non-2xx or 3xx responses: (\d+)`,
		`Socket errors: connect (\d+)`, `Socket errors: .* write (\d+)`, `Socket errors: .* timeout (\d+)`)
}

func parseAB(output string) (metrics, error) {
	f, err := parseMetrics(output, `^Complete requests: +(\d+)`, `^Time taken for tests: +([\d.]+) seconds`, `^Failed requests: +(\d+)`, `^Non-2xx responses: +(\d+)`)
	f.requests -= f.failed
	return f, err
}

func parseH2load(output string) (metrics, error) {
	return parseMetrics(output, `^requests: .* (\d+) succeeded`, `^finished in ([\d.]+m?s),`, `^requests: .* (\d+) failed`)
}

func parseHey(output string) (metrics, error) {
	f := metrics{}
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
	took, err := strconv.ParseFloat(find(output, `^\s+Total:\s+([\d.]+) secs`), 64)
	if err != nil || f.requests == 0 {
		return f, fmt.Errorf("output lacks responses:\n%s", output)
	}
	f.seconds = took
	return f, nil
}

func parseSiege(output string) (metrics, error) {
	return parseMetrics(output, `"transactions":\s+(\d+)`, `"elapsed_time":\s+([\d.]+)`, `"failed_transactions":\s+(\d+)`)
}

func parseK6(output string) (metrics, error) {
	var summary struct {
		Requests     int64
		Failed       int64
		Milliseconds float64
	}
	if err := decode(output, &summary); err != nil {
		return metrics{}, err
	}
	return metrics{requests: summary.Requests - summary.Failed, failed: summary.Failed, seconds: summary.Milliseconds / 1000}, nil
}

func parseAssayLoad(output string) (metrics, error) {
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
		return metrics{}, err
	}
	failed := r.Merged.Errors["total"]
	f := metrics{requests: r.Merged.Requests - failed, failed: failed, seconds: r.DurationMicroseconds / 1e6}
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

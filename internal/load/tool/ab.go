package tool

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
)

const (
	// abPerSecond is the number of requests for which ab reserves memory with a duration, per second: more
	// than it makes.
	abPerSecond = 100_000
	// abMaxRequests bounds them. ab needs 40 bytes for each that it makes.
	abMaxRequests = 50_000_000
	// maxFileBytes bounds the files of a tool.
	maxFileBytes = 64 << 10
)

// abArguments returns the arguments of ab (ab(1)).
func abArguments(l *load) ([]string, error) {
	path := l.percentiles()
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	args := []string{"-q", "-e", path}
	if requests := l.amount.Requests; requests > 0 {
		args = append(args, "-n", strconv.FormatInt(requests, 10))
	} else {
		// -t sets -n to 50,000, which a later -n replaces.
		seconds := int64(l.amount.Duration() / time.Second)
		args = append(args, "-t", strconv.FormatInt(seconds, 10), "-n", strconv.FormatInt(min(seconds*abPerSecond, abMaxRequests), 10))
	}
	args = append(args, "-c", strconv.Itoa(l.plan.Connections), "-s", strconv.FormatInt(max(1, l.plan.TimeoutMicroseconds/1_000_000), 10))
	if l.plan.KeepAlive {
		args = append(args, "-k")
	}
	return append(args, l.url), nil
}

// percentiles returns the path of the file to which ab writes its percentiles.
func (l *load) percentiles() string { return filepath.Join(l.directory, "ab.csv") }

// readAB reads ab's output and the file with its percentiles.
func readAB(l *load, output []byte) (*metrics, error) {
	percentiles, err := readBounded(l.percentiles())
	if err != nil {
		return nil, err
	}
	f, length, err := parseAB(string(output), string(percentiles))
	if err != nil {
		return nil, err
	}
	if want := l.plan.Requests[0].Length; want >= 0 && length >= 0 && f.totals.Succeeded() > 0 && length != want {
		return nil, fmt.Errorf("the first response has %d bytes, but %s has %d", length, l.plan.Requests[0].Path, want)
	}
	return f, nil
}

func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err == nil && len(text) > maxFileBytes {
		err = fmt.Errorf("%s has more than %d bytes", filepath.Base(path), maxFileBytes)
	}
	return text, err
}

var (
	abVersion  = regexp.MustCompile(`(?m)^This is ApacheBench, Version ([0-9.]{1,20})`)
	abFailures = regexp.MustCompile(`(?m)^ +\(Connect: (\d+), Receive: (\d+), Length: (\d+), Exceptions: (\d+)\)$`)
	abTotal    = regexp.MustCompile(`(?m)^Total: +(\d+) +(\d+) +(\d+\.\d) +(\d+) +(\d+)$`)
	abPercent  = regexp.MustCompile(`(?m)^(\d{1,3}),(\d+\.\d{3})$`)
)

// parseAB reads ab's report (output_results in support/ab.c) and the file of its option -e. length is the length
// of the first response.
//
// ab counts as failed what differs from the first response, but no status: those outside of 200 to 299 are errors of
// the kind status here, unless they may be among those that failed otherwise.
func parseAB(report, percentiles string) (f *metrics, length int64, err error) {
	p := parser{text: report}
	f = &metrics{totals: result.Totals{Tool: &result.Tool{Name: result.ToolAB, Version: p.text1(abVersion)}}}
	c := &f.totals.Counts
	f.microseconds = int64(p.float(p.required("Time taken for tests:", " seconds")) * 1e6)
	c.Requests = p.count("Complete requests:", "")
	failed := p.count("Failed requests:", "")
	c.BytesReceived, c.BodyBytes = p.count("Total transferred:", " bytes"), p.count("HTML transferred:", " bytes")
	c.KeepAlive, c.Non2xx = p.optional("Keep-Alive requests:"), p.optional("Non-2xx responses:")
	length = p.count("Document Length:", " bytes")
	if p.err != nil {
		return nil, 0, p.err
	}
	if m := abFailures.FindStringSubmatch(report); m != nil {
		for i, kind := range []result.ErrorKind{result.ErrorConnect, result.ErrorReceive, result.ErrorLength, result.ErrorException} {
			c.Errors[kind] = p.number(m[i+1])
		}
	}
	if got := c.Errors.Total(); got < failed {
		c.Errors[result.ErrorException] += failed - got
	}
	c.Errors[result.ErrorStatus] = max(0, min(c.Non2xx-failed, c.Requests-c.Errors.Total()))
	f.totals.Causes = causesOf(&c.Errors, map[result.ErrorKind]string{
		result.ErrorLength: "another length than that of the first response", result.ErrorStatus: "status outside of 200 to 299",
	})
	// A connection is opened for each request that isn't on a kept one.
	c.Connections = max(0, c.Requests-c.KeepAlive)
	if c.Succeeded() < 0 {
		return nil, 0, fmt.Errorf("%d failed requests of %d", c.Errors.Total(), c.Requests)
	}
	t := f.totals.Tool
	if m := abTotal.FindStringSubmatch(report); m != nil { // whole milliseconds
		t.Min, t.Mean, t.StdDev, t.Max = 1000*p.number(m[1]), 1000*p.number(m[2]), int64(1000*p.float(m[3])), 1000*p.number(m[5])
	} else {
		t.Min, t.Mean, t.StdDev, t.Max = result.Unknown, result.Unknown, result.Unknown, result.Unknown
	}
	t.Percentiles = abPercentiles(&p, percentiles)
	if p.err == nil {
		p.err = t.Check()
	}
	return f, length, p.err
}

// causesOf returns one cause for each kind of error that occurred: that of texts, or that the tool didn't tell it.
func causesOf(errors *result.ErrorCounts, texts map[result.ErrorKind]string) result.Causes {
	var causes result.Causes
	for kind, n := range errors.Occurred() {
		causes.Count(kind, result.Cause{Text: cmp.Or(texts[kind], "the tool doesn't say why"), Count: n})
	}
	return causes
}

// abPercentiles returns the percentiles of the file of ab's option -e, which are in milliseconds.
func abPercentiles(p *parser, text string) []int64 {
	all := make([]int64, percentile.Count)
	for i := range all {
		all[i] = result.Unknown
	}
	for _, m := range abPercent.FindAllStringSubmatch(text, -1) {
		for i := range percentile.Count {
			if i.String() == m[1] {
				all[i] = int64(1000*p.float(m[2]) + 0.5)
			}
		}
	}
	return all
}

// parser finds metrics in a text. err is the first error.
type parser struct {
	text string
	err  error
}

// value returns what stands between a name at the start of a line and the rest of the line.
func (p *parser) value(name, rest string) (string, bool) {
	for line := range strings.Lines(p.text) {
		if value, is := strings.CutPrefix(line, name); is {
			value, is = strings.CutSuffix(strings.TrimRight(value, "\r\n"), rest)
			return strings.TrimSpace(value), is
		}
	}
	return "", false
}

// required is like value for a line that must be there.
func (p *parser) required(name, rest string) string {
	value, is := p.value(name, rest)
	if !is && p.err == nil {
		p.err = fmt.Errorf("there is no line %q", name)
	}
	return value
}

func (p *parser) count(name, rest string) int64 { return p.number(p.required(name, rest)) }

// optional returns a count that is 0 if its line is missing.
func (p *parser) optional(name string) int64 {
	value, is := p.value(name, "")
	if !is {
		return 0
	}
	return p.number(value)
}

// text1 returns the first group of a pattern, or an empty text.
func (p *parser) text1(pattern *regexp.Regexp) string {
	if m := pattern.FindStringSubmatch(p.text); m != nil {
		return m[1]
	}
	return ""
}

// maxNumber bounds every number, so that sums can't overflow.
const maxNumber = 1 << 40

func (p *parser) number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if (err != nil || n < 0 || n > maxNumber) && p.err == nil {
		p.err = fmt.Errorf("%q isn't a number from 0 to %d", text, int64(maxNumber))
	}
	return min(max(n, 0), maxNumber)
}

func (p *parser) float(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if (err != nil || !(n >= 0 && n <= maxNumber)) && p.err == nil {
		p.err = fmt.Errorf("%q isn't a number from 0 to %d", text, int64(maxNumber))
	}
	if !(n >= 0 && n <= maxNumber) {
		return 0
	}
	return n
}

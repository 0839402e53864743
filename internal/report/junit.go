package report

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// TestSuite is a set of test cases in the XML format of JUnit, with the elements and attributes that Jenkins, GitLab
// and others read (https://github.com/testmoapp/junitxml).
type TestSuite struct {
	Name string
	// Time is the start of what was tested, Duration its length.
	Time     time.Time
	Duration time.Duration
	Cases    []TestCase
}

// TestCase is a test case. It passed unless one of Failure, Error and Skipped, the reasons of these outcomes, is set.
type TestCase struct {
	// Class groups cases; a program that shows them splits it at dots.
	Class, Name             string
	Failure, Error, Skipped string
	// Output is shown with the case, whatever its outcome.
	Output string
}

type suitesXML struct {
	XMLName xml.Name   `xml:"testsuites"`
	Suites  []suiteXML `xml:"testsuite"`
}

type suiteXML struct {
	Name      string    `xml:"name,attr"`
	Tests     int       `xml:"tests,attr"`
	Failures  int       `xml:"failures,attr"`
	Errors    int       `xml:"errors,attr"`
	Skipped   int       `xml:"skipped,attr"`
	Time      string    `xml:"time,attr"`
	Timestamp string    `xml:"timestamp,attr,omitempty"`
	Cases     []caseXML `xml:"testcase"`
}

type caseXML struct {
	Class   string      `xml:"classname,attr"`
	Name    string      `xml:"name,attr"`
	Time    string      `xml:"time,attr"`
	Failure *outcomeXML `xml:"failure"`
	Error   *outcomeXML `xml:"error"`
	Skipped *outcomeXML `xml:"skipped"`
	Output  string      `xml:"system-out,omitempty"`
}

type outcomeXML struct {
	Message string `xml:"message,attr"`
}

// WriteJUnit writes test suites as XML that JUnit's readers understand. Texts are printable and escaped.
func WriteJUnit(w io.Writer, suites []TestSuite) error {
	document := suitesXML{}
	for _, s := range suites {
		document.Suites = append(document.Suites, s.xml())
	}
	encoded, err := xml.MarshalIndent(document, "", "  ")
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	_, err = w.Write(bytes.Join([][]byte{[]byte(xml.Header), encoded, []byte("\n")}, nil))
	return err
}

func (s *TestSuite) xml() suiteXML {
	x := suiteXML{Name: printable.Text(s.Name), Tests: len(s.Cases), Time: decimals(s.Duration.Seconds(), 3)}
	if !s.Time.IsZero() {
		x.Timestamp = s.Time.UTC().Format("2006-01-02T15:04:05")
	}
	outcome := func(message string, count *int) *outcomeXML {
		if message == "" {
			return nil
		}
		*count++
		return &outcomeXML{printable.Text(message)}
	}
	for _, c := range s.Cases {
		x.Cases = append(x.Cases, caseXML{
			Class: printable.Text(c.Class), Name: printable.Text(c.Name), Time: "0", Output: printable.Text(c.Output),
			Failure: outcome(c.Failure, &x.Failures), Error: outcome(c.Error, &x.Errors), Skipped: outcome(c.Skipped, &x.Skipped),
		})
	}
	return x
}

// testSuite returns a run's result as test cases: whether it is valid, each finding and each threshold. A finding
// that invalidates the result is a failure, and thresholds then are skipped.
func testSuite(r *result.Result) TestSuite {
	s := TestSuite{
		Name: "BenchmarkRun " + NameOf(r), Time: r.Run.MeasurementTime, Duration: time.Duration(r.DurationMicroseconds) * time.Microsecond,
	}
	if r.Run.Standalone {
		s.Name = "assay-load " + NameOf(r)
	}
	class := strings.ReplaceAll(NameOf(r), "/", ".")
	reasons := invalidating(r.Findings, func(f result.Finding) string { return f.Reason })
	valid := TestCase{Class: class, Name: "result is valid"}
	if len(reasons) > 0 {
		valid.Failure = "not valid: " + strings.Join(reasons, ", ")
	}
	s.Cases = append(s.Cases, valid)
	for _, f := range r.Findings {
		c := TestCase{Class: class + ".findings", Name: f.Reason}
		if f.Severity == result.Invalidates {
			c.Failure = f.Message
		} else {
			c.Output = fmt.Sprintf("%s: %s", f.Severity, f.Message)
		}
		s.Cases = append(s.Cases, c)
	}
	for _, o := range r.Thresholds {
		c := TestCase{Class: class + ".thresholds", Name: o.Metric + " " + o.Bound, Output: "actual: " + o.Actual}
		switch {
		case !validity.Valid(r.Findings):
			c.Skipped = "unknown, since the result is not valid"
		case !o.Met:
			c.Failure = fmt.Sprintf("%s is %s, must be %s", o.Metric, o.Actual, o.Bound)
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}

// NameOf returns the namespace and the name of a run, or the name alone without a cluster.
func NameOf(r *result.Result) string {
	if r.Run.Namespace == "" {
		return cmp.Or(r.Run.Name, "unknown")
	}
	return r.Run.Namespace + "/" + r.Run.Name
}

func writeJUnit(w io.Writer, r *result.Result) error { return WriteJUnit(w, []TestSuite{testSuite(r)}) }

// writeTableJUnit writes a case for each run: invalid results are failures, runs without a result are errors.
func writeTableJUnit(w io.Writer, rows []Row) error {
	s := TestSuite{Name: "BenchmarkRuns"}
	for i := range rows {
		row := &rows[i]
		c := TestCase{Class: row.Namespace, Name: row.Name}
		switch {
		case row.Merged == nil:
			c.Error = cmp.Or(row.NoResult, "no result")
		case !row.valid():
			c.Failure = "not valid: " + reasons(row)
		default:
			c.Output = fmt.Sprintf("%s requests/s, %s", decimals(row.Merged.RequestsPerSecond, 2), number.Plural(warnings(row.Findings), "warning"))
		}
		s.Cases = append(s.Cases, c)
	}
	return WriteJUnit(w, []TestSuite{s})
}

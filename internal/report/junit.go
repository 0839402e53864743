package report

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// TestSuite is a set of test cases in the XML format of JUnit, with the elements and attributes that Jenkins, GitLab
// and others read (https://github.com/testmoapp/junitxml).
type TestSuite struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  int    `xml:"skipped,attr"`
	// Seconds is the length of what was tested, Start when that began; empty if that is unknown.
	Seconds string     `xml:"time,attr"`
	Start   string     `xml:"timestamp,attr,omitempty"`
	Cases   []TestCase `xml:"testcase"`
}

// TestCase is a test case. It passed unless one of Failure, Error and Skipped is set.
type TestCase struct {
	// Class groups cases; a program that shows them splits it at dots.
	Class   string `xml:"classname,attr"`
	Name    string `xml:"name,attr"`
	Seconds int    `xml:"time,attr"`
	// Failure, Error and Skipped have the reason of the outcome.
	Failure *TestOutcome `xml:"failure"`
	Error   *TestOutcome `xml:"error"`
	Skipped *TestOutcome `xml:"skipped"`
	// Output is shown with the case, whatever its outcome.
	Output string `xml:"system-out,omitempty"`
}

// TestOutcome is why a case didn't pass.
type TestOutcome struct {
	Message string `xml:"message,attr"`
}

// NewTestSuite returns a suite without cases of what began at a time, or at an unknown one.
func NewTestSuite(name string, start time.Time, length time.Duration) *TestSuite {
	s := &TestSuite{Name: name, Seconds: decimals(length.Seconds(), 3)}
	if !start.IsZero() {
		s.Start = start.UTC().Format("2006-01-02T15:04:05")
	}
	return s
}

// Add adds a case.
func (s *TestSuite) Add(c TestCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	for _, of := range []struct {
		outcome *TestOutcome
		count   *int
	}{{c.Failure, &s.Failures}, {c.Error, &s.Errors}, {c.Skipped, &s.Skipped}} {
		if of.outcome != nil {
			*of.count++
		}
	}
}

// WriteJUnit writes a test suite as XML that JUnit's readers understand. Texts are printable and escaped.
func WriteJUnit(w io.Writer, s *TestSuite) error {
	document := struct {
		XMLName xml.Name  `xml:"testsuites"`
		Suite   TestSuite `xml:"testsuite"`
	}{Suite: Shown(*s)}
	encoded, err := xml.MarshalIndent(document, "", "  ")
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	_, err = w.Write(bytes.Join([][]byte{[]byte(xml.Header), encoded, []byte("\n")}, nil))
	return err
}

// testSuite returns a run's result as test cases: whether it is valid, each finding and each threshold. A finding
// that invalidates the result is a failure, and thresholds then are skipped.
func testSuite(r *result.Result) *TestSuite {
	s := NewTestSuite("BenchmarkRun "+NameOf(r), r.Run.MeasurementTime, time.Duration(r.DurationMicroseconds)*time.Microsecond)
	if r.Run.Standalone {
		s.Name = "assay-load " + NameOf(r)
	}
	class := strings.ReplaceAll(NameOf(r), "/", ".")
	reasons := invalidating(r.Findings, func(f result.Finding) string { return f.Reason })
	valid := TestCase{Class: class, Name: "result is valid"}
	if len(reasons) > 0 {
		valid.Failure = &TestOutcome{"not valid: " + strings.Join(reasons, ", ")}
	}
	s.Add(valid)
	for _, f := range r.Findings {
		c := TestCase{Class: class + ".findings", Name: f.Reason}
		if f.Severity == result.Invalidates {
			c.Failure = &TestOutcome{f.Message}
		} else {
			c.Output = fmt.Sprintf("%s: %s", f.Severity, f.Message)
		}
		s.Add(c)
	}
	for _, o := range r.Thresholds {
		c := TestCase{Class: class + ".thresholds", Name: o.Name() + " " + o.Bound, Output: "actual: " + o.Actual}
		switch {
		case !validity.Valid(r.Findings):
			c.Skipped = &TestOutcome{"unknown, since the result is not valid"}
		case !o.Met:
			c.Failure = &TestOutcome{fmt.Sprintf("%s is %s, must be %s", o.Name(), o.Actual, o.Bound)}
		}
		s.Add(c)
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

func writeJUnit(w io.Writer, r *result.Result) error { return WriteJUnit(w, testSuite(r)) }

// writeTableJUnit writes a case for each run: invalid results are failures, runs without a result are errors.
func writeTableJUnit(w io.Writer, rows []Row) error {
	s := NewTestSuite("BenchmarkRuns", time.Time{}, 0)
	for i := range rows {
		row := &rows[i]
		c := TestCase{Class: row.Namespace, Name: row.Name}
		switch {
		case row.Merged == nil:
			c.Error = &TestOutcome{cmp.Or(row.NoResult, "no result")}
		case !row.valid():
			c.Failure = &TestOutcome{"not valid: " + reasons(row)}
		default:
			c.Output = fmt.Sprintf("%s requests/s, %s", decimals(row.Merged.RequestsPerSecond, 2), number.Plural(warnings(row.Findings), "warning"))
		}
		s.Add(c)
	}
	return WriteJUnit(w, s)
}

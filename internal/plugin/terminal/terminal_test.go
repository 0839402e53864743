package terminal

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// report returns the text of a report that the tests of reports hold.
func report(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "report", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, text, color string, ascii bool) string {
	t.Helper()
	var out bytes.Buffer
	w, err := New(&out, color, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	w.ascii = ascii
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestColors checks that a pipe gets the text as it is, that the verdicts of reports have colors and no other words have, and that nothing but
// the colors changes.
func TestColors(t *testing.T) {
	text := report(t, "round/testdata/connectors.text.golden") + report(t, "testdata/failing.text.golden") + report(t, "testdata/open.text.golden")
	for _, color := range []string{Auto, Never} {
		if got := write(t, text, color, false); got != text {
			t.Errorf("--color %s writes to a pipe:\n%q", color, got)
		}
	}
	got := write(t, text, Always, false)
	var words []string
	for _, colored := range strings.Split(got, "\x1b[")[1:] {
		if word := colored[strings.Index(colored, "m")+1:]; !strings.HasPrefix(colored, "0m") {
			words = append(words, colored[:2]+" "+word)
		}
	}
	want := []string{
		"31 FAILED", "31 Contradicted:", "33 Undecided:", "32 Confirmed",
		"31 Contradicted", "33 Undecided", "32 Confirmed", "31 Contradicted", "33 Undecided", "32 Confirmed",
		"31 NOT VALID", "31 Invalidates", "33 Warns",
		"32 VALID", "31 MISSED", "31 MISSED", "32 met",
	}
	if !slices.Equal(words, want) {
		t.Errorf("colored are %q", words)
	}
	for _, sequence := range []string{red, green, yellow, normal} {
		got = strings.ReplaceAll(got, sequence, "")
	}
	if got != text {
		t.Errorf("without colors the text is\n%s", got)
	}
	if _, err := New(nil, "sometimes", func(string) string { return "" }); err == nil {
		t.Error("an unknown choice is accepted")
	}
}

// TestColorsOfWatch checks the words of the lines that watch ends with.
func TestColorsOfWatch(t *testing.T) {
	for line, want := range map[string]string{
		"Valid: Nothing was found.":                          green + "Valid" + normal + ": Nothing was found.",
		"NOT VALID: ClientSaturated: Valid: no":              red + "NOT VALID" + normal + ": ClientSaturated: Valid: no",
		"Thresholds met: LatencyP99 is 9ms":                  "Thresholds " + green + "met" + normal + ": LatencyP99 is 9ms",
		"Thresholds MISSED: LatencyP99 is 99ms":              "Thresholds " + red + "MISSED" + normal + ": LatencyP99 is 99ms",
		"r1.small failed: TargetCrashed: it failed: badly":   "r1.small " + red + "failed" + normal + ": TargetCrashed: it failed: badly",
		"connectors, round 3 is INCONCLUSIVE: Noise: passed": "connectors, round 3 is " + yellow + "INCONCLUSIVE" + normal + ": Noise: passed",
		"  not-worse/p99/a=b: contradicted, +24%":            "  not-worse/p99/a=b: " + red + "contradicted" + normal + ", +24%",
		"connectors passed: no difference":                   "connectors " + green + "passed" + normal + ": no difference",
		"r1 succeeded: 4510 requests/s, p99 93.800 ms":       "r1 succeeded: 4510 requests/s, p99 93.800 ms",
	} {
		if got := string(colored([]byte(line))); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestASCII checks that a plot has the same width without UTF-8.
func TestASCII(t *testing.T) {
	if got := write(t, "nio2  ├──●──┤  −5\n10 ┤⣸\n   └──\n", Never, true); got != "nio2  |--*--|  -5\n10 |*\n   +--\n" {
		t.Error(got)
	}
	for locale, want := range map[string]bool{"de_DE.UTF-8": true, "C.utf8": true, "C": false, "": true} {
		if got := utf8(func(name string) string { return map[string]string{"LANG": locale}[name] }); got != want {
			t.Errorf("LANG=%s has UTF-8: %t", locale, got)
		}
	}
	first := func(name string) string { return map[string]string{"LC_ALL": "C", "LANG": "de_DE.UTF-8"}[name] }
	if utf8(first) {
		t.Error("LC_ALL isn't the first")
	}
}

package terminal

import (
	"bytes"
	"strings"
	"testing"
)

const text = `Benchmark default/connectors, round 3: FAILED
  Failed: p99 of nio2 is 24% worse than nio's.
  Can't tell yet: p99 of nginx.

cell  difference  conclusion      verdict
nio2        +24%  worse           Failed
apr         -19%  better          Passed
nio2         ├──●──┤  worse: gate failed
10 ┤⣸
   └──
`

func write(t *testing.T, color string, ascii bool) string {
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

// TestColors checks that a pipe gets the text as it is, that words of verdicts alone are colored, and that nothing but the colors changes.
func TestColors(t *testing.T) {
	for _, color := range []string{Auto, Never} {
		if got := write(t, color, false); got != text {
			t.Errorf("--color %s writes to a pipe:\n%q", color, got)
		}
	}
	got := write(t, Always, false)
	for _, want := range []string{": \x1b[31mFAILED\x1b[0m\n", "  \x1b[31mFailed\x1b[0m:", "  \x1b[33mCan't tell yet:\x1b[0m", "  \x1b[31mworse\x1b[0m  ", "\x1b[32mbetter\x1b[0m", "\x1b[31mworse: gate failed\x1b[0m\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%q", want, got)
		}
	}
	if strings.Contains(got, "is 24% \x1b") {
		t.Error("a word of a sentence is colored")
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
		"Valid: Nothing was found.":                         green + "Valid" + normal + ": Nothing was found.",
		"NOT VALID: ClientSaturated: Valid: no":             red + "NOT VALID" + normal + ": ClientSaturated: Valid: no",
		"Thresholds met: LatencyP99 is 9ms":                 "Thresholds " + green + "met" + normal + ": LatencyP99 is 9ms",
		"Thresholds MISSED: LatencyP99 is 99ms":             "Thresholds " + red + "MISSED" + normal + ": LatencyP99 is 99ms",
		"r1.small failed: TargetCrashed: it failed: badly":  "r1.small " + red + "failed" + normal + ": TargetCrashed: it failed: badly",
		"connectors, round 3 CAN'T TELL YET: Noise: passed": "connectors, round 3 " + yellow + "CAN'T TELL YET" + normal + ": Noise: passed",
		"connectors passed: no difference":                  "connectors " + green + "passed" + normal + ": no difference",
		"r1 succeeded: 4510 requests/s, p99 93.800 ms":      "r1 succeeded: 4510 requests/s, p99 93.800 ms",
	} {
		if got := string(colored([]byte(line))); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestASCII checks that a plot has the same width without UTF-8.
func TestASCII(t *testing.T) {
	if got := write(t, Never, true); !strings.Contains(got, "nio2         |--*--|  worse: gate failed\n10 |*\n   +--\n") {
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

package validity_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// find returns the finding with a reason, or an empty one.
func find(r *result.Result, reason string, d validity.Declared) result.Finding {
	for _, f := range validity.Judge(r, d) {
		if f.Reason == reason {
			return f
		}
	}
	return result.Finding{}
}

var (
	namedSeconds = regexp.MustCompile(`[Ff]or (\d+)s of .*, from second (\d+) on`)
	namedLevel   = regexp.MustCompile(`\(seconds (\d+) to (\d+)\)`)
	namedStep    = regexp.MustCompile(`about (\d+)s after the start`)
)

// checkSeconds checks that a finding is about the seconds that its message names.
func checkSeconds(t *testing.T, f result.Finding) {
	t.Helper()
	number := func(text string) int64 {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var want *result.Span
	if m := namedSeconds.FindStringSubmatch(f.Message); m != nil {
		want = &result.Span{From: number(m[2]), To: number(m[2]) + number(m[1])}
	} else if m := namedLevel.FindStringSubmatch(f.Message); m != nil {
		want = &result.Span{From: number(m[1]), To: number(m[2])}
	} else if m := namedStep.FindStringSubmatch(f.Message); m != nil {
		want = &result.Span{From: number(m[1]), To: number(m[1])}
	} else if slices.Contains([]string{"NoWarmup", "WarmupNotSteady", "StartSkew"}, f.Reason) {
		want = &result.Span{}
	}
	if diff := cmp.Diff(want, f.Seconds); diff != "" && f.Reason != "NetworkLimited" {
		t.Errorf("seconds of %q (-want +got):\n%s", f.Message, diff)
	}
}

// of500 is a server that can serve 500 requests/s.
func of500(rate float64) simulation {
	return simulation{seed: 13, seconds: 10, rate: rate, threads: 5, work: 0.01, cpu: 0.002, noise: 0.02}
}

func TestNotKeepingUp(t *testing.T) {
	with := func(s simulation, change func(*simulation)) simulation {
		change(&s)
		return s
	}
	for name, tc := range map[string]struct {
		of       simulation
		severity result.Severity
		metrics  string
	}{
		"600/s of 500/s":         {of500(600), result.Invalidates, "did not keep up with 599.90 requests/s: the median latency rose by 1"},
		"600/s of 500/s for 6 s": {with(of500(600), func(s *simulation) { s.seconds = 6 }), result.Invalidates, "serves 1"},
		"600/s of 500/s, each thread a second slow": {
			with(of500(600), func(s *simulation) { s.threads, s.work, s.seconds = 500, 1, 20 }), result.Invalidates, "",
		},
		"random arrivals, 600/s of 500/s":  {with(of500(600), func(s *simulation) { s.poisson = true }), result.Invalidates, ""},
		"520/s of 500/s for a minute":      {with(of500(520), func(s *simulation) { s.seconds = 60 }), result.Invalidates, ""},
		"400/s of 500/s":                   {of500(400), "", ""},
		"random arrivals, 400/s of 500/s":  {with(of500(400), func(s *simulation) { s.poisson, s.noise, s.memory = true, 0.1, 0.5 }), "", ""},
		"a stall of a second at the start": {with(of500(400), func(s *simulation) { s.stall, s.stallSeconds = 0.5, 1 }), "", ""},
		"a stall of a second in between":   {with(of500(400), func(s *simulation) { s.stall, s.stallSeconds = 4.5, 1 }), "", ""},
		"a stall of a second at the end":   {with(of500(400), func(s *simulation) { s.stall, s.stallSeconds = 8.5, 1 }), "", ""},
		"a rise at the start":              {with(of500(400), func(s *simulation) { s.threads, s.work = 500, 1 }), "", ""},
		"slower from second to second":     {with(of500(200), func(s *simulation) { s.speed = func(at float64) float64 { return 1 - at/25 } }), "", ""},
		"a closed load of any size":        {with(of500(0), func(s *simulation) { s.connections = 5000 }), "", ""},
		"five seconds":                     {with(of500(600), func(s *simulation) { s.seconds = 5 }), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := find(tc.of.run(), "NotKeepingUp", validity.Declared{})
			checkSeconds(t, got)
			if got.Severity != tc.severity || !strings.Contains(got.Message, tc.metrics) {
				t.Errorf("found %s %q, want %s with %q", got.Severity, got.Message, tc.severity, tc.metrics)
			}
		})
	}
}

// TestALevelThatIsNotKeptUpWith has a load whose second level is too much, as a search for that level has.
func TestALevelThatIsNotKeptUpWith(t *testing.T) {
	r := of500(600).run()
	for i := range r.Series {
		r.Series[i].Second += 10
	}
	for i, s := range of500(400).run().Series[:10] {
		s.Second = int64(i)
		r.Series = append(r.Series[:i], append([]result.Second{s}, r.Series[i:]...)...)
	}
	r.Levels = []result.Level{{TargetRatePerSecond: 400, Start: 0, End: 10}, {TargetRatePerSecond: 600, Start: 10, End: 20}}
	r.Arrivals.PlannedMicroseconds = 20 * second
	r.Clients[0].EndedAt = start + 22*second
	got := find(r, "NotKeepingUp", validity.Declared{})
	checkSeconds(t, got)
	if want := "600.00 requests/s at the level of 600/s (seconds 10 to 20)"; got.Severity != result.Warns || !strings.Contains(got.Message, want) {
		t.Errorf("found %s %q, want a warning with %q", got.Severity, got.Message, want)
	}
	r.Levels[1].TargetRatePerSecond, r.Series = 400, append(r.Series[:10:10], r.Series[:10]...)
	for i := range r.Series {
		r.Series[i].Second = int64(i)
	}
	if got := find(r, "NotKeepingUp", validity.Declared{}); got.Reason != "" {
		t.Errorf("found %q at levels that the target kept up with", got.Message)
	}
}

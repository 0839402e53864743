package ab

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/report/round"
)

// answer returns the sentence that says how B compares with A, and whether what was asked is so. It is empty if the round says nothing
// about it.
func answer(b *v1alpha1.Benchmark, q *question) string {
	r := b.Status.Round
	if r == nil || len(r.Claims) == 0 || r.Claims[0].Percent == "" {
		return ""
	}
	c := &r.Claims[0] // there is no other
	words, subject := [2]string{"lower", "higher"}, "The "+printable.Text(round.MetricName(q.metric))+" of B is %s than that of A"
	if q.metric == Throughput {
		words, subject = [2]string{"fewer", "more"}, "B serves %s requests per second than A"
	}
	text := fmt.Sprintf(subject, difference(c, words))
	text += fmt.Sprintf(": %q is %s, after %s", q.statement(words), strings.ToLower(string(c.Verdict)), benchmark.Plural(int(ptr.Deref(r.CompletedBlocks, 0)), "block"))
	if end := r.CompletionTime; end != nil {
		text += " in " + benchmark.Plural(int(math.Ceil(end.Sub(r.StartTime.Time).Minutes()-1/60.)), "minute")
	}
	text += "."
	if n := ptr.Deref(c.BlocksToDecide, 0); n > 0 {
		text += fmt.Sprintf(" About %d blocks would decide.", n)
	}
	return text
}

// statement returns what is asked, such as "at most 5% fewer".
func (q *question) statement(words [2]string) string {
	better, worse := words[0], words[1]
	if benchmark.HigherIsBetter(q.metric) {
		better, worse = worse, better
	}
	switch {
	case q.better && q.by == 0:
		return better
	case q.better:
		return fmt.Sprintf("at least %d%% %s", q.by, better)
	case q.tolerance == 0:
		return "not " + worse
	}
	return fmt.Sprintf("at most %d%% %s", q.tolerance, worse)
}

// difference returns an estimate with its interval, such as "4.2% (3.1% to 5.2%) fewer". words are those for less and more.
func difference(c *v1alpha1.ClaimStatus, words [2]string) string {
	word := func(percent string) string {
		if strings.HasPrefix(percent, "-") {
			return words[0]
		}
		return words[1]
	}
	size := func(percent string) string { return strings.TrimPrefix(percent, "-") + "%" }
	low, high := c.LowPercent, c.HighPercent
	switch {
	case low == "" && high == "":
		return size(c.Percent) + " " + word(c.Percent)
	case low != "" && high != "" && word(low) == word(high):
		if word(low) == words[0] {
			low, high = high, low
		}
		return fmt.Sprintf("%s (%s to %s) %s", size(c.Percent), size(low), size(high), word(c.Percent))
	}
	end := func(percent string) string {
		if percent == "" {
			return "unbounded"
		}
		return size(percent) + " " + word(percent)
	}
	return fmt.Sprintf("%s %s (%s to %s)", size(c.Percent), word(c.Percent), end(low), end(high))
}

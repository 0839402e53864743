package report

import (
	"cmp"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
)

// facts are facts that are being collected.
type facts []doc.Fact

// add adds a fact.
func (f *facts) add(name, format string, args ...any) {
	*f = append(*f, doc.Fact{Name: name, Value: fmt.Sprintf(format, args...)})
}

// addTexts adds facts. Those without a value are unknown.
func (f *facts) addTexts(texts ...doc.Fact) {
	for _, t := range texts {
		t.Value = cmp.Or(t.Value, "unknown")
		*f = append(*f, t)
	}
}

func (f facts) block() doc.Facts { return doc.Facts{Facts: f} }

// addMetrics adds the metrics that have a label, those with the same label as one fact. Those of the full pod are only
// added if podWide is set. Those that are unknown have the given text, or are omitted if it is empty.
func addMetrics[T any](f *facts, table result.Table[T], metrics *T, podWide bool, unknown string) {
	for i := 0; i < len(table); {
		label := table[i].Label
		var texts []string
		for ; i < len(table) && table[i].Label == label; i++ {
			if m := &table[i]; podWide || !m.PodWide {
				if text := valueOf(m, metrics, unknown, true); text != "" {
					texts = append(texts, strings.TrimSpace(text+" "+m.Part))
				}
			}
		}
		if label != "" && len(texts) > 0 {
			f.add(label, "%s", strings.Join(texts, ", "))
		}
	}
}

// units are the units in which reports write metrics, and how many decimals they then have.
var units = map[result.Unit]struct {
	size     float64
	name     string
	decimals int
}{
	result.Number:       {1, "", 0},
	result.Bytes:        {1, "bytes", 0},
	result.Memory:       {1 << 20, "MiB", 1},
	result.Microseconds: {1000, "ms", 3},
}

// valueOf returns a metric in the unit of reports, which follows it if
// withUnit is set, or unknown if it is.
func valueOf[T any](f *result.Metric[T], metrics *T, unknown string, withUnit bool) string {
	value, unit := *f.Of(metrics), units[f.Unit]
	if f.Optional && value == result.Unknown {
		return unknown
	}
	text := decimals(float64(value)/unit.size, unit.decimals)
	if withUnit && unit.name != "" {
		text += " " + unit.name
	}
	return text
}

// joinCounts returns keys with their counts by a format, with separators between them.
func joinCounts[K any](counts iter.Seq2[K, int64], format, separator string) string {
	var texts []string
	for key, n := range counts {
		texts = append(texts, fmt.Sprintf(format, key, n))
	}
	return strings.Join(texts, separator)
}

func decimals(x float64, n int) string { return strconv.FormatFloat(x, 'f', n, 64) }

func whole(n int64) string { return strconv.FormatInt(n, 10) }

func ms(microseconds int64) float64 { return float64(microseconds) / 1000 }

// msText returns a duration in microseconds as milliseconds with three decimals,
// or a dash if there is none.
func msText(microseconds int64, exists bool) string {
	return number.OrDash(exists, Milliseconds(microseconds))
}

// Milliseconds returns a duration in microseconds as milliseconds, without loss.
func Milliseconds(microseconds int64) string { return decimals(ms(microseconds), 3) }

func secondsText(microseconds int64) string { return decimals(float64(microseconds)/1e6, 3) + "s" }

func mebibytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// CPUs returns thousandths of a CPU as CPUs: "2", "1.5", "unknown".
func CPUs(millis int64) string {
	if millis <= 0 {
		return "unknown"
	}
	return strconv.FormatFloat(float64(millis)/1000, 'f', -1, 64)
}

// CPUCount returns a limit in words: "1 CPU", "0.25 CPUs".
func CPUCount(millis int64) string {
	if millis == 1000 {
		return "1 CPU"
	}
	return CPUs(millis) + " CPUs"
}

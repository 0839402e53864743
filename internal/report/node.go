package report

import (
	"regexp"
	"strings"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
)

var (
	unitSuffix = regexp.MustCompile(`(Microseconds|Kilohertz|Bytes)$`)
	wordBegin  = regexp.MustCompile(`([a-z])([A-Z])`)
)

// inWords returns the name of a metric in JSON as words: "run queue wait" for runQueueWaitMicroseconds.
func inWords(name string) string {
	words := strings.Fields(wordBegin.ReplaceAllString(unitSuffix.ReplaceAllString(name, ""), "$1 $2"))
	for i, word := range words {
		switch {
		case word == "io":
			words[i] = "I/O"
		case word == "cpu":
			words[i] = "CPU"
		case strings.ToUpper(word) != word: // no abbreviation
			words[i] = strings.ToLower(word)
		}
	}
	return strings.Join(words, " ")
}

// aroundPod returns what happened around the target or a client. name is that of its CPUs.
func aroundPod(name string, u *result.NodeUsage, governor string) doc.Facts {
	var shares []string
	for _, share := range []struct {
		used int64
		part string
	}{
		{u.Idle, "idle"}, {u.OtherCPU, "used by others and interrupts"}, {u.Steal, "stolen by the hypervisor"}, {u.IOWait, "waiting for disks"},
	} {
		if percent := u.CPUPercent(share.used); percent != result.Unknown {
			shares = append(shares, decimals(percent, 1)+"% "+share.part)
		}
	}
	var f facts
	if len(shares) > 0 {
		f.add(name, "%s", strings.Join(shares, ", "))
	}
	if hard, soft := u.CPUPercent(u.HardIRQ), u.CPUPercent(u.SoftIRQ); hard != result.Unknown && soft != result.Unknown {
		f.add("Interrupts", "%s%% hardware, %s%% software", decimals(hard, 1), decimals(soft, 1))
	}
	if governor != "" {
		f.add("Frequency governor", "%s", governor)
	}
	addMetrics(&f, result.NodeMetrics, u, true, "")
	if missing := u.Missing(); len(missing) > 0 {
		for i := range missing {
			missing[i] = inWords(missing[i])
		}
		f.add("Not available", "%s", strings.Join(missing, ", "))
	}
	return f.block()
}

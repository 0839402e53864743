package result

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	// MaxCPU is above the number of any CPU that Linux knows.
	MaxCPU = 1 << 20
	// maxCPUListBytes bounds the text of a list.
	maxCPUListBytes = 16 << 10
)

// CPUSet is a set of CPUs, as ranges in ascending order that don't overlap. Ranges are never expanded, so that a set takes
// no more memory than the text that a pod sent.
type CPUSet []cpuRange

// cpuRange is a range of CPUs. It includes both ends.
type cpuRange struct{ first, last int }

// ParseCPUs returns the CPUs of a list in the format of Linux, such as "0-3,8". The list must be in ascending order without
// duplicates, as the kernel writes it. An empty text is an empty list.
func ParseCPUs(text string) (CPUSet, error) {
	if len(text) > maxCPUListBytes {
		return nil, fmt.Errorf("list of CPUs with %d bytes", len(text))
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	var set CPUSet
	next := 0
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err := strconv.ParseUint(from, 10, 32)
		last, lastErr := strconv.ParseUint(to, 10, 32)
		if err != nil || lastErr != nil || int(first) < next || last < first || last > MaxCPU {
			return nil, fmt.Errorf("list of CPUs with the range %.32q", part)
		}
		set = append(set, cpuRange{int(first), int(last)})
		next = int(last) + 1
	}
	return set, nil
}

// Size returns the number of CPUs.
func (s CPUSet) Size() int {
	n := 0
	for _, r := range s {
		n += r.last - r.first + 1
	}
	return n
}

// Overlaps reports whether both sets have a CPU in common.
func (s CPUSet) Overlaps(other CPUSet) bool {
	for i, j := 0, 0; i < len(s) && j < len(other); {
		switch {
		case s[i].last < other[j].first:
			i++
		case other[j].last < s[i].first:
			j++
		default:
			return true
		}
	}
	return false
}

// Without returns the CPUs of the set that are not in another.
func (s CPUSet) Without(other CPUSet) CPUSet {
	var rest CPUSet
	for _, r := range s {
		for _, o := range other {
			if o.last < r.first || r.last < o.first {
				continue
			}
			if r.first < o.first {
				rest = append(rest, cpuRange{r.first, o.first - 1})
			}
			r.first = o.last + 1
		}
		if r.first <= r.last {
			rest = append(rest, r)
		}
	}
	return rest
}

// Contains reports whether a CPU is in the set.
func (s CPUSet) Contains(cpu int) bool {
	for _, r := range s {
		if r.first <= cpu && cpu <= r.last {
			return true
		}
	}
	return false
}

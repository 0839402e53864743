// Package gclog reads the garbage collections that a Java virtual machine logs by unified logging
// (JEP 158, -Xlog), of all collectors of OpenJDK since Java 9.
package gclog

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// Directory is the directory in which the servers' containers have the logs. Each container has a
// volume of its own there; the agent has them all, in directories with the containers' names.
const Directory = "/assay/gc"

// Variable is the environment variable by which the java command gets Option. Java 8 doesn't know the
// option, and ignores the variable.
const Variable = "JDK_JAVA_OPTIONS"

// Option is the option of the Java virtual machine that has it write a log in Directory: its process
// ID is part of the name, and at most 16 MiB are kept.
//
// Serial, Parallel, G1 and Shenandoah log their pauses as gc, ZGC as gc,phases.
const Option = "-Xlog:gc,gc+phases:file=" + Directory + "/gc-%p.log:uptimenanos,tags:filecount=1,filesize=8M"

// ConfiguresLog reports whether an option of the Java virtual machine configures its logs.
func ConfiguresLog(option string) bool {
	return strings.HasPrefix(option, "-Xlog")
}

// Pause is a stop of all threads of the Java virtual machine for a garbage collection.
type Pause struct {
	// Start is the time from the start of the virtual machine, Duration the pause's duration, both in
	// nanoseconds.
	Start, Duration int64
	// Kind is the collector's name of it, such as "Young (Normal)", "Full", "Remark" or "Mark Start".
	Kind string
}

// Line is a parsed line of the log.
type Line struct {
	// Pause is nil if it isn't about a pause.
	Pause *Pause
	// HeapUsed is the memory in use in the heap after a collection, in bytes; -1 if the line doesn't have
	// it. The log has no more than whole units, most often MiB.
	HeapUsed int64
}

// Parse reads a line of a log that Option enables, such as
//
//	[4307ns][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->1M(64M) 0.963ms
//
// Whatever else a line has is ignored.
func Parse(text []byte) Line {
	line := Line{HeapUsed: -1}
	at, message := cutDecorations(text)
	line.HeapUsed = heapAfter(message)
	// A generation of ZGC stands before its phases, as in "y: Pause Mark Start".
	if _, phase, ok := bytes.Cut(message, []byte(": ")); ok && bytes.HasPrefix(phase, []byte("Pause ")) {
		message = phase
	}
	what, ok := bytes.CutPrefix(message, []byte("Pause "))
	if !ok {
		return line
	}
	space := bytes.LastIndexByte(what, ' ')
	if space < 0 {
		return line
	}
	milliseconds, ok := bytes.CutSuffix(what[space+1:], []byte("ms"))
	if !ok {
		return line
	}
	// The decimal point is that of the machine's language.
	duration, err := strconv.ParseFloat(strings.Replace(string(milliseconds), ",", ".", 1), 64)
	if err != nil || !(duration >= 0 && duration <= maxDuration) { // or not a number
		return line
	}
	nanoseconds := int64(math.Round(duration * 1e6))
	line.Pause = &Pause{Start: max(at-nanoseconds, 0), Duration: nanoseconds, Kind: kind(what[:space])}
	return line
}

// maxDuration bounds a pause, in milliseconds: a day.
const maxDuration = 24 * 3600 * 1000

// cutDecorations returns the uptime at which a line was written, in nanoseconds, and its message without
// the collection's number.
func cutDecorations(text []byte) (at int64, message []byte) {
	for len(text) > 0 && text[0] == '[' {
		end := bytes.IndexByte(text, ']')
		if end < 0 {
			break
		}
		if uptime, ok := bytes.CutSuffix(text[1:end], []byte("ns")); ok {
			if n, err := strconv.ParseInt(string(uptime), 10, 64); err == nil && n > 0 {
				at = n
			}
		}
		text = text[end+1:]
	}
	text = bytes.TrimSpace(text)
	if bytes.HasPrefix(text, []byte("GC(")) {
		if _, rest, ok := bytes.Cut(text, []byte(") ")); ok {
			text = bytes.TrimSpace(rest)
		}
	}
	return at, text
}

// kind returns what stands before a pause's cause and sizes, which are the last in parentheses.
func kind(what []byte) string {
	if sizes := bytes.Index(what, []byte("->")); sizes >= 0 {
		what = what[:max(bytes.LastIndexByte(what[:sizes], ' '), 0)]
		if cause := bytes.LastIndex(what, []byte(" (")); cause >= 0 && bytes.HasSuffix(what, []byte(")")) {
			what = what[:cause]
		}
	}
	return string(what)
}

// heapAfter returns the second of two sizes of the heap, as in 6M->1M(64M) and 64M(100%)->6M(9%), in
// bytes, or -1.
func heapAfter(message []byte) int64 {
	before, after, ok := bytes.Cut(message, []byte("->"))
	if !ok || len(before) == 0 {
		return -1
	}
	digits := 0
	for digits < len(after) && '0' <= after[digits] && after[digits] <= '9' {
		digits++
	}
	n, err := strconv.ParseInt(string(after[:digits]), 10, 64)
	if err != nil || digits == len(after) {
		return -1
	}
	unit, known := map[byte]int64{'B': 1, 'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30}[after[digits]]
	if !known || n > maxHeap/unit {
		return -1
	}
	return n * unit
}

// maxHeap bounds the size of a heap in bytes.
const maxHeap = 1 << 50

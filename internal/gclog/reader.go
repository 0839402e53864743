//go:build unix

package gclog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
)

const (
	// maxFiles bounds the logs of a directory that are read: one for each Java virtual machine.
	maxFiles = 8
	// maxRead bounds the bytes that are read at a time. What is left is read the next time.
	maxRead = 1 << 20
	// maxLine bounds a line. What is longer is ignored.
	maxLine = 4 << 10
)

// Usage sums what the Java virtual machines of a container logged.
type Usage struct {
	// Pauses is their number since the logs began, Paused their total duration in microseconds.
	Pauses, Paused int64
	// Longest is the longest pause since the previous reading, in microseconds.
	Longest int64
	// HeapUsed is the memory in use in the heap after the last collection, in bytes; -1 before the first.
	HeapUsed int64
}

// Reader reads the logs of a directory as they are written. The server under test owns them, so that
// nothing in them is trusted: neither a name, nor a size, nor that it is a file. It is not safe for
// concurrent use.
type Reader struct {
	directory string
	files     map[string]*log
	pauses    int64
	paused    int64 // nanoseconds
	heap      int64
}

// log is a file and what of it was read.
type log struct {
	file    *os.File
	info    os.FileInfo
	partial []byte // the beginning of the last line
	tooLong bool   // whether the last line's beginning was dropped
}

// NewReader returns a reader of the logs in a directory, which need not exist yet.
func NewReader(directory string) *Reader {
	return &Reader{directory: directory, files: map[string]*log{}, heap: -1}
}

// Read reads what was logged since the previous call. ok is false until there is a log.
func (r *Reader) Read() (u Usage, ok bool) {
	r.open()
	longest, left := int64(0), maxRead
	for _, name := range sortedNames(r.files) {
		l := r.files[name]
		left -= l.read(left, func(line Line) {
			if line.HeapUsed >= 0 {
				r.heap = line.HeapUsed
			}
			if line.Pause != nil {
				r.pauses++
				r.paused += line.Pause.Duration
				longest = max(longest, line.Pause.Duration)
			}
		})
	}
	return Usage{Pauses: r.pauses, Paused: r.paused / 1000, Longest: longest / 1000, HeapUsed: r.heap}, len(r.files) > 0
}

func sortedNames(files map[string]*log) []string {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// open opens the logs that are new. A log that grew too long was renamed and began again: its end
// is read first.
func (r *Reader) open() {
	root, err := os.OpenRoot(r.directory)
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }()
	directory, err := root.Open(".")
	if err != nil {
		return
	}
	defer func() { _ = directory.Close() }()
	names, err := directory.Readdirnames(4 * maxFiles)
	if err != nil {
		return
	}
	slices.Sort(names)
	for _, name := range names {
		before := r.files[name]
		if !strings.HasPrefix(name, "gc-") || !strings.HasSuffix(name, ".log") || before == nil && len(r.files) >= maxFiles {
			continue
		}
		info, err := root.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || before != nil && os.SameFile(info, before.info) {
			continue
		}
		if before != nil && before.unread() {
			continue // the next time
		}
		if l, err := openLog(root, name); err == nil {
			if before != nil {
				_ = before.file.Close()
			}
			r.files[name] = l
		}
	}
}

// openLog opens a log, unless it is anything but a file. Opening a pipe must not block.
func openLog(root *os.Root, name string) (*log, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", name)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &log{file: file, info: info}, nil
}

// unread reports whether the file has more than was read.
func (l *log) unread() bool {
	info, err := l.file.Stat()
	if err != nil {
		return false
	}
	at, err := l.file.Seek(0, io.SeekCurrent)
	return err == nil && info.Size() > at
}

// read calls each with every complete line of up to limit more bytes, and returns their number.
func (l *log) read(limit int, each func(Line)) (n int) {
	buffer := make([]byte, 32<<10)
	for n < limit {
		got, err := l.file.Read(buffer[:min(len(buffer), limit-n)])
		n += got
		l.lines(buffer[:got], each)
		if err != nil || got == 0 {
			break
		}
	}
	return n
}

func (l *log) lines(text []byte, each func(Line)) {
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			if len(l.partial)+len(text) > maxLine {
				l.partial, l.tooLong = nil, true
				return
			}
			l.partial = append(l.partial, text...)
			return
		}
		if !l.tooLong && len(l.partial)+end <= maxLine {
			each(Parse(append(l.partial, text[:end]...)))
		}
		l.partial, l.tooLong = l.partial[:0], false
		text = text[end+1:]
	}
}

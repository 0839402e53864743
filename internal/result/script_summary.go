package result

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

const (
	// MaxSummaryFiles bounds the files of handleSummary() that are kept.
	MaxSummaryFiles = 32
	// MaxSummaryBytes bounds the content of all these files together.
	MaxSummaryBytes = 256 << 10
	// MaxSummaryName bounds the length of the name of such a file, in bytes.
	MaxSummaryName = 120
)

// ScriptSummary is what handleSummary() of a k6 script returned.
type ScriptSummary struct {
	// Files are what it returned, in the order of their names.
	Files []SummaryFile `json:"files"`
	// Omitted is the number of files that were omitted because there were too many.
	Omitted int64 `json:"omitted,omitempty"`
	// None reports that the script doesn't define handleSummary().
	None bool `json:"none,omitempty"`
	// Error says why there are none, or is empty.
	Error string `json:"error,omitempty"`
}

// SummaryFile is a file that handleSummary() returned. In JSON its content is in base64.
type SummaryFile struct {
	// Name is a relative path with slashes, as SummaryName returns it. It is stdout or stderr for what k6 would have
	// written there.
	Name string `json:"name"`
	// Content is the content, or nil if it was omitted.
	Content []byte `json:"content,omitempty"`
	// Size is the length of the content in bytes, also if it was omitted.
	Size int64 `json:"sizeBytes"`
	// Omitted says why the content was omitted, or is empty.
	Omitted string `json:"omitted,omitempty"`
}

// SummaryName returns the name by which a file of handleSummary() is kept: the path that the script gave it, without
// what leads out of a directory and what could be misread. Letters, digits and ._- are kept, other characters become _.
func SummaryName(given string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-', r == '/':
			return r
		case r == '\\':
			return '/'
		}
		return '_'
	}, given)
	var parts []string
	for _, part := range strings.Split(path.Clean("/"+clean), "/") {
		// A leading dot hides a file, a leading hyphen is an option of many programs.
		if part = strings.TrimLeft(part, ".-"); part != "" {
			parts = append(parts, part)
		}
	}
	name := strings.Join(parts, "/")
	if len(name) > MaxSummaryName {
		name = strings.TrimRight(name[:MaxSummaryName], "/")
	}
	if name == "" {
		return "unnamed"
	}
	return name
}

// AddFile adds a file, unless there are too many. Its content is omitted if all files together would have too much.
func (s *ScriptSummary) AddFile(given string, content []byte) {
	name := s.unused(SummaryName(given))
	s.add(SummaryFile{Name: name, Content: content, Size: int64(len(content))})
}

// AddOmitted adds a file without its content, of the given size.
func (s *ScriptSummary) AddOmitted(given string, size int64) {
	s.add(SummaryFile{Name: s.unused(SummaryName(given)), Size: size, Omitted: tooLarge})
}

// tooLarge says why the content of a file was omitted.
var tooLarge = fmt.Sprintf("all files together may have %d bytes", MaxSummaryBytes)

func (s *ScriptSummary) add(f SummaryFile) {
	if len(s.Files) == MaxSummaryFiles {
		s.Omitted++
		return
	}
	if f.Omitted == "" && s.bytes()+len(f.Content) > MaxSummaryBytes {
		f.Content, f.Omitted = nil, tooLarge
	}
	s.Files = append(s.Files, f)
}

// unused returns the name, with a number if another file or a directory has it.
func (s *ScriptSummary) unused(name string) string {
	for n, next := 2, name; ; n++ {
		taken := false
		for i := range s.Files {
			other := s.Files[i].Name
			taken = taken || other == next || strings.HasPrefix(other, next+"/") || strings.HasPrefix(next, other+"/")
		}
		if !taken {
			return next
		}
		next = strings.ReplaceAll(name, "/", "_") + "-" + strconv.Itoa(n)
	}
}

// WithoutContent returns a copy without the content of the files. why says why it was omitted.
func (s *ScriptSummary) WithoutContent(why string) *ScriptSummary {
	c := *s
	c.Files = slices.Clone(s.Files)
	for i := range c.Files {
		if f := &c.Files[i]; f.Omitted == "" {
			f.Content, f.Omitted = nil, why
		}
	}
	return &c
}

func (s *ScriptSummary) bytes() int {
	n := 0
	for i := range s.Files {
		n += len(s.Files[i].Content)
	}
	return n
}

// Check returns an error for what no client can have sent.
func (s *ScriptSummary) Check() error {
	if len(s.Files) > MaxSummaryFiles || s.bytes() > MaxSummaryBytes || s.Omitted < 0 || s.Omitted > maxMetric || len(s.Error) > 2*maxText {
		return fmt.Errorf("%d files of handleSummary() with %d bytes", len(s.Files), s.bytes())
	}
	seen := &ScriptSummary{}
	for i := range s.Files {
		f := &s.Files[i]
		if f.Name != SummaryName(f.Name) || len(f.Name) > MaxSummaryName || f.Name != seen.unused(f.Name) || f.Size < int64(len(f.Content)) || f.Size > maxMetric || len(f.Omitted) > maxText {
			return fmt.Errorf("file %.*q of handleSummary() with %d bytes", MaxSummaryName, f.Name, f.Size)
		}
		seen.Files = append(seen.Files, *f)
	}
	return nil
}

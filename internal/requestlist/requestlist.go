// Package requestlist reads lists of requests, one in each line, as they are written by people and
// by other load tools, and takes them across to clients. It is pure.
package requestlist

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a list. What a ConfigMap can hold is less than MaxBytes.
const (
	// MaxRequests is the largest number of requests.
	MaxRequests = 100_000
	// MaxPathBytes is the length of the longest path.
	MaxPathBytes = 2048
	// MaxBytes is the largest size of a list.
	MaxBytes  = 1 << 20
	maxWeight = 1_000_000
)

// Methods are those that a request of a list may have.
var Methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// validPath matches the beginning of a path up to the first byte that a path can't have.
var validPath = regexp.MustCompile(`^/([0-9A-Za-z._~!$&()*+,;=:@/?[\]-]|%[0-9A-Fa-f]{2})*`)

// Entry is a request of a list. Its texts are parts of the list's.
type Entry struct {
	// Method is one of Methods.
	Method string
	// Path is path and query.
	Path string
	// Weight is its frequency in proportion to the others, at least 1.
	Weight int
}

// Parse reads a list. An error names the line that is wrong, counted from 1, and the remedy.
func Parse(text string) ([]Entry, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("it has %d bytes: give at most %d", len(text), MaxBytes)
	}
	var entries []Entry
	number := 0
	for line := range strings.Lines(text) {
		number++
		if number == 1 {
			line = strings.TrimPrefix(line, "\ufeff") // some editors' mark of UTF-8
		}
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		entry, err := parse(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if len(entries) == MaxRequests {
			return nil, fmt.Errorf("line %d: there are more than %d requests: leave some out", number, MaxRequests)
		}
		entries = append(entries, entry)
	}
	if len(entries) == 0 {
		return nil, errors.New("there is no request in it: give each a line, such as /index.html")
	}
	return entries, nil
}

// parse reads a line: [METHOD] PATH [WEIGHT].
func parse(line string) (Entry, error) {
	entry := Entry{Method: Methods[0], Weight: 1}
	words := strings.Fields(line)
	if len(words) == 0 {
		return entry, errors.New("there is nothing in it")
	}
	if words[0][0] != '/' {
		at := slices.Index(Methods, words[0])
		switch {
		case at < 0 && strings.Contains(words[0], "://"):
			return entry, fmt.Errorf("%s has a scheme and a host: give the path alone, which is asked of the target", shown(words[0]))
		case at < 0:
			return entry, fmt.Errorf("%s is neither a path, which begins with a slash, nor one of the methods %s", shown(words[0]), strings.Join(Methods, ", "))
		case len(words) == 1:
			return entry, fmt.Errorf("there is no path after %s", words[0])
		}
		entry.Method, words = Methods[at], words[1:]
	}
	if entry.Path = words[0]; len(entry.Path) > MaxPathBytes {
		return entry, fmt.Errorf("the path has %d characters: give at most %d", len(entry.Path), MaxPathBytes)
	}
	if at := len(validPath.FindString(entry.Path)); at < len(entry.Path) {
		return entry, fmt.Errorf("the path %s has %q at position %d: it must begin with a slash and have only characters that a URL may have, without a fragment; percent-encode the others, a space as %%20",
			shown(entry.Path), entry.Path[at], at+1)
	}
	switch len(words) {
	case 1:
		return entry, nil
	case 2:
		weight, err := strconv.Atoi(words[1])
		if err != nil || weight < 1 || weight > maxWeight {
			return entry, fmt.Errorf("%s after the path is no weight: give a number from 1 to %d, and a space in a path as %%20", shown(words[1]), maxWeight)
		}
		entry.Weight = weight
		return entry, nil
	}
	return entry, fmt.Errorf("there is %s after the weight: give METHOD, path and weight only", shown(words[2]))
}

// shown is a word as a message has it, not too long.
func shown(word string) string {
	const most = 80
	if len(word) > most {
		return fmt.Sprintf("%q…", word[:most])
	}
	return fmt.Sprintf("%q", word)
}

// Encode returns a list as it is stored and sent: without what counts for nothing, by gzip (RFC
// 1952), the same bytes for the same list.
func Encode(entries []Entry) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for _, e := range entries {
		line := e.Method + " " + e.Path
		if e.Weight != 1 {
			line += " " + strconv.Itoa(e.Weight)
		}
		if _, err := io.WriteString(z, line+"\n"); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// encodedBytes bounds what Encode makes of a list that Parse has taken: a method more in each line.
const encodedBytes = MaxBytes + MaxRequests*len("OPTIONS ")

// Decode is the inverse of Encode.
func Decode(encoded []byte) ([]Entry, error) {
	z, err := gzip.NewReader(bytes.NewReader(encoded))
	if err != nil {
		return nil, fmt.Errorf("decode the list of requests: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(z, int64(encodedBytes)+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("decode the list of requests: %w", err)
	case len(text) > encodedBytes:
		return nil, fmt.Errorf("decode the list of requests: it has more than %d bytes", encodedBytes)
	}
	var entries []Entry
	for line := range strings.Lines(string(text)) {
		entry, err := parse(line)
		if err != nil {
			return nil, fmt.Errorf("decode the list of requests: %w", err)
		}
		entries = append(entries, entry)
	}
	if len(entries) == 0 || len(entries) > MaxRequests {
		return nil, fmt.Errorf("decode the list of requests: it has %d", len(entries))
	}
	return entries, nil
}

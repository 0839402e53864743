package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
)

// calls are numbers of API calls, by verb and resource.
type calls map[string]int

// since returns the calls that the API server has logged from a position of its audit log on, and the
// position of the end. Calls for leases and of watches that ended aren't counted: they depend on time.
func (c *cluster) calls(from int64) (calls, int64, error) {
	file, err := os.Open(c.audit)
	if errors.Is(err, fs.ErrNotExist) {
		return calls{}, 0, nil
	} else if err != nil {
		return nil, 0, err
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return nil, 0, err
	}
	counted, lines := calls{}, bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return counted, from, nil
		} else if err != nil {
			return nil, 0, err
		}
		from += int64(len(line))
		var event struct {
			Verb      string
			ObjectRef struct{ Resource, Subresource string }
		}
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, 0, fmt.Errorf("read the audit log: %w", err)
		}
		resource := event.ObjectRef.Resource
		if sub := event.ObjectRef.Subresource; sub != "" {
			resource += "/" + sub
		}
		if event.Verb != "watch" && resource != "leases" && resource != "" {
			counted[event.Verb+" "+resource]++
		}
	}
}

func (c calls) total() (n int) {
	for _, of := range c {
		n += of
	}
	return n
}

// per returns the calls by kind, each divided by the number of runs, the most frequent first.
func (c calls) per(runs int) string {
	kinds := slices.SortedFunc(maps.Keys(c), func(a, b string) int { return cmp.Or(c[b]-c[a], strings.Compare(a, b)) })
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%s %s", kind, count(float64(c[kind])/float64(runs)))
	}
	return strings.Join(kinds, ", ")
}

// Package hint says what the writer of a manifest or a plan probably meant by a field that the API doesn't have, or by a
// value that it refuses, and on which line of the file that is.
package hint

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Fields is a schema of the API, as much of it as hints need. Its JSON is that in a CustomResourceDefinition.
type Fields struct {
	Type       string             `json:"type"`
	Properties map[string]*Fields `json:"properties"`
	Required   []string           `json:"required"`
	Items      *Fields            `json:"items"`
	// Enum has the values of a string.
	Enum []string `json:"enum"`
}

// item is the step of a path from a list to one of its items.
const item = "[]"

var index = regexp.MustCompile(`\[[^\]]*\]`)

// steps returns the names on a path such as spec.load.requests[0].path, and item for each index.
func steps(path string) []string {
	return strings.FieldsFunc(index.ReplaceAllString(path, "."+item), func(r rune) bool { return r == '.' })
}

// written returns a path as it is written, with the indexes of another one, at, as far as both are the same.
func written(path []string, at string) string {
	indexes := index.FindAllString(at, -1)
	for i, step := range steps(at) {
		if i >= len(path) || path[i] != step {
			indexes = nil
		}
		if step == item && len(indexes) > 0 {
			path = slices.Concat(path[:i], indexes[:1], path[i+1:])
			indexes = indexes[1:]
		}
	}
	return strings.ReplaceAll(strings.Join(path, "."), ".[", "[")
}

// at returns the field at a path, or nil.
func (f *Fields) at(steps []string) *Fields {
	for _, step := range steps {
		if f == nil {
			return nil
		}
		if step == item {
			f = f.Items
		} else {
			f = f.Properties[step]
		}
	}
	return f
}

// walk calls visit with each field below f and its path.
func (f *Fields) walk(at []string, visit func(at []string)) {
	if f.Items != nil {
		f.Items.walk(append(slices.Clip(at), item), visit)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Properties)) {
		if len(at) == 0 && (name == "status" || name == "metadata") {
			continue
		}
		next := append(slices.Clip(at), name)
		visit(next)
		f.Properties[name].walk(next, visit)
	}
}

// exists reports whether a decoded document has something at a path, in any item of each list.
func exists(document any, at []string) bool {
	if len(at) == 0 {
		return document != nil
	}
	switch value := document.(type) {
	case map[string]any:
		return exists(value[at[0]], at[1:])
	case []any:
		return at[0] == item && slices.ContainsFunc(value, func(one any) bool { return exists(one, at[1:]) })
	}
	return false
}

// maxShown is the largest number of fields that a hint offers.
const maxShown = 3

// nearest returns those of the candidates that have most of their path in common with where the unknown field is, and
// of these those whose object is the same, or is in the document.
func nearest(candidates []candidate, at []string, document any) []candidate {
	rank := func(c candidate) int {
		common, object := 0, c.path[:len(c.path)-1]
		for common < min(len(object), len(at)) && object[common] == at[common] {
			common++
		}
		switch {
		case slices.Equal(object, at):
			return 3*common + 2
		case exists(document, object):
			return 3*common + 1
		}
		return 3 * common
	}
	best := 0
	for _, c := range candidates {
		best = max(best, rank(c))
	}
	candidates = slices.DeleteFunc(candidates, func(c candidate) bool { return rank(c) < best })
	return candidates[:min(len(candidates), maxShown)]
}

// plain returns a name without what people write differently: case, hyphens and underscores.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
}

// closest returns the name that is misspelled as word, or "".
func closest(word string, names []string) string {
	word = plain(word)
	best, found := max(1, len(word)/4)+1, ""
	for _, name := range names {
		if d := distance(word, plain(name)); d < best && d < len(word)-1 {
			best, found = d, name
		}
	}
	return found
}

// distance returns how many letters must be inserted, removed, replaced or swapped with the next one to make a from b.
func distance(a, b string) int {
	before, last := []int(nil), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := append(make([]int, 0, len(b)+1), i+1)
		for j := range len(b) {
			d := min(last[j+1], row[j]) + 1
			if a[i] == b[j] {
				d = min(d, last[j])
			} else {
				d = min(d, last[j]+1)
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, before[j-1]+1)
			}
			row = append(row, d)
		}
		before, last = last, row
	}
	return last[len(b)]
}

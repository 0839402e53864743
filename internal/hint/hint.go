package hint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// candidate is a field that may be meant, and its value if it isn't the one that was given.
type candidate struct {
	path  []string
	value string
}

// units are the ends of the names of fields that have a unit, which other tools write into the value.
var units = []string{"Seconds", "Milliseconds", "Bytes", "Count", "Percent", "Name"}

// Unknown returns what to use instead of an unknown field, as the end of a sentence. at is its path, such as
// spec.load.requests[0].url, and value what it has in document.
func (f *Fields) Unknown(at string, value, document any) string {
	all := steps(at)
	if len(all) == 0 { // its name is empty
		return "remove it"
	}
	name, parent := all[len(all)-1], all[:len(all)-1]
	here := f.at(parent)
	if here == nil {
		return ""
	}
	if len(parent) > 0 {
		if text, is := strings.CutPrefix(words[plain(parent[len(parent)-1])+"."+plain(name)], "!"); is {
			return text
		}
	}
	names := slices.Sorted(maps.Keys(here.Properties))
	if slices.Equal(parent, []string{"metadata"}) {
		names = []string{"annotations", "finalizers", "generateName", "labels", "name", "namespace"} // the schema leaves them to Kubernetes
	}
	within := func(name string) []candidate { return []candidate{{path: append(slices.Clip(parent), name)}} }
	var found []candidate
	for _, known := range names {
		if plain(known) == plain(name) || slices.ContainsFunc(units, func(unit string) bool { return known == name+unit }) {
			found = append(found, within(known)...)
		}
	}
	if found == nil {
		found = nearest(f.meant(name), parent, document)
	}
	if known := closest(name, names); found == nil && known != "" {
		found = within(known)
	}
	if found == nil {
		var same, similar []candidate
		f.walk(nil, func(path []string) {
			switch other := path[len(path)-1]; {
			case other == name:
				same = append(same, candidate{path: path})
			case len(name) > 4 && distance(plain(name), plain(other)) < 2:
				similar = append(similar, candidate{path: path})
			}
		})
		if found = nearest(same, parent, document); found == nil {
			found = nearest(similar, parent, document)
		}
	}
	if found == nil {
		if len(names) == 0 {
			return "remove it"
		}
		return "the fields here are " + strings.Join(names, ", ")
	}
	var texts []string
	for _, c := range found {
		text := written(c.path, at)
		if slices.Equal(c.path[:len(c.path)-1], parent) {
			text = c.path[len(c.path)-1]
		}
		if last := c.path[len(c.path)-1]; c.value == "" && isNumber(value) && strings.Contains(last, "Milliseconds") {
			text += " (in milliseconds)" // nginx and httpd have seconds
		} else if c.value == "" {
			c.value = f.at(c.path).converted(last, value)
		}
		if c.value != "" {
			text += ": " + c.value
		}
		texts = append(texts, text)
	}
	return "use " + alternatives(texts)
}

// meant returns the fields that a word of another tool means, of those that there are.
func (f *Fields) meant(word string) (found []candidate) {
	var root []string
	for _, base := range [][]string{{"spec", "template", "spec"}, {"spec"}} {
		if f.at(base) != nil {
			root = base
			break
		}
	}
	for _, one := range strings.Fields(words[plain(word)]) {
		at, value, _ := strings.Cut(one, "=")
		for _, at := range []string{at, strings.TrimPrefix(at, "target.")} { // a plan has no target
			c := candidate{append(slices.Clip(root), steps(at)...), value}
			if f.at(c.path) != nil {
				found = append(found, c)
				break
			}
		}
	}
	return found
}

func alternatives(texts []string) string {
	last := len(texts) - 1
	if last == 0 {
		return texts[0]
	}
	return strings.Join(texts[:last], ", ") + " or " + texts[last]
}

// Value returns what to write instead of a value that is of another type than its field, or none of its values; or "".
func (f *Fields) Value(at string, value any) string {
	all := steps(at)
	field := f.at(all)
	if field == nil || len(all) == 0 {
		return ""
	}
	name := all[len(all)-1]
	if name == item {
		name = "-"
	} else {
		name += ":"
	}
	switch of := value.(type) {
	case map[string]any:
		if field.Type == "array" && field.Items.Properties["name"] != nil && field.Items.Properties["value"] != nil {
			for key := range maps.Keys(of) {
				return fmt.Sprintf("use a list: %s [{name: %s, value: %s}]", name, key, cmp.Or(scalar(of[key]), "…"))
			}
		}
		if field.Type == "array" {
			return "use a list: begin each item with a hyphen"
		}
	case []any:
		for _, inner := range field.Required {
			if field.Type == "object" && field.Properties[inner].Type == "array" {
				return fmt.Sprintf("use %s {%s: […]}", name, inner)
			}
		}
	default:
		if field.Type == "array" {
			return fmt.Sprintf("use a list: %s [%s]", name, cmp.Or(scalar(value), "…"))
		}
		if inner, text := field.whole(value); inner != "" {
			return fmt.Sprintf("use %s {%s: %s}", name, inner, text)
		}
		if text := field.converted(name[:len(name)-1], value); text != "" && text != scalar(value) {
			return fmt.Sprintf("use %s %s", name, text)
		}
	}
	return ""
}

// whole returns the field of an object that a single value, given in place of the object, is probably that of, and its value.
func (f *Fields) whole(value any) (name, text string) {
	if f.Type != "object" {
		return "", ""
	}
	candidates := []string{"text", "configMapName", "name", "secretName", "type", "path", "max"}
	switch {
	case duration(value) >= 0:
		candidates = []string{"durationSeconds", "minMilliseconds", "timeoutMilliseconds", "timeoutSeconds"}
	case isBool(value):
		candidates = []string{"mode"}
	case isNumber(value):
		candidates = []string{"max", "requestCount", "sizeBytes", "connections", "port"}
	}
	for _, name := range candidates {
		if inner := f.Properties[name]; inner != nil {
			if text := inner.converted(name, value); text != "" {
				return name, text
			}
		}
	}
	return "", ""
}

// Package schema checks values by a part of the API's schema and its rules, as the API server does. It is for programs
// that the API server's own code, 20 MB with CEL, is too large for. hack/crd writes the schemas.
package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Schema is the schema of a value. Its JSON is that in a CustomResourceDefinition, but for the rules, which are parsed.
type Schema struct {
	Type       string             `json:"type"` // object, array, string, integer or number
	Properties map[string]*Schema `json:"properties,omitempty"`
	Required   []string           `json:"required,omitempty"`
	Default    json.RawMessage    `json:"default,omitempty"`
	Items      *Schema            `json:"items,omitempty"`
	MinItems   float64            `json:"minItems,omitempty"`
	MaxItems   *float64           `json:"maxItems,omitempty"`
	ListType   string             `json:"x-kubernetes-list-type,omitempty"`
	MapKeys    []string           `json:"x-kubernetes-list-map-keys,omitempty"`
	MinLength  float64            `json:"minLength,omitempty"`
	MaxLength  *float64           `json:"maxLength,omitempty"`
	Enum       []string           `json:"enum,omitempty"`
	Pattern    string             `json:"pattern,omitempty"`
	Minimum    *float64           `json:"minimum,omitempty"`
	Maximum    *float64           `json:"maximum,omitempty"`
	Rules      []Rule             `json:"x-kubernetes-validations,omitempty"`
}

// Problem is something that is wrong with a value.
type Problem struct {
	// Path is where it is, such as load.requests[0].path.
	Path string
	// Message says what is right, without the path.
	Message string
	// Unknown says that there is no such field.
	Unknown bool
	// Value is what is there, unless a rule is broken or it must be set.
	Value any
}

// Check sets the defaults of fields that value, decoded JSON, doesn't have, and returns what is wrong with it. A field
// that is null counts as not set. Rules are evaluated only if nothing else is wrong.
func (s *Schema) Check(value any) []Problem {
	c := &check{}
	if c.value("", s, value); len(c.problems) == 0 {
		c.rules("", s, value)
	}
	return c.problems
}

type check struct{ problems []Problem }

func (c *check) reject(path string, value any, format string, args ...any) {
	c.problems = append(c.problems, Problem{Path: path, Message: fmt.Sprintf(format, args...), Value: value})
}

// join returns the path of a field.
func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

func (c *check) value(path string, s *Schema, value any) {
	switch value := value.(type) {
	case map[string]any:
		if s.Type == "object" {
			c.object(path, s, value)
			return
		}
	case []any:
		if s.Type == "array" {
			c.array(path, s, value)
			return
		}
	case string:
		if s.Type == "string" {
			c.text(path, s, value)
			return
		}
	case float64:
		if s.Type == "number" || s.Type == "integer" && value == math.Trunc(value) {
			if value < *s.Minimum || value > *s.Maximum {
				c.reject(path, value, "must be from %s to %s, not %s", decimal(*s.Minimum), decimal(*s.Maximum), decimal(value))
			}
			return
		}
	}
	text, _ := json.Marshal(value) // it was decoded from JSON
	c.reject(path, value, "must be %s, not %s", map[string]string{
		"object": "a mapping", "array": "a list", "string": "a string", "integer": "a whole number", "number": "a number",
	}[s.Type], text)
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func (c *check) object(path string, s *Schema, value map[string]any) {
	for name, field := range s.Properties {
		if value[name] == nil {
			delete(value, name)
			if field.Default != nil {
				var given any
				if err := json.Unmarshal(field.Default, &given); err != nil {
					panic("schema: default of " + join(path, name) + ": " + err.Error())
				}
				value[name] = given
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(value)) {
		if field := s.Properties[name]; field != nil {
			c.value(join(path, name), field, value[name])
		} else {
			c.problems = append(c.problems, Problem{Path: join(path, name), Message: "unknown field", Unknown: true, Value: value[name]})
		}
	}
	for _, name := range s.Required {
		if value[name] == nil {
			c.reject(join(path, name), nil, "must be set")
		}
	}
}

func (c *check) array(path string, s *Schema, value []any) {
	if n := float64(len(value)); n < s.MinItems || s.MaxItems != nil && n > *s.MaxItems {
		c.reject(path, value, "must have from %.0f to %.0f items, not %.0f", s.MinItems, *s.MaxItems, n)
	}
	twice := false
	for i, item := range value {
		at := fmt.Sprintf("%s[%d]", path, i)
		c.value(at, s.Items, item)
		if s.ListType != "atomic" && !twice && slices.ContainsFunc(value[:i], func(other any) bool { return same(other, item, s.MapKeys) }) {
			twice = true
			c.reject(at, item, "must not be there twice")
		}
	}
}

// same reports whether two items of a list are one: they are equal or, if there are keys, equal in these fields.
func same(a, b any, keys []string) bool {
	first, isMap := a.(map[string]any)
	second, _ := b.(map[string]any)
	if !isMap || len(keys) == 0 {
		return reflect.DeepEqual(a, b)
	}
	return !slices.ContainsFunc(keys, func(key string) bool { return !reflect.DeepEqual(first[key], second[key]) })
}

func (c *check) text(path string, s *Schema, value string) {
	n := float64(utf8.RuneCountInString(value))
	switch {
	case n < s.MinLength || s.MaxLength != nil && n > *s.MaxLength:
		c.reject(path, value, "must have from %.0f to %.0f characters, not %.0f", s.MinLength, *s.MaxLength, n)
	case s.Enum != nil && !slices.Contains(s.Enum, value):
		c.reject(path, value, "must be one of %v, not %q", s.Enum, value)
	case s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(value):
		c.reject(path, value, "must match %s, not %q", s.Pattern, value)
	}
}

// rules evaluates the rules of a value and of what is in it.
func (c *check) rules(path string, s *Schema, value any) {
	for i := range s.Rules {
		if r := &s.Rules[i]; !r.holds(value) {
			c.reject(strings.TrimPrefix(path+r.FieldPath, "."), nil, "%s", r.Message)
		}
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			c.rules(join(path, name), s.Properties[name], value[name])
		}
	case []any:
		for i, item := range value {
			c.rules(fmt.Sprintf("%s[%d]", path, i), s.Items, item)
		}
	}
}
